"""mpi4py's own tests on a node whose ranks share cores, natively and under Unisono: seconds, and what passed.

  .venv/bin/python -m experiments.mpi4py_suite --json FILE [--mpi NAMES] [--ranks 5] [--limit 120] [--jobs 1]
  .venv/bin/python -m experiments.mpi4py_suite --tests comm,p2p_obj --json FILE
  .venv/bin/python -m experiments.mpi4py_suite --table FILE

A job runs one file of tests, test_NAME.py, and is ended after --limit seconds. Seconds are those of the whole
job, its start included, as who waits for it sees them. Ranks wait as their library does by itself: it is told
nothing of shared cores. Where --json exists, what it has of the same revision is not run again.
"""

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from unisono.core import jobs as jobs_of
from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.core.files import read_json, write_json
from unisono.testbeds import beds

from experiments import harness, markdown, waits

LIBRARIES = ("debian-mpich", "mpich", "intel")
MESSAGES = ("p2p_obj", "p2p_obj_matched", "p2p_buf", "p2p_buf_matched", "request", "rma", "win", "io")
COLLECTIVES = ("cco_buf", "cco_obj", "cco_vec", "cco_ngh_buf", "cco_ngh_obj", "cco_nb_buf")
TESTS = ("comm", "comm_topo", *MESSAGES, *COLLECTIVES)
CONFORMANCE = harness.ROOT / "tests" / "conformance"


class Job(TypedDict):
    mpi: str
    ranks: int
    tests: str
    way: str
    round: int
    seconds: float
    limit: float
    problem: str  # without one, all ranks have run all tests
    outcomes: dict[str, int]  # passed, skipped, failed: tests by what became of them on the worst rank


Place = tuple[str, int, str, str, int]  # library, ranks, tests, way, round


def place_of(job: Job) -> Place:
    return job["mpi"], job["ranks"], job["tests"], job["way"], job["round"]


def sources() -> Path:
    folders = sorted((harness.ROOT / ".deps" / "mpi4py-tests").glob("mpi4py-*/test"))
    if not folders:
        raise UnisonoError("no tests of mpi4py: tests/conformance/mpi4py_suite.py fetches them")
    return folders[-1]


def outcomes_in(folder: Path, ranks: int) -> dict[str, int]:
    """A test has failed where it has on any rank; OSError where a rank has not come to the end."""
    worst: dict[str, str] = {}
    order = ["passed", "skipped", "expected failure", "failed"]
    for rank in range(ranks):
        found = json.loads((folder / f"{rank}.json").read_text())["outcomes"]
        for test, outcome in found.items():
            kind = outcome.partition(":")[0]
            worst[test] = max(worst.get(test, kind), kind, key=order.index)
    return dict(Counter(worst.values()))


def job(place: Place, limit: float) -> Job:
    name, ranks, tests, way, number = place
    mpi = places.find_mpi(name)
    under = [] if way == "native" else [str(places.program("unisono-exec"))]
    runner = [sys.executable, str(CONFORMANCE / "mpi4py_runner.py"), str(sources())]
    outcomes: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        command = [*under, *runner, folder, "-i", rf"^test_{tests}\.py$"]
        line, environment = beds.Node().command(mpi, ranks, ranks, command)
        begin = time.monotonic()
        chosen = {"MPI4PY_MPIABI": mpi.flavour, "LD_LIBRARY_PATH": mpi.library_path()}
        done = jobs_of.run(line, environment | chosen, limit)
        seconds = time.monotonic() - begin
        problem = done.problem
        try:
            # An exit status: there are tests that failed.
            outcomes = outcomes_in(Path(folder), ranks)
            problem = "" if problem.startswith("exit status 1:") else problem
        except OSError:
            problem = problem or "a rank has not come to the end"
    return Job(
        mpi=name,
        ranks=ranks,
        tests=tests,
        way=way,
        round=number,
        seconds=round(seconds, 2),
        limit=limit,
        problem=problem,
        outcomes=outcomes,
    )


def measured(every: Sequence[Place], known: dict[Place, Job], limit: float) -> Iterator[Job]:
    for place in every:
        if place in known:
            yield known[place]
            continue
        found = job(place, limit)
        print(*place, found["seconds"], found["problem"] or words(found["outcomes"]), flush=True)
        yield found


def words(outcomes: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(outcomes.items(), key=lambda one: one[0]))


def is_over(job: Job) -> bool:
    return job["seconds"] >= job["limit"]


def seconds_text(jobs: Sequence[Job]) -> str:
    """Of several the median, with the least and the most."""
    good = [job["seconds"] for job in jobs if not job["problem"]]
    over = [job["limit"] for job in jobs if is_over(job)]
    failed = [job["problem"] for job in jobs if job["problem"] and not is_over(job)]
    text = [f"over {limit:g}" for limit in sorted(set(over))]
    if good:
        several = f" ({min(good):.1f} to {max(good):.1f})" if len(good) > 1 else ""
        text.append(f"{statistics.median(good):.1f}{several}")
    text += [f"no result: {problem}" for problem in sorted(set(failed))]
    return "; ".join(text)


def table(jobs: Sequence[Job]) -> list[str]:
    cells = dict.fromkeys((job["mpi"], job["ranks"], job["tests"]) for job in jobs)
    rows = []
    for mpi, ranks, tests in cells:
        of_cell = [job for job in jobs if (job["mpi"], job["ranks"], job["tests"]) == (mpi, ranks, tests)]
        row = [mpi, str(ranks), f"`test_{tests}`"]
        for way in waits.WAYS:
            own = [job for job in of_cell if job["way"] == way]
            told = dict.fromkeys(words(job["outcomes"]) for job in own if job["outcomes"])
            row += [seconds_text(own), "; ".join(told)]
        rows.append(row)
    heads = ["MPI library", "ranks", "tests", "native, s", "natively", "Unisono, s", "under Unisono"]
    return markdown.table(heads, rows, (0, 2, 4, 6))


def started(file: Path | None) -> dict[Place, Job]:
    if file is None or not file.exists():
        return {}
    former = read_json(file)
    return {place_of(job): job for job in former["jobs"]} if former["revision"] == harness.revision() else {}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mpi", default=",".join(LIBRARIES), help=f"several by commas: {', '.join(LIBRARIES)} (all)"
    )
    parser.add_argument("--tests", default=",".join(TESTS), help="files, without test_ and .py")
    parser.add_argument("--ranks", type=int, default=5, help="of a job (5)")
    parser.add_argument(
        "--jobs", type=int, default=1, help="of each file of tests, natively and under Unisono (1)"
    )
    parser.add_argument("--limit", type=float, default=120, help="seconds of a job")
    parser.add_argument("--json", type=Path, help="the file to write; what is in it already is not run again")
    parser.add_argument("--table", type=Path, help="of a file that --json wrote")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(read_json(options.table)["jobs"])))
        return 0
    about = waits.circumstances()
    known = started(options.json)
    order = itertools.product(range(options.jobs), options.mpi.split(","), options.tests.split(","))
    every = [
        (mpi, options.ranks, tests, way, number)
        for number, mpi, tests in order
        for way in (waits.WAYS if number % 2 == 0 else tuple(reversed(waits.WAYS)))
    ]
    jobs: list[Job] = []
    for found in measured(every, known, options.limit):
        jobs.append(found)
        if options.json:
            write_json(about | {"jobs": jobs}, options.json)
    print("\n".join(table(jobs)))
    return 0


if __name__ == "__main__":
    harness.run(main)
