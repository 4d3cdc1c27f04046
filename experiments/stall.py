"""Calls in which a rank makes no progress for long, between hosts of a lab with more ranks than cores.

  sudo .venv/bin/unisono lab up --hosts 6 --rate 1gbit
  sudo .venv/bin/python -m experiments.stall --json FILE [--jobs 10] [--seconds 2] [--ppn 3] [--mpi openmpi]
  .venv/bin/python -m experiments.stall --table FILE

Jobs call Bcast, Allreduce and Alltoall of 1 KiB back to back (experiments/inputs/stall.c), natively and under
Unisono with nothing set, in turn. Of each the longest call on any rank is kept, and what the kernel gave to
each rank meanwhile: how long it ran, how long it waited for a core, and its se.vruntime.

Where sched_yield lets the virtual clock of a core run away, a rank that is moved from there may starve.
Whether this kernel does so to plain processes is measured beside (experiments/inputs/starve.c): some yield in
a loop on one core, one of them is moved to another core, on which others sleep and wake, compute or yield.
"""

import argparse
import itertools
import os
import platform
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from unisono.core import jobs as jobs_of
from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.core.files import read_json, write_json
from unisono.testbeds import beds

from experiments import harness, markdown, waits
from experiments.programs.installing import checked
from experiments.programs.program import INPUTS

STALL = 0.5  # seconds of a call, or without a core
BYTES = 1024
# Of starve.c: what is done on the core that a process is moved to, how it is moved, who shares its session.
WAYS_THERE = ("sleep", "compute", "yield")
HOW = ("awake", "asleep")
SESSIONS = {"one": "all in one session", "each": "each in its own", "odd": "every second in its own"}
YIELDING, OTHERS, MOVES = 4, 4, 4


class Rank(TypedDict):
    """Of a job's longest call, or of the three calls of which it is one."""

    seconds: float  # in the call
    ran: float  # seconds, in the three calls
    waited: float  # for a core
    clocks: tuple[float, float]  # se.vruntime in ms, before and after; -1: not readable
    cores: tuple[int, int]


class Job(TypedDict):
    way: str
    round: int
    problem: str  # without one, what follows has been measured
    first: float  # seconds of the longest call of the first round, in which ranks connect
    call: str  # the longest of all others
    seconds: float
    rounds: tuple[int, int]  # that of the call, and how many there were
    ranks: list[Rank]


class Move(TypedDict):
    """Of a plain process."""

    there: str
    how: str
    sessions: str
    core: int
    seconds: float  # the longest time without a core
    clocks: tuple[float, float]  # its own, before and after
    others: tuple[float, float]  # those of a process on either core before


def rank_of(words: Sequence[str]) -> Rank:
    seconds, ran, waited, before, after, begin, end = map(float, words)
    cores = int(begin), int(end)
    return Rank(seconds=seconds, ran=ran, waited=waited, clocks=(before, after), cores=cores)


def job(
    bed: beds.Bed, mpi: places.Mpi, size: tuple[int, int], command: Sequence[str], way: str, number: int
) -> Job:
    """`size`: ranks, and ranks on each host."""
    under = [] if way == "native" else [str(places.program("unisono-exec"))]
    line, environment = bed.command(mpi, *size, [*under, *command])
    done = jobs_of.run(line, environment, waits.LIMIT)
    head = re.search(r"^first ([\d.]+)\ncall (\w+) ([\d.]+) (\d+) (\d+)$", done.output, re.MULTILINE)
    if done.problem or head is None:
        problem = done.problem or "no result"
        return Job(
            way=way, round=number, problem=problem, first=0, call="", seconds=0, rounds=(0, 0), ranks=[]
        )
    lines = re.findall(r"^rank \d+ (.+)$", done.output, re.MULTILINE)
    return Job(
        way=way,
        round=number,
        problem="",
        first=float(head[1]),
        call=head[2],
        seconds=float(head[3]),
        rounds=(int(head[4]), int(head[5])),
        ranks=[rank_of(text.split()) for text in lines],
    )


def measured(
    bed: beds.Bed, mpi: places.Mpi, size: tuple[int, int], seconds: float, jobs: int, folder: Path
) -> Iterator[Job]:
    program = waits.built(mpi, folder, "stall")
    command = [str(program), f"{seconds:g}", str(BYTES)]
    for number in range(jobs):
        for way in waits.WAYS if number % 2 == 0 else reversed(waits.WAYS):
            found = job(bed, mpi, size, command, way, number)
            print(f"{number} {way}: {found['problem'] or format(found['seconds'], '.3f')}", flush=True)
            yield found


def moves(seconds: float, cores: Sequence[int], folder: Path) -> Iterator[Move]:
    program = folder / "starve"
    checked(["cc", "-O1", str(INPUTS / "starve.c"), "-o", str(program)], folder, "starve.c")
    for sessions, how, there in itertools.product(SESSIONS, HOW, WAYS_THERE):
        numbers = [str(YIELDING), str(OTHERS), f"{seconds:g}", str(MOVES), *map(str, cores)]
        words = [str(program), there, how, sessions, *numbers]
        limit = 2 * seconds * (MOVES + 1) + waits.LIMIT
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=limit)
        for line in done.stdout.splitlines():
            core, gap, before, after, yielding, other = map(float, line.split())
            yield Move(
                there=there,
                how=how,
                sessions=sessions,
                core=int(core),
                seconds=gap,
                clocks=(before, after),
                others=(yielding, other),
            )


def spread(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.3f} ({min(times):.3f} to {max(times):.3f})"


