"""unisono compare --guidelines on made-up times."""

from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from conftest import Run
from rich.console import Console
from test_compare import Bench, measured, quiet
from unisono.compare import guidelines, results, terminal
from unisono.compare.cli import plan_of
from unisono.compare.guidelines import GUIDELINES, Finding, Guideline, Report, Statement, Verdict
from unisono.compare.results import Arm, Cell, Comparison, Point, Setting
from unisono.core.errors import UnisonoError
from unisono.core.estimates import Estimate
from unisono.core.limits import Sized, size_kind

__all__ = ["quiet"]  # a fixture of all tests here

FOUR = Setting("mpich", 4, 4)
Times = Mapping[tuple[str, int], float]


def arm(name: str, time: float, spread: float = 0.01, coverage: float = 0.96) -> Arm:
    estimate = Estimate(time, (1 - spread) * time, (1 + spread) * time, coverage)
    return Arm(name, available=True, ran_by="mpi", time_us=estimate)


def comparison(
    native: Times, own: Times | None = None, spread: float = 0.01, coverage: float = 0.96
) -> Comparison:
    made = measured(Bench(), [])
    for (collective, size), time in native.items():
        ours = (own or native)[collective, size]
        arms = (arm("native", time, spread, coverage), arm("default", ours, spread, coverage))
        made.cells.append(Cell(Point(FOUR, collective, size), None, arms))
    return made


def only(made: Comparison) -> Report:
    (report,) = guidelines.reports(made)
    return report


def block(collective: str, bytes_of_block: int = 64) -> tuple[str, int]:
    """The call for blocks of that length on four ranks."""
    vector = size_kind(collective) is Sized.VECTOR
    return collective, bytes_of_block * 4 if vector else bytes_of_block


@pytest.mark.parametrize("row", GUIDELINES, ids=lambda row: f"{row.left}<={'+'.join(row.right)}")
def test_every_guideline_is_kept_broken_and_undecided(row: Guideline) -> None:
    right = {block(collective): 10.0 for collective in row.right}

    def findings(left: float, spread: float = 0.01, coverage: float = 0.96) -> list[Finding]:
        report = only(comparison({block(row.left): left, **right}, None, spread, coverage))
        assert report.checked >= 1, "others may hold of the same calls"
        assert report.sure == sum(found.is_sure for found in report.native)
        return [found for found in report.native if said_by(row, found.statement)]

    limit = 10.0 * len(row.right)
    assert findings(limit / 2) == []
    (found,) = findings(limit * 2)
    assert found.is_sure
    assert found.factor.median == pytest.approx(2)
    assert found.factor.low == pytest.approx(2 * 0.99 / 1.01)
    assert found.factor.high == pytest.approx(2 * 1.01 / 0.99)
    for undecided in (findings(limit * 1.1, spread=0.1), findings(limit * 2, coverage=0.75)):
        assert [found.is_sure for found in undecided] == [False]
    assert findings(limit * 0.95, spread=0.1) == [], "by its median it is kept"


def said_by(row: Guideline, statement: Statement) -> bool:
    return (statement.left.collective, *(point.collective for _, point in statement.right)) == (
        row.left,
        *row.right,
    )


def test_a_guideline_is_not_applied_without_its_right_side() -> None:
    assert only(comparison({block("allreduce"): 9.0, block("reduce"): 1.0})).checked == 1, (
        "reduce <= allreduce"
    )
    assert only(comparison({("gather", 64): 9.0, ("reduce", 64): 1.0})).checked == 0, "a vector is 256"
    assert only(comparison({("bcast", 6): 9.0, ("scatter", 1): 1.0, ("allgather", 1): 1.0})).checked == 0
    wrong = comparison({block("gather"): 9.0, block("allgather"): 1.0})
    failed = Arm("native", available=True, correct=False, time_us=Estimate(1, 1, 1, 1))
    wrong.cells[1] = Cell(wrong.cells[1].point, None, (failed,))
    assert only(wrong).checked == 0


def test_larger_messages_and_pieces() -> None:
    def texts(native: Times) -> list[str]:
        return [found.statement.text() for found in only(comparison(native)).native]

    assert texts({("bcast", 8): 1.0, ("bcast", 16): 1.5, ("bcast", 40): 3.0}) == []
    assert texts({("bcast", 8): 2.0, ("bcast", 16): 1.5}) == ["bcast 8 > bcast 16"]
    assert texts({("bcast", 8): 1.0, ("bcast", 16): 2.5}) == ["bcast 16 > 2 x bcast 8"]
    assert texts({("bcast", 16): 1.0, ("bcast", 40): 9.0}) == [], "40 is no multiple of 16"
    assert texts({("barrier", 0): 1.0, ("bcast", 8): 0.5}) == []
    made = comparison({("bcast", 8): 2.0})
    made.cells += [Cell(Point(Setting("mpich", 2, 2), "bcast", 16), None, (arm("native", 1.0),))]
    assert not any(report.native for report in guidelines.reports(made)), "other ranks are not compared"


