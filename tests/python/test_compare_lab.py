"""unisono compare and the experiments' jobs on three hosts of a lab of their own."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Run
from test_lab import REASON
from unisono.compare import results
from unisono.core import jobs, places
from unisono.testbeds import beds

pytestmark = [pytest.mark.lab, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

NAME = f"compare-{os.getpid()}"
HOSTS = 3


@pytest.fixture(scope="module")
def lab() -> Iterator[str]:
    runs = pytest.MonkeyPatch()
    runs.setenv("UNISONO_LAB", NAME)
    up = jobs.run(command("lab", "up", "--hosts", str(HOSTS), "--rate", "1gbit"), os.environ, silence=60)
    assert up.ok, up.output
    yield NAME
    down = jobs.run(command("lab", "down"), os.environ, silence=60)
    runs.undo()
    assert down.ok, down.output


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "unisono.cli", *arguments]


def test_cells_of_the_lab(lab: str, unisono: Run, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    matrix = ["--collectives", "bcast,reduce_scatter_block", "--sizes", "64K", "--budget", "0.05"]
    done = unisono("compare", "--lab", *matrix, "--json", str(file))
    assert done.returncode == 0, done.stderr + done.stdout
    comparison = results.load(file)
    assert comparison.bed["name"] == lab
    assert {machine["nodes"] for machine in comparison.machines} == {HOSTS}
    assert [cell.point.setting for cell in comparison.cells] == [
        results.Setting(mpi, HOSTS, 1) for mpi in ("mpich", "mpich", "openmpi", "openmpi")
    ]
    limits = [cell.limit_us for cell in comparison.cells]
    wire = 65536 * 8 / 1e9 * 1e6
    assert limits == pytest.approx([wire, 2 * (65536 // HOSTS) * 8 / 1e9 * 1e6] * 2)  # of two blocks
    assert "bytes in a port / line rate" in done.stdout


@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_ranks_that_hang_on_hosts_are_ended(lab: str, flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []
    original = jobs.end
    marks: list[str] = []

    def end(process: object, mark: str) -> None:
        marks.append(mark)
        alive.extend(jobs.marked(mark))
        original(process, mark)  # type: ignore[arg-type]

    monkeypatch.setattr(jobs, "end", end)
    bed = beds.current_lab()
    line, environment = bed.command(places.find_mpi(flavour), HOSTS, 1, ["sleep", "600"])
    outcome = jobs.run(line, environment, silence=5)
    assert "no result within 5 s" in outcome.problem
    assert len(alive) > HOSTS, "mpiexec, what it starts on the hosts, and the ranks"
    assert not jobs.marked(marks[0])
