"""Call sites: from return addresses to file and line."""

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unisono.core import elf
from unisono.trace.reader import Rank, Trace

ADDR2LINE_SECONDS = 120


@dataclass(frozen=True)
class Site:
    """A place in a module, the same in every process that maps it. `offset` in the file; -1: the address
    lies in no module that the trace names, and is kept as it is."""

    module: str
    offset: int


@dataclass(frozen=True)
class Place:
    """What a site is in the source, as far as the module tells."""

    text: str  # fft.c:212, or module+0x123
    function: str = ""
    file: str = ""  # whole path; empty without debug information
    line: int = 0
    offset: int = field(default=0, compare=False)  # in its module: tells two calls of a line apart


class Sites:
    """Numbers the sites of all ranks alike."""

    def __init__(self) -> None:
        self.number: dict[Site, int] = {}
        self.known: dict[int, dict[int, int]] = {}  # rank, address: number

    def numbers(self, rank: Rank, addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
        known = self.known.setdefault(rank.rank, {})
        unique, inverse = np.unique(addresses, return_inverse=True)
        for address in map(int, unique):
            if address not in known:
                known[address] = self.number.setdefault(site_of(rank, address), len(self.number))
        return np.array([known[int(address)] for address in unique], np.int64)[inverse]

    def places(self, trace: Trace, wanted: Iterable[int]) -> dict[int, Place]:
        """Runs addr2line once for each module. What it cannot do is said in `trace.notes`."""
        by_number = {number: site for site, number in self.number.items()}
        chosen = {number: by_number[number] for number in wanted}
        found: dict[int, Place] = {}
        for module in dict.fromkeys(site.module for site in chosen.values()):
            own = {number: site.offset for number, site in chosen.items() if site.module == module}
            found |= dict(zip(own, look_up(trace, module, list(own.values())), strict=True))
        return found


def site_of(rank: Rank, address: int) -> Site:
    # A return address is that of the next instruction, which may belong to another line.
    call = max(address - 1, 0)
    for module in reversed(rank.modules):  # the latest mapping of a place counts
        if module.start <= call < module.end:
            return Site(module.path, call - module.start + module.offset)
    return Site("", address)


def look_up(trace: Trace, module: str, offsets: Sequence[int]) -> list[Place]:
    name = re.sub(r"\.cpython-[^.]*", "", Path(module).name)  # of mpi4py: MPI.openmpi.so is enough
    # As tools print it: the return address, not the byte before it.
    bare = [
        Place(f"{name}+{offset + 1:#x}" if module else f"{offset:#x}", offset=offset) for offset in offsets
    ]
    if not module:
        return bare
    try:
        if not Path(module).is_file():
            raise FileNotFoundError(2, "the file is gone", module)
        addresses = elf.virtual_addresses(Path(module), offsets)
        told = addr2line(module, addresses)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        trace.notes.append(f"{name}: no lines of the source: {reason(error)}")
        return bare
    started = float(trace.first.start.get("started_unix_s", 0))
    if started and Path(module).stat().st_mtime > started:
        trace.notes.append(f"{name} is newer than the trace: its lines may be wrong")
    return [place(named, plain) for named, plain in zip(told, bare, strict=True)]


def reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename == "addr2line":
        return "addr2line is not installed (binutils)"
    if isinstance(error, OSError):
        return error.strerror or "cannot be read"
    return "addr2line failed on it" if isinstance(error, subprocess.SubprocessError) else "no ELF file"


def addr2line(module: str, addresses: Sequence[int]) -> list[tuple[str, str]]:
    """Function and file:line of the outermost frame at each address: what was inlined there is not looked
    into. Raises OSError, SubprocessError, ValueError."""
    given = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(
        ["addr2line", "-a", "-f", "-C", "-i", "-e", module],
        input=given, capture_output=True, text=True, timeout=ADDR2LINE_SECONDS, check=True,
    )  # fmt: skip
    frames: list[list[str]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            frames.append([])
        elif frames:
            frames[-1].append(line)
    if len(frames) != len(addresses) or any(len(frame) < 2 for frame in frames):
        raise ValueError
    return [(frame[-2], frame[-1]) for frame in frames]


def place(named: tuple[str, str], bare: Place) -> Place:
    function = "" if named[0] == "??" else named[0]
    file, _, line = named[1].partition(" (discriminator")[0].rpartition(":")
    if file in {"", "??"} or not line.isdigit() or line == "0":
        return Place(bare.text, function, offset=bare.offset)
    return Place(f"{Path(file).name}:{line}", function, file, int(line), bare.offset)
