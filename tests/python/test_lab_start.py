"""What MPI_Init costs where every host has one rank, in calls that all ranks must make: each costs a round
trip or several, and connections. Never in time."""

from pathlib import Path

import pytest
from conftest import Run
from test_lab import NAME, lab_marks, own_lab, up  # noqa: F401  (the fixture)
from unisono.core import places

pytestmark = lab_marks


def started(unisono: Run, mpi: str, **variables: str) -> tuple[int, int, str]:
    """Calls that all ranks make, messages between two, what was said."""
    program = places.build_directory() / "tests" / "interpose" / f"start_counted_{mpi}"
    done = unisono("lab", "run", "--mpi", mpi, "-n", "5", "--log", "--", str(program), **variables)
    assert done.returncode == 0, done.stderr
    calls, messages = map(int, done.stdout.split())
    return calls, messages, done.stderr


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_ranks_meet_in_few_calls_and_measure_nothing_unasked(unisono: Run, tmp_path: Path, mpi: str) -> None:
    up(hosts=5)
    calls, messages, log = started(unisono, mpi)
    assert calls <= 2  # All meet; what is remembered.
    assert messages == 0
    assert "network:" not in log
    assert not (tmp_path / "unisono").exists()
    for asked in ({"UNISONO": "measure"}, {"UNISONO_BCAST": "chain:segment=auto"}):
        calls, messages, log = started(unisono, mpi, **asked)
        assert "network:" in log
        # All have measured; at once; what it was. A forced algorithm prepares MPI_COMM_WORLD besides.
        assert calls <= 5 or "UNISONO_BCAST" in asked
        assert messages > 0
