#!/usr/bin/env python3
"""Collectives among neighbours in the lab: native, what Unisono chooses, and each of its algorithms.

  sudo .venv/bin/python scripts/neighbours.py --json neighbours.json             # some minutes
  .venv/bin/python scripts/neighbours.py --json neighbours.json --report

Each job is one unisono-bench on 8 hosts at 100 Mb/s: a stencil of two dimensions, four ranks on a host,
and one of three, three ranks dealt out in turn. Jobs of the layouts and libraries in turn. The table
has the median of the jobs' ratios, and their range.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from unisono.core import places
from unisono.core.amounts import parse_size
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError
from unisono.core.files import read_json, write_json

NAME = "neighbours"
HOSTS = 8
LAYOUTS = {"stencil:2": ["-n", "32", "--ppn", "4"], "stencil:3": ["-n", "24", "--ppn", "3", "--in-turn"]}
LIBRARIES = ("openmpi", "mpich")
COLLECTIVES = "neighbor_allgather,neighbor_alltoall"
ARMS = ("default", "linear", "nodes", "rows")
PATIENCE = 400  # seconds a job


def job(lab: list[str], layout: str, mpi: str, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result.json")
        command = [*lab, "run", "--name", NAME, "--mpi", mpi, *LAYOUTS[layout], "--"]
        command += [str(places.program(f"unisono-bench-{mpi}")), "--collectives", COLLECTIVES]
        command += ["--neighbours", layout, "--sizes", options.sizes, "--arms", f"native,{','.join(ARMS)}"]
        command += ["--budget", str(options.seconds), "--json", str(file)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise UnisonoError(f"{' '.join(command)}:\n{done.stdout[-500:]}{done.stderr[-500:]}")
        found: dict[str, Any] = read_json(file)
    cells = [
        {
            "collective": cell["collective"],
            "bytes": cell["bytes"],
            "native_us": round(cell["arms"][0]["time_us"]["median"], 1),
            "ratios": {
                arm["arm"]: round(arm["ratio_to_native"]["median"], 3)
                for arm in cell["arms"][1:]
                if "ratio_to_native" in arm
            },
        }
        for cell in found["cells"]
    ]
    return {"layout": layout, "mpi": mpi, "machine": found["machine"]["processor"], "cells": cells}


def measure(options: argparse.Namespace) -> None:
    lab = [str(Path(sys.executable).parent / "unisono"), "lab"]
    subprocess.run([*lab, "up", "--name", NAME, "--hosts", str(HOSTS)], check=True)
    jobs: list[dict[str, Any]] = []
    try:
        for _ in range(options.jobs):
            for layout in LAYOUTS:
                for mpi in LIBRARIES:
                    jobs.append(job(lab, layout, mpi, options))
                    write_json(jobs, options.json)
    finally:
        subprocess.run([*lab, "down", "--name", NAME], check=False)


def table(jobs: list[dict[str, Any]]) -> list[str]:
    lines = [f"| layout | library | collective | block | native ms | {' | '.join(ARMS)} |"]
    lines.append(f"|---|---|---|---:|---:|{'---|' * len(ARMS)}")
    for layout in LAYOUTS:
        for mpi in LIBRARIES:
            same = [one["cells"] for one in jobs if (one["layout"], one["mpi"]) == (layout, mpi)]
            for cells in zip(*same, strict=True):
                row = f"| {layout} | {mpi} | {cells[0]['collective']} | {format_size(cells[0]['bytes'])} "
                row += f"| {statistics.median(cell['native_us'] for cell in cells) / 1e3:.2f} |"
                for arm in ARMS:
                    ratios = sorted(cell["ratios"][arm] for cell in cells if arm in cell["ratios"])
                    text = f" {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |"
                    row += text if ratios else " - |"
                lines.append(row)
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, required=True, help="results")
    parser.add_argument("--report", action="store_true", help="of a file that is there")
    parser.add_argument("--jobs", type=int, default=3, help="of each layout and library")
    parser.add_argument("--sizes", default="8,1K,16K")
    parser.add_argument("--seconds", type=float, default=3, help="a cell")
    options = parser.parse_args()
    for size in options.sizes.split(","):
        parse_size(size, "--sizes")
    if not options.report:
        measure(options)
    jobs = read_json(options.json)
    print(f"{jobs[0]['machine']}\n")
    print("\n".join(table(jobs)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UnisonoError as error:
        sys.exit(str(error))
