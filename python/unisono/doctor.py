"""What is found, what is wrong, and what to do about it."""

import difflib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from unisono.core import catalogue, elf, files, launch, machine, places, settings, single_copy
from unisono.core.errors import UnisonoError
from unisono.profile import check as profile_check

# Runs under unisono-exec on two ranks. The counters tell whether the call went through us.
PROBE = """
import array, ctypes
from mpi4py import MPI
comm = MPI.COMM_WORLD
total = array.array("i", [comm.rank + 1])
comm.Allreduce(MPI.IN_PLACE, total)
assert comm.size == 2, f"{comm.size} ranks instead of 2"
assert total[0] == 3, f"allreduce gave {total[0]} instead of 3"
own, native = ctypes.c_ulonglong(), ctypes.c_ulonglong()
ctypes.CDLL(None).unisono_counts(ctypes.byref(own), ctypes.byref(native))
assert own.value > 0, "the call did not reach Unisono"
"""

# What a rank takes of /dev/shm: MPICH 5 some 5 MiB, Unisono at least 1 (docs/howto/ci-container.md).
MEMORY_OF_A_RANK = 6 << 20
SMALL_MEMORY = 64 << 20  # what Docker gives


class Level(Enum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    level: Level
    what: str
    advice: str = ""


def check_build() -> Iterator[Finding]:
    folder = places.build_directory()
    flavours = [places.preload_library(f"unisono-{flavour}") for flavour in places.SONAMES]
    needed = [places.preload_library(), *([] if any(path.exists() for path in flavours) else flavours)]
    needed += [folder / "bin" / name for name in ("unisono-exec", "unisono-schedule")]
    missing = [path.name for path in needed if not path.exists()]
    installed = folder == places.prefix()
    if missing:
        advice = "install it again, with all components" if installed else "run make"
        yield Finding(Level.PROBLEM, f"not in {folder}: {', '.join(missing)}", advice)
    else:
        yield Finding(Level.OK, f"Unisono is {'installed' if installed else 'built'} in {folder}")


def check_mpi() -> Iterator[Finding]:
    found = places.all_mpis()
    for mpi in found:
        yield Finding(Level.OK, f"{mpi.flavour}: {mpi.mpiexec}")
    if not found:
        yield Finding(Level.PROBLEM, "no mpiexec", "install MPICH or Open MPI, or run make, which gets both")
    on_path, compiler = places.mpi_on_path(), shutil.which("mpicc")
    if on_path and compiler and Path(compiler).parent.resolve() != on_path.mpiexec.parent.resolve():
        yield Finding(
            Level.NOTE,
            f"mpicc ({compiler}) and mpiexec ({on_path.mpiexec}) are not neighbours",
            "a program started by another library's mpiexec runs as many programs of one rank; "
            "put the folder of one MPI library first in PATH",
        )


def check_machine() -> Iterator[Finding]:
    cores = machine.cores()
    quota = f", quota {cores.quota:g}" if cores.quota else ""
    yield Finding(
        Level.OK,
        f"{cores.usable} usable cores (online {cores.online}, allowed {cores.allowed}{quota})",
    )
    if cores.usable < cores.online:
        yield Finding(
            Level.NOTE,
            f"affinity or quota leave {cores.usable} of {cores.online} cores",
            "more ranks than that share cores: under Unisono waits then yield and sleep, MPICH's own, too "
            "(over libfabric only point-to-point ones); without it ranks of MPICH spin, and calls take "
            "milliseconds",
        )
    memory = machine.shared_memory()
    if memory is None:
        yield Finding(Level.PROBLEM, "no /dev/shm", "mount a tmpfs there: the MPI libraries need it")
    elif memory[1] <= max(SMALL_MEMORY, 2 * cores.usable * MEMORY_OF_A_RANK):
        ranks = memory[1] // MEMORY_OF_A_RANK
        yield Finding(
            Level.NOTE,
            f"/dev/shm has {memory[1] >> 20} MiB free, enough for {ranks} ranks of MPICH",
            "with more ranks a job may end in MPI_Init, or by SIGBUS or SIGSEGV, without Unisono, too: "
            "in a container, start it with --shm-size=1g",
        )
    yield check_single_copy()


def check_single_copy() -> Finding:
    why = single_copy.why_not()
    if why is None:
        return Finding(Level.OK, "ranks may read each other's memory: long messages on a node need one copy")
    scope = single_copy.ptrace_scope()
    yama = f"; kernel.yama.ptrace_scope is {scope}" if scope else ""
    return Finding(
        Level.NOTE,
        f"ranks may not read each other's memory ({why}{yama}): slots in shared memory replace single copies",
        "long messages on a node are copied twice, and nothing fails; where your rules allow it, start a "
        "container with --cap-add SYS_PTRACE"
        + (", or set kernel.yama.ptrace_scope to 0" if scope in {1, 2} else ""),
    )


def check_environment() -> Iterator[Finding]:
    preload = os.environ.get("LD_PRELOAD", "")
    if "libunisono" in preload:
        yield Finding(
            Level.NOTE,
            "LD_PRELOAD holds libunisono in this shell, so it goes under every command",
            "unset it, and start programs with unisono run or unisono-exec",
        )
    if os.environ.get("UNISONO_DISABLE", "0") not in {"", "0"}:
        yield Finding(Level.NOTE, "UNISONO_DISABLE is set: Unisono does nothing", "unset it")
    if os.environ.get("UNISONO") == "off":
        yield Finding(Level.NOTE, "UNISONO=off: Unisono does nothing", "unset it")
    if path := os.environ.get("UNISONO_PROFILE"):
        yield check_profile(Path(path))
    try:
        known = {variable.name for variable in catalogue.variables()}
    except UnisonoError:
        return  # check_build has said it
    for name, value in sorted(os.environ.items()):
        if not places.is_ours(name) or name in places.WHERE | places.OF_BENCH:
            continue
        if name not in known:
            yield Finding(Level.PROBLEM, f"{name} is no variable of Unisono", near(name, known))
        elif wrong := wrong_spec(name, value):
            yield Finding(Level.PROBLEM, f"{name}={value}: {wrong}", "unisono list shows what there is")
        elif wrong := settings.wrong_value(name, value) or wrong_rule(name):
            yield Finding(Level.PROBLEM, f"{name}={value}: {wrong}", "unisono info says what each value does")
    as_root = os.geteuid() == 0 and "OMPI_ALLOW_RUN_AS_ROOT" not in os.environ
    if as_root and any(mpi.flavour == "openmpi" for mpi in places.all_mpis()):
        yield Finding(
            Level.NOTE,
            "Open MPI's own mpiexec refuses to run as root",
            "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 (unisono run does)",
        )


def check_profile(path: Path) -> Finding:
    try:
        profile = profile_check.load(path)
    except UnisonoError as error:
        return Finding(Level.PROBLEM, f"UNISONO_PROFILE={error}", "until then jobs run as without a profile")
    if not path.is_absolute():
        return Finding(Level.NOTE, f"UNISONO_PROFILE={path} is relative", "ranks may start in another folder")
    return Finding(
        Level.OK,
        f"UNISONO_PROFILE={path}, of {len(profile.environments)} environments",
        "whether it holds for a job, the job says itself: UNISONO_LOG=decision",
    )


def near(name: str, known: set[str]) -> str:
    """What may have been meant. What all names have in common says nothing of that."""
    meant = {variable.removeprefix("UNISONO_"): variable for variable in known}
    found = difflib.get_close_matches(name.removeprefix("UNISONO_"), meant, 1, cutoff=0.7)
    return f"did you mean {meant[found[0]]}?" if found else "unisono info lists all"


def wrong_rule(variable: str) -> str | None:
    """What is wrong with the value of UNISONO_ONLINE in this environment; None: nothing, or another one."""
    if variable != "UNISONO_ONLINE":
        return None
    try:
        told = files.decoded(catalogue.ask("decide", "--collective", "bcast", "--flavour", "mpich"))
    except UnisonoError:  # of UNISONO_TOPOLOGY
        return None
    complaints = [line.partition(": ")[2] for line in told["complaints"] if line.startswith(f"{variable}=")]
    return complaints[0] if complaints else None


def wrong_spec(variable: str, value: str) -> str | None:
    """What is wrong with the value of UNISONO_<COLLECTIVE>; None: nothing, or another variable."""
    collective = variable.removeprefix("UNISONO_").lower()
    served = {name for row in catalogue.algorithms() for name in row.collectives}
    if collective not in served:
        return None
    try:
        catalogue.complete_spec(collective, value)
    except UnisonoError as error:
        return str(error)
    return None


def mpi4py_libraries(folders: list[str]) -> dict[str, str]:
    """Names of the MPI libraries that mpi4py can open, by flavour. Its wheels have a module for each."""
    modules = [module for folder in folders for module in Path(folder).glob("MPI.*so")]
    return {flavour: name for module in modules for flavour, name in elf.libraries(module).items()}


def check_preload(mpi: places.Mpi) -> Finding:
    """Two ranks of Python: the hardest case, as the MPI library is opened late and locally."""
    name = f"{mpi.flavour} ({mpi.home})"
    package = importlib.util.find_spec("mpi4py")
    if package is None:
        return Finding(Level.NOTE, f"{name}: preloading not tried", "pip install mpi4py to try it")
    linked = mpi4py_libraries(package.submodule_search_locations or [])
    if linked and mpi.flavour not in linked:
        return Finding(
            Level.NOTE,
            f"{name}: preloading not tried: mpi4py is linked to {' and '.join(linked.values())}",
            f"to try it, run a program of this library: unisono run --mpi {mpi.name} --log -- ./program",
        )
    serving = [row.name for row in catalogue.algorithms() if "allreduce" in row.collectives]
    if not serving:
        return Finding(Level.NOTE, f"{name}: preloading not tried: no algorithm for allreduce")
    environment = {k: v for k, v in os.environ.items() if not places.is_ours(k)}
    environment |= mpi.environment() | {"UNISONO_ALLREDUCE": serving[0]}
    environment["MPI4PY_LIBMPI"] = str(mpi.library) if mpi.library.exists() else mpi.library.name
    line = launch.command_line(mpi, 2, [sys.executable, "-P", "-c", PROBE])
    try:
        done = subprocess.run(line, check=False, capture_output=True, text=True, env=environment, timeout=60)
    except subprocess.TimeoutExpired:
        return Finding(
            Level.PROBLEM,
            f"{name}: two ranks did not finish within 60 s",
            "try: " + " ".join(line[:4]),
        )
    if done.returncode == 0:
        return Finding(Level.OK, f"{name}: preloading works")
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    said = next((line for line in lines if "Error" in line), lines[-1] if lines else "no output")
    return Finding(
        Level.PROBLEM,
        f"{name}: preloading does not work: {said.strip()}",
        "see whether this MPI library works without Unisono: "
        f"{mpi.mpiexec} -n 2 {sys.executable} -P -m mpi4py.bench helloworld",
    )


def check_program(program: str) -> Iterator[Finding]:
    """Whether this program can be helped at all."""
    path = shutil.which(program)
    if path is None:
        what, _, advice = launch.why_no_program(program).partition(": ")
        yield Finding(Level.PROBLEM, f"{program}: {what}", advice)
        return
    if Path(path).stat().st_mode & 0o6000:
        yield Finding(
            Level.PROBLEM,
            f"{program} is set-uid or set-gid",
            "the loader ignores LD_PRELOAD for such",
        )
    found = elf.linked(Path(path))
    if found is None:
        yield Finding(Level.OK, f"{program} is a script: its interpreter is what matters")
        return
    if found.static:
        yield Finding(
            Level.PROBLEM,
            f"{program} is statically linked",
            "nothing can be placed under it: link it to the shared MPI library",
        )
        return
    if found.missing:
        missing = ", ".join(found.missing)
        yield Finding(Level.PROBLEM, f"{program} does not find {missing}", "set LD_LIBRARY_PATH")
    linked = found.libraries
    if len(linked) == 1:
        [(flavour, soname)] = linked.items()
        yield Finding(Level.OK, f"{program} uses {soname} ({flavour})")
    elif linked:
        yield Finding(
            Level.PROBLEM,
            f"{program} is linked to {' and '.join(linked)}",
            "build it and its libraries with one MPI",
        )
    else:
        yield Finding(Level.NOTE, f"{program} is linked to no MPI library that Unisono knows")


def examine(program: str | None) -> Iterator[Finding]:
    built = list(check_build())
    yield from built
    yield from check_mpi()
    yield from check_machine()
    yield from check_environment()
    if all(finding.level is Level.OK for finding in built):
        for mpi in places.all_mpis():
            yield check_preload(mpi)
    if program:
        yield from check_program(program)
