"""Waits of the MPI library on a node whose ranks share cores: natively and under Unisono.

  .venv/bin/python -m experiments.waits --json FILE [--jobs 5] [--mpi NAMES] [--ranks 4,8]
  .venv/bin/python -m experiments.waits --table FILE

Each cell is a job of experiments/inputs/waits.c or of IMB-MPI1, natively and under Unisono in turn; rounds
of all cells, so that a cell's jobs are spread over the whole run. Both ways make as many calls: 20 to 1000,
what a native job makes in half a second.
"""

import argparse
import itertools
import os
import re
import signal
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from unisono.core import machine, places
from unisono.core.estimates import estimate_median
from unisono.core.files import read_json, write_json

from experiments import harness, markdown
from experiments.programs.installing import checked, places_in
from experiments.programs.program import INPUTS, Program
from experiments.start import processor

LIBRARIES = ("debian-mpich", "mpich", "intel", "openmpi")
PATTERNS = ("pairs", "ring", "halo", "probe", "dup", "fence")
IMB = ("PingPong", "Sendrecv", "Exchange")
WAYS = ("native", "unisono")
FEWEST, MOST = 20, 1000  # calls of a job
ENOUGH = 0.5  # seconds of native calls: where ranks spin, few calls take long
LIMIT = 120  # seconds of a job


class Job(TypedDict):
    mpi: str
    ranks: int
    cell: str
    way: str
    round: int
    calls: int
    seconds: float | None  # of a call; None: the job failed


@dataclass(frozen=True)
class Cell:
    mpi: places.Mpi
    ranks: int
    name: str
    command: list[str]  # {calls} stands for their number
    before: tuple[str, ...] = ()  # in front of the launcher


Commands = Callable[[places.Mpi, Path], Iterable[tuple[str, list[str]]]]


def built(mpi: places.Mpi, folder: Path, name: str = "waits") -> Path:
    """A program of experiments/inputs."""
    # Intel MPI has the interface of MPICH, and from PyPI no compiler wrapper.
    source = places.find_mpi("mpich") if mpi.name == places.INTEL else mpi
    compiler = places_in(Program(name, "", (), ()), source)["cc"]
    made = folder / f"{name}-{mpi.name}"
    checked([compiler, "-O1", str(INPUTS / f"{name}.c"), "-o", str(made)], folder, f"{name}.c")
    return made


def commands(mpi: places.Mpi, program: Path) -> Iterator[tuple[str, list[str]]]:
    """Names, and commands; {calls} stands for their number."""
    for pattern in PATTERNS:
        yield pattern, [str(program), pattern, "{calls}", "0"]
    for pattern in ("ring", "halo"):
        yield f"{pattern}, computing 0.1 to 0.3 ms", [str(program), pattern, "{calls}", "100"]
    imb = places.find_mpi(places.INTEL).home / "bin" / "IMB-MPI1"
    if mpi.flavour == "mpich":
        for benchmark in IMB:
            options = ["-msglog", "3:3", "-iter", "{calls}", "-iter_policy", "off", "-npmin", "1024"]
            yield f"IMB {benchmark}", [str(imb), *options, benchmark]


def seconds_in(output: str) -> float:
    """Of a call: what waits.c writes, or the last column but one of IMB's line for 8 bytes."""
    if found := re.search(r"^ +8 +\d+ +([\d.]+)(?: +([\d.]+))?", output, re.MULTILINE):
        return float(found[2] if found[2] and "t_max" in output else found[1]) * 1e-6
    return float(output.split(maxsplit=1)[0])


def started(cell: Cell, way: str, calls: int) -> subprocess.Popen[str]:
    """In a session of its own."""
    under = [] if way == "native" else [str(places.program("unisono-exec"))]
    program = [part.replace("{calls}", str(calls)) for part in cell.command]
    variables = {"XDG_CACHE_HOME": os.devnull, "LD_LIBRARY_PATH": cell.mpi.library_path()}
    return subprocess.Popen(
        [*cell.before, *cell.mpi.launcher(cell.ranks), *under, *program],
        env=cell.mpi.shell(cell.ranks) | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(job: subprocess.Popen[str]) -> None:
    """And all its processes."""
    with suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGTERM)
    job.communicate()


def printed(cell: Cell, way: str, calls: int) -> str:
    """What a job writes, natively or under Unisono with nothing set."""
    job = started(cell, way, calls)
    try:
        output, errors = job.communicate(timeout=LIMIT)
        if job.returncode != 0:
            raise subprocess.CalledProcessError(job.returncode, job.args, output, errors)
        return output
    finally:
        end(job)


def seconds(cell: Cell, way: str, calls: int) -> float | None:
    try:
        return seconds_in(printed(cell, way, calls))
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        print(f"{cell.mpi.name}, {cell.ranks} ranks, {cell.name}, {way}: {error}", flush=True)
        return None


