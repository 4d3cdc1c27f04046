"""Waits on a node whose quota of processor time is less than its cores: natively and under Unisono.

  sudo .venv/bin/python -m experiments.quotas --json FILE [--jobs 5] [--mpi NAMES] [--ranks 2,4]
                                                [--quotas 0.5,1,1.5]
  .venv/bin/python -m experiments.quotas --table FILE

Each cell is a job of experiments/inputs/waits.c, as in experiments/waits.py, in a control group with a quota
(version 1 or 2), a folder below that of this process's own group or of one above it. Rounds of all cells.
The groups are gone when the script ends, with what failed jobs have left in them.
"""

import argparse
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unisono.core import places
from unisono.core.errors import UnisonoError

from experiments import harness, waits

LIBRARIES = ("debian-mpich", "mpich", "openmpi", "intel")
PATTERNS = ("ring", "halo", "allreduce")
PERIOD = 100_000  # microseconds, as container engines have it
ENOUGH, MOST = 1.0, 1_000_000  # seconds and calls of a job: some periods, also where a call takes 1 us
GONE = 5.0  # seconds until processes that were killed are out of their group
# Cores, as Python's half of Unisono sees them in a group; 0: no quota.
SEEN = "from unisono.core import machine; print(f'{machine.cores().quota or 0:g}')"


@dataclass(frozen=True)
class Controller:
    """Where groups with a quota can be made."""

    version: int
    folder: Path

    def limits(self, cores: float) -> dict[str, str]:
        """What is written into which files of a group, in this order."""
        quota = str(round(cores * PERIOD))
        if self.version == 2:
            return {"cpu.max": f"{quota} {PERIOD}"}
        return {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": quota}


def own_group(membership: str, version: int) -> str:
    """Of a process, from its /proc/PID/cgroup; without the slash in front."""
    for line in membership.splitlines():
        number, controllers, group = line.split(":", 2)
        if (number == "0") if version == 2 else ("cpu" in controllers.split(",")):
            return group.lstrip("/")
    return ""


def controller(mounts: str, membership: str) -> Controller:
    """`mounts`: as /proc/self/mounts. In version 2 the first group from ours upwards that hands quotas on."""
    found = [line.split() for line in mounts.splitlines()]
    for _, mounted, kind, options, *_ in found:
        if kind == "cgroup" and "cpu" in options.split(","):
            own = Path(mounted) / own_group(membership, 1)
            return Controller(1, own if own.is_dir() else Path(mounted))
    for _, mounted, kind, *_ in found:
        top = Path(mounted)
        own = top / own_group(membership, 2)
        for folder in [own, *own.parents] if kind == "cgroup2" else []:
            file = folder / "cgroup.subtree_control"
            if file.exists() and "cpu" in file.read_text().split():
                return Controller(2, folder)
            if folder == top:
                break
    raise UnisonoError("no control group here hands quotas on: there is no cpu in any cgroup.subtree_control")


def emptied(group: Path) -> None:
    """Ends what failed jobs have left: nothing else is in it."""
    end = time.monotonic() + GONE
    while left := (group / "cgroup.procs").read_text().split():
        if time.monotonic() > end:
            raise UnisonoError(f"{group}: processes {', '.join(left)} do not end")
        for number in left:
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        time.sleep(0.05)


@contextmanager
def group_of(where: Controller, cores: float) -> Iterator[Path]:
    """Of that quota, until the end."""
    group = where.folder / f"unisono-quotas-{os.getpid()}-{cores:g}"
    try:
        group.mkdir()
    except OSError as error:
        raise UnisonoError(f"{group}: {error.strerror}: control groups want root") from error
    try:
        for name, value in where.limits(cores).items():
            (group / name).write_text(value)
        yield group
    finally:
        emptied(group)
        group.rmdir()


def entering(group: Path) -> tuple[str, ...]:
    """In front of a command."""
    return "sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs")


def seen_in(group: Path) -> str:
    done = subprocess.run(
        [*entering(group), sys.executable, "-c", SEEN], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commands(_mpi: places.Mpi, program: Path) -> Iterator[tuple[str, list[str]]]:
    for pattern in PATTERNS:
        yield pattern, [str(program), pattern, "{calls}", "0"]


def in_groups(cells: Sequence[waits.Cell], groups: Mapping[float, Path]) -> Iterator[waits.Cell]:
    for cell in cells:
        for cores, group in groups.items():
            name = f"{cell.name}, {cores:g} {'core' if cores == 1 else 'cores'}"
            yield dataclasses.replace(cell, name=name, before=entering(group))


def measured(cells: Sequence[waits.Cell], groups: Mapping[float, Path], jobs: int) -> Iterator[waits.Job]:
    for job in waits.measured(list(in_groups(cells, groups)), jobs, ENOUGH, MOST):
        if job["seconds"] is None:
            for group in groups.values():
                emptied(group)
        yield job


def run(options: argparse.Namespace) -> dict[str, Any]:
    quotas = [float(text) for text in options.quotas.split(",")]
    where = controller(Path("/proc/self/mounts").read_text(), Path("/proc/self/cgroup").read_text())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the groups go then, too
    with ExitStack() as stack:
        groups = {cores: stack.enter_context(group_of(where, cores)) for cores in quotas}
        about = waits.circumstances() | {"version of control groups": where.version}
        seen = {f"{cores:g}": seen_in(group) for cores, group in groups.items()}
        about |= {"quotas seen": seen}
        if unseen := [cores for cores, found in seen.items() if found != cores]:
            print(f"Unisono sees no quota of {', '.join(unseen)} cores: {seen}", flush=True)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        jobs = list(measured(waits.cells_of(options, commands, folder), groups, options.jobs))
    return about | {"jobs": jobs}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = waits.parser(__doc__, LIBRARIES, "2,4")
    parser.add_argument("--quotas", default="0.5,1,1.5", help="in cores")
    options = parser.parse_args(arguments)
    waits.told(options, lambda: run(options))
    return 0


if __name__ == "__main__":
    harness.run(main)
