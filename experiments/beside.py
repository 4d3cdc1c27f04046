"""Waits beside other programs, where each rank has a core: natively and under Unisono.

  .venv/bin/python -m experiments.beside --json FILE [--jobs 5] [--mpi NAMES] [--ranks 2]
  .venv/bin/python -m experiments.beside --table FILE

Each cell is a job of experiments/inputs/waits.c, as in experiments/waits.py. Beside it runs nothing, a second
job of the same kind, natively or under Unisono as the first one, or as many processes that compute as there
are cores.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unisono.core import machine, places

from experiments import waits

LIBRARIES = ("debian-mpich", "mpich", "openmpi", "intel")
PATTERNS = ("ring", "halo", "allreduce")
COMPUTING = (0, 100)  # microseconds between calls, the shortest
ENDLESS = 10**9  # calls
UNDER_WAY = 1.0  # seconds after which a job beside is in its calls
NOTHING, JOB, WORK = "nothing", "a second job", "processes that compute"


@dataclass(frozen=True)
class Cell(waits.Cell):
    beside: str = NOTHING


@contextmanager
def neighbours(cell: waits.Cell, way: str) -> Iterator[None]:
    """What runs beside a job, until it has ended."""
    beside = cell.beside if isinstance(cell, Cell) else NOTHING
    with ExitStack() as all_of_them:
        if beside == JOB:
            all_of_them.callback(waits.end, waits.started(cell, way, ENDLESS))
        for _ in range(machine.cores().usable if beside == WORK else 0):
            computing = [sys.executable, "-c", "while True: pass"]
            process = subprocess.Popen(computing, text=True, start_new_session=True)
            all_of_them.callback(waits.end, process)
        if beside != NOTHING:
            time.sleep(UNDER_WAY)
        yield


def commands(_mpi: places.Mpi, program: Path) -> Iterator[tuple[str, list[str]]]:
    for pattern in PATTERNS:
        for computing in COMPUTING:
            name = f"{pattern}, computing 0.1 to 0.3 ms" if computing else pattern
            yield name, [str(program), pattern, "{calls}", str(computing)]


def cells(options: argparse.Namespace, folder: Path) -> list[Cell]:
    return [
        Cell(one.mpi, one.ranks, f"{one.name}; {beside}", one.command, one.before, beside)
        for one in waits.cells_of(options, commands, folder)
        for beside in (NOTHING, JOB, WORK)
    ]


def main() -> None:
    options = waits.parser(__doc__, LIBRARIES, "2").parse_args()

    def measure() -> dict[str, Any]:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the neighbours end then, too
        before = waits.circumstances()
        with tempfile.TemporaryDirectory() as folder:
            jobs = list(waits.measured(cells(options, Path(folder)), options.jobs, around=neighbours))
        return before | {"jobs": jobs}

    waits.told(options, measure)


if __name__ == "__main__":
    main()
