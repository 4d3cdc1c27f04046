"""A median hides what a third of the blocks takes; a program pays the mean, so both decide."""

import io
import random
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console
from unisono.compare import results, runner, summary, terminal
from unisono.compare.results import Arm, Cell, Comparison, Point, Setting
from unisono.core.estimates import ratio_of_means

NATIVE = [11.0, 11.2, 10.9] * 20


def row(name: str, samples: Sequence[float], low: float, high: float) -> dict[str, Any]:
    median = sorted(samples)[len(samples) // 2]
    told: dict[str, Any] = {
        "arm": name,
        "available": True,
        "ran_by": "unisono",
        "correct": True,
        "blocks": 60,
    }
    told |= {
        "samples_us": list(samples),
        "time_us": {"median": median, "low": median, "high": median, "coverage": 1},
    }
    if name != "native":
        told["ratio_to_native"] = {"median": (low + high) / 2, "low": low, "high": high, "coverage": 0.96}
    return told


def arm(samples: Sequence[float], low: float, high: float) -> Arm:
    return runner.arm_of(row("default", samples, low, high), native=[row("native", NATIVE, 1, 1)])


HIDDEN = [9.0, 9.1, 32.0] * 20  # 32 us in a third of the blocks, natively 11


@pytest.mark.parametrize(
    ("samples", "low", "high", "verdict", "slow"),
    [
        (HIDDEN, 0.80, 0.84, "slower", True),
        ([9.0, 9.1, 9.2] * 20, 0.80, 0.84, "faster", False),
        ([11.1, 11.0, 11.2] * 20, 0.97, 1.03, "undecided", False),
        ([13.0, 13.1, 13.2] * 20, 1.16, 1.20, "slower", True),
        ([9.0] * 59 + [200.0], 0.80, 0.84, "undecided", False),  # one block of 60 decides nothing
    ],
)
def test_the_mean_has_a_say(
    samples: Sequence[float], low: float, high: float, verdict: str, slow: bool
) -> None:
    made = arm(samples, low, high)
    assert (made.verdict, made.is_slow) == (verdict, slow)


def test_the_summary_shows_what_the_median_hides() -> None:
    cell = Cell(Point(Setting("mpich", 2, 2), "bcast", 8), None, (arm(NATIVE, 1, 1), arm(HIDDEN, 0.8, 0.84)))
    cell = Cell(cell.point, None, (runner.arm_of(row("native", NATIVE, 1, 1)), cell.arms[1]))
    comparison = Comparison("2026", "0", {"kind": "node"}, {}, cells=[cell], planned=1)
    [told] = summary.rows(comparison)
    assert (told.faster, told.slower, told.undecided, told.slow) == (0, 1, 0, 1)
    assert told.geometric_mean < 1
    assert (told.means or 0) > 1.4
    out = io.StringIO()
    terminal.show(comparison, Console(file=out, width=200))
    text = out.getvalue()
    assert "slower than 0.95 of native's speed: 1 of 1, of 1 it is sure" in text
    assert "1 only by the mean, which the median hides" in text
    [written] = results.document_of(comparison).cells
    assert [one.verdict for one in written.arms] == ["", "slower"]
    assert written.arms[1].mean_us == pytest.approx(16.7)


def test_the_interval_of_the_ratio_of_means_holds_the_true_one() -> None:
    draw, held = random.Random(7), 0
    for _ in range(400):
        native = [10 + draw.random() for _ in range(30)]
        times = [8 * draw.random() + 5 for _ in native]  # 9 on average
        found = ratio_of_means(times, native)
        assert found is not None
        held += found.low <= 9 / 10.5 <= found.high
    assert 0.93 < held / 400 < 0.99


def test_without_pairs_there_is_no_ratio() -> None:
    assert ratio_of_means([1.0, 2.0], [1.0]) is None
    assert ratio_of_means([], []) is None
    few = ratio_of_means([1.0, 1.1, 1.2], [2.0, 2.1, 2.2])
    assert few is not None
    assert not few.is_sure
