"""The quantities of "A study of process arrival patterns" (Faraj, Patarasuk, Yuan 2008), section 3."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unisono.core import catalogue

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Imbalance:
    """Of calls with arrivals a and exits f, a row each. All in seconds."""

    average: Float  # mean over ranks of |a_i - mean a|
    worst: Float  # max a - min a
    error: Float  # of `worst`, from the clocks
    elapsed: Float  # mean over ranks of f_i - a_i
    last: NDArray[np.int64]  # column of the last to arrive


def imbalance(begin: Float, end: Float, error: Float) -> Imbalance:
    rows = np.arange(len(begin))
    first, last = begin.argmin(axis=1), begin.argmax(axis=1)
    centre = begin.mean(axis=1)
    return Imbalance(
        average=np.abs(begin - centre[:, None]).mean(axis=1),
        worst=begin[rows, last] - begin[rows, first],
        error=np.where(first == last, 0.0, error[rows, first] + error[rows, last]),
        elapsed=(end - begin).mean(axis=1),
        last=last,
    )


def message_bytes(collective: str, size: Float, ranks: int) -> Float:
    """Of one message: the vector, or one block."""
    return size / ranks if catalogue.collective(collective).counts_all_blocks else size


class OneWay:
    """Time of one message by its bytes, from the trace's table. Falsy without one."""

    def __init__(self, table: Mapping[int, float]) -> None:
        sizes = sorted(table)
        self.sizes = np.array(sizes, float)
        self.seconds = np.array([table[size] for size in sizes], float)

    def __bool__(self) -> bool:
        return len(self.sizes) > 0

    def time(self, size: Float) -> Float:
        """T: between measured sizes linear in the logarithms; below them the smallest one's; above them
        in proportion to the bytes. nan without a table."""
        if not self:
            return np.full(np.shape(size), np.nan)
        at = np.maximum(size, 1.0)
        known = np.maximum(self.sizes, 1.0)
        inside = np.exp(np.interp(np.log(at), np.log(known), np.log(self.seconds)))
        return np.asarray(inside * np.maximum(at / known[-1], 1.0))

    @property
    def alpha(self) -> float:
        """s: of the smallest message; 0 without a table."""
        return float(self.seconds.min()) if self else 0.0

    @property
    def beta(self) -> float:
        """s/byte: what the largest message adds to alpha, the least that a long one pays."""
        if not self or self.sizes[-1] == 0:
            return 0.0
        return max(0.0, float(self.seconds[-1] - self.alpha) / float(self.sizes[-1]))
