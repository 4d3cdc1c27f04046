"""What MPI_Init costs where every host has one rank, in calls that all ranks must make: each costs a round
trip or several, and connections. Never in time."""

import re
from pathlib import Path

import pytest
from conftest import Run
from test_lab import NAME, lab_marks, own_lab, up  # noqa: F401  (the fixture)
from unisono.core import places

# What the library measures of the network decides here.
pytestmark = [*lab_marks, pytest.mark.quiet]

TRIES = 6  # On a busy machine a network may seem to be another, and is measured anew.


def started(unisono: Run, mpi: str, ranks: str) -> tuple[int, str]:
    program = places.build_directory() / "tests" / "interpose" / f"start_counted_{mpi}"
    done = unisono("lab", "run", "--mpi", mpi, "-n", ranks, "--log", "--", str(program))
    assert done.returncode == 0, done.stderr
    return int(done.stdout), done.stderr


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_ranks_meet_in_few_calls(unisono: Run, tmp_path: Path, mpi: str) -> None:
    up(hosts=5)
    calls, log = started(unisono, mpi, "5")
    assert "network:" in log
    # All meet; the memory has nothing; all are there to be measured, and have been; what it was; the rest.
    assert calls <= 6
    for _ in range(TRIES):
        calls, log = started(unisono, mpi, "5")
        if re.search(r"memory \S+ holds here", log):
            break
    else:
        pytest.fail(f"the memory never held: {log}")
    assert any((tmp_path / "unisono").glob("*.json"))
    assert calls <= 2  # All meet; what is remembered.
