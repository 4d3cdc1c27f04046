"""Barrier and Allreduce of many ranks on few cores, beside what the kernel's switches between them take.

  .venv/bin/python -m experiments.floor --json FILE [--jobs 9] [--ranks 64] [--cores 2] [--mpi openmpi]
  .venv/bin/python -m experiments.floor --table FILE

The floor: so many threads or processes meet in rounds, and do nothing else (experiments/inputs/switches.c).
Each runs once in a round, which takes ranks / cores switches on each core. They wait blocked in a futex or in
sched_yield, and the floor is what the cheapest way takes in a round. Ranks are processes, whose switches cost
more than those between threads of one: the quotients name both. Rounds of all cells in turn, so that a call
and the floor are of the same minutes; quotients are those of a round. All calls of a job but the first count,
also those in which Unisono still chooses; what calls take later stands beside.
"""

import argparse
import itertools
import os
import re
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from unisono.core import places
from unisono.core.estimates import estimate_median
from unisono.core.files import read_json, write_json

from experiments import markdown, waits
from experiments.programs.installing import checked
from experiments.programs.program import INPUTS

# Ways to wait, of switches.c.
WAITS = {"futex": "blocked", "shared": "blocked, a word for each core", "yield": "sched_yield"}
KINDS = ("threads", "processes")
CALLS = ("barrier", "allreduce")
SETTLED = 5000  # calls by which Unisono should have chosen: what a long program pays
LATER = f", after {SETTLED} calls"
GOAL = 2  # times the floor
SECONDS = 2.0  # of the rounds of a job
PILOT, FEWEST, MOST = 200, 1000, 20000  # of its rounds
FLOOR = "floor"  # stands beside the ways of waits.WAYS


class Job(TypedDict):
    cell: tuple[str, str]  # floor with the kind and way of its waits, or native or unisono with the call
    round: int
    calls: int  # or rounds of switches.c
    seconds: float | None  # of a round or call; None: the job failed
    switches: float  # of a rank in it


def built(folder: Path) -> Path:
    made = folder / "switches"
    source = str(INPUTS / "switches.c")
    checked(["cc", "-O2", "-pthread", source, "-o", str(made)], folder, "switches.c")
    return made


def commands(ranks: int, cores: Sequence[int], folder: Path) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """{calls} stands for the number of rounds."""
    switches = built(folder)
    for kind in KINDS:
        for way in WAITS:
            words = [way, kind, str(ranks), "{calls}", *map(str, cores)]
            yield (FLOOR, f"{kind}, {way}"), [str(switches), *words]


def one(mpi: places.Mpi, ranks: int, where: str, command: Sequence[str], calls: int) -> tuple[float, float]:
    """Seconds, and switches of a rank."""
    if where == FLOOR:
        words = [word.replace("{calls}", str(calls)) for word in command]
        text = subprocess.run(words, capture_output=True, text=True, check=True, timeout=waits.LIMIT).stdout
    else:
        text = waits.printed(waits.Cell(mpi, ranks, where, [*command]), where, calls)
    found = re.match(r"([\d.]+) ([\d.]+)$", text, re.MULTILINE)
    if not found:
        raise ValueError(f"printed {text!r}")
    return float(found[1]), float(found[2])


def measured(
    mpi: places.Mpi, ranks: int, cores: Sequence[int], jobs: int, calls: int, folder: Path
) -> Iterator[Job]:
    program = str(waits.built(mpi, folder))
    cells = dict(commands(ranks, cores, folder))
    for call in CALLS:
        words = [program, call, "{calls}", "0"]
        cells |= {(way, call): words for way in waits.WAYS}
        cells["unisono", call + LATER] = [*words, str(SETTLED)]
    numbers = {cell: calls for cell in cells if cell[0] != FLOOR}
    for number in range(jobs):
        for cell in cells if number % 2 == 0 else reversed(cells):
            found = Job(cell=cell, round=number, calls=0, seconds=None, switches=0)
            try:
                if cell not in numbers:
                    pilot, _ = one(mpi, ranks, cell[0], cells[cell], PILOT)
                    numbers[cell] = max(FEWEST, min(MOST, round(SECONDS / pilot)))
                found["calls"] = numbers[cell]
                found["seconds"], found["switches"] = one(mpi, ranks, cell[0], cells[cell], numbers[cell])
            except (subprocess.SubprocessError, ValueError) as error:
                print(f"{cell}: {error}", flush=True)
            yield found


