"""Self-consistent performance guidelines: a collective is not slower than others that do its work.

Traeff, Gropp, Thakur: Self-consistent MPI performance guidelines. IEEE TPDS 21(5), 2010, pp. 698-709.
Hunold, Carpen-Amarie: Tuning MPI collectives by verifying performance guidelines (PGMPITuneLib). HPC Asia
2018, pp. 64-74.

Who breaks one could be helped by calling what stands on its right side. A guideline is a row of
GUIDELINES; monotony and splitting hold for every collective between neighbouring sizes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from unisono.compare import matrix
from unisono.compare.results import Cell, Comparison, Point, Setting
from unisono.core.catalogue import NATIVE, format_size
from unisono.core.estimates import Estimate
from unisono.core.limits import Sized, size_kind

# The pattern in which all collectives are timed alike. After a barrier some are called back to back and some
# one by one, which counts the barrier's skew; unless it is known, only collectives of one kind compare.
PATTERN = "compute"
# Doublings, which can be split in two, and steps between them. Vectors are p such blocks.
BLOCK_SIZES = "8,16,512,1K,32K,64K"


@dataclass(frozen=True)
class Guideline:
    """`left` is not slower than all of `right` one after the other. Sizes follow from what they count: a
    vector is p blocks."""

    left: str
    right: tuple[str, ...]


GUIDELINES = (
    # Not slower than two others.
    Guideline("allreduce", ("reduce", "bcast")),
    Guideline("allreduce", ("reduce_scatter_block", "allgather")),
    Guideline("allgather", ("gather", "bcast")),
    Guideline("bcast", ("scatter", "allgather")),
    Guideline("reduce", ("reduce_scatter_block", "gather")),
    Guideline("reduce_scatter_block", ("reduce", "scatter")),
    # Reduce stands for the reduction within a rank, which is part of it on two ranks and more.
    Guideline("scan", ("exscan", "reduce")),
    # Not slower than what delivers more.
    Guideline("gather", ("allgather",)),
    Guideline("gather", ("reduce",)),
    Guideline("scatter", ("bcast",)),
    Guideline("reduce", ("allreduce",)),
    Guideline("allgather", ("alltoall",)),
    Guideline("allgather", ("allreduce",)),
    Guideline("reduce_scatter_block", ("allreduce",)),
    # Not slower than the form for unequal blocks.
    Guideline("gather", ("gatherv",)),
    Guideline("scatter", ("scatterv",)),
    Guideline("allgather", ("allgatherv",)),
    Guideline("alltoall", ("alltoallv",)),
    Guideline("reduce_scatter_block", ("reduce_scatter",)),
)


def collectives() -> list[str]:
    return list(dict.fromkeys(name for row in GUIDELINES for name in (row.left, *row.right)))


@dataclass(frozen=True)
class Statement:
    """A guideline at one size."""

    left: Point
    right: tuple[tuple[int, Point], ...]  # how many times each

    def text(self) -> str:
        return f"{call_text(self.left)} > {' + '.join(self.times(*term) for term in self.right)}"

    @staticmethod
    def times(count: int, point: Point) -> str:
        return f"{count} x {call_text(point)}" if count > 1 else call_text(point)


def call_text(point: Point) -> str:
    return f"{point.collective} {format_size(point.size)}"


def related(left: Point, collective: str) -> Point | None:
    """Of the other collective, for the same data; None: they are no whole blocks."""
    ranks = Fraction(left.setting.ranks)
    kinds = size_kind(left.collective), size_kind(collective)
    factor = {(Sized.BLOCK, Sized.VECTOR): ranks, (Sized.VECTOR, Sized.BLOCK): 1 / ranks}.get(
        kinds, Fraction(1)
    )
    size = left.size * factor
    return Point(left.setting, collective, int(size)) if size.denominator == 1 else None


def statements(points: Iterable[Point]) -> Iterator[Statement]:
    """All that can be said of these points: those whose right side was measured too."""
    measured = sorted(set(points), key=lambda point: (point.setting.text(), point.collective, point.size))
    known = set(measured)
    for guideline in GUIDELINES:
        for left in measured:
            if left.collective == guideline.left:
                right = [related(left, collective) for collective in guideline.right]
                if all(point in known for point in right):
                    yield Statement(left, tuple((1, point) for point in right if point))
    for smaller, larger in pairwise(measured):
        same = (smaller.setting, smaller.collective) == (larger.setting, larger.collective)
        if same and smaller.size:
            yield Statement(smaller, ((1, larger),))  # monotony
            if larger.size % smaller.size == 0:
                yield Statement(larger, ((larger.size // smaller.size, smaller),))  # in pieces


class Verdict(StrEnum):
    BROKEN = "surely"
    UNDECIDED = "undecided"
    KEPT = "kept"


def verdict(factor: Estimate) -> Verdict:
    if factor.is_slower:
        return Verdict.BROKEN
    return Verdict.KEPT if factor.is_faster else Verdict.UNDECIDED


@dataclass(frozen=True)
class Finding:
    """A statement that native breaks, or that an arm breaks by its own times, as far as the medians say."""

    statement: Statement
    factor: Estimate  # left over right side
    helped: Estimate | None = None  # the arm's left side over native's right side

    @property
    def is_sure(self) -> bool:
        return verdict(self.factor) is Verdict.BROKEN


@dataclass(frozen=True)
class Report:
    """Of one setting: native's findings, and what one arm makes of them."""

    setting: Setting
    arm: str
    checked: int
    native: list[Finding]
    own: list[Finding]

    @property
    def sure(self) -> int:
        return sum(found.is_sure for found in self.native)

    @property
    def removed(self) -> list[Finding]:
        """Of those that native surely breaks: the arm's call is surely faster than native's right side."""
        return [f for f in self.native if f.is_sure and f.helped and f.helped.is_faster]

    @property
    def remaining(self) -> list[Finding]:
        return [f for f in self.native if f.is_sure and f.helped and f.helped.is_slower]


