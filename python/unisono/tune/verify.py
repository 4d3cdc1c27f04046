"""The independent look at a profile: every cell again, in fresh jobs that lie far apart in time, with all
arms of its race and at sizes between the tuned ones too."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from unisono.core import documents
from unisono.core.catalogue import NATIVE
from unisono.core.estimates import Estimate, Modes, estimate_median, find_modes, middle_estimate
from unisono.profile.choice import NOT_SLOWER, pooled
from unisono.profile.document import Arm, Cell, Environment, Measured
from unisono.testbeds.bench import Entry, Point, Row
from unisono.tune.tuner import BLOCKS

SECOND_LOOK = 0.25  # of the time
JOBS = 5  # of a cell
NEAR = 2.0  # times the fastest of the race: what was surely slower there is not measured again
CLEARLY = 0.8  # of another's time in all blocks, however few
ITSELF = Estimate(1, 1, 1, 1)
FOR_START = 0.2  # of a job, at most; so many cells share one


class MeasureAll(Protocol):
    @property
    def start(self) -> float: ...  # seconds of a job that are no measurement
    def measure_all(self, entries: Sequence[Entry], seconds: float) -> list[Row]: ...


class Answer(StrEnum):
    """Whether the choice is within 0.97 of another's speed."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"  # the interval holds both answers, or there are too few blocks for one


def answer(ratio: Estimate | None) -> Answer:
    """Of the time of the choice / the other's."""
    if ratio is None:
        return Answer.UNDECIDED
    if ratio.high <= (NOT_SLOWER if ratio.is_sure else CLEARLY):
        return Answer.YES
    return Answer.NO if ratio.is_sure and ratio.low > NOT_SLOWER else Answer.UNDECIDED


@dataclass(frozen=True)
class Look:
    """A size at which a choice of the profile is measured."""

    point: Point
    choice: str
    known: dict[str, float]  # arms of the race that are measured again, and native: seconds there
    left_out: tuple[str, ...] = ()  # arms of the race that are not: they were surely slower
    tuned: bool = True  # False: between two sizes that were
    no_time: tuple[str, ...] = ()  # arms that might be the best and are not measured

    @property
    def arms(self) -> list[str]:
        return [spec for spec in self.known if spec != NATIVE]

    @property
    def seconds(self) -> float:
        """That the blocks for an interval take, at the times of the race."""
        return BLOCKS * math.fsum(self.known.values())


def look_at(cell: Cell, point: Point, races: Sequence[Measured], tuned: bool) -> Look:
    """Native, the choice, and all of these races but what was out of the question in each of them."""
    known: dict[str, float] = {NATIVE: 0.0, cell.choice: 0.0}
    for race in races:
        fastest = min((arm.median_s for arm in race.arms if arm.blocks), default=0.0)
        for arm in sorted(race.arms, key=lambda arm: arm.median_s):
            if arm.low_s <= NEAR * fastest or arm.spec in {NATIVE, cell.choice}:
                known[arm.spec] = max(arm.median_s, known.get(arm.spec, 0.0))
    names = dict.fromkeys(arm.spec for race in races for arm in race.arms)
    return Look(point, cell.choice, known, tuple(name for name in names if name not in known), tuned)


def looks_at(environment: Environment) -> list[Look]:
    """Small sizes first."""
    looks = [
        look_at(cell, Point(cell.collective, measured.bytes), [measured], tuned=True)
        for cell, measured in environment.points()
    ]
    for collective in dict.fromkeys(cell.collective for cell in environment.cells):
        sizes = {m.bytes: m for cell, m in environment.points() if cell.collective == collective}
        for small, large in itertools.pairwise(sorted(sizes)):
            size = between(small, large)
            cell = environment.cell(collective, size)
            if cell and small < size < large:
                looks.append(
                    look_at(cell, Point(collective, size), [sizes[small], sizes[large]], tuned=False)
                )
    return sorted(looks, key=lambda look: look.point.bytes)


def between(small: int, large: int) -> int:
    """The geometric mean, whole elements of it."""
    middle = math.isqrt(small * large)
    step = 64 if middle >= 64 else 8
    return middle // step * step


@dataclass(frozen=True)
class Verdict:
    look: Look
    rows: Sequence[Row] = ()  # jobs

    @property
    def problem(self) -> str:
        return next((row.problem for row in self.rows if row.problem), "" if self.rows else "not reached")

    @property
    def arms(self) -> tuple[Arm, ...]:
        return () if self.problem else pooled([row.arms for row in self.rows])

    def ratio_to(self, spec: str) -> Estimate | None:
        """Time of the choice / that arm's, paired by block in every job; the middle of the jobs counts."""
        if spec == self.look.choice:
            return ITSELF
        jobs = [(row.blocks.get(self.look.choice, ()), row.blocks.get(spec, ())) for row in self.rows]
        paired = [[own / other for own, other in zip(*both, strict=False)] for both in jobs]
        told = [estimate_median(ratios) for ratios in paired if ratios]
        return middle_estimate(told) if told else None

    @property
    def to_native(self) -> Estimate | None:
        return self.ratio_to(NATIVE)

    @property
    def best(self) -> str:
        """By the medians, which flatters it: of many, the one with luck."""
        ratios = {arm.spec: self.ratio_to(arm.spec) for arm in self.arms}
        told = {spec: ratio.median for spec, ratio in ratios.items() if ratio and ratio.is_sure}
        return max(told, key=lambda spec: (told[spec], spec == self.look.choice), default=self.look.choice)

    @property
    def within_native(self) -> Answer:
        return Answer.UNDECIDED if self.problem else answer(self.to_native)

    @property
    def within_best(self) -> Answer:
        """Of all arms: no, if one of them is surely faster by more than that."""
        if self.problem:
            return Answer.UNDECIDED
        answers = {answer(self.ratio_to(arm.spec)) for arm in self.arms if arm.blocks}
        if self.look.choice not in {arm.spec for arm in self.arms}:
            return Answer.UNDECIDED
        if self.look.no_time:
            answers.add(Answer.UNDECIDED)
        return next((one for one in (Answer.NO, Answer.UNDECIDED) if one in answers), Answer.YES)

    @property
    def doubtful(self) -> bool:
        return not self.problem and {self.within_native, self.within_best} != {Answer.YES}

    @property
    def modes(self) -> dict[str, Modes]:
        """Of native and of the choice, over all jobs."""
        found = {}
        for spec in dict.fromkeys((NATIVE, self.look.choice)):
            if modes := find_modes([time for row in self.rows for time in row.blocks.get(spec, ())]):
                found[spec] = modes
        return found


