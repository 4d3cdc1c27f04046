"""The runs of a program with an MPI library on so many ranks, as they are kept and judged."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from experiments.programs.judge import Kind, Verdict, judge
from experiments.programs.program import Program, Ran


def ran_from(data: Mapping[str, Any]) -> Ran:
    values = {name: tuple(row) for name, row in data["values"].items()}
    return Ran(**{**data, "values": values})


@dataclass(frozen=True)
class Cell:
    program: str
    mpi: str
    ranks: int
    native: tuple[Ran, ...]
    unisono: tuple[Ran, ...]
    missing: str = ""  # why there are no runs
    orders: tuple[Ran, ...] = ()  # natively, with other orders of sums, where those runs were asked for
    library: str = ""  # digest of the build that it ran with, where it is not that of the whole file

    @property
    def key(self) -> tuple[str, str, int]:
        return self.program, self.mpi, self.ranks

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Cell":
        arms = {arm: tuple(map(ran_from, data.get(arm, ()))) for arm in ("native", "unisono", "orders")}
        return cls(**{**data, **arms})


def verdict(cell: Cell, program: Program) -> Verdict:
    if cell.missing:
        return Verdict(Kind.MISSING, cell.missing)
    return judge(program.quantities, cell.native, cell.unisono, cell.orders)
