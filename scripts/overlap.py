#!/usr/bin/env python3
"""How far nonblocking collectives go on while a program computes: Intel's IMB-NBC in the lab, under MPICH.

  sudo .venv/bin/python scripts/overlap.py -n 8 --jobs 3 --json overlap.json
  .venv/bin/python scripts/overlap.py --node -n 4 --json node.json    # this node, in place of a lab
  .venv/bin/python scripts/overlap.py --json overlap.json --report

Needs root (the lab), a built tree and `make intel`. Jobs of four arms in turn: native; native with
MPIR_CVAR_ASYNC_PROGRESS=1, the library's own thread; Unisono with the algorithms below forced; the same with
UNISONO_PROGRESS=thread. Of every size IMB says what a call takes by itself (pure), what it takes with
computing as long as that in it (overlapped), and what the computing takes by itself: the overlap is the
share of the shorter one of the two that was hidden. All are medians of the jobs. A blocking call of the
same algorithm (IMB-MPI1) is measured beside them.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from unisono.core import places
from unisono.core.amounts import parse_size
from unisono.core.files import read_json, write_json

NAME = "overlap"
PATIENCE = 300  # seconds a job
FORCED = {
    "bcast": "chain:segment=16K",
    "allreduce": "ring",
    "allgather": "ring",
    "alltoall": "spread_out",
}
ARMS: dict[str, dict[str, str]] = {
    "native": {},
    "native with its thread": {"MPIR_CVAR_ASYNC_PROGRESS": "1"},
    "calls": {},
    "thread": {"UNISONO_PROGRESS": "thread"},
}
# What IMB-NBC and IMB-MPI1 print of a size, in microseconds
ROW = re.compile(r"^ +(\d+) +\d+((?: +[\d.]+)+) *$", re.M)
Cell = dict[str, float]


def job(options: argparse.Namespace, collective: str, arm: str, blocking: bool) -> dict[int, Cell]:
    intel = places.REPOSITORY / ".deps" / "intel" / "bin"
    program = intel / ("IMB-MPI1" if blocking else "IMB-NBC")
    name = collective.capitalize() if blocking else f"I{collective}"
    native = arm.startswith("native")
    mpi = places.find_mpi("mpich")
    library = mpi.library.parent
    if options.node:
        command = mpi.launcher(options.ranks)
        command += [] if native else [str(places.program("unisono-exec"))]
    else:
        command = [*options.lab, "run", "--name", NAME, "--mpi", "mpich", "-n", str(options.ranks)]
        command += ["--native", "--"] if native else ["--"]
    command += ["env", f"LD_LIBRARY_PATH={library}", str(program), name]
    command += ["-npmin", str(options.ranks), "-msglen", options.lengths, "-iter", "10", "-time", "1"]
    forced = {} if native else {f"UNISONO_{collective.upper()}": FORCED[collective]}
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | forced | ARMS[arm],
    )
    found: dict[int, Cell] = {}
    for row in ROW.findall(done.stdout):
        size, values = int(row[0]), [float(value) for value in row[1].split()]
        if size == 0:
            continue
        if blocking:
            found[size] = {"blocking": values[2]}  # the mean of the ranks, after the least and the most
        else:
            found[size] = dict(zip(("overlapped", "pure", "computing", "overlap"), values, strict=True))
    if not found:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found


def measure(options: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for turn in range(options.jobs):
        for collective in options.collectives.split(","):
            arms = [arm for arm in ARMS if arm in options.arms]
            for at in range(len(arms)):
                arm = arms[(turn + at) % len(arms)]
                cells = job(options, collective, arm, blocking=False)
                if arm == "calls":
                    for size, cell in job(options, collective, arm, blocking=True).items():
                        cells.setdefault(size, {}).update(cell)
                for size, cell in cells.items():
                    rows.append({"turn": turn, "collective": collective, "arm": arm, "bytes": size} | cell)
                write_json(rows, options.json)
                print(f"{turn}: I{collective}, {arm}: {len(cells)} sizes", file=sys.stderr, flush=True)


def measure_in_lab(options: argparse.Namespace) -> None:
    up = [*options.lab, "up", "--name", NAME, "--hosts", str(options.ranks), "--rate", options.rate]
    subprocess.run(up, check=True, capture_output=True)
    try:
        measure(options)
    finally:
        subprocess.run([*options.lab, "down", "--name", NAME], check=False, capture_output=True)


def report(rows: list[dict[str, Any]]) -> list[str]:
    values: dict[tuple[str, int, str, str], list[float]] = defaultdict(list)
    for row in rows:
        for figure in ("overlapped", "pure", "overlap", "blocking"):
            if figure in row:
                values[row["collective"], row["bytes"], row["arm"], figure].append(row[figure])
    median = {key: statistics.median(of) for key, of in values.items()}
    lines = [
        "| call | bytes | "
        + " | ".join(f"{arm}: pure, overlapped ms, overlap" for arm in ARMS)
        + " | blocking ms |",
        "|---|---:|" + "---|" * len(ARMS) + "---:|",
    ]
    for collective, size in sorted({key[:2] for key in median}):
        cells = [f"I{collective}", str(size)]
        for arm in ARMS:
            figures = [(collective, size, arm, figure) for figure in ("pure", "overlapped", "overlap")]
            if not all(figure in median for figure in figures):
                cells.append("-")
                continue
            pure, overlapped, overlap = (median[figure] for figure in figures)
            cells.append(f"{pure / 1e3:.2f}, {overlapped / 1e3:.2f}, {overlap:.0f} %")
        blocking = median.get((collective, size, "calls", "blocking"))
        cells.append("-" if blocking is None else f"{blocking / 1e3:.2f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", dest="ranks", type=int, default=8, help="one on each host of the lab")
    parser.add_argument("--node", action="store_true", help="all on this node, without a lab")
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--collectives", default=",".join(FORCED))
    parser.add_argument("--sizes", default="64K,256K,1M", help="with commas between")
    parser.add_argument("--arms", default=",".join(ARMS), type=lambda text: text.split(","))
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--report", action="store_true", help="prints what is there")
    options = parser.parse_args()
    options.lab = [str(Path(sys.executable).with_name("unisono")), "lab"]
    if not options.report:
        with tempfile.NamedTemporaryFile("w", suffix=".lengths") as file:
            file.write("".join(f"{parse_size(size, '--sizes')}\n" for size in options.sizes.split(",")))
            file.flush()
            options.lengths = file.name
            measure(options) if options.node else measure_in_lab(options)
    print("\n".join(report(read_json(options.json))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