def cells_of(options: argparse.Namespace, kinds: Commands, folder: Path) -> list[Cell]:
    mpis = [places.find_mpi(name) for name in options.mpi.split(",")]
    programs = {mpi.name: built(mpi, folder) for mpi in mpis}
    return [
        Cell(mpi, int(ranks), name, command)
        for mpi in mpis
        for ranks in options.ranks.split(",")
        for name, command in kinds(mpi, programs[mpi.name])
    ]


def calls_in(cell: Cell, time: float, most: int) -> int:
    """How many native calls take so many seconds. The first ones connect the ranks: few calls tell little."""
    calls, wanted = 0, FEWEST
    while wanted > 2 * calls:
        calls = wanted
        pilot = seconds(cell, "native", calls)
        wanted = max(FEWEST, min(most, round(time / pilot))) if pilot else FEWEST
    return wanted


Around = Callable[[Cell, str], AbstractContextManager[None]]  # what holds while a job runs


def measured(
    cells: Sequence[Cell],
    jobs: int,
    time: float = ENOUGH,
    most: int = MOST,
    around: Around = lambda _cell, _way: nullcontext(),
) -> Iterator[Job]:
    """Rounds of all cells."""
    numbers: dict[int, int] = {}
    for number, (at, cell) in itertools.product(range(jobs), enumerate(cells)):
        if at not in numbers:
            numbers[at] = calls_in(cell, time, most)
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            with around(cell, way):
                found = seconds(cell, way, numbers[at])
            yield Job(
                mpi=cell.mpi.name,
                ranks=cell.ranks,
                cell=cell.name,
                way=way,
                round=number,
                calls=numbers[at],
                seconds=found,
            )


def circumstances() -> dict[str, Any]:
    """Of a measurement that begins now."""
    return {
        "processor": processor(),
        "cores": machine.cores().usable,
        "revision": harness.revision(),
        "busy before": machine.busy_share(),
    }


def microseconds(values: Sequence[float]) -> str:
    return f"{statistics.median(values) * 1e6:.1f} ({min(values) * 1e6:.1f} to {max(values) * 1e6:.1f})"


def table(jobs: Sequence[Job]) -> list[str]:
    """Medians with the least and the most; the quotient of the pairs with its interval."""
    found: dict[tuple[str, int, str], dict[tuple[str, int], float | None]] = defaultdict(dict)
    for job in jobs:
        found[job["mpi"], job["ranks"], job["cell"]][job["way"], job["round"]] = job["seconds"]
    rows = []
    for (mpi, ranks, cell), times in found.items():
        pairs = [
            (native, ours)
            for (way, number), native in times.items()
            if way == "native" and native and (ours := times.get(("unisono", number)))
        ]
        failed = sum(time is None for time in times.values())
        words = [mpi, str(ranks), cell]
        if not pairs:
            rows.append([*words, "", "", f"{failed} jobs failed"])
            continue
        estimate = estimate_median([ours / native for native, ours in pairs])
        text = f"{estimate.median:.3g} ({estimate.low:.3g} to {estimate.high:.3g})"
        text += f"; {failed} jobs failed" if failed else ""
        columns = [microseconds([native for native, _ in pairs]), microseconds([o for _, o in pairs])]
        rows.append([*words, *columns, text])
    return markdown.table(
        ["MPI library", "ranks", "calls", "native, us", "Unisono, us", "Unisono / native"], rows, (0, 2)
    )


def parser(about: str | None, libraries: Sequence[str], ranks: str) -> argparse.ArgumentParser:
    """With what all ask that measure jobs of waits.c."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ",".join(libraries)
    made.add_argument("--mpi", default=names, help=f"{harness.LIBRARIES} ({names})")
    made.add_argument("--ranks", default=ranks, help=f"of a job, several by commas ({ranks})")
    made.add_argument("--jobs", type=int, default=5, help="of each cell, natively and under Unisono (5)")
    made.add_argument("--json", type=Path, help="the file to write")
    made.add_argument("--table", type=Path, help="of a file that --json wrote")
    return made


def told(options: argparse.Namespace, measure: Callable[[], dict[str, Any]]) -> None:
    """The table of a file, or of what is measured now, with its circumstances."""
    if options.table:
        print("\n".join(table(read_json(options.table)["jobs"])))
        return
    found = measure()
    print("\n".join(table(found["jobs"])))
    if options.json:
        write_json(found, options.json)


def main() -> None:
    options = parser(__doc__, LIBRARIES, "4,8").parse_args()

    def measure() -> dict[str, Any]:
        before = circumstances()
        with tempfile.TemporaryDirectory() as folder:
            jobs = list(measured(cells_of(options, commands, Path(folder)), options.jobs))
        return before | {"jobs": jobs}

    told(options, measure)


if __name__ == "__main__":
    main()
