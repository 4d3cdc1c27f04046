"""Whole jobs on this node: seconds of each kind's calls, first ones included, over those natively.

  .venv/bin/python -m experiments.node.whole --mpi mpich,openmpi -n 4 --pattern loop --json whole.json
  .venv/bin/python -m experiments.node.whole --table whole.json

Patterns, what a rank does before each call (tests/gym/job.cpp): loop, nothing; sleep, for 1 ms; meet, all
ranks of the node sleep until the last one comes; compute, for 50 to 250 us; drift, nothing, but from the
middle on the last rank comes 2 ms late. Arms: native; unasked, with nothing set; first, what the table of
defaults says, with nothing compared (UNISONO_ONLINE=off); kernels, those of the node alone; kernels:N, the
same where each wait yields N times before it sleeps; kernels:yield, where it yields only. Jobs of all arms
in turn, in rounds over all places, each with an empty memory, run the kinds one after the other.
"""

import argparse
import itertools
import os
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from unisono.core import files, places
from unisono.core.catalogue import format_size

from experiments import harness, markdown

CELLS = [f"{name}:{size}" for name in ("bcast", "allreduce", "reduce", "scan") for size in (8, 32768)]
CELLS += [
    f"{name}:{size}"
    for name in ("allgather", "reduce_scatter_block", "alltoall", "gather", "scatter")
    for size in (8, 8192)
]
CELLS += ["barrier:0"]
# All blocking collectives, from short to long.
ALL = [
    f"{name}:{size}"
    for names, sizes in (
        (("bcast", "allreduce", "reduce", "scan", "exscan"), (8, 32 << 10, 1 << 20)),
        (
            (
                *("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "gather", "gatherv"),
                *("scatter", "scatterv", "reduce_scatter_block", "reduce_scatter"),
            ),
            (8, 8 << 10, 256 << 10),
        ),
    )
    for name in names
    for size in sizes
] + ["barrier:0"]
NATIVE = "native"
KERNELS = {f"UNISONO_{cell.partition(':')[0].upper()}": "shm" for cell in ALL}
PATTERNS = ("loop", "sleep", "meet", "compute", "drift")  # of tests/gym/job.cpp
FIXED = (0, 4, 16, 60, 250)
ARMS = {
    NATIVE: {},
    "unasked": {},
    "first": {"UNISONO_ONLINE": "off"},
    "kernels": KERNELS,
    # The same with as many yields before each sleep, in place of what is learned.
    **{f"kernels:{yields}": KERNELS | {"UNISONO_WAIT": f"sleep:{yields}"} for yields in FIXED},
    "kernels:yield": KERNELS | {"UNISONO_WAIT": "yield"},
}
Place = tuple[str, int, str, int]  # library, ranks, pattern, calls


class Job(TypedDict):
    place: Place
    arm: str
    job: int
    seconds: dict[str, float]


def seconds(place: Place, arm: str, cells: Sequence[str]) -> dict[str, float]:
    mpi = places.find_mpi(place[0])
    under = [] if arm == NATIVE else [str(places.program("unisono-exec"))]
    program = [str(places.program(f"gym_job_{mpi.flavour}")), str(place[3]), place[2], *cells]
    done = subprocess.run(
        [*mpi.launcher(place[1]), *under, *program],
        env=mpi.shell(place[1]) | {"XDG_CACHE_HOME": os.devnull} | ARMS[arm],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    return {cell: float(time) for cell, time in map(str.split, done.stdout.splitlines())}


def measured(
    all_places: Iterable[Place], arms: Sequence[str], jobs: int, cells: Sequence[str]
) -> Iterator[Job]:
    for job, place in itertools.product(range(jobs), list(all_places)):
        turn = [*arms[job % len(arms) :], *arms[: job % len(arms)]]
        for arm in turn:
            try:
                times = seconds(place, arm, cells)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                print(f"{place}, {arm}: {error}", flush=True)
                continue
            yield Job(place=place, arm=arm, job=job, seconds=times)


Jobs = dict[tuple[str, int], dict[str, float]]  # arm, job: seconds of each kind


def by_place(rows: Sequence[Job]) -> dict[Place, Jobs]:
    times: dict[Place, Jobs] = defaultdict(dict)
    for row in rows:
        mpi, ranks, pattern, calls = row["place"]
        times[mpi, ranks, pattern, calls][row["arm"], row["job"]] = row["seconds"]
    return times


def summary(rows: Sequence[Job]) -> list[str]:
    """Of what runs unasked: a line for each place, and its kinds that are slower than natively."""
    lines = []
    for (mpi, ranks, pattern, calls), jobs in by_place(rows).items():
        pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for (arm, job), seconds in jobs.items():
            for kind, time in seconds.items() if arm == "unasked" and (NATIVE, job) in jobs else ():
                pairs[kind].append((time, jobs[NATIVE, job][kind]))
        quotients = {kind: [ours / native for ours, native in found] for kind, found in pairs.items()}
        medians = {kind: statistics.median(found) for kind, found in quotients.items()}
        slow = sorted((medians[kind], kind) for kind in quotients if min(quotients[kind]) > 1)[::-1]
        below = [f"{kind.removesuffix(':0')} {median:.2f}" for median, kind in slow if median > 1 / 0.95]
        lost, most = max((statistics.median(a - b for a, b in found), kind) for kind, found in pairs.items())
        mean = statistics.geometric_mean(medians.values())
        faster = sum(max(found) < 1 for found in quotients.values())
        count = len(next(iter(quotients.values())))
        cells = [f"{mean:.2f}", str(len(medians)), str(faster)]
        cells += [str(sum(median > 1.05 for median in medians.values())), str(len(slow)), ", ".join(below)]
        cells.append(f"{lost * 1e3:.1f} ({most.removesuffix(':0')} {medians[most]:.2f})" if lost > 0 else "0")
        lines.append([mpi, str(ranks), pattern, str(calls), str(count), *cells])
    head = ["MPI library", "ranks", "pattern", "calls", "jobs", "mean", "kinds"]
    return markdown.table(
        [
            *head,
            "faster in all jobs",
            "beyond 1.05",
            "slower in all jobs",
            "of these beyond",
            "most lost, ms",
        ],
        lines,
        (0, 2, 10, 11),
    )


def sweep(rows: Sequence[Job]) -> list[str]:
    """Each arm's kernels over the best fixed number of yields of each kind: the mean, and the worst. The best
    is the least of several medians, and so somewhat less than any of them takes."""
    lines = []
    arms = ["kernels", *(arm for arm in ARMS if arm.startswith("kernels:"))]
    for (mpi, ranks, pattern, calls), jobs in by_place(rows).items():
        seconds: dict[str, dict[str, float]] = defaultdict(dict)  # kind, arm
        for arm in arms:
            own = [times for (name, _), times in jobs.items() if name == arm]
            for kind in own[0] if own else ():
                seconds[kind][arm] = statistics.median(times[kind] for times in own)
        best = {kind: min(times[arm] for arm in times if arm != "kernels") for kind, times in seconds.items()}
        texts = []
        for arm in arms:
            over = {kind: times[arm] / best[kind] for kind, times in seconds.items() if arm in times}
            worst = max(over, key=lambda kind: over[kind]) if over else ""
            mean = statistics.geometric_mean(over.values()) if over else 0
            texts.append(f"{mean:.2f} ({over[worst]:.2f})" if over else "")
        lines.append([mpi, str(ranks), pattern, str(calls), *texts])
    names = ["learned", *(arm.removeprefix("kernels:") for arm in arms[1:])]
    return markdown.table(["MPI library", "ranks", "pattern", "calls", *names], lines, (0, 2))


def table(rows: Sequence[Job]) -> Iterator[str]:
    """Medians of the rounds' quotients, and the least and greatest; below: the medians' geometric means."""
    for place, jobs in by_place(rows).items():
        arms = list(dict.fromkeys(arm for arm, _ in jobs if arm != NATIVE))
        rounds = [job for arm, job in jobs if arm == NATIVE]
        yield f"\n{place[0]}, {place[1]} ranks, {place[2]}, {place[3]} calls, {len(rounds)} jobs:\n"
        lines, medians = [], defaultdict(list)
        for cell in jobs[NATIVE, rounds[0]]:
            name, _, size = cell.partition(":")
            native = {job: jobs[NATIVE, job][cell] for job in rounds}
            text = [
                name,
                format_size(int(size)),
                f"{statistics.median(native.values()) / place[3] * 1e6:.2f}",
            ]
            for arm in arms:
                found = [jobs[arm, job][cell] / native[job] for job in rounds if (arm, job) in jobs]
                medians[arm].append(statistics.median(found))
                text.append(f"{medians[arm][-1]:.2f} ({min(found):.2f} to {max(found):.2f})")
            lines.append(text)
        means = [f"{statistics.geometric_mean(medians[arm]):.3f}" for arm in arms]
        head = ["collective", "bytes", "native, us a call", *arms]
        yield from markdown.table(head, [*lines, ["mean", "", "", *means]], (0,))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--mpi", default="mpich,openmpi", help=f"{harness.LIBRARIES} (mpich,openmpi)")
    add("-n", "--ranks", default="2,4", help="of a job, several by commas (2,4)")
    add(
        "--pattern",
        default="loop,sleep,compute",
        help=f"several by commas: {', '.join(PATTERNS)} (loop,sleep,compute)",
    )
    add("--calls", default="1000", help="of each kind in a job, several by commas (1000)")
    add("--jobs", type=int, default=5, help="of each arm (5)")
    add("--arms", default=",".join(ARMS), help=f"several by commas: {', '.join(ARMS)} (all)")
    add("--kinds", default=",".join(CELLS), help="COLLECTIVE:BYTES, several by commas, or all")
    add("--json", type=Path, help="the file to write")
    parser.add_argument("--table", type=Path, help="of a file that --json wrote")
    options = parser.parse_args()
    if options.table:
        rows = files.read_json(options.table)
    else:
        kinds = ALL if options.kinds == "all" else options.kinds.split(",")
        words = [options.mpi.split(","), map(int, options.ranks.split(",")), options.pattern.split(",")]
        where = itertools.product(*words, map(int, options.calls.split(",")))
        rows = list(measured(where, options.arms.split(","), options.jobs, kinds))
    if options.json:
        files.write_json(rows, options.json)
    print("\n".join([*table(rows), "", *summary(rows)]))


if __name__ == "__main__":
    main()
