"""How much faster a grid is than the MPI library's own collective, over message sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

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
    def blocks(self) -> int:
        return min(row.blocks for row in self.rows)

    @property
    def spread(self) -> float:
        return self.most.improvement - self.least.improvement


def improvements(rows: Sequence[Row]) -> list[Improvement]:
    """In the order in which they were measured."""
    groups: dict[tuple[str, str, Layout], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.collective, row.family, row.layout), []).append(row)
    return [Improvement(*key, tuple(sorted(own, key=lambda row: row.bytes))) for key, own in groups.items()]


def best(found: Sequence[Improvement]) -> Improvement:
    return max(found, key=lambda improvement: improvement.average)


def additional(deep: Improvement, flat: Improvement) -> float:
    """What one grid gains over another, in percent of the other's time, over the sizes of both."""
    times = {row.bytes: row.ratio for row in flat.rows}
    return fmean(100 * (1 - row.ratio / times[row.bytes]) for row in deep.rows if row.bytes in times)


def percent(value: float) -> str:
    return f"{round(value, 1) + 0:.1f}"  # no -0.0
