"""What the cells of a comparison say together, and how two comparisons differ."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from unisono.compare.results import PATTERNS, SLOW, Arm, Cell, Comparison, Point
from unisono.core.errors import UnisonoError
from unisono.core.estimates import Estimate


@dataclass(frozen=True)
class Row:
    """One arm over all cells of one setting, or of all."""

    where: str
    arm: str
    cells: int
    geometric_mean: float  # of time / native's time
    faster: int  # surely: the whole interval below 1
    slower: int
    slow: int  # slower than 0.95 of native's speed
    means: float | None = None  # geometric mean of the ratios of means

    @property
    def undecided(self) -> int:
        return self.cells - self.faster - self.slower


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms))


def ratios(cells: Iterable[Cell]) -> dict[str, list[tuple[Arm, Estimate]]]:
    """By arm; native has none, and a wrong result counts for nothing."""
    found: dict[str, list[tuple[Arm, Estimate]]] = {}
    for cell in cells:
        for arm in cell.arms:
            if arm.ratio_to_native is not None and arm.correct:
                found.setdefault(arm.name, []).append((arm, arm.ratio_to_native))
    return found


def rows(comparison: Comparison) -> list[Row]:
    groups = [
        (setting.text(), [cell for cell in comparison.cells if cell.point.setting == setting])
        for setting in comparison.settings()
    ]
    if len(groups) > 1:
        groups.append(("all", comparison.cells))
    return [
        Row(
            where=where,
            arm=name,
            cells=len(found),
            geometric_mean=geometric_mean(ratio.median for _, ratio in found),
            faster=sum(arm.verdict == "faster" for arm, _ in found),
            slower=sum(arm.verdict == "slower" for arm, _ in found),
            slow=sum(arm.is_slow for arm, _ in found),
            means=mean_of_means(arm for arm, _ in found),
        )
        for where, cells in groups
        for name, found in ratios(cells).items()
    ]


def mean_of_means(arms: Iterable[Arm]) -> float | None:
    """None where blocks were not kept."""
    found = [arm.mean_ratio.median for arm in arms if arm.mean_ratio]
    return geometric_mean(found) if found else None


def against_fastest(comparison: Comparison) -> list[Row]:
    """Every library's arms over the fastest library's own, cell by cell, where there are several. They come
    from different jobs of one run: nothing is paired, so "faster" is by the medians."""
    fastest: dict[tuple[object, ...], float] = {}
    for cell in comparison.cells:
        native = cell.arm("native")
        if native and native.time_us and native.correct:
            place = place_of(cell.point)
            fastest[place] = min(native.time_us.median, fastest.get(place, math.inf))
    found: dict[tuple[str, str], list[float]] = {}
    for cell in comparison.cells:
        for arm in cell.arms:
            if arm.time_us and arm.correct and place_of(cell.point) in fastest:
                over = arm.time_us.median / fastest[place_of(cell.point)]
                found.setdefault((cell.point.setting.text(), arm.name), []).append(over)
    if len({cell.point.setting.mpi for cell in comparison.cells}) < 2:
        return []
    return [
        Row(
            where=where,
            arm=name,
            cells=len(overs),
            geometric_mean=geometric_mean(overs),
            faster=sum(over < 1 for over in overs),
            slower=sum(over > 1 for over in overs),
            slow=sum(over > SLOW for over in overs),
        )
        for (where, name), overs in found.items()
    ]


def place_of(point: Point) -> tuple[object, ...]:
    """All but the MPI library."""
    return (replace(point.setting, mpi=""), point.collective, point.size)


def slow_cells(comparison: Comparison) -> list[tuple[Cell, Arm, Estimate]]:
    """Where an arm is slower than 0.95 of native's speed, by the median or surely by the mean, with the
    one that
    says more: what is sure first, then the worst."""
    found = [
        (cell, arm, worse(arm.ratio_to_native, arm.mean_ratio if arm.loses_by_mean else None))
        for cell in comparison.cells
        for arm in cell.arms
        if arm.ratio_to_native is not None and arm.is_slow
    ]
    return sorted(found, key=lambda slow: (not slow[2].is_slower, -slow[2].median))


def worse(one: Estimate, other: Estimate | None) -> Estimate:
    return max((one, other or one), key=lambda estimate: (estimate.is_slower, estimate.median))


def only_by_mean(slow: Sequence[tuple[Cell, Arm, Estimate]]) -> int:
    return sum(arm.ratio_to_native is not None and arm.ratio_to_native.median <= SLOW for _, arm, _ in slow)


@dataclass(frozen=True)
class Patterned:
    """One arm of one call, as it did in each pattern that it was measured in."""

    point: Point  # in the first of these patterns
    arm: str
    ratios: dict[str, Estimate]

    @property
    def worst(self) -> float:
        """Of those that are surely slower; 0: there is none."""
        return max((ratio.median for ratio in self.ratios.values() if ratio.is_slower), default=0.0)


def by_call(comparison: Comparison) -> list[Patterned]:
    found: dict[tuple[Point, str], Patterned] = {}
    for cell in comparison.cells:
        plain = replace(cell.point, setting=replace(cell.point.setting, pattern=PATTERNS[0]))
        for arm in cell.arms:
            if arm.ratio_to_native is not None and arm.correct:
                call = found.setdefault((plain, arm.name), Patterned(plain, arm.name, {}))
                call.ratios[cell.point.setting.pattern] = arm.ratio_to_native
    return list(found.values())


def slower_in_any(calls: Iterable[Patterned]) -> list[Patterned]:
    """Surely, in one pattern at least; the worst first."""
    return sorted((call for call in calls if call.worst), key=lambda call: -call.worst)


def surely(slow: Sequence[tuple[Cell, Arm, Estimate]]) -> str:
    sure = sum(ratio.is_slower for _, _, ratio in slow)
    text = f"of {sure} it is sure that they are slower than native (the whole interval above 1)"
    hidden = only_by_mean(slow)
    return f"{text}; {hidden} only by the mean, which the median hides" if hidden else text


@dataclass(frozen=True)
class Change:
    """The ratio to native before and after. Ratios, as machines drift between two runs: what
    slows both down cancels."""

    point: Point
    arm: str
    before: Estimate
    after: Estimate

    @property
    def factor(self) -> float:
        return self.after.median / self.before.median

    @property
    def is_sure(self) -> bool:
        apart = self.after.high < self.before.low or self.after.low > self.before.high
        return apart and self.before.is_sure and self.after.is_sure


def refuse_mixture(before: Comparison, patterns: Sequence[str]) -> None:
    if before.cells and patterns and not set(before.patterns()) & set(patterns):
        one, other = ", ".join(before.patterns()), ", ".join(patterns)
        raise UnisonoError(f"one was measured with --pattern {one}, the other with {other}: no comparison")


def changes(before: Comparison, after: Comparison) -> list[Change]:
    """Of all cells and arms that both have, the worst change first."""
    refuse_mixture(before, after.patterns())
    old = {
        (cell.point, arm.name): arm.ratio_to_native
        for cell in before.cells
        for arm in cell.arms
        if arm.ratio_to_native and arm.correct
    }
    found = [
        Change(cell.point, arm.name, old[cell.point, arm.name], arm.ratio_to_native)
        for cell in after.cells
        for arm in cell.arms
        if arm.ratio_to_native and arm.correct and (cell.point, arm.name) in old
    ]
    return sorted(found, key=lambda change: -change.factor)
