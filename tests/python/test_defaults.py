"""Which measured cells become rows of the table of defaults (scripts/defaults.py)."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "defaults.py"
SPEC = importlib.util.spec_from_file_location("defaults", SCRIPT)
assert SPEC and SPEC.loader
defaults = importlib.util.module_from_spec(SPEC)
sys.modules["defaults"] = defaults  # dataclasses look for their module
SPEC.loader.exec_module(defaults)

WON, EVEN, WORSE = [5.0, 0.7, 0.6, 0.8, 40], [9.9, 0.99, 0.96, 1.03, 40], [12.0, 1.2, 1.1, 1.3, 40]
HARDLY = [9.4, 0.94, 0.9, 1.04, 40]
NATIVE = [10.0, 1, 1, 1, 40]


def rows(collective: str, *cells: list[float]) -> list[tuple[str, int, int, float]]:
    measured = [
        {"collective": collective, "bytes": 8 * 16**i, "arms": {"native": NATIVE, "ring": arm}}
        for i, arm in enumerate(cells)
    ]
    found = defaults.intervals(collective, measured, {"ring"})
    return [(row.spec, row.least_bytes, row.most_bytes, round(row.ratio, 3)) for row in found]


def test_a_cell_that_was_won_is_a_row() -> None:
    assert rows("bcast", EVEN, WON, WORSE) == [("ring", 128, 128, 0.7)]
    assert rows("bcast", WON, WON, EVEN) == [("ring", 0, 128, 0.7)]


@pytest.mark.parametrize(
    ("cells", "ratio"),
    [
        ((WON, EVEN, EVEN), 0.882),  # wins together, and loses nowhere
        ((WON, WON, WORSE), None),  # loses somewhere
        ((EVEN, EVEN, EVEN), None),
        ((HARDLY, HARDLY, HARDLY), None),  # wins nowhere surely
        ((WON, [9.9, 0.99, 0.96, 1.03, defaults.ENOUGH - 1], WON), None),  # who knows
    ],
)
def test_where_no_rank_knows_the_bytes_one_choice_holds_for_all(
    cells: tuple[list[float], ...], ratio: float | None
) -> None:
    assert rows("gatherv", *cells) == ([("ring", 0, 0, ratio)] if ratio else [])
