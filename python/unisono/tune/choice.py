"""Which algorithm a cell gets, from what was measured; and for which sizes that holds."""

import itertools
import math
from collections.abc import Mapping, Sequence

from unisono.profile.document import Arm, Cell, Measured

GAIN = 0.98  # of native's time: less is worth leaving native for, if it is sure
NATIVE = "native"


def surely_faster(arm: Arm) -> bool:
    ratio = arm.ratio_to_native
    return ratio is not None and ratio.is_sure and ratio.high < GAIN


def choose(arms: Sequence[Arm]) -> str:
    """The fastest of those that are surely faster than native, else native."""
    able = [arm for arm in arms if arm.spec != NATIVE and surely_faster(arm)]
    return min(able, key=ratio_of).spec if able else NATIVE


def ratio_of(arm: Arm) -> float:
    if arm.spec == NATIVE:
        return 1.0
    return arm.ratio_to_native.median if arm.ratio_to_native else math.inf


def finalists(arms: Sequence[Arm], most: int = 2) -> list[str]:
    """The fastest that may turn out to be faster than native: what is worth a second look."""
    hopeful = [arm for arm in arms if arm.spec != NATIVE and ratio_of(arm) < GAIN]
    return [arm.spec for arm in sorted(hopeful, key=ratio_of)[:most]]


def unsettled(arms: Sequence[Arm]) -> bool:
    """Neither surely faster than native nor slower: more time may tell."""
    return choose(arms) == NATIVE and bool(finalists(arms))


def joined(race: Sequence[Arm], confirmation: Sequence[Arm]) -> tuple[Arm, ...]:
    """The confirmation's numbers, and the race's of those that it left out."""
    again = {arm.spec for arm in confirmation}
    return (*confirmation, *(arm for arm in race if arm.spec not in again))


def intervals(collective: str, choices: Mapping[int, str], measured: Mapping[int, Measured]) -> list[Cell]:
    """Between two measured sizes the border is their geometric mean; below the smallest the choice
    holds down to half of it (to 0 from 8 on), above the largest up to twice of it. Neighbours with
    the same choice are one cell."""
    sizes = sorted(choices)
    borders = [math.isqrt(small * large) for small, large in itertools.pairwise(sizes)]
    least = [0 if sizes[0] <= 8 else sizes[0] // 2, *(border + 1 for border in borders)]
    most = [*borders, 2 * sizes[-1]]
    cells: list[Cell] = []
    for size, low, high in zip(sizes, least, most, strict=True):
        found = (measured[size],) if size in measured else ()
        if cells and cells[-1].choice == choices[size]:
            last = cells.pop()
            cells.append(Cell(collective, last.least, high, last.choice, (*last.measured, *found)))
        else:
            cells.append(Cell(collective, low, high, choices[size], found))
    return cells
