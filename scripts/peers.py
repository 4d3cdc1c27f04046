#!/usr/bin/env python3
"""MPI libraries, each with its own choices, and Unisono under each: the programs of scripts/unasked.py.

  sudo .venv/bin/python scripts/peers.py --hosts 9,6 --rate 100mbit,400mbit --jobs 5 --out DIR
  .venv/bin/python scripts/peers.py --out DIR --report    # prints what is there

Needs root (the lab), a built tree and Intel MPI (make intel). A round has one job of each arm, in an order of
its own; round 1 of all cells is measured before round 2 of any. One file a cell, DIR/CELL.json.zst, with all
that the programs printed; what is there is not measured again.

The peers are MPICH, Open MPI and Intel MPI as they are, and Intel MPI with its own tuner, which tries its
algorithms in the program's first calls (I_MPI_TUNING_MODE=auto). Seconds are of all calls of a kind.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts import kinds_in_lab
from scripts.kinds_in_lab import BesidePeers, Cell, Round
from scripts.unasked import geometric


@dataclass(frozen=True)
class Arm:
    mpi: str
    native: bool
    settings: tuple[tuple[str, str], ...] = ()  # of the environment


PEERS = {
    "MPICH": Arm("mpich", native=True),
    "Open MPI": Arm("openmpi", native=True),
    "Intel MPI": Arm("intel", native=True),
    "Intel MPI, tuning": Arm("intel", native=True, settings=(("I_MPI_TUNING_MODE", "auto"),)),
}
OURS = {
    "Unisono, MPICH": Arm("mpich", native=False),
    "Unisono, Open MPI": Arm("openmpi", native=False),
    "Unisono, Intel MPI": Arm("intel", native=False),
}
ARMS = PEERS | OURS


def measure_round(cell: Cell, number: int, options: argparse.Namespace) -> Round:
    """What failed is named, and the others are measured all the same."""
    measured: Round = {"number": number, "failed": {}}
    with kinds_in_lab.a_lab(cell, options):
        for name in random.Random(number).sample(list(ARMS), len(ARMS)):
            arm = ARMS[name]
            with tempfile.TemporaryDirectory() as cache:
                try:
                    measured[name] = kinds_in_lab.job(
                        replace(cell, mpi=arm.mpi), options, arm.native, cache, dict(arm.settings)
                    )
                except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                    measured["failed"][name] = kinds_in_lab.why(error)
    return measured


def measure(cells: list[Cell], options: argparse.Namespace) -> None:
    for number in range(options.jobs):
        for cell in random.Random(number).sample(cells, len(cells)):
            rounds = kinds_in_lab.rounds_of(cell, options.out)
            if any(one["number"] == number for one in rounds):
                continue
            begin = time.monotonic()
            one = measure_round(cell, number, options)
            kinds_in_lab.write(kinds_in_lab.file_of(cell, options.out), cell, [*rounds, one])
            failed = "; ".join(f"{name}: {reason}" for name, reason in one["failed"].items())
            print(
                f"{cell}: round {number + 1}, {time.monotonic() - begin:.0f} s{failed and '; ' + failed}",
                file=sys.stderr,
                flush=True,
            )


def seconds(rounds: Iterable[Round], arm: str, kind: str) -> list[float]:
    """A call's, of all jobs that ended well."""
    found: list[dict[str, Any]] = [one[arm][kind] for one in rounds if arm in one]
    return [row["seconds"] / row["calls"] for row in found]


def rows_of(cell: Cell, rounds: list[Round]) -> list[BesidePeers]:
    kinds = next((list(one[arm]) for one in rounds for arm in ARMS if arm in one), [])
    rows = []
    for kind in kinds:
        medians = {arm: median(own) for arm in ARMS if (own := seconds(rounds, arm, kind))}
        if any(name in medians for name in PEERS):
            rows.append(BesidePeers(cell, kind, medians, tuple(PEERS)))
    return rows


def read_rows(folder: Path) -> list[BesidePeers]:
    return [row for file in sorted(folder.glob("*.json.zst")) for row in rows_of(*kinds_in_lab.read(file))]


def report(folder: Path) -> Iterable[str]:
    for row in read_rows(folder):
        ours = ", ".join(f"{row.over_best(arm):.2f}" for arm in OURS if arm in row.seconds)
        peer = f"{row.best_peer} {row.seconds[row.best_peer] * 1e3:.4g} ms"
        yield f"{row.kind} on {row.cell}: {peer}; Unisono {ours} times as fast"
    for arm in OURS:
        speeds = [row.over_best(arm) for row in read_rows(folder) if arm in row.seconds]
        if speeds:
            yield f"{arm}: {geometric(speeds):.2f} times as fast as the best peer, worst {min(speeds):.2f}"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--hosts", default="9", type=lambda text: [kinds_in_lab.hosts_of(part) for part in text.split(",")]
    )
    parser.add_argument("--rate", default="100mbit", type=lambda text: text.split(","))
    parser.add_argument("--calls", type=int, default=30, help="of each kind")
    parser.add_argument("--jobs", type=int, default=5, help="rounds of a cell")
    parser.add_argument("--out", type=Path, required=True, help="folder of the cells' files")
    parser.add_argument("--name", default="peers", help="of the lab")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    options = parser.parse_args()
    options.lab = kinds_in_lab.lab_command()
    return options


def main() -> int:
    options = parsed()
    if not options.report:
        options.out.mkdir(parents=True, exist_ok=True)
        both = product(options.hosts, options.rate)
        measure([Cell("all", hosts, rate, options.calls, options.calls) for hosts, rate in both], options)
    print("\n".join(report(options.out)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
