"""Runs a program once, natively or under Unisono."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from types import TracebackType

from unisono.core import jobs, places
from unisono.core.errors import UnisonoError
from unisono.lab import cluster
from unisono.testbeds import beds

from experiments.programs.installing import checked, filled, places_in
from experiments.programs.program import HOME, INPUTS, Program, Ran

# Sums have the same order in every run, and ranks do not share cores with threads.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Locked:
    """Holds a file's lock, as flock(1) does: jobs of others on this machine wait."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __enter__(self) -> None:
        self.opened = self.file.open("a")
        flock(self.opened, LOCK_EX)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.opened.close()


def in_turn(lock: Path | None) -> AbstractContextManager[None]:
    return Locked(lock) if lock else nullcontext()


@cache
def counting_library() -> Path:
    """Preloaded beside Unisono, writes how many collectives it ran."""
    source, library = INPUTS / "counts.c", HOME / "built" / "counts.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        library.parent.mkdir(parents=True, exist_ok=True)
        checked(["cc", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"], HOME, "cc")
    return library


def under_unisono(folder: Path, beside: Sequence[Path]) -> list[str]:
    """What stands before a program's command; `beside`: other libraries to preload."""
    (folder / "counts").mkdir(exist_ok=True)
    variables = {
        "LD_PRELOAD": ":".join(map(str, (counting_library(), *beside))),
        "COUNTS_FOLDER": str(folder / "counts"),
    }
    return [*(f"{name}={value}" for name, value in variables.items()), str(places.program("unisono-exec"))]


def preloaded_by(bed: beds.Bed, mpi: places.Mpi) -> list[Path]:
    """What the bed preloads into native programs: both arms have it."""
    return [cluster.yielding()] if isinstance(bed, beds.Lab) and mpi.flavour == "mpich" else []


def counted(folder: Path) -> tuple[int, int]:
    """Rank 0's collectives in Unisono, and those left to the MPI library; a rank's processes add up."""
    file = folder / "counts" / "0"
    rows = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)


def command_of(
    program: Program, mpi: places.Mpi, ranks: int, folder: Path, before: Sequence[str]
) -> list[str]:
    names = places_in(program, mpi, ranks)
    words = [filled(word, names) for word in program.command]
    variables = {**ONE_THREAD, "LD_LIBRARY_PATH": str(mpi.library.parent)}
    variables |= {name: filled(text, names) for name, text in program.variables.items()}
    settings = [f"{name}={value}" for name, value in variables.items()]
    return ["env", "-C", str(folder), *settings, *before, *words]


def prepare(program: Program, mpi: places.Mpi, ranks: int, folder: Path) -> None:
    names = places_in(program, mpi, ranks)
    for name, text in program.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text, names))
    if program.prepare:
        checked(
            ["bash", "-euc", filled(program.prepare, names)], folder, f"{program.name}: preparing", ONE_THREAD
        )


def written(program: Program, folder: Path) -> str:
    paths = [path for pattern in program.written for path in sorted(folder.glob(pattern))]
    return "".join(path.read_text(errors="replace") for path in paths)


def run_in(
    folder: Path,
    program: Program,
    bed: beds.Bed,
    mpi: places.Mpi,
    ranks: int,
    arm: str,
    before: Sequence[str],
    lock: Path | None,
) -> Ran:
    prepare(program, mpi, ranks, folder)
    complete = command_of(program, mpi, ranks, folder, before)
    command, environment = bed.command(mpi, ranks, bed.per_host(ranks, None), complete)
    with in_turn(lock):
        begin = time.monotonic()
        done = jobs.run(command, environment, program.limit)
        wall = time.monotonic() - begin
    text = done.output + written(program, folder)
    kept = HOME / "output" / f"{program.name}-{mpi.name}-{ranks}-{arm}.txt"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(text)  # for whoever wants to know why it failed
    return Ran(done.problem, round(wall, 3), program.own_seconds(text), program.read(text, folder))


def run(
    program: Program,
    bed: beds.Bed,
    mpi: places.Mpi,
    ranks: int,
    unisono: bool,
    settings: Mapping[str, str] | None = None,
    lock: Path | None = None,
    beside: Sequence[Path] = (),
) -> Ran:
    """In an empty folder; `settings`: variables of the program, UNISONO_* and others."""
    HOME.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unisono-program-") as name:
        folder = Path(name)
        before = [f"{name}={value}" for name, value in (settings or {}).items()]
        if unisono:
            before += under_unisono(folder, [*beside, *preloaded_by(bed, mpi)])
        arm = "unisono" if unisono else "order" if settings else "native"
        ran = run_in(folder, program, bed, mpi, ranks, arm, before, lock)
        own, left = counted(folder) if unisono else (0, 0)
        return replace(ran, own=own, left=left)


def succeeded(program: Program, ran: Ran) -> Ran:
    if ran.problem:
        raise UnisonoError(f"{program.name}: {ran.problem}")
    return ran
