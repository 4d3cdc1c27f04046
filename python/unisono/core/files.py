"""Results are read and written as a whole, or not at all. A file named *.zst is compressed.

What is read may have been written by anybody: only plain files are opened, and size and depth are limited."""

import errno
import importlib
import json
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, TypeVar, overload

import msgspec

from unisono.core import shown
from unisono.core.errors import UnisonoError

COMPRESSED = ".zst"
LEVEL = 19  # a file is written once, and is in every checkout
MOST_BYTES = 16 << 20  # of a file that is read as a whole
MOST_DEEP = 64  # lists and objects within each other, as in the library's own reader of JSON
# No file is waited for, made the controlling terminal, or handed to a child.
OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
Of = TypeVar("Of")


def write_bytes(data: bytes, path: Path) -> None:
    """Replaces the file as a whole: a kill in the middle leaves the former one.

    A link stays, and a device or a pipe is written to: root could replace them."""
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            replace(data, target)
    except OSError as error:
        raise UnisonoError(f"{path}: cannot be written: {error.strerror}") from error


def replace(data: bytes, path: Path) -> None:
    """Who may read the file before may read it afterwards, and nobody else."""
    following = beside(path)

    def put(file: BinaryIO) -> None:
        if path.exists():
            os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode) & 0o777)
        file.write(data)
        file.flush()

    try:
        named = False
        if nameless := nameless_file(path.parent):
            with nameless:
                put(nameless)
                named = is_named(nameless, following)
        if not named:
            with following.open("xb") as file:
                put(file)
        following.replace(path)
    finally:
        following.unlink(missing_ok=True)  # where it was not finished


def nameless_file(folder: Path) -> BinaryIO | None:
    """A new file that ends with its process until it has a name: a kill leaves nothing of it. None where the
    system has no such files; what else is wrong with the folder shows when a file is made there."""
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666), "wb")
    except OSError:
        return None


def is_named(nameless: BinaryIO, path: Path) -> bool:
    """Gives it this name, where the system can: it needs /proc."""
    try:
        # With a descriptor, which is not used, os.link() follows the link.
        os.link(f"/proc/self/fd/{nameless.fileno()}", path, src_dir_fd=nameless.fileno())
    except OSError:
        return False
    return True


def make_own_folder(folder: Path, mark: str) -> None:
    """Makes a folder that will be removed with all that is in it; one with the file `mark` is ours."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.is_symlink() or (any(folder.iterdir()) and not (folder / mark).exists()):
        raise UnisonoError(f"{folder}: it holds files of somebody else: name another, or move them")


def beside(path: Path) -> Path:
    """A new name in the same folder, which nobody else uses or can foresee."""
    return path.with_name(f".{secrets.token_hex(8)}.part")


def write_text(text: str, path: Path) -> None:
    """Bytes of names that are no text (Python's surrogates) stay what they were."""
    write_bytes(text.encode(errors="surrogateescape"), path)


def write_json(data: Any, path: Path) -> None:
    """Indented for people; of a compressed file, the same bytes for the same data."""
    if path.suffix != COMPRESSED:
        write_text(json.dumps(data, indent=1) + "\n", path)
        return
    text = json.dumps(data, separators=(",", ":")) + "\n"
    compressor = zstd(path).ZstdCompressor(level=LEVEL, write_checksum=True)
    write_bytes(compressor.compress(text.encode()), path)


def kept(path: Path) -> Path:
    """Where it is: there, or beside, compressed. A name that is too long is left as it is."""
    compressed = path.with_name(path.name + COMPRESSED)
    return compressed if not os.path.exists(path) and os.path.exists(compressed) else path  # noqa: PTH110


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    path = kept(path)
    try:
        data = read_bytes(path, most)
        return (uncompressed(data, path) if path.suffix == COMPRESSED else data).decode()
    except OSError as error:
        raise UnisonoError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnisonoError(f"{path}: no text ({error})") from error


def opened(name: str | Path, folder: int | None = None) -> int:
    """A descriptor of a plain file. In a `folder` that is open no link is followed. Raises OSError."""
    linked = folder is None
    refuse_other_kinds(os.stat(name, dir_fd=folder, follow_symlinks=linked))
    file = os.open(name, OPEN if linked else OPEN | os.O_NOFOLLOW, dir_fd=folder)
    try:
        refuse_other_kinds(os.fstat(file))
    except OSError:
        os.close(file)
        raise
    return file


def is_folder_of(users: set[int], found: os.stat_result) -> bool:
    """Whether it is a folder that belongs to one of them, and to which nobody but its owner may write."""
    return stat.S_ISDIR(found.st_mode) and found.st_uid in users and not found.st_mode & 0o022


def refuse_other_kinds(found: os.stat_result) -> None:
    """Before it is opened, which a device may answer to; and after, as it may have been replaced."""
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, f"it is {shown.kind(found.st_mode)}, no plain file")


def read_bytes(name: str | Path, most: int = MOST_BYTES, folder: int | None = None) -> bytes:
    """A plain file of at most `most` bytes. Raises OSError."""
    with os.fdopen(opened(name, folder), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB")
    return data


def uncompressed(data: bytes, path: Path, most: int = MOST_BYTES) -> bytes:
    library = zstd(path)
    try:
        size = library.frame_content_size(data)
        if size < 0:
            raise UnisonoError(f"{path}: cannot be uncompressed (it does not say its size); take a copy")
        if size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB")
        whole: bytes = library.ZstdDecompressor().decompress(data)
    except library.ZstdError as error:
        raise UnisonoError(f"{path}: cannot be uncompressed ({error}); take a copy") from error
    return whole


def zstd(path: Path) -> ModuleType:
    """Loaded only where a file is compressed: an installation may lack it."""
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise UnisonoError(f"{path}: needs the Python package zstandard: pip install zstandard") from error


def read_json(path: Path) -> Any:
    """Of X.json, or of X.json.zst where there is no X.json; what is wrong is one line."""
    text = read_text(path)
    try:
        return decoded(text)
    except ValueError as error:
        raise UnisonoError(f"{kept(path)}: no JSON ({error}); write it again, or take a copy") from error


@overload
def decoded(text: bytes | str) -> Any: ...
@overload
def decoded(text: bytes | str, kind: type[Of]) -> Of: ...
def decoded(text: bytes | str, kind: Any = Any) -> Any:
    """The one place that reads JSON. Raises ValueError."""
    try:
        value = msgspec.json.decode(text, type=kind)
        # Only where there are as many openings can it be too deep.
        openings = (
            text.count("[") + text.count("{")
            if isinstance(text, str)
            else text.count(b"[") + text.count(b"{")
        )
        if openings > MOST_DEEP and too_deep(value if kind is Any else msgspec.json.decode(text)):
            raise ValueError(f"nested more than {MOST_DEEP} deep")
    except RecursionError:
        raise ValueError(f"nested more than {MOST_DEEP} deep") from None
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    return value


def too_deep(value: Any) -> bool:
    """Level by level."""
    level: Iterable[Any] = [value]
    for _ in range(MOST_DEEP):
        level = [
            each
            for one in level
            if isinstance(one, (dict, list))
            for each in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return any(isinstance(one, (dict, list)) for one in level)