@dataclass
class Verification:
    """The jobs of a cell are passes over all cells: what the machine does for a minute hits one job of
    each. Cells that lie side by side share a job where starting one takes long. A quarter of the time is for
    further passes over the cells about which the first ones leave a doubt. All jobs of a cell count."""

    environment: Environment
    bench: MeasureAll
    remaining: Callable[[], float]  # seconds
    jobs: int = JOBS
    told: Callable[[int, Look], None] = lambda number, look: None
    looks: list[Look] = field(default_factory=list)
    rows: dict[Point, list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.looks = looks_at(self.environment)

    def run(self) -> None:
        spare = self.remaining() * SECOND_LOOK
        share = (self.remaining() - spare) / max(1, self.jobs * len(self.looks))
        self.looks = [within(look, share * (1 - FOR_START)) for look in self.looks]
        self.passes(self.looks, lambda: self.remaining() - spare)
        self.passes([verdict.look for verdict in self.verdicts() if verdict.doubtful], self.remaining)

    def passes(self, looks: Sequence[Look], remaining: Callable[[], float]) -> None:
        for number in range(self.jobs):
            left = list(looks)
            while left:
                share = remaining() / ((self.jobs - number - 1) * len(looks) + len(left))
                if share <= 0:
                    return
                together = math.ceil(self.bench.start / (FOR_START * share))
                now, left = left[:together], left[together:]
                self.told(number, now[0])
                entries = [Entry(look.point, tuple(look.arms)) for look in now]
                for row in self.bench.measure_all(entries, share * len(now)):
                    self.rows.setdefault(row.point, []).append(row)

    def verdicts(self) -> list[Verdict]:
        found = [Verdict(look, self.rows.get(look.point, [])) for look in self.looks]
        return sorted(found, key=lambda verdict: (verdict.look.point.bytes, verdict.look.point.collective))


def within(look: Look, seconds: float) -> Look:
    """Without the slowest arms, if a job has no time for intervals of all."""
    known, no_time = dict(look.known), list(look.no_time)
    losers = sorted((s for s in look.arms if s != look.choice), key=lambda spec: known[spec])
    while losers and BLOCKS * math.fsum(known.values()) > seconds:
        del known[losers[-1]]
        no_time.append(losers.pop())
    return replace(look, known=known, no_time=tuple(no_time))


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    measured = [verdict for verdict in verdicts if not verdict.problem]

    def count(answers: Sequence[Answer]) -> dict[str, int]:
        return {str(each): sum(one is each for one in answers) for each in Answer}

    return {
        "cells": len(measured),
        "failed": len(verdicts) - len(measured),
        "within_0.97_of_native": count([verdict.within_native for verdict in measured]),
        "within_0.97_of_best": count([verdict.within_best for verdict in measured]),
    }


def all_good(verdicts: Sequence[Verdict]) -> bool:
    """Every choice is within 0.97 of native and of the best; what is undecided is not shown to be."""
    answers = {each for verdict in verdicts for each in (verdict.within_native, verdict.within_best)}
    return answers <= {Answer.YES} and not any(verdict.problem for verdict in verdicts)


class VerdictRow(msgspec.Struct, kw_only=True):
    """A cell of the profile, or a size between two. Ratios are of times, below 1 is faster."""

    collective: str
    bytes: int
    tuned: bool
    choice: str
    jobs: int
    to_native: Estimate | None
    within_native: str
    best: str
    to_best: Estimate | None
    within_best: str
    left_out: list[str]
    no_time: list[str]
    modes: dict[str, Modes]
    problem: str
    arms: list[Arm]


class Document(documents.Document, tag="unisono.verification", kw_only=True):
    """A profile that was measured anew."""

    schema_version: int = 4
    environment: dict[str, Any]
    summary: dict[str, Any]
    cells: list[VerdictRow]


def document_of(environment: Environment, verdicts: Sequence[Verdict]) -> Document:
    return Document(
        environment=environment.key.to_json(),
        summary=summary(verdicts),
        cells=[
            VerdictRow(
                **vars(verdict.look.point),
                tuned=verdict.look.tuned,
                choice=verdict.look.choice,
                jobs=len(verdict.rows),
                to_native=verdict.to_native,
                within_native=str(verdict.within_native),
                best=verdict.best,
                to_best=verdict.ratio_to(verdict.best),
                within_best=str(verdict.within_best),
                left_out=list(verdict.look.left_out),
                no_time=list(verdict.look.no_time),
                modes=dict(verdict.modes),
                problem=verdict.problem,
                arms=list(verdict.arms),
            )
            for verdict in verdicts
        ],
    )
