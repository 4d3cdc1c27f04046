"""Which MPI library a job has: asked of a job, before anything is measured."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from unisono.core import console, files, jobs
from unisono.core.errors import RunError
from unisono.core.places import Mpi
from unisono.testbeds.beds import Bed, Launcher

RunJob = Callable[..., jobs.Outcome]
PATIENCE = 120.0  # seconds: the start of a job on many hosts may take long


class Loaded(msgspec.Struct, frozen=True):
    """The MPI library of a job, as the job itself says."""

    name: str  # as --mpi has it
    version: str
    path: str
    launcher: str

    def text(self) -> str:
        return f"{self.name}: {self.version} ({self.path}), started by {self.launcher}"


def ask(bed: Bed, mpi: Mpi, ranks: int, per_host: int, run_job: RunJob = jobs.run) -> Loaded:
    """Starts a job that measures nothing. An error where it has another library than that of its launcher, or
    another number of ranks; 0: the launcher knows."""
    program = [*mpi.tool("unisono-bench"), "--which-library"]
    line, environment = bed.command(mpi, ranks, per_host, program)
    outcome = run_job(line, environment, PATIENCE)
    launcher = bed.title() if isinstance(bed, Launcher) else str(mpi.mpiexec)
    told = [files.decoded(row) for row in outcome.output.splitlines() if row.startswith('{"mpi_library"')]
    if not told:
        raise RunError(
            f"{launcher}: no job of {mpi.name} can be started: {outcome.problem or 'it says nothing'}"
        )
    loaded = Loaded(mpi.name, " ".join(told[0]["mpi_library"].split()), told[0]["mpi_library_path"], launcher)
    if ranks and told[0]["ranks"] != ranks:
        if len(told) == 1:
            raise RunError(f"the launcher started {told[0]['ranks']} ranks, -n says {ranks}: {launcher}")
        raise RunError(
            f"{launcher} started {len(told)} jobs of {told[0]['ranks']}, not one of {ranks}: it is "
            f"not the launcher of "
            f"{loaded.path} ({loaded.version}); --mpi names another library"
        )
    if mpi.library.exists() and loaded.path and Path(loaded.path).resolve() != mpi.library.resolve():
        raise RunError(
            f"{launcher} belongs to {mpi.library.resolve()}, but its job has {loaded.path} "
            f"({loaded.version}): look "
            "for what sets LD_LIBRARY_PATH or LD_PRELOAD on the way, and take it away"
        )
    return loaded


def say(bed: Bed, mpi: Mpi, ranks: int, per_host: int, out: Console = console.errors) -> Loaded:
    """Asks, and shows it before anything is measured."""
    loaded = ask(bed, mpi, ranks, per_host)
    out.print(Text(loaded.text(), style="bold"), soft_wrap=True)
    return loaded