Times = Mapping[tuple[str, str], Mapping[int, float]]  # by cell and round


def name(cell: tuple[str, str]) -> str:
    if cell[0] != FLOOR:
        return f"{cell[1]}, {cell[0]}"
    kind, _, way = cell[1].partition(", ")
    return f"the switches alone: {kind}, {WAITS[way]}"


def floor_of(times: Times, kind: str) -> dict[int, float]:
    """What the way to wait that is cheapest in a round takes in it: one that was disturbed is no floor."""
    found: dict[int, float] = {}
    for (where, what), own in times.items():
        if where == FLOOR and what.startswith(kind):
            for number, time in own.items():
                found[number] = min(time, found.get(number, time))
    return found


def quotients(own: Mapping[int, float], floor: Mapping[int, float]) -> list[float]:
    return [time / floor[number] for number, time in own.items() if number in floor]


def over(own: Mapping[int, float], floor: Mapping[int, float]) -> str:
    if not (pairs := quotients(own, floor)):
        return ""
    estimate = estimate_median(pairs)
    return f"{estimate.median:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def table(jobs: Sequence[Job]) -> list[str]:
    """Medians with the least and the most; quotients of the rounds with their intervals."""
    times: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    switches: dict[tuple[str, str], list[float]] = defaultdict(list)
    failed: dict[tuple[str, str], int] = defaultdict(int)
    calls: dict[tuple[str, str], int] = {}
    for job in jobs:
        place, what = job["cell"]
        failed[place, what] += job["seconds"] is None
        calls[place, what] = job["calls"]
        if job["seconds"] is not None:
            times[place, what][job["round"]] = job["seconds"]
            switches[place, what].append(job["switches"])
    floors = {kind: floor_of(times, kind) for kind in KINDS}
    rows = []
    for cell, number in failed.items():
        words = [name(cell), str(calls[cell])]
        if cell not in times:
            rows.append([*words, f"{number} jobs failed", "", "", ""])
            continue
        text = waits.microseconds(list(times[cell].values())) + (f"; {number} jobs failed" if number else "")
        columns = [over(times[cell], floor) for floor in floors.values()]
        rows.append([*words, text, f"{statistics.median(switches[cell]):.1f}", *columns])
    heads = ["", "calls", "us", "switches of a rank", *(f"over the floor of {kind}" for kind in KINDS)]
    return [*markdown.table(heads, rows, (0,)), *verdicts(times, floors)]


def verdicts(times: Times, floors: Mapping[str, Mapping[int, float]]) -> Iterator[str]:
    for kind, floor in floors.items():
        yield f"- the floor of {kind}: {waits.microseconds(list(floor.values()))} us" if floor else ""
    for ((way, call), own), (kind, floor) in itertools.product(times.items(), floors.items()):
        if way == "unisono" and (pairs := quotients(own, floor)):
            median = statistics.median(pairs)
            met = markdown.met(median <= GOAL)
            yield f"- {call}, at most {GOAL} times the floor of {kind}: {met}, {median:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mpi", default="openmpi", help="mpich, openmpi, intel, debian-mpich or debian-openmpi (openmpi)"
    )
    parser.add_argument("--ranks", type=int, default=64, help="of a job (64)")
    parser.add_argument("--cores", type=int, default=2, help="the first so many of those allowed here")
    parser.add_argument("--jobs", type=int, default=9, help="rounds of all cells (9)")
    parser.add_argument("--calls", type=int, default=2000, help="of a job (2000)")
    parser.add_argument("--json", type=Path, help="the file to write")
    parser.add_argument("--table", type=Path, help="of a file that --json wrote")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(read_json(options.table)["jobs"])))
        return
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)  # also of the jobs
    about = waits.circumstances() | {"mpi": options.mpi, "ranks": options.ranks}
    with tempfile.TemporaryDirectory() as folder:
        mpi = places.find_mpi(options.mpi)
        jobs = list(measured(mpi, options.ranks, cores, options.jobs, options.calls, Path(folder)))
    print("\n".join(table(jobs)))
    if options.json:
        write_json(about | {"jobs": jobs}, options.json)


if __name__ == "__main__":
    main()
