"""What jobs keep for each other (docs/reference/memory.md), as Python reads it."""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unisono.core.errors import SetupError, UnisonoError
from unisono.core.files import decoded, read_bytes

FORMAT = "unisono-memory"
VERSION = 4  # jobs ignore files of others, and replace them
MOST_BYTES = 1 << 20
FORGET = "unisono platform forget removes it"
DAY = 86400.0
# The names that Unisono gives files there (src/files/names.h). Nothing else is read, or removed.
OWN = re.compile(r"[a-z]{1,16}-[0-9a-f]{16}\.json")
PART = re.compile(OWN.pattern + r"\.part\.[0-9a-f]{16}")
BESIDE = {"lock", "libraries"}  # what else Unisono keeps in the folder


def folder() -> Path:
    """As src/files/cache.cpp finds it."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if chosen.startswith("/"):
        return Path(chosen) / "unisono"
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        raise SetupError("there is no home directory: set HOME or XDG_CACHE_HOME")
    return Path(home) / ".cache" / "unisono"


def files() -> list[Path]:
    try:
        return sorted(path for path in entries() if OWN.fullmatch(path.name))
    except OSError as error:
        raise SetupError(f"{folder()}: {error.strerror}") from error


def entries() -> list[Path]:
    """All that is in the folder, unless it is a link, which Unisono does not follow."""
    if folder().is_symlink() or not folder().is_dir():
        return []
    return sorted(folder().iterdir())


def not_ours() -> list[Path]:
    """What somebody else has put there."""
    return [
        path
        for path in entries()
        if not (OWN.fullmatch(path.name) or PART.fullmatch(path.name) or path.name in BESIDE)
    ]


def remove(names: list[str]) -> None:
    """From the folder itself, whatever its path names meanwhile; each must be one of Unisono's."""
    opened = os.open(folder(), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for name in names:
            assert OWN.fullmatch(name) or PART.fullmatch(name), name
            os.unlink(name, dir_fd=opened)
    finally:
        os.close(opened)


def broken(path: Path) -> UnisonoError:
    return UnisonoError(f"{path}: it is broken; {FORGET}")


def read(path: Path) -> dict[str, Any]:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise UnisonoError(f"{path}: it is no small plain file; {FORGET}")
        document = decoded(read_bytes(path, MOST_BYTES))
    except (OSError, ValueError) as error:
        raise UnisonoError(f"{path}: it cannot be read ({error}); {FORGET}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UnisonoError(f"{path}: it is no memory of Unisono; {FORGET}")
    if not isinstance(document.get("version"), int):
        raise broken(path)
    return document


def size_class(size: int) -> tuple[int, int]:
    """The least and the most bytes of the class, as src/select/online/key.cpp has them."""
    if size < 2:
        return size, size
    power = 1 << (size.bit_length() - 1)
    upper = power + power // 2
    return (upper, 2 * power - 1) if size >= upper else (power, upper - 1)


def ratio_text(ratio: float) -> str:
    """Two digits at least, as something that takes no time at all is not believed."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


@dataclass(frozen=True)
class Learned:
    """One kind of call, and which of two ways was surely faster: the MPI library's own or the other one.
    Seconds of a call on the slowest rank."""

    collective: str
    bytes: int
    ranks: int
    nodes: int
    ranks_per_core: int  # 0: each has a core
    choice: str
    other: str
    seconds: float
    native: float
    all_seconds: float  # from call to call
    all_native: float
    when: float

    @property
    def program(self) -> str:
        """Programs of both kinds have a verdict of their own (src/select/online/verdict.h)."""
        return "between computing" if self.all_native > 2 * self.native else "in a loop"

    def why(self) -> str:
        """In one sentence. Between hosts nothing but the time from call to call is taken."""
        ratio, of_all = ratio_text(self.seconds / self.native), ratio_text(self.all_seconds / self.all_native)
        if self.nodes > 1:
            return f"{self.other} took {of_all} of native's time, from call to call"
        return f"{self.other} took {ratio} of native's time, {of_all} from call to call, {self.program}"

    def age(self) -> str:
        days = max(0.0, time.time() - self.when) / DAY
        return f"{days:.0f} days ago" if days >= 1 else "today"


def verdict_of(row: dict[str, Any]) -> Learned:
    return Learned(
        collective=str(row["collective"]),
        bytes=int(row["bytes"]),
        ranks=int(row["ranks"]),
        nodes=int(row["nodes"]),
        ranks_per_core=int(row["ranks_per_core"]),
        choice=str(row["choice"]),
        other=str(row["other"]),
        seconds=float(row["seconds"]),
        native=float(row["native_seconds"]),
        all_seconds=float(row["from_call_to_call"]),
        all_native=float(row["native_from_call_to_call"]),
        when=float(row["when"]),
    )


def learned(path: Path, document: dict[str, Any]) -> list[Learned]:
    """An error when it is broken."""
    try:
        found = [verdict_of(row) for row in document["verdicts"]]
        # Numbers that nobody measures would be divided by.
        if any(min(one.seconds, one.native, one.all_native) <= 0 for one in found):
            raise broken(path)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise broken(path) from error
    return found


def is_current(document: dict[str, Any]) -> bool:
    return bool(document["version"] == VERSION)


def each() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Those that jobs of this version read, too."""
    for path in files():
        if is_current(document := read(path)):
            yield path, document
