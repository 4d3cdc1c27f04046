"""Grid layouts of the paper, as specs of the algorithm `grid`.

M. Kuehnemann, T. Rauber, G. Ruenger, Improving the execution time of global communication operations,
Computing Frontiers 2004.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unisono.core.errors import UnisonoError

OPERATIONS = ("bcast", "gather", "scatter", "reduce", "allreduce", "allgather")
# The forms of the paper's section 2.1, and the ones that move the fewest bytes where they are others.
PAPER, LANES = "paper", "lanes"
FORMS = {
    PAPER: {
        "bcast": "leaders",
        "gather": "leaders",
        "scatter": "leaders",
        "reduce": "leaders",
        "allreduce": "full",
        "allgather": "lanes",
    },
    LANES: {"bcast": "lanes", "reduce": "lanes", "allreduce": "lanes"},
}
PHASES = ("rows", "columns", "planes")
NATIVE = "native"


@dataclass(frozen=True, order=True)
class Layout:
    """p1 x p2 (x p3): the last factor counts adjacent ranks."""

    shape: tuple[int, ...]

    def __str__(self) -> str:
        return "x".join(map(str, self.shape))

    @classmethod
    def parse(cls, text: str) -> "Layout":
        pieces = text.split("x")
        if len(pieces) not in (2, 3) or not all(piece.isdecimal() and int(piece) > 1 for piece in pieces):
            raise UnisonoError(f"--shapes {text}: write 4x4 or 2x4x4, no factor below 2")
        return cls(tuple(int(piece) for piece in pieces))

    @property
    def dimensions(self) -> int:
        return len(self.shape)

    @property
    def imbalance(self) -> float:
        """1: all factors alike."""
        return max(self.shape) / min(self.shape)

    def spec(self, form: str, inner: str = NATIVE) -> str:
        """With the MPI library's own collective in every phase, as in the paper, or `inner`."""
        phases = ",".join(f"{phase}={inner}" for phase in PHASES[: self.dimensions])
        return f"grid:shape={self},form={form},{phases}"


def factorisations(number: int, factors: int) -> Iterator[tuple[int, ...]]:
    """Ordered, no factor below 2."""
    if factors == 1:
        if number > 1:
            yield (number,)
        return
    for first in range(2, number // 2 + 1):
        if number % first == 0:
            for rest in factorisations(number // first, factors - 1):
                yield (first, *rest)


def layouts(ranks: int, dimensions: Sequence[int]) -> list[Layout]:
    found = [Layout(shape) for count in dimensions for shape in factorisations(ranks, count)]
    if not found:
        raise UnisonoError(f"{ranks} ranks: no grid with at least 2 in every direction")
    return found


def chosen(text: str, ranks: int) -> list[Layout]:
    found = [Layout.parse(piece) for piece in text.split(",")]
    for layout in found:
        if math.prod(layout.shape) != ranks:
            raise UnisonoError(f"--shapes {layout}: not {ranks} ranks")
    return found


def balanced(every: Sequence[Layout]) -> list[Layout]:
    """Those with the most equal factors: one square, or two that are each other's transpose."""
    least = min(layout.imbalance for layout in every)
    return [layout for layout in every if layout.imbalance <= 1.001 * least]