def test_what_unisono_removes() -> None:
    native = {block("gather"): 4.0, block("allgather"): 1.0}
    for own, verdict in ((0.5, Verdict.KEPT), (3.0, Verdict.BROKEN), (1.0, Verdict.UNDECIDED)):
        report = only(comparison(native, {block("gather"): own, block("allgather"): 0.1}))
        (found,) = report.native
        assert found.helped
        assert found.helped.median == pytest.approx(own), "over native's right side"
        assert guidelines.verdict(found.helped) is verdict
        counts = (len(report.removed), len(report.remaining))
        assert counts == (verdict is Verdict.KEPT, verdict is Verdict.BROKEN)
        assert len(report.own) == 1, "by its own times it breaks the guideline still"
        assert report.own[0].factor.median == pytest.approx(own / 0.1)


def test_the_sum_s_interval_is_that_of_the_worst_cases() -> None:
    left, right = (
        Estimate(6.0, 5.0, 7.0, 0.96),
        [(2, Estimate(1.0, 0.5, 1.5, 0.97)), (1, Estimate(2, 1, 3, 0.8))],
    )
    assert guidelines.factor_of(left, right) == Estimate(6 / 4, 5 / 6, 7 / 2, 0.8)


def shown(made: Comparison) -> str:
    output = StringIO()
    terminal.show_guidelines(made, Console(width=200, file=output))
    return output.getvalue()


def test_the_output_counts() -> None:
    native = {block("gather"): 4.0, block("allgather"): 1.0, block("bcast"): 1.0, block("scatter"): 1.005}
    made = comparison(native, {**native, block("gather"): 0.5})
    text = shown(made)
    assert "mpich, 4 ranks: of 4 guidelines native surely breaks 1, undecided 1" in text
    assert (
        "default surely removes 1 of 1, surely leaves 0, undecided 0; by its own times it surely breaks 0"
        in text
    )
    assert text.index("gather 64 > allgather 64") < text.index("scatter 64 > bcast 256")
    assert "only with --pattern compute" in text
    with pytest.raises(UnisonoError, match="no two of these cells can be compared"):
        shown(comparison({block("gather"): 4.0}))


def test_the_matrix_is_what_the_guidelines_need() -> None:
    arms: dict[str, tuple[str, ...]] = dict.fromkeys(guidelines.collectives(), ("default",))
    plan = plan_of([FOUR], arms, None, "8,64", guidelines=True)
    points = [point for job in plan for point in job.points()]
    assert Point(FOUR, "bcast", 256) in points
    assert Point(FOUR, "gather", 64) in points
    said = list(guidelines.statements(points))
    rows = {(s.left.collective, tuple(point.collective for _, point in s.right)) for s in said}
    assert rows >= {(row.left, row.right) for row in GUIDELINES}
    assert Statement(Point(FOUR, "bcast", 32), ((1, Point(FOUR, "bcast", 256)),)) in said, "monotony"
    with pytest.raises(UnisonoError, match="--sizes: not with --guidelines"):
        plan_of([FOUR], arms, "8", None, guidelines=True)


@pytest.mark.mpi
def test_measured_and_read_again(unisono: Run, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    small = ["--mpi", "mpich", "-n", "2", "--passes", "1", "--budget", "0.02", "--block-sizes", "8,16"]
    some = ["--collectives", "gather,allgather,bcast,scatter"]
    done = unisono("compare", *small, *some, "--guidelines", "--json", str(file))
    assert done.returncode == 0, done.stderr + done.stdout
    assert results.load(file).patterns() == ["compute"]
    # gather <= allgather, scatter <= bcast, allgather <= gather + bcast, bcast <= scatter + allgather at two
    # sizes each, and of four collectives monotony and two pieces.
    assert "of 16 guidelines native surely breaks" in done.stdout
    again = unisono("compare", "--from", str(file), "--guidelines")
    assert again.returncode == 0, again.stderr
    assert again.stdout in done.stdout
    refused = unisono("compare", "--guidelines", "--sizes", "8")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
