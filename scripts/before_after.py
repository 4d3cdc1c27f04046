#!/usr/bin/env python3
"""What a change did to the speed: two builds side by side on a node or in a lab, in pairs of jobs.

  git worktree add /tmp/before REVISION && (cd /tmp/before && make)
  scripts/before_after.py /tmp/before/build --mpi openmpi -n 2 --json FILE

Jobs of both builds alternate, and each pair of neighbours gives one ratio after / before of what Unisono
chooses in each cell: whatever the machine does for minutes, it does to both. A ratio above 1 is slower now.
"""

import argparse
import math
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from unisono.core import estimates, places
from unisono.core.files import read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
COLLECTIVES = (
    "barrier,bcast,gather,scatter,allgather,allgatherv,alltoall,reduce,allreduce,reduce_scatter_block,scan"
)
SIZES = "8,2K,32K,256K,1M"
Cell = tuple[str, int]


def times(
    build: Path, mpi: places.Mpi, options: argparse.Namespace, seed: int
) -> tuple[dict[Cell, float], dict[str, Any]]:
    """Microseconds of one job, of the cells that were run and right; and what it says of the machine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.json"
        bench = [build / "bin" / f"unisono-bench-{mpi.flavour}", "--arms", "default"]
        bench += ["--collectives", options.collectives, "--sizes", options.sizes, "--seed", str(seed)]
        bench += ["--budget", str(options.seconds), "--pattern", options.pattern, "--json", file]
        launcher = shlex.split(options.launch) if options.launch else mpi.launcher(options.ranks)
        command = [*launcher, *map(str, bench)]
        environment = mpi.shell(options.ranks)
        subprocess.run(command, check=True, timeout=600, stdout=subprocess.DEVNULL, env=environment)
        document: dict[str, Any] = read_json(file)
    found = {}
    for cell in document["cells"]:
        for arm in cell.get("arms", []):  # none: the cell failed
            if arm["arm"] == "default" and arm["available"] and arm["correct"]:
                found[cell["collective"], cell["bytes"]] = arm["time_us"]["median"]
    return found, document["machine"]


def revision(folder: Path) -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.check_output(command, text=True, cwd=folder).strip()


def circumstances(options: argparse.Namespace, machine: dict[str, Any]) -> dict[str, Any]:
    """What the figures hold for, and what was compared; `machine`: what a job says of it."""
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine,
        "before": revision(options.before),
        "after": revision(ROOT),
        "mpi": options.mpi,
        "ranks": options.ranks,
        "launch": options.launch,
        "pattern": options.pattern,
        "jobs": options.jobs,
        "seconds": options.seconds,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="build folder of the revision before")
    parser.add_argument("--mpi", default="mpich", choices=["mpich", "openmpi", "intel"])
    parser.add_argument("-n", dest="ranks", type=int, default=2)
    parser.add_argument("--launch", help="what starts the ranks elsewhere: 'unisono lab run --native ... --'")
    parser.add_argument("--pattern", default="barrier", help="what ranks do before a call: sleep, compute")
    parser.add_argument("--jobs", type=int, default=6, help="pairs; 6 give an interval of 95 %%")
    parser.add_argument("--collectives", default=COLLECTIVES)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--seconds", type=float, default=0.05, help="for a cell of a job")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    mpi = places.find_mpi(options.mpi)
    ratios: dict[Cell, list[float]] = {}
    for job in range(options.jobs):
        order = [options.before, ROOT / "build"]
        pair = {
            build: times(build, mpi, options, job + 1) for build in (order if job % 2 == 0 else order[::-1])
        }
        before, (after, machine) = pair[order[0]][0], pair[order[1]]
        for cell in before.keys() & after.keys():
            ratios.setdefault(cell, []).append(after[cell] / before[cell])
    rows = []
    for cell, values in sorted(ratios.items()):
        ratio = estimates.estimate_median(values)
        verdict = "faster" if ratio.is_faster else "slower" if ratio.is_slower else "undecided"
        rows.append({"collective": cell[0], "bytes": cell[1], "ratios": values, "verdict": verdict})
        print(f"{cell[0]:22} {cell[1]:>8} {ratio.median:6.2f} [{ratio.low:.2f}, {ratio.high:.2f}] {verdict}")
    mean = math.exp(sum(math.log(estimates.estimate_median(r).median) for r in ratios.values()) / len(ratios))
    print(f"geometric mean of {len(ratios)} medians, after / before: {mean:.3f}")
    for verdict in ("faster", "slower", "undecided"):
        print(f"{verdict}: {sum(row['verdict'] == verdict for row in rows)}")
    if options.json:
        facts = circumstances(options, machine) | {"geometric_mean": mean, "cells": rows}
        write_json(facts, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
