"""Which algorithm a cell gets, from what was measured; and for which sizes that holds."""

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import median, median_high, median_low

from unisono.core.catalogue import NATIVE
from unisono.core.estimates import ENOUGH, middle_estimate
from unisono.profile.document import Arm, Cell, Measured

GAIN = 0.98  # of native's time: what is sure must be more than nothing
WORTH = 0.95  # in the middle: for less, one job in which native is faster takes back what many gain
NOT_SLOWER = 1 / 0.97  # of native's time; above it lies what is slower than 0.97 of native's speed
HOPEFUL = 1.1  # of native's time in the race: another job may say otherwise
FEW, FEW_TO_LEAVE_NATIVE = 2, 4  # jobs that must agree

Job = Sequence[Arm]  # what one job measured of a cell, native first


def surely_faster(arm: Arm) -> bool:
    ratio = arm.ratio_to_native
    return ratio is not None and ratio.is_sure and ratio.high < GAIN


def choose(arms: Sequence[Arm]) -> str:
    """Of those that are worth it, and surely not slower than native, the one whose ratio is low in the middle
    and at its upper end: what loses packets in some jobs is fast in the middle, and slow there. Else
    native, unless it `leaves_open`."""
    able = [arm for arm in arms if arm.spec != NATIVE and is_safe(arm) and ratio_of(arm) < WORTH]
    return min(able, key=lambda arm: ratio_of(arm) + upper_end(arm)).spec if able else NATIVE


def leaves_open(arms: Sequence[Arm]) -> bool:
    """Somebody looks worth it, and nobody is surely not slower: to keep native would make the doubt a
    choice. Without one a job's own calls find out (docs/guide/online.md)."""
    looks_worth_it = any(ratio_of(arm) < WORTH for arm in arms if arm.spec != NATIVE)
    return looks_worth_it and choose(arms) == NATIVE


def has_rival(arms: Sequence[Arm]) -> bool:
    """Somebody was measured beside native for long enough."""
    return any(is_known(arm) for arm in arms if arm.spec != NATIVE)


def is_safe(arm: Arm) -> bool:
    return is_known(arm) and upper_end(arm) < NOT_SLOWER


def is_idle(arm: Arm) -> bool:
    """Surely not worth it."""
    return is_known(arm) and arm.ratio_to_native is not None and arm.ratio_to_native.low > WORTH


def upper_end(arm: Arm) -> float:
    return arm.ratio_to_native.high if arm.ratio_to_native else math.inf


def ratio_of(arm: Arm) -> float:
    if arm.spec == NATIVE:
        return 1.0
    return arm.ratio_to_native.median if arm.ratio_to_native else math.inf


def is_known(arm: Arm) -> bool:
    """By an interval; native's ratio is."""
    return arm.spec == NATIVE or (arm.ratio_to_native is not None and arm.ratio_to_native.is_sure)


def finalists(arms: Sequence[Arm], most: int = 3) -> list[str]:
    """The fastest that may turn out to be faster than native: what is worth a second look. Those that
    left the race early come last: some block of native's that was slow flatters them."""
    hopeful = [arm for arm in arms if arm.spec != NATIVE and ratio_of(arm) < HOPEFUL]
    hopeful.sort(key=lambda arm: (not is_known(arm), ratio_of(arm)))
    return [arm.spec for arm in hopeful[:most]]


def tells(job: Job) -> bool:
    """Whether it had time for intervals; or needed none, because all others were clearly slower."""
    if not job or job[0].blocks < 3:
        return False
    ratios = [arm.ratio_to_native for arm in job[1:] if arm.ratio_to_native]
    return job[0].blocks >= ENOUGH or all(ratio.low > 1.2 for ratio in ratios)


def pooled(jobs: Sequence[Job]) -> tuple[Arm, ...]:
    """Every arm, once: the middle of its jobs, because jobs differ more than the blocks of one."""
    found: dict[str, list[Arm]] = {}
    for arm in itertools.chain.from_iterable(jobs):
        found.setdefault(arm.spec, []).append(arm)
    return tuple(middle(arms) for arms in found.values())


def middle(arms: Sequence[Arm]) -> Arm:
    """Medians over the jobs."""
    ratios = [arm.ratio_to_native for arm in arms if arm.ratio_to_native]
    return Arm(
        spec=arms[0].spec,
        median_s=median(arm.median_s for arm in arms),
        low_s=median_low(arm.low_s for arm in arms),
        high_s=median_high(arm.high_s for arm in arms),
        blocks=sum(arm.blocks for arm in arms),
        ratio_to_native=middle_estimate(ratios) if ratios else None,
    )


def unsettled(jobs: Sequence[Job]) -> bool:
    """The jobs do not agree, or are few for leaving native (one job in three may lose packets): another
    one may tell. Those in which the choice took no part say nothing of it."""
    spec = choose(pooled(jobs))
    told = [(job, arm) for job in jobs for arm in job if arm.spec == spec]
    return len(told) < (FEW if spec == NATIVE else FEW_TO_LEAVE_NATIVE) or not all(
        agrees(job, own) for job, own in told
    )


def agrees(job: Job, own: Arm) -> bool:
    """In this job too the choice is faster than native, and nothing is faster by the margin."""
    if own.spec != NATIVE and not surely_faster(own):
        return False
    return all(ratio_of(arm) >= GAIN * ratio_of(own) for arm in job if is_known(arm))


def joined(race: Job, confirmed: Sequence[Arm]) -> tuple[Arm, ...]:
    """The confirmed numbers, and the race's of those that had no confirmation."""
    again = {arm.spec for arm in confirmed}
    return (*confirmed, *(arm for arm in race if arm.spec not in again))


def intervals(
    collective: str,
    choices: Mapping[int, str],
    measured: Mapping[int, Measured],
    missing: Sequence[int] = (),
) -> list[Cell]:
    """Between two sizes the border is their geometric mean; below the smallest the choice holds down to
    half of it (to 0 from 8 on), above the largest up to twice of it. Neighbours with the same choice are
    one cell. Of the `missing` sizes nothing is known: their intervals are nobody's."""
    sizes = sorted({*choices, *missing})
    borders = [math.isqrt(small * large) for small, large in itertools.pairwise(sizes)]
    least = [0 if sizes[0] <= 8 else sizes[0] // 2, *(border + 1 for border in borders)]
    most = [*borders, 2 * sizes[-1]]
    cells: list[Cell] = []
    for size, low, high in zip(sizes, least, most, strict=True):
        if size not in choices:
            continue
        found = (measured[size],) if size in measured else ()
        if cells and cells[-1].choice == choices[size] and cells[-1].most + 1 == low:
            last = cells.pop()
            cells.append(Cell(collective, last.least, high, last.choice, (*last.measured, *found)))
        else:
            cells.append(Cell(collective, low, high, choices[size], found))
    return cells
