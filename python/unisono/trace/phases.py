"""Where a series of imbalance times changes its level.

Change points of the mean of the logarithms by PELT (Killick, Fearnhead, Eckley 2012, "Optimal detection of
changepoints with a linear computational cost"; the library ruptures has it), after a running median, so that
single spikes, which the paper's Figure 3 shows, make no phase.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

POINTS = 600  # a longer series is looked at as so many medians of neighbours
SPIKE = 5  # running median: spikes of up to two calls vanish
SHORTEST = 8  # points of a phase
PENALTY = 5.0  # times the variance times log n; 2 would do for independent points (BIC)
FACTOR = 2.0  # neighbouring phases differ by it at least


@dataclass(frozen=True)
class Phase:
    first: int  # call of the series
    last: int  # included
    median: float


def phases(series: Float, floor: float) -> list[Phase]:
    """At least one phase. Values below `floor` (> 0; the error of the clocks) are alike."""
    if not len(series):
        return []
    width = -(-len(series) // POINTS)
    points = reduced(np.log(np.maximum(series, floor)), width)
    borders = [0, *(width * border for border in change_points(smooth(points))), len(series)]
    return merged(series, borders, floor)


def reduced(values: Float, width: int) -> Float:
    whole = len(values) // width * width
    blocks = np.median(values[:whole].reshape(-1, width), axis=1)
    return np.asarray(np.append(blocks, np.median(values[whole:])) if whole < len(values) else blocks)


def smooth(points: Float) -> Float:
    if len(points) < SPIKE:
        return points
    padded = np.pad(points, SPIKE // 2, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, SPIKE), axis=1))


def noise(points: Float) -> float:
    """Variance of the independent part: from differences over the window of the running median, robust
    against the few that cross a change."""
    apart = np.abs(points[SPIKE:] - points[:-SPIKE])
    return float((1.4826 * np.median(apart)) ** 2 / 2) if len(apart) else 0.0


def change_points(points: Float) -> list[int]:
    """First points of the phases but the first."""
    count = len(points)
    if count < 2 * SHORTEST:
        return []
    import ruptures  # noqa: PLC0415 - it takes time to load, and few traces are long enough

    penalty = PENALTY * max(noise(points), 1e-4) * np.log(count) * SPIKE  # its points are not independent
    # The linear kernel's cost is the sum of squares about the mean.
    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST).fit(points[:, None])
    return [int(border) for border in search.predict(pen=penalty)[:-1]]


def merged(series: Float, borders: list[int], floor: float) -> list[Phase]:
    """Neighbours whose medians do not differ by FACTOR become one, the most alike first."""
    while True:
        found = [Phase(a, b - 1, float(np.median(series[a:b]))) for a, b in pairwise(borders)]
        levels = np.log([max(phase.median, floor) for phase in found])
        steps = np.abs(np.diff(levels))
        if not len(steps) or steps.min() >= np.log(FACTOR):
            return found
        del borders[int(steps.argmin()) + 1]
