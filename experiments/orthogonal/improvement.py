"""How much faster a grid is than the MPI library's own collective, over message sizes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from unisono.core.estimates import ENOUGH

from experiments.orthogonal.grids import Layout


@dataclass(frozen=True)
class Row:
    """One grid at one message size, in seconds. The interval is that of the ratio's median."""

    collective: str
    family: str  # of grids.FORMS
    layout: Layout
    bytes: int
    native_s: float
    grid_s: float
    ratio: float  # grid / native, of times measured side by side
    low: float
    high: float
    blocks: int  # repetitions; fewer than 6 give no interval of 95 %

    @property
    def improvement(self) -> float:
        """(native - grid) / native in percent, as in the paper."""
        return 100 * (1 - self.ratio)


@dataclass(frozen=True)
class Improvement:
    """One grid over all sizes, in percent: what a bar of Figures 5 to 13 shows."""

    collective: str
    family: str
    layout: Layout
    rows: tuple[Row, ...]

    @property
    def least(self) -> Row:
        return min(self.rows, key=lambda row: row.improvement)

    @property
    def most(self) -> Row:
        return max(self.rows, key=lambda row: row.improvement)

    @property
    def average(self) -> float:
        return fmean(row.improvement for row in self.rows)

    @property
    def low(self) -> float:
        """Of the average, by the ends of all sizes' intervals: it is there at least."""
        return fmean(100 * (1 - row.high) for row in self.rows)

    @property
    def high(self) -> float:
        return fmean(100 * (1 - row.low) for row in self.rows)

    def text(self) -> str:
        span = f" ({percent(self.low)} to {percent(self.high)})" if self.high > self.low else ""
        return f"{percent(self.average)}{span} %"

    @property
    def blocks(self) -> int:
        return min(row.blocks for row in self.rows)

    @property
    def is_sure(self) -> bool:
        """Simulated, or repeated often enough for intervals of 95 %."""
        return self.blocks >= ENOUGH or all(row.low == row.high for row in self.rows)

    @property
    def spread(self) -> tuple[float, float]:
        """Points between least and most: as few, and as many, as the intervals allow."""
        sure = max(100 * (1 - row.high) for row in self.rows) - min(100 * (1 - row.low) for row in self.rows)
        wide = max(100 * (1 - row.low) for row in self.rows) - min(100 * (1 - row.high) for row in self.rows)
        return max(0.0, sure), wide


def improvements(rows: Sequence[Row]) -> list[Improvement]:
    """In the order in which they were measured."""
    groups: dict[tuple[str, str, Layout], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.collective, row.family, row.layout), []).append(row)
    return [Improvement(*key, tuple(sorted(own, key=lambda row: row.bytes))) for key, own in groups.items()]


def best(found: Sequence[Improvement]) -> Improvement:
    return max(found, key=lambda improvement: improvement.average)


def additional(deep: Improvement, flat: Improvement) -> tuple[float, float, float]:
    """What one grid gains over another, in percent of the other's time, over the sizes of both; with the
    ends that both intervals allow."""
    other = {row.bytes: row for row in flat.rows}
    pairs = [(row, other[row.bytes]) for row in deep.rows if row.bytes in other]

    def gain(ratios: Iterable[float]) -> float:
        return fmean(100 * (1 - ratio) for ratio in ratios)

    return (
        gain(own.ratio / its.ratio for own, its in pairs),
        gain(own.high / its.low for own, its in pairs),
        gain(own.low / its.high for own, its in pairs),
    )


def percent(value: float) -> str:
    return f"{round(value, 1) + 0:.1f}"  # no -0.0
