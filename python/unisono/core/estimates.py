"""Medians with their intervals, and what a sample of times can look like: the common ground of compare,
tune and profile."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, median_high, median_low, stdev

ENOUGH = 6  # of blocks, or jobs: the fewest whose range is a 95 % interval of the median

# Two modes are told when...
FEWEST_BLOCKS = 20  # were measured: of fewer, one in ten looks so by chance
SHARE_OF_A_MODE = 0.15  # of the blocks lies in each: a tail is no mode
APART = 1.4  # one median is so many times the other
SEPARATION = 5.0  # Ashman's D of the logarithms: 2 is visible; a uniform sample cut in halves has 3.5


@dataclass(frozen=True)
class Estimate:
    """A median and the interval that holds the true one with probability `coverage`."""

    median: float
    low: float
    high: float
    coverage: float

    @property
    def is_sure(self) -> bool:
        """Fewer than 6 repetitions cannot give an interval of 95 %."""
        return self.coverage >= 0.95

    @property
    def is_faster(self) -> bool:
        """Of a ratio to native: surely."""
        return self.is_sure and self.high < 1

    @property
    def is_slower(self) -> bool:
        return self.is_sure and self.low > 1


def coverage(count: int, outer: int) -> float:
    """That the median of all jobs lies between those of `count` jobs, `outer` at each end left out."""
    return 1 - 0.5 ** (count - 1) * sum(math.comb(count, k) for k in range(outer + 1))


def outliers(count: int) -> int:
    """How many at each end may be left out of a 95 % interval: one of nine, two of twelve."""
    return max((outer for outer in range(count // 2) if coverage(count, outer) >= 0.95), default=0)


def estimate_median(values: Sequence[float]) -> Estimate:
    """By order statistics: nothing is assumed of how values are spread. Precondition: one value at least."""
    ordered = sorted(values)
    outer = outliers(len(ordered))
    sure = max(0.0, coverage(len(ordered), outer))
    return Estimate(median(ordered), ordered[outer], ordered[-1 - outer], sure)


def middle_estimate(jobs: Sequence[Estimate]) -> Estimate:
    """What several jobs say together. From six on their medians tell (the sign test). Of fewer, the ends
    of their intervals, and of an even number the outer ones: what it says, more than half of the jobs
    say."""
    if len(jobs) >= ENOUGH:
        return estimate_median([job.median for job in jobs])
    return Estimate(
        median=median(job.median for job in jobs),
        low=median_low(job.low for job in jobs),
        high=median_high(job.high for job in jobs),
        coverage=median_low(job.coverage for job in jobs),
    )


def ratio_of_means(times: Sequence[float], native: Sequence[float]) -> Estimate | None:
    """What a program that makes all these calls pays, over what it pays natively; None without pairs. The
    values
    are paired: the interval is that of the delta method, with Student's quantile to within 2 %."""
    count = len(times)
    if count < 2 or count != len(native) or min(*times, *native) <= 0:
        return None
    ratio = fmean(times) / fmean(native)
    # Of the logarithm of the ratio, to the first order.
    deviations = [a / fmean(times) - b / fmean(native) for a, b in zip(times, native, strict=True)]
    reach = (1.96 + 3 / (count - 1)) * math.sqrt(fmean(d * d for d in deviations) / (count - 1))
    sure = 0.95 if count >= ENOUGH else 0.0
    return Estimate(ratio, ratio * math.exp(-reach), ratio * math.exp(reach), sure)


@dataclass(frozen=True)
class Modes:
    """A sample that is two: the machine was in one state or in the other."""

    low: float  # median of the faster blocks
    high: float
    share_high: float  # of the blocks

    def text(self) -> str:
        def digits(value: float) -> str:
            return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"

        share = f"in {100 * self.share_high:.0f} % of the blocks"
        return f"{digits(self.low)} us, and {digits(self.high)} us {share}"


def find_modes(times_us: Sequence[float]) -> Modes | None:
    """Two modes, or None. The cut that leaves the least variance of the logarithms within its two sides
    (Otsu 1979), judged by the distance of the sides over their spread (Ashman, Bird, Zepf 1994)."""
    logs = sorted(math.log(time) for time in times_us if time > 0)
    count = len(logs)
    if count < FEWEST_BLOCKS:
        return None
    at = best_cut(logs, math.ceil(SHARE_OF_A_MODE * count))
    low, high = logs[:at], logs[at:]
    factor = math.exp(median(high) - median(low))
    spread = math.hypot(stdev(low), stdev(high)) / math.sqrt(2)
    if factor < APART or fmean(high) - fmean(low) < SEPARATION * spread:
        return None
    return Modes(math.exp(median(low)), math.exp(median(high)), len(high) / count)


def best_cut(ordered: Sequence[float], fewest: int) -> int:
    """How many belong to the lower side; `fewest` at least to each."""
    count, total = len(ordered), math.fsum(ordered)
    best, at, below = -1.0, fewest, math.fsum(ordered[:fewest])
    for size in range(fewest, count - fewest + 1):
        distance = below / size - (total - below) / (count - size)
        between = size * (count - size) * distance**2
        if between > best:
            best, at = between, size
        below += ordered[min(size, count - 1)]
    return at
