"""Call sites: from return addresses to file and line."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unisono.core import symbols
from unisono.trace.reader import Rank, Trace

ADDR2LINE_SECONDS = 120
MOST_SITES = 4096  # the others are counted together
MOST_MODULES = 64  # that are looked into
# Programs that run those of others: where they themselves call a library says nothing.
INTERPRETER = re.compile(r"(python|pypy|perl|ruby|julia|octave|lua|node)[-\w.]*|R|Rscript|java")
MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number: two addresses become one key


@dataclass(frozen=True)
class Site:
    """A place in a module, the same in every process that maps it. `offset` in the file; -1: the address
    lies in no module that the trace names, and is kept as it is."""

    module: str
    offset: int
    program: "Site | None" = None  # where the program called the library that this is in


ELSEWHERE = Site("", 0)


@dataclass(frozen=True)
class Place:
    """What a site is in the source, as far as the module tells."""

    text: str  # fft.c:212, or module+0x123
    function: str = ""
    file: str = ""  # whole path; empty without debug information
    line: int = 0
    offset: int = field(default=0, compare=False)  # in its module: tells two calls of a line apart
    inside: str = ""  # the library, and its function, in which the program's call leads to MPI; empty: none


class Sites:
    """Numbers the sites of all ranks alike."""

    def __init__(self) -> None:
        self.number: dict[Site, int] = {}
        self.known: dict[int, dict[int, int]] = {}  # rank, key: number

    def numbers(
        self, rank: Rank, addresses: NDArray[np.uint64], programs: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        known = self.known.setdefault(rank.rank, {})
        unique, first, inverse = np.unique(addresses + programs * MIX, return_index=True, return_inverse=True)
        keys = unique.tolist()
        new = [at for at, key in enumerate(keys) if key not in known]
        if new:
            own = sites_of(rank, addresses[first[new]])
            above = sites_of(rank, programs[first[new]])
            for at, site, program in zip(new, own, above, strict=True):
                known[keys[at]] = self.number_of(with_program(site, program))
        return np.array([known[key] for key in keys], np.int64)[inverse]

    def number_of(self, site: Site) -> int:
        full = len(self.number) >= MOST_SITES and site not in self.number
        return self.number.setdefault(ELSEWHERE if full else site, len(self.number))

    def places(self, trace: Trace, wanted: Iterable[int]) -> dict[int, Place]:
        """Runs addr2line once for each module. What it cannot do is said in `trace.notes`."""
        by_number = {number: site for site, number in self.number.items()}
        chosen = {number: by_number[number] for number in wanted}
        both = {Site(site.module, site.offset) for site in chosen.values()}
        both |= {site.program for site in chosen.values() if site.program}
        found: dict[Site, Place] = {}
        for at, module in enumerate(dict.fromkeys(site.module for site in sorted(both, key=str))):
            own = [site for site in both if site.module == module]
            offsets = [site.offset for site in own]
            told = look_up(trace, module, offsets) if at < MOST_MODULES else bare_places(module, offsets)
            found |= dict(zip(own, told, strict=True))
        return {number: place_of(site, found) for number, site in chosen.items()}


def with_program(site: Site, program: Site) -> Site:
    useful = program.module and not INTERPRETER.fullmatch(Path(program.module).name)
    return Site(site.module, site.offset, program) if useful else site


def place_of(site: Site, found: dict[Site, Place]) -> Place:
    """In the program itself where there is such a place."""
    own = found[Site(site.module, site.offset)]
    if site.program is None:
        return own
    library = short_name(site.module) or own.text
    known = [*([own.function] if own.function else []), *([own.text] if own.line else [])]
    inside = f"{library} ({', '.join(known)})" if known else library
    return replace(found[site.program], inside=inside)


def sites_of(rank: Rank, addresses: NDArray[np.uint64]) -> list[Site]:
    # A return address is that of the next instruction, which may belong to another line.
    call = addresses - (addresses > 0)
    order = np.argsort(call)
    modules = list(rank.modules)
    owner = np.full(len(call), -1, np.int64)
    starts, ends = (
        np.searchsorted(call[order], np.array(borders, np.uint64))
        for borders in ([each.start for each in modules], [each.end for each in modules])
    )
    for at in np.flatnonzero(ends > starts):  # the latest mapping of a place counts
        owner[starts[at] : ends[at]] = at
    owner[order] = owner.copy()
    owner[addresses == 0] = -1  # none
    return [
        Site(modules[at].path, int(where) - modules[at].start + modules[at].offset)
        if at >= 0
        else Site("", int(address))
        for at, where, address in zip(owner.tolist(), call, addresses, strict=True)
    ]


def short_name(module: str) -> str:
    return re.sub(r"\.cpython-[^.]*", "", Path(module).name)  # of mpi4py: MPI.openmpi.so is enough


def bare_places(module: str, offsets: Sequence[int]) -> list[Place]:
    """As tools print it: the return address, not the byte before it."""
    name = short_name(module)
    return [
        Place(f"{name}+{offset + 1:#x}" if module else f"{offset:#x}", offset=offset) for offset in offsets
    ]


def look_up(trace: Trace, module: str, offsets: Sequence[int]) -> list[Place]:
    bare, name = bare_places(module, offsets), short_name(module)
    if not module.startswith("/"):
        return bare
    try:
        path = Path(module)
        addresses = symbols.Elf(symbols.mapped(path)).virtual_addresses(offsets)
        functions = demangled(symbols.functions(path, addresses))
        bare = [replace(each, function=function) for each, function in zip(bare, functions, strict=True)]
        told = addr2line(module, addresses)
        changed = path.stat().st_mtime
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        trace.notes.append(f"{name}: no lines of the source: {reason(error)}")
        return bare
    if 0 < trace.first.start.started_unix_s < changed:
        trace.notes.append(f"{name} is newer than the trace: its lines may be wrong")
    return [place(named, plain) for named, plain in zip(told, bare, strict=True)]


def demangled(names: Sequence[str]) -> list[str]:
    """Names of C++ as its sources have them, where c++filt is there."""
    mangled = [name for name in names if re.fullmatch(r"_Z[\w.$]+", name)]
    if not mangled or not shutil.which("c++filt"):
        return list(names)
    done = subprocess.run(
        ["c++filt"],
        input="\n".join(mangled),
        capture_output=True,
        text=True,
        timeout=ADDR2LINE_SECONDS,
        check=False,
    )
    plain = done.stdout.splitlines()
    known = dict(zip(mangled, plain, strict=True)) if len(plain) == len(mangled) else {}
    return [known.get(name, name) for name in names]


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
        input=given, capture_output=True, text=True, errors="replace", timeout=ADDR2LINE_SECONDS, check=True,
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
    """Where a line is known, so is the function; where none is, addr2line would name any symbol before."""
    file, _, line = named[1].partition(" (discriminator")[0].rpartition(":")
    if file in {"", "??"} or not line.isdigit() or line == "0":
        return bare
    function = bare.function if named[0] == "??" else named[0]
    return Place(f"{Path(file).name}:{line}", function, file, int(line), bare.offset)
