"""Measures a matrix job by job. A job that fails costs its cell; the matrix goes on."""

import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unisono import __version__
from unisono.compare import results
from unisono.compare.matrix import Job
from unisono.compare.results import Arm, Cell, Comparison, Failure, Point
from unisono.compare.yardstick import Yardstick
from unisono.core import files, jobs, machine, places
from unisono.core.estimates import Estimate, find_modes, middle_estimate, ratio_of_means
from unisono.testbeds.beds import Bed

RunJob = Callable[..., jobs.Outcome]


@dataclass(frozen=True)
class Options:
    time_budget: float = 1.0  # seconds a cell
    silence: float = 60.0  # seconds without a new cell, after which a job is ended
    passes: int = 1  # over the whole matrix, each with its part of the budget of every cell


class Listener:
    """Told as the matrix is measured; does nothing unless told to."""

    def job_begins(self, job: Job) -> None: ...
    def cell_done(self, point: Point) -> None: ...
    def failed(self, failure: Failure) -> None: ...


class Runner:
    def __init__(
        self,
        bed: Bed,
        yardstick: Yardstick,
        options: Options,
        listener: Listener,
        run_job: RunJob = jobs.run,
        find: Callable[[str], places.Mpi] = places.find_mpi,
    ) -> None:
        self.find = find
        self.bed, self.yardstick, self.options = bed, yardstick, options
        self.listener, self.run_job = listener, run_job
        self.busy = 0.0
        self.rows: dict[Point, list[list[dict[str, Any]]]] = {}  # of each pass, the arms
        self.given_up: set[Point] = set()
        self.save_to: Path | None = None  # after every job: a crash of ours then costs one job
        self.result = Comparison(
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            unisono_version=__version__,
            bed={},
            options={
                "time_budget_seconds": options.time_budget,
                "silence_seconds": options.silence,
                "passes": options.passes,
                "environment": settings_of_unisono(),
            },
        )

    def run(self, plan: Sequence[Job]) -> Comparison:
        """All of the plan, or what was measured of it when the user interrupts."""
        self.busy = machine.busy_share()
        self.result.planned = sum(len(job.sizes) for job in plan)
        try:
            self.yardstick.prepare(job.setting for job in plan)
            for number in range(self.options.passes):
                for job in plan:
                    self.job(job, number)
                    if self.save_to:
                        results.save(self.described(), self.save_to)
        except KeyboardInterrupt:
            self.result.interrupted = True
        return self.described()

    def described(self) -> Comparison:
        self.result.bed = {
            **self.bed.describe(),
            "busy_before": round(self.busy, 3),
            "limit": self.yardstick.describe(),
        }
        return self.result

    def job(self, job: Job, number: int) -> None:
        """A job that ends early is started again for the cells behind the one that ended it, unless
        it did not get to any cell twice. What failed in one pass is not tried in the next."""
        rest = [point for point in job.points() if point not in self.given_up]
        fruitless = 0
        while rest:
            reader, problem = self.attempt(job, rest, number)
            rest = [point for point in rest if point not in reader.taken]
            fruitless = 0 if reader.taken else fruitless + 1
            if not rest and problem and not reader.found_wrong:
                self.fail(Failure(reader.taken[-1], f"measured, and then: {problem}"))
            if rest and not reader.found_wrong:  # after a wrong result the bench ends by itself
                self.fail(Failure(rest.pop(0), problem or "no result and no message"))
            if fruitless == 2:
                for point in rest:
                    self.fail(Failure(point, "not tried: the job failed twice at its start"))
                return

    def attempt(self, job: Job, points: Sequence[Point], number: int) -> "tuple[Reader, str]":
        """What was read, and what went wrong."""
        self.listener.job_begins(job)
        with tempfile.TemporaryDirectory(prefix="unisono-compare-") as folder:
            file = Path(folder) / "cells.json"
            reader = Reader(file, points, self)
            line, environment = self.command(job, points, number, file)
            try:
                outcome = self.run_job(line, environment, self.options.silence, reader.look)
            finally:
                reader.look()
            return reader, outcome.problem

    def command(
        self, job: Job, points: Sequence[Point], number: int, file: Path
    ) -> tuple[list[str], dict[str, str]]:
        setting = job.setting
        mpi = self.find(setting.mpi)
        bench = [*mpi.tool("unisono-bench"), "--collectives", job.collective]
        if points[0].size:
            bench += ["--sizes", ",".join(str(point.size) for point in points)]
        bench += ["--arms", ",".join(("native", *job.arms)), "--raw", "--json", str(file)]
        bench += ["--budget", str(self.options.time_budget / self.options.passes)]
        bench += ["--seed", str(number + 1)]
        bench += ["--pattern", setting.pattern]
        return self.bed.command(mpi, setting.ranks, setting.ranks_per_host, bench)

    def fail(self, failure: Failure) -> None:
        self.result.failures.append(failure)
        self.given_up.add(failure.point)
        self.listener.failed(failure)

    def take(self, point: Point, row: dict[str, Any], machine: dict[str, Any]) -> None:
        if "left_out" in row:
            self.fail(Failure(point, f"left out: {row['left_out']}", is_error=False))
            return
        passes = self.rows.setdefault(point, [])
        passes.append(row["arms"])
        of_arms = list(zip(*passes, strict=True))
        native = next((same for same in of_arms if same[0]["arm"] == "native"), ())
        arms = tuple(arm_of(*same, native=native) for same in of_arms)
        cell = Cell(point, self.yardstick.limit_us(point), arms)
        if len(passes) == 1:
            self.result.cells.append(cell)
        else:
            at = next(i for i, former in enumerate(self.result.cells) if former.point == point)
            self.result.cells[at] = cell
        described = {"mpi": point.setting.mpi, **machine}
        if described not in self.result.machines:
            self.result.machines.append(described)
        self.listener.cell_done(point)


