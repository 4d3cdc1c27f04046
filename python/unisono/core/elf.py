"""What ELF files say: whether a program is one, and which MPI libraries are under it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from unisono.core import places


@dataclass(frozen=True)
class Linked:
    """What the loader puts under a program."""

    static: bool  # the loader is not asked
    libraries: dict[str, str]  # of MPI, by flavour: the name in the file
    missing: tuple[str, ...] = ()


def linked(program: Path) -> Linked | None:
    """None of a script, or of anything else that is no ELF file."""
    from elftools.common.exceptions import ELFError  # noqa: PLC0415
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415

    try:
        with program.open("rb") as file:
            if not any(segment["p_type"] == "PT_INTERP" for segment in ELFFile(file).iter_segments()):
                return Linked(True, {})
    except ELFError:
        return None
    # The file itself names what it is linked to directly only. A program whose own library is linked to MPI
    # counts as well, and where libraries are found only the loader knows: RPATH, LD_LIBRARY_PATH, its cache.
    said = ldd(program)
    missing = tuple(line.split()[0] for line in said.splitlines() if "not found" in line)
    return Linked(False, places.linked_libraries(said), missing)


def libraries(shared: Path) -> dict[str, str]:
    """Names of the MPI libraries under a shared library, by flavour."""
    return places.linked_libraries(ldd(shared))


def ldd(file: Path) -> str:
    return subprocess.run(["ldd", str(file)], check=False, capture_output=True, text=True).stdout
