"""What becomes of a call when there are more ranks, or fewer. The rules are printed with every result."""

import math
from dataclasses import dataclass

from unisono.core import catalogue
from unisono.core.errors import UnisonoError
from unisono.whatif.calls import Calls, Shape

WEAK, STRONG, SAME = "weak", "strong", "same"
SCALINGS = (WEAK, STRONG, SAME)
SINGLE = 8  # bytes: a count or a flag, which does not grow with a problem
ELEMENT = 4  # bytes: what is replayed are floats and chars

RULES = {
    WEAK: "every rank keeps its data and its computing: blocks of alltoall shrink as the ranks of their "
    "communicator grow, all other sizes stay",
    STRONG: "the whole problem keeps its size: computing and blocks shrink as the ranks grow, blocks of "
    "alltoall by that once more; a vector on all ranks stays",
    SAME: "every call keeps its bytes and every rank its computing",
}
PAIRS = {"alltoall", "alltoallv", "alltoallw"}  # a block for each two ranks


@dataclass(frozen=True)
class Target:
    ranks: int
    per_host: int
    scaling: str
    grid: tuple[int, int] | None = None  # rows and columns, in place of those found

    @property
    def hosts(self) -> int:
        return -(-self.ranks // self.per_host)

    def placed(self) -> tuple[int, ...]:
        """The host of each rank: neighbours share one."""
        return tuple(rank // self.per_host for rank in range(self.ranks))


@dataclass(frozen=True)
class Scale:
    """From the traced ranks to the target's."""

    ranks: int
    per_host: int
    target: Target

    @classmethod
    def of(cls, calls: Calls, target: Target) -> "Scale":
        return cls(calls.ranks, calls.per_host, target)

    @property
    def computing(self) -> float:
        """What a traced computing time is multiplied by."""
        return self.ranks / self.target.ranks if self.target.scaling == STRONG else 1.0

    def shape(self, shape: Shape) -> Shape:
        new = self.target.ranks
        if shape.ranks == self.ranks:
            return Shape(new)
        if not shape.strided and shape.ranks == self.per_host:  # the ranks of a host
            if new % self.target.per_host:
                raise UnisonoError(f"{new} ranks do not fill hosts of {self.target.per_host} each")
            return Shape(self.target.per_host)
        if not shape.strided or self.ranks // shape.ranks != self.per_host:
            rows, columns = self.grid(shape)
            return Shape(rows, strided=True) if shape.strided else Shape(columns)
        return Shape(new // self.target.per_host, strided=True)  # a rank of each host

    def grid(self, shape: Shape) -> tuple[int, int]:
        """Rows and columns of the grid at the new scale: as near as possible to the traced one's form."""
        columns = self.ranks // shape.ranks if shape.strided else shape.ranks
        rows, new = self.ranks // columns, self.target.ranks
        if self.target.grid:
            return self.target.grid
        found = [(new // c, c) for c in range(2, new // 2 + 1) if new % c == 0]
        if not found:
            raise UnisonoError(
                f"{new} ranks make no grid, and the trace has one of {rows}x{columns}: take another number"
            )
        return min(found, key=lambda g: (round(abs(math.log(g[0] * columns / (g[1] * rows))), 9), g[0]))

    def bytes(self, collective: str, size: float, shape: Shape) -> int:
        """Of a call on a communicator of that traced shape, at the new scale."""
        row = catalogue.collective(collective)
        if row.measure == "nothing":
            return 0
        new = self.shape(shape)
        scaled = size if size <= SINGLE else size * self.factor(collective, shape, new)
        least = ELEMENT * (new.ranks if row.counts_all_blocks else 1) if row.reduces else 1
        unit = ELEMENT if row.reduces or scaled >= ELEMENT else 1
        return max(least, unit * round(scaled / unit), 1)

    def factor(self, collective: str, shape: Shape, new: Shape) -> float:
        scaling = self.target.scaling
        if scaling == SAME:
            return 1.0
        pairs = shape.ranks / new.ranks if collective in PAIRS else 1.0
        if scaling == WEAK:
            return pairs
        if collective in PAIRS or catalogue.collective(collective).measure == "block":
            return pairs * self.ranks / self.target.ranks
        # A vector for each group: all groups together keep theirs.
        return (self.ranks / shape.ranks) / (self.target.ranks / new.ranks)

    def root(self, root: int, shape: Shape) -> int:
        return min(root * self.shape(shape).ranks // shape.ranks, self.shape(shape).ranks - 1)
