"""Times of a rank on the clock of rank 0, and how wrong they can be."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

DRIFT = 50e-6  # of quartz clocks, at most; counts where no second measurement bounds it
UNKNOWN_NS = 1e18  # the error of a clock that was never compared


class Reading(NamedTuple):
    """Local time `at_ns` plus `offset_ns` is rank 0's, within `error_ns`."""

    at_ns: int
    offset_ns: float
    error_ns: float


def tightened(own: Reading, other: Reading) -> Reading:
    """What both say of the offset at the time of `own`. A rank that had to wait for a processor reads a clock
    badly at one end; a quartz does not drift as far. As it was, where they contradict each other."""
    reach = other.error_ns + DRIFT * abs(own.at_ns - other.at_ns)
    low = max(own.offset_ns - own.error_ns, other.offset_ns - reach)
    high = min(own.offset_ns + own.error_ns, other.offset_ns + reach)
    if low > high or (low, high) == (own.offset_ns - own.error_ns, own.offset_ns + own.error_ns):
        return own
    return Reading(own.at_ns, (low + high) / 2, (high - low) / 2)


class Clock:
    """Linear between two readings; outside, and with one only, constant with an error that grows."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        ordered = sorted(readings)
        self.known = bool(ordered)
        first, last = (ordered[0], ordered[-1]) if ordered else (Reading(0, 0.0, UNKNOWN_NS),) * 2
        self.first, self.last = tightened(first, last), tightened(last, first)
        self.span = self.last.at_ns - self.first.at_ns

    def share(self, local_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far between the readings, 0 to 1."""
        if self.span <= 0:
            return np.zeros(len(local_ns))
        return np.clip((local_ns - self.first.at_ns) / self.span, 0.0, 1.0)

    def corrected(self, local_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """ns on rank 0's clock."""
        drift = (self.last.offset_ns - self.first.offset_ns) * self.share(local_ns)
        return local_ns + int(self.first.offset_ns) + np.rint(drift).astype(np.int64)

    def error(self, local_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """ns, of either sign. An interpolated offset is no worse than the worse of its two ends. An error
        of 0 is that of rank 0's own clock, which other ranks of its node read as well."""
        if not self.known:
            return np.full(len(local_ns), UNKNOWN_NS)
        if self.first.error_ns == self.last.error_ns == 0:
            return np.zeros(len(local_ns))
        before, after = self.first.at_ns - local_ns, local_ns - self.last.at_ns
        outside = np.maximum(np.maximum(before, after), 0)
        return max(self.first.error_ns, self.last.error_ns) + DRIFT * outside
