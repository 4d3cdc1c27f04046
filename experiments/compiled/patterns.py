"""Matrices of counts by seed: the same ones in every run.

A row for each sender; what a rank sends to itself is 0. The mean is over the messages that there are.
"""

import itertools
import random
from dataclasses import dataclass

KIB = 1 << 10
UNIFORM, ZIPF, SPARSE, HOT = "uniform", "zipf", "sparse", "hot"
OWN = (UNIFORM, ZIPF, SPARSE, HOT)
EQUAL, TABLE_3 = "equal", "table3"
# The paper's random pattern, of the 240 pairs of 16 nodes.
MIX = ((160, 64 * KIB), (20, 16 * KIB), (60, 100))
HOT_SHARE = 4  # of the ranks one in four gets
HOT_TIMES = 3  # three times as much as others


@dataclass(frozen=True)
class Cell:
    kind: str
    kib: int  # of a message in the mean; of table3 0
    ranks: int

    @property
    def of_paper(self) -> bool:
        return self.kind in (EQUAL, TABLE_3)

    @property
    def words(self) -> str:
        return "table 3" if self.kind == TABLE_3 else f"{self.kind}, {self.kib} KiB"

    @property
    def title(self) -> str:
        return f"{self.words}, {self.ranks} hosts"


Matrix = list[list[int]]


def scaled(weights: list[float], mean: int) -> list[int]:
    """So that their mean is this, but for rounding."""
    factor = mean * len(weights) / sum(weights)
    return [round(weight * factor) for weight in weights]


def lengths(cell: Cell, pairs: list[tuple[int, int]], draw: random.Random) -> list[int]:
    mean, n = cell.kib * KIB, len(pairs)
    if cell.kind == EQUAL:
        return [mean] * n
    if cell.kind == UNIFORM:
        return scaled([draw.random() for _ in pairs], mean)
    if cell.kind == ZIPF:
        # The k-th longest message has 1/k of the longest's bytes, as far as 64: no longer tail than that of
        # 64 kinds, or one message would be all of the matrix.
        weights = [1 / (1 + k % 64) for k in range(n)]
        draw.shuffle(weights)
        return scaled(weights, mean)
    if cell.kind == SPARSE:
        chosen = set(draw.sample(range(n), max(1, n // 4)))
        own = scaled([0.5 + draw.random() for _ in chosen], mean)
        lengths_of = dict(zip(sorted(chosen), own, strict=True))
        return [lengths_of.get(k, 0) for k in range(n)]
    if cell.kind == HOT:
        hot = set(draw.sample(range(cell.ranks), max(1, cell.ranks // HOT_SHARE)))
        return scaled([(HOT_TIMES if to in hot else 1) * (0.5 + draw.random()) for _, to in pairs], mean)
    total = sum(number for number, _ in MIX)
    mixed = [size for number, size in MIX for _ in range(round(number * n / total))]
    mixed = (mixed + [MIX[0][1]] * n)[:n]
    draw.shuffle(mixed)
    return mixed


def matrix(cell: Cell, seed: int) -> Matrix:
    draw = random.Random(f"{seed} {cell.kind} {cell.kib} {cell.ranks}")
    pairs = list(itertools.permutations(range(cell.ranks), 2))
    made = [[0] * cell.ranks for _ in range(cell.ranks)]
    for (sender, receiver), size in zip(pairs, lengths(cell, pairs, draw), strict=True):
        made[sender][receiver] = size
    return made


def busiest(cell: Cell, seed: int) -> int:
    """Bytes that a rank sends or receives at most."""
    rows = matrix(cell, seed)
    return max(*map(sum, rows), *map(sum, zip(*rows, strict=True)))