class Reader:
    """Reads along in the file that unisono-bench replaces after every cell."""

    def __init__(self, file: Path, points: Sequence[Point], runner: Runner) -> None:
        self.file, self.runner = file, runner
        self.points = {point.size: point for point in points}
        self.taken: list[Point] = []
        self.found_wrong = False
        self.seen: tuple[int, int] | None = None

    def look(self) -> bool:
        """Whether there are new cells."""
        try:
            state = self.file.stat()
            if (state.st_mtime_ns, state.st_ino) == self.seen:
                return False
            self.seen = state.st_mtime_ns, state.st_ino
            body = files.decoded(files.read_bytes(self.file))
        except (OSError, ValueError):
            return False
        new = body["cells"][len(self.taken) :]
        for row in new:
            point = self.points[row["bytes"]]
            self.taken.append(point)
            self.found_wrong |= not row.get("correct", True)
            self.runner.take(point, row, body["machine"])
        return bool(new)


def settings_of_unisono() -> dict[str, str]:
    """What in the environment may change a result."""
    known = (name for name in os.environ if places.is_ours(name))
    names = sorted(name for name in known if name not in places.WHERE)
    return {name: os.environ[name] for name in names}


def arm_of(*passes: dict[str, Any], native: Sequence[dict[str, Any]] = ()) -> Arm:
    """One arm of a cell, of all passes: each says what its blocks say, and the middle one counts."""
    first = passes[0]
    if not all(row["available"] for row in passes):
        return Arm(first["arm"], available=False)
    samples, of_native = samples_of(passes), samples_of(native)
    ratios = [Estimate(**row["ratio_to_native"]) for row in passes if row.get("ratio_to_native")]
    return Arm(
        name=first["arm"],
        available=True,
        ran_by=first["ran_by"],
        correct=all(row["correct"] for row in passes),
        blocks=sum(row["blocks"] for row in passes),
        time_us=middle_estimate([Estimate(**row["time_us"]) for row in passes]),
        quantiles_us=quartiles(samples),
        ratio_to_native=middle_estimate(ratios) if ratios else None,
        modes=find_modes(samples),
        mean_us=statistics.fmean(samples) if samples else None,
        mean_ratio=ratio_of_means(samples, of_native) if ratios else None,
    )


def samples_of(passes: Sequence[dict[str, Any]]) -> list[float]:
    return [time for row in passes for time in row.get("samples_us", [])]


def quartiles(samples: Sequence[float]) -> tuple[float, ...]:
    if len(samples) < 2:
        return tuple(samples) * 5
    middle = statistics.quantiles(samples, n=4, method="inclusive")
    return (min(samples), *middle, max(samples))
