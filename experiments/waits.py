"""Waits of the MPI library on a node whose ranks share cores: natively and under Unisono.

  .venv/bin/python -m experiments.waits --json FILE [--jobs 5] [--mpi NAMES] [--ranks 4,8]
  .venv/bin/python -m experiments.waits --json FILE --ranks 2 --only computing --beside nothing,job,work
  .venv/bin/python -m experiments.waits --table FILE

Each cell is a job of experiments/inputs/waits.c or of IMB-MPI1, natively and under Unisono in turn; rounds
of all cells, so that a cell's jobs are spread over the whole run. Both ways make as many calls: 20 to 1000,
what a native job makes in half a second. Beside them run nothing, a second job of the same kind, or as many
processes that compute as there are cores.
"""

import argparse
import itertools
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

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
ENDLESS = 10**9  # calls
UNDER_WAY = 1.0  # seconds after which a job beside is in its calls
NOTHING, JOB, WORK = "nothing", "job", "work"
NAMES = {JOB: "a second job", WORK: "processes that compute"}


class Job(TypedDict):
    mpi: str
    ranks: int
    cell: str
    beside: NotRequired[str]
    way: str
    round: int
    calls: int
    seconds: float | None  # of a call; None: the job failed


def built(mpi: places.Mpi, folder: Path) -> Path:
    # Intel MPI has the interface of MPICH, and from PyPI no compiler wrapper.
    source = places.find_mpi("mpich") if mpi.name == places.INTEL else mpi
    compiler = places_in(Program("waits", "", (), ()), source)["cc"]
    made = folder / f"waits-{mpi.name}"
    checked([compiler, "-O1", str(INPUTS / "waits.c"), "-o", str(made)], folder, "waits.c")
    return made


def cells(mpi: places.Mpi, program: Path) -> Iterator[tuple[str, list[str]]]:
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


class Cell(NamedTuple):
    mpi: places.Mpi
    ranks: int
    name: str
    command: Sequence[str]
    beside: str

    def started(self, way: str, calls: int) -> subprocess.Popen[str]:
        under = [] if way == "native" else [str(places.program("unisono-exec"))]
        program = [part.replace("{calls}", str(calls)) for part in self.command]
        about = {"XDG_CACHE_HOME": os.devnull, "LD_LIBRARY_PATH": self.mpi.library_path()}
        return subprocess.Popen(
            [*self.mpi.launcher(self.ranks), *under, *program],
            env=self.mpi.shell(self.ranks) | about,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @contextmanager
    def neighbours(self, way: str) -> Iterator[None]:
        """What runs beside a job, until it has ended."""
        with ExitStack() as all_of_them:
            others = []
            if self.beside == JOB:
                others.append(self.started(way, ENDLESS))
            if self.beside == WORK:
                computing = [sys.executable, "-c", "while True: pass"]
                others += [
                    subprocess.Popen(computing, text=True, start_new_session=True)
                    for _ in range(machine.cores().usable)
                ]
            for other in others:
                all_of_them.callback(end, other)
            if others:
                time.sleep(UNDER_WAY)
            yield

    def seconds(self, way: str, calls: int) -> float | None:
        with self.neighbours(way):
            job = self.started(way, calls)
            try:
                output, _ = job.communicate(timeout=LIMIT)
                if job.returncode != 0:
                    raise subprocess.CalledProcessError(job.returncode, job.args)
                return seconds_in(output)
            except (subprocess.SubprocessError, ValueError, IndexError) as error:
                print(f"{self.mpi.name}, {self.ranks} ranks, {self.name}, {way}: {error}", flush=True)
                return None
            finally:
                end(job)


def end(job: subprocess.Popen[str]) -> None:
    """And all its processes."""
    with suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGTERM)
    job.communicate()


def measured(cells_of_all: Sequence[Cell], jobs: int) -> Iterator[Job]:
    numbers: dict[tuple[str, int, str], int] = {}
    for number, cell in itertools.product(range(jobs), cells_of_all):
        where = cell.mpi.name, cell.ranks, cell.name
        if where not in numbers:
            pilot = cell._replace(beside=NOTHING).seconds("native", FEWEST)
            numbers[where] = FEWEST if not pilot else max(FEWEST, min(MOST, round(ENOUGH / pilot)))
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            yield Job(
                mpi=cell.mpi.name,
                ranks=cell.ranks,
                cell=cell.name,
                beside=cell.beside,
                way=way,
                round=number,
                calls=numbers[where],
                seconds=cell.seconds(way, numbers[where]),
            )


def chosen(options: argparse.Namespace, folder: Path) -> list[Cell]:
    mpis = [places.find_mpi(name) for name in options.mpi.split(",")]
    programs = {mpi.name: built(mpi, folder) for mpi in mpis}
    return [
        Cell(mpi, int(ranks), name, command, beside)
        for mpi in mpis
        for ranks in options.ranks.split(",")
        for name, command in cells(mpi, programs[mpi.name])
        for beside in options.beside.split(",")
        if options.only in name
    ]


def microseconds(values: Sequence[float]) -> str:
    return f"{statistics.median(values) * 1e6:.1f} ({min(values) * 1e6:.1f} to {max(values) * 1e6:.1f})"


def table(jobs: Sequence[Job]) -> list[str]:
    """Medians with the least and the most; the quotient of the pairs with its interval."""
    found: dict[tuple[str, int, str, str], dict[tuple[str, int], float | None]] = defaultdict(dict)
    for job in jobs:
        where = job["mpi"], job["ranks"], job["cell"], job.get("beside", NOTHING)
        found[where][job["way"], job["round"]] = job["seconds"]
    rows = []
    for (mpi, ranks, cell, beside), times in found.items():
        pairs = [
            (native, ours)
            for (way, number), native in times.items()
            if way == "native" and native and (ours := times.get(("unisono", number)))
        ]
        failed = sum(time is None for time in times.values())
        words = [mpi, str(ranks), cell if beside == NOTHING else f"{cell}, beside {NAMES[beside]}"]
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default=",".join(LIBRARIES))
    parser.add_argument("--ranks", default="4,8")
    parser.add_argument("--jobs", type=int, default=5)
    parser.add_argument("--only", default="", help="calls whose name has this text")
    parser.add_argument("--beside", default=NOTHING, help=f"of {NOTHING}, {JOB}, {WORK}")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", type=Path, help="of a file that --json wrote")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(read_json(options.table)["jobs"])))
        return
    about = {
        "processor": processor(),
        "cores": machine.cores().usable,
        "revision": harness.revision(),
        "busy before": machine.busy_share(),
    }
    with tempfile.TemporaryDirectory() as folder:
        jobs = list(measured(chosen(options, Path(folder)), options.jobs))
    print("\n".join(table(jobs)))
    if options.json:
        write_json(about | {"jobs": jobs}, options.json)


if __name__ == "__main__":
    main()
