#!/usr/bin/env python3
"""What MPI_Init takes with Unisono under a program, and without, in a lab.

  sudo .venv/bin/python scripts/init_time.py --hosts 16 --mpi openmpi,mpich --jobs 12 --json FILE

Needs root (the lab) and a built tree. Jobs of four arms in turn: native; Unisono with an empty cache; with
what an earlier job of this run has kept; and asked for what the network costs. Milliseconds from when
the last rank entered MPI_Init until the last one left it, and until the last one left an Allreduce of 8
bytes after it: what connects in MPI_Init need not connect there. Medians with their intervals (95 % from 6
jobs on), and of the differences to the native job of the same round. On a machine that does other things
meanwhile they are of both.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from unisono.core import places
from unisono.core.estimates import Estimate, estimate_median
from unisono.core.files import write_json

NAME = "init"
MEASURES = {"UNISONO": "measure"}
ARMS: dict[str, dict[str, str]] = {
    "native": {},
    "empty cache": {},
    "filled cache": {},
    "network measured": MEASURES,
}
TRIES = 10  # for a job that keeps what it has measured
FIGURES = {"init": "MPI_Init", "first_call": "with the first call"}
Times = dict[str, float]


def job(mpi: str, options: argparse.Namespace, arm: str, cache: str) -> Times:
    command = [*options.lab, "run", "--name", NAME, "--mpi", mpi, "-n", str(options.ranks)]
    command += ["--native"] if arm == "native" else []
    command += ["--", str(places.program(f"unisono-start-{mpi}"))]
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | ARMS[arm] | {"XDG_CACHE_HOME": cache},
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    return {key: float(value) * 1e3 for key, value in json.loads(line).items()}


def fill(mpi: str, options: argparse.Namespace, cache: str) -> None:
    for _ in range(TRIES):
        job(mpi, options, "network measured", cache)
        if any(Path(cache).rglob("*.json")):
            return
    raise SystemExit(f"{mpi}: {TRIES} jobs kept nothing in the cache")


def measure(mpi: str, options: argparse.Namespace) -> dict[str, list[Times]]:
    jobs: dict[str, list[Times]] = {arm: [] for arm in ARMS}
    with tempfile.TemporaryDirectory() as filled:
        fill(mpi, options, filled)
        for turn in range(options.jobs):
            for at in range(len(ARMS)):
                arm = list(ARMS)[(turn + at) % len(ARMS)]
                with tempfile.TemporaryDirectory() as empty:
                    cache = filled if arm == "filled cache" else empty
                    jobs[arm].append(job(mpi, options, arm, cache))
    return jobs


def text(estimate: Estimate) -> str:
    return f"{estimate.median:.0f} ({estimate.low:.0f} to {estimate.high:.0f})"


def table(jobs: dict[str, list[Times]]) -> list[str]:
    lines = ["| | " + " | ".join(f"{words}, ms | more than native" for words in FIGURES.values()) + " |"]
    lines.append("|---|" + "---|" * 2 * len(FIGURES))
    for arm, times in jobs.items():
        cells = [arm]
        for figure in FIGURES:
            pairs = zip(times, jobs["native"], strict=True)
            more = [one[figure] - native[figure] for one, native in pairs]
            cells.append(text(estimate_median([one[figure] for one in times])))
            cells.append("" if arm == "native" else text(estimate_median(more)))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("-n", "--ranks", type=int, help="otherwise one a host")
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--jobs", type=int, default=12, help="of each arm")
    parser.add_argument("--json", type=Path, help="write all times here")
    options = parser.parse_args()
    options.ranks = options.ranks or options.hosts
    options.lab = [str(Path(sys.executable).with_name("unisono")), "lab"]
    up = [*options.lab, "up", "--name", NAME, "--hosts", str(options.hosts), "--rate", options.rate]
    subprocess.run(up, check=True, stdout=subprocess.DEVNULL)
    found = {}
    try:
        for mpi in options.mpi.split(","):
            found[mpi] = measure(mpi, options)
            head = f"{mpi}, {options.ranks} ranks on {options.hosts} hosts at {options.rate}"
            print(f"\n{head}, {options.jobs} jobs an arm\n", *table(found[mpi]), sep="\n", flush=True)
    finally:
        subprocess.run([*options.lab, "down", "--name", NAME], check=True, stdout=subprocess.DEVNULL)
    if options.json:
        settings = {key: getattr(options, key) for key in ("hosts", "ranks", "rate", "jobs")}
        write_json({**settings, "milliseconds": found}, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