def time_of(cell: Cell, arm: str) -> Estimate | None:
    found = cell.arm(arm)
    return found.time_us if found and found.correct else None


def factor_of(left: Estimate, right: Sequence[tuple[int, Estimate]]) -> Estimate:
    """The ends are those of the worst cases: every time at an end of its interval. A time lies beyond one
    given end in 2.5 % of cases, so that what seems sure of two times is wrong in at most 5 %."""
    low = sum(count * term.low for count, term in right)
    middle = sum(count * term.median for count, term in right)
    high = sum(count * term.high for count, term in right)
    coverage = min(left.coverage, *(term.coverage for _, term in right))
    return Estimate(left.median / middle, left.low / high, left.high / low, coverage)


def factor(statement: Statement, cells: dict[Point, Cell], left: str, right: str) -> Estimate | None:
    """Of the arm `left`'s time over the arm `right`'s; None: one has no time."""
    own = time_of(cells[statement.left], left)
    others = [(count, time_of(cells[point], right)) for count, point in statement.right]
    known = [(count, time) for count, time in others if time]
    return factor_of(own, known) if own and len(known) == len(others) else None


def broken(found: Iterable[Finding]) -> list[Finding]:
    """By the medians at least; what is sure first, then the worst."""
    kept = [f for f in found if f.factor.median > 1 and verdict(f.factor) is not Verdict.KEPT]
    return sorted(kept, key=lambda f: (not f.is_sure, -f.factor.median))


def report(comparison: Comparison, setting: Setting, arm: str) -> Report:
    cells = {cell.point: cell for cell in comparison.cells if cell.point.setting == setting}
    said = list(statements(cells))
    native = [
        Finding(statement, found, factor(statement, cells, arm, NATIVE))
        for statement in said
        if (found := factor(statement, cells, NATIVE, NATIVE))
    ]
    own = [Finding(statement, found) for statement in said if (found := factor(statement, cells, arm, arm))]
    return Report(setting, arm, len(native), broken(native), broken(own))


def reports(comparison: Comparison) -> list[Report]:
    """Of every setting and every arm beside native."""
    found = []
    for setting in comparison.settings():
        cells = [cell for cell in comparison.cells if cell.point.setting == setting]
        arms = dict.fromkeys(arm.name for cell in cells for arm in cell.arms if arm.name != NATIVE)
        found += [report(comparison, setting, arm) for arm in arms]
    return found


def plan(
    settings: Sequence[Setting], arms: dict[str, tuple[str, ...]], blocks: Sequence[int]
) -> list[matrix.Job]:
    """What the guidelines need: blocks, and vectors of p of them."""
    return [
        job
        for setting in settings
        for job in matrix.plan([setting], arms, [setting.ranks * size for size in blocks], blocks)
    ]
