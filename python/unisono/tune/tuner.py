"""Measures cell by cell within a budget: a race of many, then fresh jobs for the winners."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from unisono.profile.document import Arm, Environment, Measured, Profile, sort_cells
from unisono.tune import choice
from unisono.tune.bench import Point, Row
from unisono.tune.candidates import GRID, Candidate
from unisono.tune.record import Record

RACE = "race"
MOST_CONFIRMATIONS = 9  # then one job that differs from all others does not decide
CONFIRMATIONS = tuple(f"confirmation {number}" for number in range(1, MOST_CONFIRMATIONS + 1))
FEWEST_CONFIRMATIONS = 2  # of a cell on which they agree
FOR_CONFIRMATIONS = 0.6  # of the budget
FEWEST_ARMS, MOST_ARMS = 4, 12  # of a race, beside native
BLOCKS = 8  # that should fit into the time of a cell, with the calls to warm up
LEAST_SECONDS = 0.3  # beside the start of a job and its calls


class Measure(Protocol):
    @property
    def start(self) -> float: ...  # seconds of a job that are no measurement
    def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row: ...


class Choose(Protocol):
    def __call__(self, point: Point, near: Sequence[str], most: int) -> list[Candidate]: ...


class Listener:
    """Told as it goes on; does nothing unless told to."""

    def round_begins(self, kind: str, cells: int) -> None: ...
    def cell_begins(self, point: Point, arms: int) -> None: ...
    def cell_done(self, row: Row) -> None: ...
    def cell_failed(self, row: Row) -> None: ...


@dataclass
class Outcome:
    profile: Profile
    problems: list[Row]
    planned: int
    raced: int = 0
    interrupted: bool = False


class Tuner:
    def __init__(
        self,
        bench: Measure,
        candidates: Choose,
        record: Record,
        listener: Listener,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.bench, self.candidates, self.record = bench, candidates, record
        self.listener, self.clock = listener, clock
        self.failed: list[Row] = []  # and were measured in part

    def run(self, points: Sequence[Point], deadline: float) -> Outcome:
        """`deadline` on the clock; the time of a cell is what remains / what remains to do. Small sizes
        come first: what they leave over is for the large ones, and their winners race there too."""
        ordered = sorted(points, key=lambda point: point.bytes)
        interrupted = False
        try:
            self.race(ordered, deadline - FOR_CONFIRMATIONS * (deadline - self.clock()))
            hopeful = [point for point in ordered if self.rivals(point)]
            for number, kind in enumerate(CONFIRMATIONS):
                if number >= FEWEST_CONFIRMATIONS:
                    hopeful = [point for point in hopeful if self.is_open(point)]
                self.confirm(kind, hopeful, len(CONFIRMATIONS) - number, deadline)
        except KeyboardInterrupt:
            interrupted = True
        return self.outcome(points, interrupted)

    def race(self, points: Sequence[Point], deadline: float) -> None:
        left = self.begin(RACE, points)
        for number, point in enumerate(left):
            remaining = deadline - self.clock()
            if remaining < LEAST_SECONDS:
                return
            share = remaining / (len(left) - number)
            self.cell(RACE, point, self.field(point, share), share)

    def confirm(self, kind: str, points: Sequence[Point], rounds: int, deadline: float) -> None:
        """One of up to `rounds` rounds until the deadline: of fewer, if a round needs more than its part.
        Every cell gets what it needs and an equal part of what that leaves over."""
        left = self.begin(kind, points)
        needs = [self.least_seconds(point, self.rivals(point)) for point in left]
        if not left:
            return
        remaining = deadline - self.clock()
        deadline -= remaining * (1 - 1 / max(1, min(rounds, int(remaining / sum(needs)))))
        for number, point in enumerate(left):
            remaining = deadline - self.clock()
            arms = self.rivals_within(point, remaining)
            spare = max(0.0, remaining - sum(needs[number:]))
            if arms:
                seconds = self.least_seconds(point, arms) + spare / (len(left) - number)
                self.cell(kind, point, arms, seconds)

    def begin(self, kind: str, points: Sequence[Point]) -> list[Point]:
        left = [point for point in points if self.record.get(kind, point) is None]
        self.listener.round_begins(kind, len(left))
        return left

    def cell(self, kind: str, point: Point, arms: Sequence[Candidate], seconds: float) -> None:
        row = self.measure(point, arms, seconds)
        predicted = {arm.spec: arm.predicted_s for arm in arms}
        row = replace(row, arms=tuple(replace(arm, predicted_s=predicted.get(arm.spec)) for arm in row.arms))
        self.record.add(kind, row)
        if row.problem:
            self.listener.cell_failed(row)
        self.listener.cell_done(row)

    def rivals_within(self, point: Point, seconds: float) -> list[Candidate]:
        """Fewer, or nobody, when time is short: a job that is too short for an interval tells nothing."""
        arms = self.rivals(point)
        while arms and self.least_seconds(point, arms) > seconds:
            arms.pop()
        return arms

    def least_seconds(self, point: Point, arms: Sequence[Candidate]) -> float:
        row = self.record.get(RACE, point)
        known = {arm.spec: arm.median_s for arm in row.arms} if row else {}
        calls = sum(known.get(spec, 0) for spec in (choice.NATIVE, *(arm.spec for arm in arms)))
        return self.bench.start + LEAST_SECONDS + BLOCKS * calls

    def measure(self, point: Point, arms: Sequence[Candidate], seconds: float) -> Row:
        """Where a job fails, once more without the composed algorithms, which are most likely the cause."""
        began = self.clock()
        plain = [arm.spec for arm in arms if not arm.family.startswith(GRID)]
        self.listener.cell_begins(point, len(arms))
        row = self.bench.measure(point, [arm.spec for arm in arms], seconds)
        left = seconds - (self.clock() - began)
        if not row.problem or len(plain) == len(arms) or left < LEAST_SECONDS:
            return row
        self.listener.cell_failed(row)
        self.failed.append(row)
        return self.bench.measure(point, plain, left)

    def field(self, point: Point, seconds: float) -> list[Candidate]:
        """As many as the time is enough for, by the native time at the next smaller size."""
        smaller = [
            row
            for (kind, other), row in self.record.rows.items()
            if kind == RACE
            and other.collective == point.collective
            and other.bytes < point.bytes
            and row.arms
        ]
        if not smaller:
            return self.candidates(point, [], MOST_ARMS)
        near = max(smaller, key=lambda row: row.point.bytes)
        fastest = sorted(near.arms, key=lambda arm: arm.median_s)
        call = fastest[0].median_s * point.bytes / near.point.bytes
        most = min(MOST_ARMS, max(FEWEST_ARMS, int(seconds / (BLOCKS * call))))
        return self.candidates(point, [arm.spec for arm in fastest if arm.spec != choice.NATIVE], most)

    def rivals(self, point: Point) -> list[Candidate]:
        """Without grids where a job with them failed."""
        row = self.record.get(RACE, point)
        arms = [Candidate(spec) for spec in choice.finalists(row.arms)] if row else []
        failed = any(row.point == point for row in self.failed)
        return [arm for arm in arms if not (failed and arm.family.startswith(GRID))]

    def confirmed_rows(self, point: Point) -> list[Row]:
        return [row for kind in CONFIRMATIONS if (row := self.record.get(kind, point))]

    def confirmations(self, point: Point) -> list[choice.Job]:
        return [row.arms for row in self.confirmed_rows(point) if choice.tells(row.arms)]

    def is_open(self, point: Point) -> bool:
        """Another job may tell, and none failed."""
        failed = any(row.problem for row in self.confirmed_rows(point))
        return not failed and choice.unsettled(self.confirmations(point))

    def confirmed(self, point: Point) -> tuple[Arm, ...]:
        """What decides: the race only where no confirmation tells anything."""
        row = self.record.get(RACE, point)
        return choice.pooled(self.confirmations(point)) or (row.arms if row else ())

    def outcome(self, points: Sequence[Point], interrupted: bool) -> Outcome:
        cells = []
        raced = [point for point in points if self.record.get(RACE, point)]
        for collective in sorted({point.collective for point in raced}):
            choices, measured = {}, {}
            for point in (point for point in raced if point.collective == collective):
                choices[point.bytes] = choice.choose(self.confirmed(point))
                arms = self.all_arms(point)
                if arms:
                    measured[point.bytes] = Measured(point.bytes, arms)
            cells += choice.intervals(collective, choices, measured)
        # Every job measures the rate of the network anew: the middle one.
        keys = sorted((row.key for row in self.record.rows.values() if row.key), key=lambda k: k.network_rate)
        key = keys[len(keys) // 2] if keys else None
        environments = (Environment(key, tuple(sort_cells(cells))),) if key and cells else ()
        problems = [*self.failed, *(row for row in self.record.rows.values() if row.problem)]
        return Outcome(Profile(environments), problems, len(points), len(raced), interrupted)

    def all_arms(self, point: Point) -> tuple[Arm, ...]:
        """Every arm once; predictions are the race's."""
        row = self.record.get(RACE, point)
        race = row.arms if row else ()
        predicted = {arm.spec: arm.predicted_s for arm in race}
        arms = choice.joined(race, self.confirmed(point))
        return tuple(replace(arm, predicted_s=predicted.get(arm.spec)) for arm in arms)
