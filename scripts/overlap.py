#!/usr/bin/env python3
"""How far nonblocking collectives go on while a program computes: Intel's IMB-NBC in the lab, under MPICH.

  sudo .venv/bin/python scripts/overlap.py --hosts 8 --jobs 3 --json overlap.json
  .venv/bin/python scripts/overlap.py --json overlap.json --report

Needs root (the lab), a built tree and `make intel`. Jobs of four arms in turn: native; native with
MPIR_CVAR_ASYNC_PROGRESS=1, the library's own thread; Unisono with the algorithms below forced; the same with
UNISONO_PROGRESS=thread. Of every size IMB says what a call takes by itself (pure), what it takes with
computing as long as that in it (overlapped), and what the computing takes by itself: the overlap is the
share of the shorter one of the two that was hidden. All are medians of the jobs. A blocking call of the
same algorithm (IMB-MPI1) is measured beside them.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from unisono import places

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
    "native, its thread": {"MPIR_CVAR_ASYNC_PROGRESS": "1"},
    "calls": {},
    "thread": {"UNISONO_PROGRESS": "thread"},
}
# What IMB-NBC and IMB-MPI1 print of a size, in microseconds
ROW = re.compile(r"^ +(\d+) +\d+ +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) *$", re.M)
Cell = dict[str, float]


def job(options: argparse.Namespace, collective: str, arm: str, blocking: bool) -> dict[int, Cell]:
    intel = places.REPOSITORY / ".deps" / "intel" / "bin"
    program = intel / ("IMB-MPI1" if blocking else "IMB-NBC")
    name = collective.capitalize() if blocking else f"I{collective}"
    command = [*options.lab, "run", "--name", NAME, "--mpi", "mpich", "-n", str(options.hosts)]
    command += ["--native"] if arm.startswith("native") else []
    library = places.find_mpi("mpich").library.parent
    command += ["--", "env", f"LD_LIBRARY_PATH={library}", str(program), name]
    command += ["-npmin", str(options.hosts), "-msglog", options.sizes, "-iter", "20", "-time", "3"]
    forced = {} if arm.startswith("native") else {f"UNISONO_{collective.upper()}": FORCED[collective]}
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
        size, *values = int(row[0]), *map(float, row[1:])
        if size == 0:
            continue
        if blocking:
            found[size] = {"blocking": values[2]}
        else:
            found[size] = dict(zip(("overlapped", "pure", "computing", "overlap"), values, strict=True))
    if not found:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for turn in range(options.jobs):
        for collective in options.collectives.split(","):
            arms = [*ARMS][turn % len(ARMS) :] + [*ARMS][: turn % len(ARMS)]
            for arm in arms:
                cells = job(options, collective, arm, blocking=False)
                if arm == "calls":
                    for size, cell in job(options, collective, arm, blocking=True).items():
                        cells.setdefault(size, {}).update(cell)
                for size, cell in cells.items():
                    rows.append({"turn": turn, "collective": collective, "arm": arm, "bytes": size} | cell)
                print(f"{turn}: I{collective}, {arm}: {len(cells)} sizes", file=sys.stderr, flush=True)
    return rows


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
            of = [median.get((collective, size, arm, figure)) for figure in ("pure", "overlapped", "overlap")]
            cells.append("-" if None in of else f"{of[0] / 1e3:.2f}, {of[1] / 1e3:.2f}, {of[2]:.0f} %")
        blocking = median.get((collective, size, "calls", "blocking"))
        cells.append("-" if blocking is None else f"{blocking / 1e3:.2f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--collectives", default=",".join(FORCED))
    parser.add_argument("--sizes", default="16:20", help="powers of two, as IMB's -msglog has it")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--report", action="store_true", help="prints what is there")
    options = parser.parse_args()
    options.lab = [str(Path(sys.executable).with_name("unisono")), "lab"]
    if not options.report:
        up = [*options.lab, "up", "--name", NAME, "--hosts", str(options.hosts), "--rate", options.rate]
        subprocess.run(up, check=True, capture_output=True)
        try:
            rows = measure(options)
        finally:
            subprocess.run([*options.lab, "down", "--name", NAME], check=False, capture_output=True)
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print("\n".join(report(json.loads(options.json.read_text()))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
