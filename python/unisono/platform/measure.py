"""Jobs that measure what other jobs will ask for: the network in MPI_Init, and in calls of the kinds of
programs that differ, in a loop and between computing, which way is faster."""

from dataclasses import dataclass
from pathlib import Path

from unisono.core import jobs, memory
from unisono.core.catalogue import format_size
from unisono.core.errors import RunError
from unisono.core.places import Mpi
from unisono.testbeds.beds import Bed

STANDARD_COLLECTIVES = "barrier,bcast,reduce,allreduce,allgather,alltoall,gather,scatter"
STANDARD_SIZES = "8,1K,32K"
PATTERNS = ("loop", "compute")
START_SECONDS = 2.0  # of a job
PATIENCE = 60.0  # seconds of a job beyond what it should take


@dataclass(frozen=True)
class Options:
    bed: Bed
    mpi: Mpi
    ranks: int
    per_host: int | None
    collectives: list[str]
    sizes: tuple[int, ...]
    seconds: float  # of a cell


def seconds_needed(options: Options) -> float:
    cells = sum(1 if name == "barrier" else len(options.sizes) for name in options.collectives)
    return len(PATTERNS) * (START_SECONDS + cells * options.seconds)


def arguments(options: Options, pattern: str) -> list[str]:
    return [
        # An mpiexec may not pass variables on to other hosts.
        *("env", "UNISONO=measure", "UNISONO_LOG=decision"),
        f"XDG_CACHE_HOME={memory.folder().parent}",
        *options.mpi.tool("unisono-bench"),
        *("--collectives", ",".join(options.collectives)),
        *("--sizes", ",".join(map(format_size, options.sizes))),
        *("--arms", "default", "--pattern", pattern, "--budget", str(options.seconds)),
    ]


def contents() -> dict[Path, bytes]:
    found = {}
    for path in memory.files():
        try:
            found[path] = path.read_bytes()
        except OSError:
            continue  # it is not one that a job has just written
    return found


def measure(options: Options) -> list[Path]:
    """The files in which there is something new."""
    before = contents()
    per_host = options.bed.per_host(options.ranks, options.per_host)
    output = ""
    for pattern in PATTERNS:
        command, environment = options.bed.command(
            options.mpi, options.ranks, per_host, arguments(options, pattern)
        )
        done = jobs.run(command, environment, PATIENCE + seconds_needed(options))
        output += done.output
        if not done.ok:
            raise RunError(f"the measuring job failed: {done.problem}")
    after = contents()
    new = [path for path in after if after[path] != before.get(path)]
    if not new:
        raise RunError(f"the jobs kept nothing in {memory.folder()}: {reason(output)}")
    return new


NOTHING = (
    "no kind of call took long enough, or it was not sure which way is faster (a larger --budget "
    "helps), or all are sums, which keep one order (UNISONO_REPRODUCIBLE=off)"
)


def reason(output: str) -> str:
    """As rank 0 said it."""
    said = [line.partition("unisono: ")[2] for line in output.splitlines() if "not kept" in line]
    return said[-1] if said else NOTHING
