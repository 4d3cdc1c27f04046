"""The measurements of a tuning, kept in a working folder so that it can be interrupted and resumed."""

import contextlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unisono.core import files
from unisono.core.errors import UnisonoError

DEFAULT = "default"  # the library's own decision


@dataclass(frozen=True)
class Cell:
    """A call that is measured; bytes as unisono-bench counts them."""

    collective: str
    ranks: int
    bytes: int


@dataclass(frozen=True)
class Measured:
    """One cell in one job. Jobs of a stage and round stand for one another: they ran close in time."""

    stage: str
    round: int
    cell: Cell
    algorithm: str
    median_us: float | None  # None: it failed
    problem: str = ""


class Record:
    """JSON lines: first what was measured where, then a line for each measurement."""

    def __init__(self, folder: Path, setup: Mapping[str, Any], resume: bool) -> None:
        self.file = folder / "measurements.jsonl"
        self.rows: list[Measured] = []
        if self.file.exists() and not resume:
            raise UnisonoError(f"{folder} holds measurements: go on with --resume, or remove it")
        if resume and not self.file.exists():
            raise UnisonoError(f"{folder}: nothing to --resume: leave that option out")
        if resume:
            self.load(setup)
            return
        files.make_own_folder(folder, self.file.name)
        self.append([{"format": "unisono-native-tuning", "version": 1, **setup}])

    @staticmethod
    def remove(folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    def load(self, setup: Mapping[str, Any]) -> None:
        try:
            lines = files.read_text(self.file).splitlines()
            first = files.decoded(lines[0])
            if {**first, **setup} != first:
                different = " and ".join(name for name, value in setup.items() if first.get(name) != value)
                raise UnisonoError(
                    f"--resume: {self.file.parent} was begun with another {different}: remove it"
                )
        except (ValueError, IndexError) as error:
            raise UnisonoError(f"{self.file}: damaged ({error}); remove {self.file.parent}") from None
        for line in lines[1:]:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # a line that was being written
                row = files.decoded(line)
                self.rows.append(Measured(**{**row, "cell": Cell(**row["cell"])}))

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        with self.file.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    def add(self, row: Measured) -> None:
        self.rows.append(row)
        self.append([asdict(row)])

    def has(self, stage: str, round_: int, cell: Cell, algorithm: str) -> bool:
        return any(
            (row.stage, row.round, row.cell, row.algorithm) == (stage, round_, cell, algorithm)
            for row in self.rows
        )

    def failed(self, cell: Cell, algorithm: str) -> bool:
        """An algorithm that failed once for a collective is not tried again for it."""
        return any(
            row.median_us is None
            and row.algorithm == algorithm
            and (row.cell.collective, row.cell.ranks) == (cell.collective, cell.ranks)
            for row in self.rows
        )

    def ratios(self, stage: str, cell: Cell, algorithm: str) -> list[float]:
        """Time by the time of the library's own decision, round by round."""
        times: dict[int, dict[str, float]] = {}
        for row in self.rows:
            if row.stage == stage and row.cell == cell and row.median_us:
                times.setdefault(row.round, {})[row.algorithm] = row.median_us
        pairs = [(by[algorithm], by[DEFAULT]) for by in times.values() if {algorithm, DEFAULT} <= by.keys()]
        return [time / default for time, default in pairs]

    def times_us(self, stage: str, cell: Cell, algorithm: str) -> list[float]:
        return [
            row.median_us
            for row in self.rows
            if (row.stage, row.cell, row.algorithm) == (stage, cell, algorithm) and row.median_us
        ]
