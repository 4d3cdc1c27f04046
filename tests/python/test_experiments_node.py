"""The tables of docs/results/node.md, from comparisons that are made up."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from unisono.compare import results
from unisono.compare.results import Arm, Cell, Comparison, Point, Setting
from unisono.core.estimates import Estimate

from experiments.node import patterns, tables


def exactly(value: float) -> Estimate:
    return Estimate(value, value, value, 0.97)


def cell(mpi: str, size: int, native: float, own: float, ran_by: str = "unisono") -> Cell:
    arms = (
        Arm("native", True, "mpi", time_us=exactly(native)),
        Arm("default", True, ran_by, time_us=exactly(own), ratio_to_native=exactly(own / native)),
    )
    return Cell(Point(Setting(mpi, 2, 2), "bcast", size), 5.0, arms)


def comparison(times: Mapping[tuple[str, int], tuple[float, float]]) -> Comparison:
    cells = [cell(mpi, size, *both) for (mpi, size), both in times.items()]
    return Comparison("2026-11-22T00:00:00+00:00", "0.1.0", {}, {}, cells=cells)


TIMES = {("mpich", 8): (4.0, 1.0), ("mpich", 2048): (100.0, 25.0), ("openmpi", 8): (2.0, 3.0)}


def test_a_page_has_means_losses_and_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    results.save(comparison(TIMES), first)
    results.save(comparison({("mpich", 8): (4.0, 0.5)}), second)
    assert tables.main([str(first), str(second)]) == 0
    lines = capsys.readouterr().out.splitlines()
    # 0.5 / 4 and 25 / 100; over Open MPI's own 2 us, and MPICH's own 100 us.
    assert "| 2 | 0.18 (5.66 times faster), 0 of 2 slower | 0.25 |" in lines[4]
    assert "| 1.50 (0.67 times faster), 1 of 1 slower | 1.50 | not measured |  |" in lines[4]
    assert "- openmpi, 2 ranks: bcast 8 vector 1.50" in lines
    assert "| bcast | 8 | 4.00 | **2.00** | 0.50 | 3.00 | 0.1 | 0.6 |" in lines
    assert "| bcast | 2K | **100** |  | 25.0 |  | 5.0 |  |" in lines


def test_what_was_handed_on_and_what_was_wrong_is_marked() -> None:
    handed_on = cell("mpich", 8, 4.0, 4.4, ran_by="mpi")
    wrong = Arm("default", True, "unisono", correct=False, time_us=exactly(1.0))
    assert tables.texts([handed_on]) == ["**4.00**", "4.40*", "0.9"]
    assert tables.texts([Cell(handed_on.point, None, (handed_on.arms[0], wrong))]) == ["**4.00**", "", ""]
    assert tables.slower(Comparison("", "", {}, {}, cells=[handed_on])) == [
        "- mpich, 2 ranks: bcast 8 vector 1.10 (handed on)",
        "",
    ]


def two_patterns() -> Comparison:
    """Native's gather is slower than its allgather; in a loop Unisono's is slower still."""
    cells = []
    for pattern, own in (("barrier", 1.0), ("loop", 8.0)):
        for collective, native in (("gather", 4.0), ("allgather", 2.0)):
            arms = (
                Arm("native", True, "mpi", time_us=exactly(native)),
                Arm("default", True, "unisono", time_us=exactly(own), ratio_to_native=exactly(own / native)),
            )
            cells.append(Cell(Point(Setting("mpich", 2, 2, pattern), collective, 8), None, arms))
    return Comparison("2026-11-24", "0", {"kind": "node"}, {}, cells=cells)


def test_the_tables_of_patterns_and_guidelines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.json"
    results.save(two_patterns(), file)
    assert patterns.main([str(file)]) == 0
    out = capsys.readouterr().out
    assert "| collective | bytes | mpich, barrier | mpich, loop |" in out
    assert "| gather | 8 | 0.25 | **2.00** |" in out
    assert "- mpich, 2 ranks, loop: mean 2.83, 0 of 2 surely faster, 2 slower" in out
    assert patterns.main(["--guidelines", str(file)]) == 0
    out = capsys.readouterr().out
    assert "| mpich, 2 ranks | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |" in out
    assert "| mpich, 2 ranks, loop | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 0 |" in out
    assert "| gather 8 > allgather 8 | 2.00 | 2.00 - 2.00 | 0.50 | 0.50 - 0.50 | surely |" in out
