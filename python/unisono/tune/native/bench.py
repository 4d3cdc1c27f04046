"""One job of unisono-bench under a line-up: which algorithm of the library each cell has."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unisono.core import files, jobs
from unisono.testbeds.beds import Bed
from unisono.tune.native.record import Cell
from unisono.tune.native.rules import Library


@dataclass
class Read:
    """What a job said before it ended."""

    times_us: dict[Cell, float] = field(default_factory=dict)
    left_out: dict[Cell, str] = field(default_factory=dict)
    problem: str = ""
    wrong: Cell | None = None

    def rest(self, cells: Sequence[Cell]) -> list[Cell]:
        return [cell for cell in cells if cell not in self.times_us and cell not in self.left_out]


@dataclass(frozen=True)
class Bench:
    bed: Bed
    library: Library
    per_host: int
    cell_seconds: float
    silence: float

    def run(self, cells: Sequence[Cell], variables: Mapping[str, str], extra: Sequence[str] = ()) -> Read:
        """All cells, which have the same ranks; those with the same sizes are best put together."""
        collectives = list(dict.fromkeys(cell.collective for cell in cells))
        sizes = sorted({cell.bytes for cell in cells})
        with tempfile.TemporaryDirectory(prefix="unisono-tune-") as folder:
            file = Path(folder) / "cells.json"
            line = [*self.library.mpi.tool("unisono-bench")]
            line += ["--collectives", ",".join(collectives), "--arms", "native", "--json", str(file)]
            line += ["--budget", str(self.cell_seconds), *extra]
            if any(sizes):
                line += ["--sizes", ",".join(str(size) for size in sizes if size)]
            command, environment = self.bed.command(self.library.mpi, cells[0].ranks, self.per_host, line)
            reader = Reader(file, cells)
            outcome = jobs.run(command, {**environment, **variables}, self.silence, reader.look)
            reader.look()
        reader.read.problem = outcome.problem
        return reader.read


class Reader:
    """Reads along in the file that unisono-bench replaces after every cell."""

    def __init__(self, file: Path, cells: Sequence[Cell]) -> None:
        self.file = file
        # The bench's order, which runs all collectives with all sizes. Cells are told apart by it: the
        # bench rounds sizes to whole elements.
        sizes = sorted({cell.bytes for cell in cells})
        self.order: list[Cell | None] = []
        for collective in dict.fromkeys(cell.collective for cell in cells):
            own = {cell.bytes: cell for cell in cells if cell.collective == collective}
            self.order += [own[0]] if 0 in own else [own.get(size) for size in sizes if size]
        self.read = Read()
        self.rows = 0

    def look(self) -> bool:
        try:
            body = files.decoded(files.read_bytes(self.file))
        except (OSError, ValueError):
            return False
        new = body["cells"][self.rows :]
        for row in new:
            cell = self.order[self.rows]
            if cell:
                self.take(cell, row)
            self.rows += 1
        return bool(new)

    def take(self, cell: Cell, row: Mapping[str, Any]) -> None:
        if "left_out" in row:
            self.read.left_out[cell] = row["left_out"]
        elif not row["correct"]:
            self.read.wrong = cell
        else:
            self.read.times_us[cell] = row["arms"][0]["time_us"]["median"]