def table_of_jobs(jobs: Sequence[Job]) -> list[str]:
    rows = []
    for way in waits.WAYS:
        own = [job for job in jobs if job["way"] == way]
        good = [job for job in own if not job["problem"]]
        row = [way, str(len(good)), str(len(own) - len(good))]
        if good:
            times = [job["seconds"] for job in good]
            stalls = sum(time > STALL for time in times)
            rounds = statistics.median(job["rounds"][1] for job in good)
            row += [str(stalls), spread(times), spread([job["first"] for job in good]), f"{rounds:.0f}"]
        rows.append(row + [""] * (7 - len(row)))
    over = f"with a call beyond {STALL:g} s"
    heads = ["way", "jobs", "failed", over, "longest call, s", "in the first round, s", "rounds"]
    return markdown.table(heads, rows, (0,))


def table_of_stalls(jobs: Sequence[Job]) -> list[str]:
    """In each the rank that waited longest for a core, beside all others of the job."""
    rows = []
    for job in jobs:
        if job["problem"] or job["seconds"] <= STALL:
            continue
        number, rank = max(enumerate(job["ranks"]), key=lambda pair: pair[1]["waited"])
        others = [other for at, other in enumerate(job["ranks"]) if at != number]
        grown = [other["clocks"][1] - other["clocks"][0] for other in others]
        rows.append(
            [
                f"{job['way']}, {job['round']}",
                job["call"],
                f"{job['seconds']:.3f}",
                f"{number}, core {rank['cores'][0]} to {rank['cores'][1]}",
                f"{rank['waited']:.3f}, {max(other['waited'] for other in others):.3f}",
                f"{rank['ran']:.3f}, {max(other['ran'] for other in others):.3f}",
                f"{rank['clocks'][0]:.0f} to {rank['clocks'][1]:.0f}",
                f"{min(grown):.0f} to {max(grown):.0f}",
            ]
        )
    heads = [
        "job",
        "call",
        "s",
        "rank",
        "waited, the most of the others, s",
        "ran, the most of the others, s",
    ]
    heads += ["its se.vruntime, ms", "how far the others' came, ms"]
    return markdown.table(heads, rows, (0, 1, 3)) if rows else ["no call was longer.", ""]


def table_of_moves(found: Sequence[Move]) -> list[str]:
    """Where a core is shared fairly, a process waits for the time slices of the others there."""
    kinds: dict[tuple[str, str, str], dict[int, list[Move]]] = {}
    for move in found:
        kind = kinds.setdefault((move["sessions"], move["how"], move["there"]), {})
        kind.setdefault(move["core"], []).append(move)  # first to the other core, then back
    rows = []
    for (sessions, how, there), by_core in kinds.items():
        for where, moves_to in zip((f"to where they {there}", "back"), by_core.values(), strict=True):
            worst = max(moves_to, key=lambda move: move["seconds"])
            rows.append(
                [
                    f"{where}, {how}, {SESSIONS[sessions]}",
                    str(len(moves_to)),
                    spread([1e3 * move["seconds"] for move in moves_to]),
                    f"{worst['clocks'][0]:.0f} to {worst['clocks'][1]:.0f}",
                    f"{worst['others'][0]:.0f}, {worst['others'][1]:.0f}",
                ]
            )
    longest = max(move["seconds"] for move in found)
    starves = f"beyond {STALL:g} s: a moved process starves here" if longest > STALL else "none starved"
    heads = ["moved", "moves", "longest without a core, ms", "its se.vruntime at the longest, ms"]
    heads += ["of another that yields, of one on the other core"]
    return [*markdown.table(heads, rows, (0,)), f"The longest of all: {longest:.3f} s; {starves}."]


def tables(jobs: Sequence[Job], moved: Sequence[Move]) -> list[str]:
    of_jobs = [*table_of_jobs(jobs), "", *table_of_stalls(jobs)] if jobs else []
    return [*of_jobs, "", *table_of_moves(moved)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mpi", default="openmpi", help="mpich, openmpi, intel, debian-mpich or debian-openmpi (openmpi)"
    )
    parser.add_argument("--ppn", type=int, default=3, help="ranks on each host of the lab (3)")
    parser.add_argument("--jobs", type=int, default=10, help="0: only plain processes, without a lab")
    parser.add_argument("--seconds", type=float, default=2, help="of a job, and between two moves")
    parser.add_argument("--json", type=Path, help="the file to write")
    parser.add_argument("--table", type=Path, help="of a file that --json wrote")
    options = parser.parse_args()
    if options.table:
        former = read_json(options.table)
        jobs, moved = former["jobs"], former["moves"]
    else:
        about = waits.circumstances() | {"mpi": options.mpi, "kernel": platform.release()}
        cores = sorted(os.sched_getaffinity(0))[:2]
        if len(cores) < 2:
            raise UnisonoError("a process cannot be moved: there is one core")
        with tempfile.TemporaryDirectory() as folder:
            moved = list(moves(options.seconds, cores, Path(folder)))
            jobs = []
            if options.jobs > 0:
                bed = beds.current_lab()
                about["bed"] = bed.describe()
                size = options.ppn * bed.fitting_ranks(), options.ppn
                mpi = places.find_mpi(options.mpi)
                jobs = list(measured(bed, mpi, size, options.seconds, options.jobs, Path(folder)))
        if options.json:
            write_json(about | {"jobs": jobs, "moves": moved}, options.json)
    print("\n".join(tables(jobs, moved)))
    return 0


if __name__ == "__main__":
    harness.run(main)
