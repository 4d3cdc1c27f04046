"""Jobs of unisono-bench: many cells each, the same ones in every round; what they said, and intervals of it.

A round is one job for every MPI library and number of ranks. Ratios are of the same round: their geometric
mean and Student's 95 % interval over the rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from unisono.core.errors import UnisonoError
from unisono.core.files import read_json

from experiments import harness
from experiments.arrival.measuring import paired_ratio
from experiments.testbeds import ROOT, Json, Program, Real, Run

BENCH = Program("unisono-bench", ROOT / "src/tools/bench/main.cpp", True, True)
NATIVE, DEFAULT = "native", "default"
SUM, LEFT = "sum", "left"  # left does not commute
LIMIT = 240.0  # seconds for a job


@dataclass(frozen=True)
class Ratio:
    """Geometric mean over the rounds, 95 % interval; of one round it is from 0 to nearly infinity."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 2) -> str:
        if self.low <= 0 or self.high > 1e6 * self.value:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


@dataclass(frozen=True)
class Point:
    """One collective at one size on so many ranks: of every arm the seconds in each job."""

    bed: str  # with the MPI library
    ranks: int
    collective: str
    bytes: int
    op: str = SUM
    times: dict[str, dict[str, float]] = field(default_factory=dict)  # by arm, by job

    def over(self, arm: str, other: "Point", other_arm: str) -> Ratio | None:
        """This arm's time / the other's, in jobs of the same name; None where there are none."""
        own, theirs = self.times.get(arm, {}), other.times.get(other_arm, {})
        both = [job for job in own if job in theirs]
        if not both:
            return None
        return Ratio(*paired_ratio([own[job] for job in both], [theirs[job] for job in both]))

    def ratio(self, arm: str, other: str) -> Ratio | None:
        return self.over(arm, self, other)

    def time(self, arm: str, unit: float = 1.0) -> Ratio | None:
        """In units of so many seconds."""
        own = list(self.times.get(arm, {}).values())
        return Ratio(*paired_ratio(own, [unit] * len(own))) if own else None

    def best(self, arms: Sequence[str]) -> str | None:
        """The fastest of these, by its median job."""
        there = [arm for arm in arms if self.times.get(arm)]
        return min(there, key=lambda arm: statistics.median(self.times[arm].values()), default=None)


@dataclass(frozen=True)
class Plan:
    """A job: its cells are those of `unisono-bench --cells`."""

    name: str  # of its kind: jobs of one name and round can be compared
    ranks: int
    cells: Sequence[tuple[str, str, Sequence[str]]]  # collective, sizes, arms
    blocks: int
    budget: float = 0.05
    op: str = SUM
    calls: int = 0  # in a block; 0: as many as fill some of the time
    variables: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        cells = "; ".join(f"{collective} {sizes} {','.join(arms)}" for collective, sizes, arms in self.cells)
        options = [
            "--cells",
            cells,
            "--budget",
            str(self.budget),
            "--max-blocks",
            str(self.blocks),
            "--calls",
            str(self.calls),
        ]
        return [*options, "--memory", "1G", "--op", self.op, "--raw"]


def run(testbed: Real, plan: Plan, turn: int, fresh: bool) -> Json:
    """What a job said, with nothing in it that nobody asks for."""
    arguments = plan.arguments()
    wanted = Run(BENCH, plan.ranks, arguments, None, "--json", plan.variables, turn)
    raw = harness.measure(testbed, wanted, LIMIT, fresh)
    cells = []
    for cell in raw["cells"]:
        if "left_out" in cell or not cell["correct"]:
            what = cell.get("left_out", "WRONG RESULT")
            raise UnisonoError(f"{plan.ranks} ranks, {cell['collective']} {cell['bytes']}: {what}")
        arms = {
            arm["arm"]: [round(t * 1e-6, 8) for t in arm["samples_us"]]
            for arm in cell["arms"]
            if arm["available"]
        }
        passed_on = [arm["arm"] for arm in cell["arms"] if arm["available"] and arm["ran_by"] == "mpi"]
        cells.append(
            {
                "collective": cell["collective"],
                "bytes": cell["bytes"],
                "arms": arms,
                "passed_on": [arm for arm in passed_on if arm != NATIVE],
            }
        )
    head = {"bed": testbed.name, "ranks": plan.ranks, "name": plan.name, "round": turn, "op": plan.op}
    return {**head, "nodes": raw["machine"]["nodes"], "cores": raw["machine"]["cores"], "cells": cells}


def points(jobs: Sequence[Json]) -> list[Point]:
    """Of a job the median of its blocks."""
    found: dict[tuple[str, int, str, int, str], Point] = {}
    for job in jobs:
        for cell in job["cells"]:
            key = (job["bed"], job["ranks"], cell["collective"], cell["bytes"], job["op"])
            point = found.setdefault(key, Point(*key))
            for arm, seconds in cell["arms"].items():
                name = f"{job['name']} {job['round']}"
                point.times.setdefault(arm, {})[name] = statistics.median(seconds)
    return list(found.values())


def lab_parser(description: str | None) -> argparse.ArgumentParser:
    """With the options of all that runs in the lab: where, and what is measured anew, read and written."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--bed", default="lab", help="lab")
    add("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    add("--fresh", action="store_true", help="measure anew what is kept from before")
    add_files(parser)
    return parser


def add_files(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--report", "--from", dest="kept", type=Path, help="evaluate what --json wrote")
    add("--json", type=Path, help="write what was measured to this file, anew after every job or round")
    add("--markdown", type=Path, help="write the tables to this file")


def lab_only(beds: Sequence[Real]) -> None:
    if not beds or any(bed.line_rate is None for bed in beds):
        raise UnisonoError("--bed: the lab only; elsewhere there is no wire to compare with")


def in_rounds(one: Callable[[int], Iterator[Json]], rounds: int, minutes: float) -> Iterator[Json]:
    """So many rounds, or as many as fit: none begins that would end too late, but for the first two."""
    begin = time.monotonic()
    longest = 0.0
    for turn in range(rounds):
        before = time.monotonic()
        if turn > 1 and before + longest - begin > 60 * minutes:
            text = f"{turn} of {rounds} rounds, in {(before - begin) / 60:.1f} minutes"
            harness.console.print(f"[yellow]{text}[/yellow]")
            return
        yield from one(turn)
        longest = max(longest, time.monotonic() - before)


def document(experiment: str, beds: Mapping[str, Json], jobs: Sequence[Json], **more: Json) -> Json:
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"experiment": experiment, "date": date, "beds": dict(beds), **more, "results": list(jobs)}


def read(file: Path, experiment: str) -> Json:
    body: Json = read_json(file)
    if body.get("experiment") != experiment:
        raise UnisonoError(f"--report {file}: holds no results of {experiment}")
    return body
