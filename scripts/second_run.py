#!/usr/bin/env python3
"""What a program's first calls take on this node: natively, in a job that learns, and in one that remembers.

  .venv/bin/python scripts/second_run.py -n 4 --mpi openmpi --calls 5000 --jobs 5 --json FILE

Needs a built tree and mpi4py. Jobs of the arms in turn, each round with a cache of its own: native; "first"
with an empty cache; "second" with what a longer job has kept in it; "fixed" with the same and UNISONO=fixed.
Milliseconds for so many calls in a row of each collective, 8 bytes, of all ranks: a barrier ends them.
Medians with their intervals (95 % from 6 jobs on), and of the quotients to the native job of the same round.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from unisono.core import places
from unisono.core.estimates import Estimate, estimate_median
from unisono.core.files import write_json

ARMS = ("native", "first", "second", "fixed")
LONGER = 4  # times as many calls until everything is known
COLLECTIVES = ("allreduce", "bcast", "allgather")
PROGRAM = Path(__file__).with_name("first_calls.py")
Times = dict[str, float]


def job(options: argparse.Namespace, arm: str, cache: str, calls: int) -> Times:
    mpi = places.find_mpi(options.mpi)
    command = mpi.launcher(options.ranks)
    command += [] if arm == "native" else [str(places.program("unisono-exec"))]
    command += [sys.executable, str(PROGRAM), str(calls)]
    ours = {"XDG_CACHE_HOME": cache} | ({"UNISONO": "fixed"} if arm == "fixed" else {})
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env=mpi.shell(options.ranks) | ours,
    )
    found: Times = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return found


def measure(options: argparse.Namespace) -> dict[str, list[Times]]:
    jobs: dict[str, list[Times]] = {arm: [] for arm in ARMS}
    for _ in range(options.jobs):
        with tempfile.TemporaryDirectory() as cache:
            for arm in ARMS:
                if arm == "second":
                    job(options, arm, cache, LONGER * options.calls)
                jobs[arm].append(job(options, arm, cache, options.calls))
    return jobs


def text(estimate: Estimate, digits: int) -> str:
    return f"{estimate.median:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def table(jobs: dict[str, list[Times]]) -> list[str]:
    lines = ["| | " + " | ".join(f"{name.capitalize()}, ms | / native" for name in COLLECTIVES) + " |"]
    lines.append("|---|" + "---|" * 2 * len(COLLECTIVES))
    for arm, times in jobs.items():
        cells = [arm]
        for name in COLLECTIVES:
            pairs = zip(times, jobs["native"], strict=True)
            cells.append(text(estimate_median([one[name] for one in times]), 1))
            quotients = [one[name] / native[name] for one, native in pairs]
            cells.append("" if arm == "native" else text(estimate_median(quotients), 2))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", "--ranks", type=int, default=4)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=5, help="of each arm")
    parser.add_argument("--json", type=Path, help="write all times here")
    options = parser.parse_args()
    found = measure(options)
    print(f"{options.mpi}, {options.ranks} ranks, {options.calls} calls, {options.jobs} jobs an arm\n")
    print(*table(found), sep="\n")
    if options.json:
        settings = {key: getattr(options, key) for key in ("mpi", "ranks", "calls", "jobs")}
        write_json({**settings, "milliseconds": found}, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
