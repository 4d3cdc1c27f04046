"""Exported files under the MPI libraries themselves, on two ranks of this node."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import places
from unisono.testbeds import beds
from unisono.tune.native import openmpi, verify
from unisono.tune.native.bench import Bench
from unisono.tune.native.record import Cell, Record
from unisono.tune.native.rules import Library, Rule
from unisono.tune.native.run import library_of
from unisono.tune.native.tuning import Tuning

pytestmark = pytest.mark.mpi

CELLS = [Cell(name, 2, size) for name in ("bcast", "allgather", "gather") for size in (64, 16 << 10)]


def tuning(library: Library, folder: Path, cells: Sequence[Cell] = CELLS) -> Tuning:
    bench = Bench(beds.Node(), library, per_host=2, cell_seconds=0.01, silence=60)
    return Tuning(bench, Record(folder, {}, resume=False), cells, folder, budget=60)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_library_takes_the_file_and_applies_it_to_nothing_else(mpi: str, tmp_path: Path) -> None:
    library = library_of(places.find_mpi(mpi))
    rules = [
        Rule("bcast", 2, 1 << 10, 32 << 10, library.algorithms("bcast", 2)[-1]),
        Rule("allgather", 2, 1 << 10, 32 << 10, library.algorithms("allgather", 2)[0]),
        Rule("gather", 2, 0, None, library.algorithms("gather", 2)[0]),
    ]
    made = tuning(library, tmp_path)
    assert verify.not_taken(made, rules, tmp_path / "file.json") == []
    assert verify.disturbed(made, rules[:2], tmp_path / "file.json") == []


class Unread:
    """A library that is not told of its file."""

    def __init__(self, library: Library) -> None:
        self.mpi, self.algorithms, self.tells_sizes = library.mpi, library.algorithms, library.tells_sizes
        self.tripwire = library.tripwire

    def write(self, rules: Sequence[Rule], file: Path) -> dict[str, str]:
        return {}


def test_a_file_that_is_not_read_is_noticed(tmp_path: Path) -> None:
    library = library_of(places.find_mpi("openmpi"))
    rule = Rule("bcast", 2, 1 << 10, 32 << 10, library.algorithms("bcast", 2)[0])
    assert verify.not_taken(tuning(Unread(library), tmp_path), [rule], tmp_path / "file") == [rule]


def test_open_mpi_reads_rules_for_scan_and_does_not_follow_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why scans are not tuned. If this fails with a new Open MPI they can be."""
    monkeypatch.setitem(openmpi.NUMBERS, "scan", 14)
    rule = Rule("scan", 2, 1 << 10, 32 << 10, openmpi.algorithm(2, "recursive_doubling", 0))
    made = tuning(library_of(places.find_mpi("openmpi")), tmp_path, [Cell("scan", 2, 16 << 10)])
    assert verify.not_taken(made, [rule], tmp_path / "file") == [rule]


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_command(unisono: Run, mpi: str, tmp_path: Path) -> None:
    file = tmp_path / "exported"
    command = ["tune", "--native-only", "--mpi", mpi, "-n", "2", "-o", str(file)]
    done = unisono(*command, "--collectives", "gather", "--sizes", "1K", "--budget", "1s")
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 1:  # too little time for all of it
        assert "ended by the budget" in done.stdout
        assert "--resume" in done.stdout
    assert "gather" in done.stdout
    assert file.exists()
    result = json.loads((tmp_path / "exported.result.json").read_text())
    assert [row["cell"] for row in result["cells"]] == [{"collective": "gather", "ranks": 2, "bytes": 1024}]
    for name, value in result["variables"].items():
        assert f"export {name}={value}" in done.stdout
        assert value == "1" or Path(value).exists()


def test_what_native_only_would_ignore_is_refused(unisono: Run, tmp_path: Path) -> None:
    line = ("tune", "--native-only", "-o", str(tmp_path / "file"))
    for options in (["--no-model"], ["--machine", "m.json"], ["--json", "-"]):
        done = unisono(*line, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"unisono: {options[0]} is not for --native-only\n"
    done = unisono(*line, "--mpi", "debian-mpich")
    assert done.returncode in {2, 3}, "no library with a file of its own, or not installed"
