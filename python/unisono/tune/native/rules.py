"""What an export says: which of the MPI library's own algorithms runs for which calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any, Protocol

from unisono.core.places import Mpi

COLLECTIVES = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "scan",
    "exscan",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter",
    "reduce_scatter_block",
]


@dataclass(frozen=True)
class Algorithm:
    """One of the MPI library's own; `form` is how its library writes it in a file."""

    name: str  # with its parameters: pipeline:segment=32K
    form: Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """Bytes from low to high, both included, counted as unisono-bench does; high None: without end."""

    collective: str
    ranks: int
    low: int
    high: int | None
    algorithm: Algorithm


class Library(Protocol):
    """What Open MPI and MPICH differ in."""

    mpi: Mpi

    def algorithms(self, collective: str, ranks: int) -> list[Algorithm]: ...
    def tells_sizes(self, collective: str) -> bool:
        """Whether a file can choose by size. Not where ranks may see different sizes in one call."""
        ...

    def write(self, rules: Sequence[Rule], file: Path) -> dict[str, str]:
        """Writes the file, and others beside it; the variables that make the library read them."""
        ...

    def tripwire(self, rule: Rule) -> Rule:
        """The rule with an algorithm with which the library must end the program when it comes to it."""
        ...


def intervals(sizes: Sequence[int], chosen: Mapping[int, Algorithm]) -> list[tuple[int, int, Algorithm]]:
    """Borders between measured sizes are their geometric means. Beyond the measured ones: down to
    half of the smallest (to 0 from 8), up to twice the largest."""
    ordered = sorted(sizes)
    found: list[tuple[int, int, Algorithm]] = []
    for i, size in enumerate(ordered):
        if size not in chosen:
            continue
        low = isqrt(ordered[i - 1] * size) + 1 if i else (0 if size <= 8 else size // 2)
        high = isqrt(size * ordered[i + 1]) if i + 1 < len(ordered) else 2 * size
        if found and found[-1][1] == low - 1 and found[-1][2] == chosen[size]:
            found[-1] = (found[-1][0], high, chosen[size])
        else:
            found.append((low, high, chosen[size]))
    return found


def size_text(size: int) -> str:
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if size and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)
