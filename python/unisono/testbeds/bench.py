"""Cells, measured by jobs of unisono-bench."""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unisono.core import files, jobs
from unisono.core.places import Mpi
from unisono.profile.document import Arm, Key, estimate_of
from unisono.testbeds.beds import Bed

RunJob = Callable[..., jobs.Outcome]
START_SECONDS = 1.0  # of a job, until one was seen
BATCHES = 520  # of all arms together, at most: arms not told apart by then are alike


@dataclass(frozen=True)
class Point:
    collective: str
    bytes: int

    def text(self) -> str:
        return f"{self.collective} {self.bytes}"


@dataclass(frozen=True)
class Entry:
    """A cell of a job: what races there beside native."""

    point: Point
    arms: tuple[str, ...]

    def text(self) -> str:
        """Of unisono-bench's --cells; a barrier's size says nothing."""
        return f"{self.point.collective} {self.point.bytes or 1} {','.join(('native', *self.arms))}"


@dataclass(frozen=True)
class Failed:
    """A candidate that costs the job when it races: it crashes, hangs, is wrong, or is refused."""

    spec: str
    problem: str


@dataclass(frozen=True)
class Row:
    """What a job told of a cell."""

    point: Point
    arms: tuple[Arm, ...] = ()
    key: Key | None = None
    problem: str = ""  # then there are no arms
    wrong: bool = False  # a result was: a defect of Unisono or of the MPI library
    failed: tuple[Failed, ...] = ()  # candidates left out of it
    blocks: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # us; arms start together
    exact: bool = False  # simulated: the same in every run, without intervals


class Bench:
    """Runs cells on a bed, each within its time."""

    def __init__(
        self, bed: Bed, mpi: Mpi, ranks: int, ppn: int | None = None, run_job: RunJob = jobs.run
    ) -> None:
        self.bed, self.mpi, self.ranks = bed, mpi, ranks
        self.per_host = bed.per_host(ranks, ppn)
        self.program = mpi.tool("unisono-bench")
        self.run_job = run_job
        self.start = START_SECONDS  # seconds of a job that are no measurement
        self.seed = 0

    def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
        """Races the arms; with the start of the job it takes no longer than `seconds`, or hardly."""
        return self.job([Entry(point, tuple(arms))], seconds)[0]

    def measure_all(self, entries: Sequence[Entry], seconds: float) -> list[Row]:
        """In one job, as long as none of them ends it: that one is measured alone then, and those behind it
        have a job of their own."""
        rows = self.job(entries, seconds)
        done = next((at for at, row in enumerate(rows) if row.key is None), len(rows))
        if len(rows) == 1 or done == len(rows):
            return rows
        share, rest = seconds / len(rows), entries[done + 1 :]
        rows[done] = self.job([entries[done]], share + self.start)[0]
        rows[done + 1 :] = self.measure_all(rest, share * len(rest) + self.start) if rest else []
        return rows

    def job(self, entries: Sequence[Entry], seconds: float) -> list[Row]:
        """A cell that the job did not get to has a row with a problem."""
        self.seed += 1
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="unisono-tune-") as folder:
            file = Path(folder) / "cells.json"
            budget = max(0.1, (seconds - self.start) / len(entries))
            line, environment = self.bed.command(
                self.mpi, self.ranks, self.per_host, self.command(entries, budget, file)
            )
            # A block that has begun is ended, and a collective may be slower than ever before.
            outcome = self.run_job(line, environment, 2 * seconds + 30)
            rows, spent = self.read(entries, file, outcome)
        if spent:
            self.start = (self.start + time.monotonic() - began - spent) / 2
        return rows

    def command(self, entries: Sequence[Entry], budget: float, file: Path) -> list[str]:
        most = max(len(entry.arms) for entry in entries) + 1
        line = [*self.program, "--cells", "; ".join(entry.text() for entry in entries)]
        line += ["--race", "--budget", f"{budget:.3f}", "--max-blocks", str(BATCHES // most)]
        return [*line, "--seed", str(self.seed), "--raw", "--json", str(file)]

    def read(self, entries: Sequence[Entry], file: Path, outcome: jobs.Outcome) -> tuple[list[Row], float]:
        """And the seconds that the cells took, without those of the job's start."""
        points = [entry.point for entry in entries]
        try:
            body = files.decoded(files.read_bytes(file))
            cells, key = body["cells"], Key.from_json(body["environment"])
        except (OSError, ValueError, KeyError):
            cells, key = [], None
        if key is not None and key.ranks != self.ranks:
            problem = f"the launcher started {key.ranks} ranks, -n says {self.ranks}"
            return [Row(point, key=key, problem=problem) for point in points], 0
        missing = outcome.problem or "no result and no message"
        rows = [self.row(*each, key, outcome) for each in zip(points, cells, strict=False)]
        rows += [Row(point, problem=missing) for point in points[len(rows) :]]
        return rows, sum(cell.get("seconds", 0) for cell in cells)

    def row(self, point: Point, cell: dict[str, Any], key: Key | None, outcome: jobs.Outcome) -> Row:
        if "left_out" in cell:
            return Row(point, key=key, problem=f"left out: {cell['left_out']}")
        if not cell["correct"]:
            return Row(point, key=key, problem=wrong_result(outcome), wrong=True)
        rows = [arm for arm in cell["arms"] if arm["available"]]
        arms = tuple(map(arm_of, rows))
        blocks = {
            arm.spec: tuple(row.get("samples_us", ()))
            for arm, row in zip(arms, rows, strict=True)
            if arm.blocks
        }
        return Row(point, arms, key, blocks=blocks)


def wrong_result(outcome: jobs.Outcome) -> str:
    """The bench's own line, of whatever rank came first."""
    said = (line for line in outcome.output.splitlines() if "WRONG RESULT" in line)
    return next(said, f"WRONG RESULT: {outcome.problem}").removeprefix("unisono-bench: ")


def arm_of(row: dict[str, Any]) -> Arm:
    time_us, ratio = row["time_us"], row.get("ratio_to_native")
    return Arm(
        spec=row["arm"],
        median_s=time_us["median"] * 1e-6,
        low_s=time_us["low"] * 1e-6,
        high_s=time_us["high"] * 1e-6,
        blocks=row["blocks"] if ratio or row["arm"] == "native" else 0,
        ratio_to_native=estimate_of(ratio) if ratio else None,
    )
