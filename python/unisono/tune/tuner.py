"""Measures cell by cell within a budget: races of many, then fresh jobs for the winners. Every round goes
over all cells, so that what the machine does for a minute decides none of them."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from unisono.core.catalogue import NATIVE
from unisono.core.estimates import Modes, find_modes
from unisono.profile import choice
from unisono.profile.document import Arm, Environment, Measured, Profile, sort_cells
from unisono.testbeds.bench import Failed, Point, Row
from unisono.tune.candidates import Candidate
from unisono.tune.record import Record

RACES = ("race", "second race")
MOST_CONFIRMATIONS = 9  # then one job that differs from all others does not decide
CONFIRMATIONS = tuple(f"confirmation {number}" for number in range(1, MOST_CONFIRMATIONS + 1))
FEWEST_CONFIRMATIONS = 2  # of a cell on which they agree
FOR_CONFIRMATIONS = 0.6  # of the budget
FEWEST_ARMS, MOST_ARMS = 4, 12  # of a race, beside native
SECOND_LOOK = 2.0  # times the fastest of the first race: what is slower has no second one
BLOCKS = 8  # that should fit into the time of a cell, with the calls to warm up
LEAST_SECONDS = 0.3  # beside the start of a job and its calls
TRIAL_SECONDS = 0.1  # beside the start of a job: is there an error?


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
    planned: int
    measured: int = 0  # cells that are in the profile, or undecided
    problems: list[Row] = field(default_factory=list)  # jobs that failed for no candidate's sake
    failed: list[tuple[Point, Failed]] = field(default_factory=list)
    missing: list[Point] = field(default_factory=list)
    unreached: list[Point] = field(default_factory=list)  # of these, what the budget was over before
    needed_s: float = 0.0  # what a first look at all cells takes, about
    undecided: list[Point] = field(default_factory=list)  # measured, and not in the profile either
    modes: list[tuple[Point, str, Modes]] = field(default_factory=list)  # of native and of the choice
    interrupted: bool = False


class OutOfTimeError(Exception):
    pass


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
        self.deadline = 0.0

    def run(self, points: Sequence[Point], deadline: float) -> Outcome:
        """`deadline` on the clock; the time of a cell is what remains / what remains to do. Small sizes
        come first: what they leave over is for the large ones, and their winners race there too."""
        ordered = sorted(points, key=lambda point: point.bytes)
        self.deadline = deadline
        interrupted = False
        try:
            self.races(ordered, deadline - FOR_CONFIRMATIONS * (deadline - self.clock()))
            hopeful = [point for point in ordered if self.rivals(point)]
            for number, kind in enumerate(CONFIRMATIONS):
                if number >= FEWEST_CONFIRMATIONS:
                    hopeful = [point for point in hopeful if self.is_open(point)]
                self.confirm(kind, hopeful, len(CONFIRMATIONS) - number, deadline)
        except KeyboardInterrupt:
            interrupted = True
        return self.outcome(points, interrupted)

    def races(self, points: Sequence[Point], deadline: float) -> None:
        """Two rounds, unless their jobs would hardly be longer than their start."""
        remaining = deadline - self.clock()
        twice = remaining > 4 * len(points) * (self.bench.start + LEAST_SECONDS)
        self.race(RACES[0], points, deadline - remaining / 2 if twice else deadline)
        if twice:
            self.race(RACES[1], [point for point in points if self.raced(point)], deadline)

    def race(self, kind: str, points: Sequence[Point], deadline: float) -> None:
        left = self.begin(kind, points)
        for number, point in enumerate(left):
            remaining = deadline - self.clock()
            if remaining < LEAST_SECONDS:
                return
            share = remaining / (len(left) - number)
            arms = self.field(point, share) if kind == RACES[0] else self.second_field(point)
            self.cell(kind, point, arms, share)

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
        """What failed is tried again with --resume."""
        former = {point: self.record.get(kind, point) for point in points}
        left = [point for point, row in former.items() if row is None or row.problem]
        self.listener.round_begins(kind, len(left))
        return left

    def cell(self, kind: str, point: Point, arms: Sequence[Candidate], seconds: float) -> None:
        row = self.measure(point, arms, seconds)
        predicted = {arm.spec: arm.predicted_s for arm in arms}
        row = replace(row, arms=tuple(replace(arm, predicted_s=predicted.get(arm.spec)) for arm in row.arms))
        self.record.add(kind, row)
        if row.problem or row.failed:
            self.listener.cell_failed(row)
        self.listener.cell_done(row)

    def rivals_within(self, point: Point, seconds: float) -> list[Candidate]:
        """Fewer, or nobody, when time is short: a job that is too short for an interval tells nothing."""
        arms = self.rivals(point)
        while arms and self.least_seconds(point, arms) > seconds:
            arms.pop()
        return arms

    def least_seconds(self, point: Point, arms: Sequence[Candidate]) -> float:
        known = {arm.spec: arm.median_s for arm in self.raced(point)}
        calls = sum(known.get(spec, 0) for spec in (NATIVE, *(arm.spec for arm in arms)))
        return self.bench.start + LEAST_SECONDS + BLOCKS * calls

    def measure(self, point: Point, arms: Sequence[Candidate], seconds: float) -> Row:
        """A job that fails is begun again without the candidates that cost it."""
        end = self.clock() + seconds
        self.listener.cell_begins(point, len(arms))
        row = self.bench.measure(point, [arm.spec for arm in arms], seconds)
        if not row.problem or not arms:
            return row
        try:
            alone = self.trial(point, [])
            if alone.problem:
                return replace(alone, failed=(Failed(NATIVE, alone.problem),))
            failed = tuple(self.culprits(point, arms, row.problem))
            guilty = {each.spec for each in failed}
            sound = [arm.spec for arm in arms if arm.spec not in guilty]
            if not failed or not sound:
                return replace(row, failed=failed)
            left = max(self.bench.start + LEAST_SECONDS, end - self.clock())
            return replace(self.bench.measure(point, sound, left), failed=failed)
        except OutOfTimeError:
            return row

    def culprits(self, point: Point, arms: Sequence[Candidate], problem: str) -> list[Failed]:
        """Of arms whose job fails: halves of them, until one fails alone."""
        if len(arms) == 1:
            return [Failed(arms[0].spec, problem)]
        found = []
        for half in (arms[: len(arms) // 2], arms[len(arms) // 2 :]):
            trial = self.trial(point, [arm.spec for arm in half])
            if trial.problem:
                found += self.culprits(point, half, trial.problem)
        return found

    def trial(self, point: Point, specs: Sequence[str]) -> Row:
        seconds = self.bench.start + TRIAL_SECONDS
        if self.clock() + seconds > self.deadline:
            raise OutOfTimeError
        return self.bench.measure(point, specs, seconds)

    def field(self, point: Point, seconds: float) -> list[Candidate]:
        """As many as the time is enough for, by the native time at the next smaller size."""
        failed = {
            each.spec for where, each in self.failed_candidates() if where.collective == point.collective
        }

        def able(near: Sequence[str], most: int) -> list[Candidate]:
            return [arm for arm in self.candidates(point, near, most) if arm.spec not in failed]

        smaller = [
            other
            for other in self.record.points()
            if other.collective == point.collective and other.bytes < point.bytes and self.raced(other)
        ]
        if not smaller:
            return able([], MOST_ARMS)
        near = max(smaller, key=lambda other: other.bytes)
        fastest = sorted(self.raced(near), key=lambda arm: arm.median_s)
        call = fastest[0].median_s * point.bytes / near.bytes
        most = min(MOST_ARMS, max(FEWEST_ARMS, int(seconds / (BLOCKS * call))))
        return able([arm.spec for arm in fastest if arm.spec != NATIVE], most)

    def second_field(self, point: Point) -> list[Candidate]:
        """What was not out of the question in the first race."""
        arms = [arm for arm in self.raced(point) if arm.spec != NATIVE]
        fastest = min((arm.median_s for arm in self.raced(point)), default=0.0)
        return [Candidate(arm.spec, arm.predicted_s) for arm in arms if arm.median_s <= SECOND_LOOK * fastest]

    def failed_candidates(self, point: Point | None = None) -> list[tuple[Point, Failed]]:
        rows = [row for row in self.record.rows.values() if point in {None, row.point}]
        return list(dict.fromkeys((row.point, each) for row in rows for each in row.failed))

    def without_failed(self, point: Point, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        failed = {each.spec for _, each in self.failed_candidates(point)}
        if NATIVE in failed:
            return ()  # nothing to measure the others by
        return tuple(arm for arm in arms if arm.spec not in failed)

    def raced(self, point: Point) -> tuple[Arm, ...]:
        """Every arm of the races, once."""
        rows = [row for kind in RACES if (row := self.record.get(kind, point)) and row.arms]
        predicted = {arm.spec: arm.predicted_s for row in rows for arm in row.arms}
        pooled = choice.pooled([row.arms for row in rows])
        return self.without_failed(point, [replace(arm, predicted_s=predicted[arm.spec]) for arm in pooled])

    def rivals(self, point: Point) -> list[Candidate]:
        """By the confirmations so far, and by the races of those that had none: where native was slow in a
        race, all others looked faster, and the luckiest are not the best. Who surely gains nothing makes
        room for them."""
        confirmed, taken_part = self.confirmed_arms(point), self.taken_part(point)
        idle = {arm.spec for arm in confirmed if taken_part[arm.spec] >= choice.FEW and choice.is_idle(arm)}
        arms = [arm for arm in choice.joined(self.raced(point), confirmed) if arm.spec not in idle]
        return [Candidate(spec) for spec in choice.finalists(arms)]

    def confirmed_rows(self, point: Point) -> list[Row]:
        return [row for kind in CONFIRMATIONS if (row := self.record.get(kind, point))]

    def confirmations(self, point: Point) -> list[choice.Job]:
        return [row.arms for row in self.confirmed_rows(point) if choice.tells(row.arms)]

    def is_open(self, point: Point) -> bool:
        """Another job may tell, and none failed."""
        failed = any(row.problem for row in self.confirmed_rows(point))
        rivals = self.rivals(point)
        if failed or not rivals:
            return False
        return rivals[0].spec not in self.taken_part(point) or choice.unsettled(self.confirmations(point))

    def taken_part(self, point: Point) -> Counter[str]:
        """In how many confirmations each arm was."""
        return Counter(arm.spec for job in self.confirmations(point) for arm in job)

    def confirmed_arms(self, point: Point) -> tuple[Arm, ...]:
        return self.without_failed(point, choice.pooled(self.confirmations(point)))

    def confirmed(self, point: Point) -> tuple[Arm, ...]:
        """What decides: the races only where no confirmation tells anything. Who was in few of the jobs may
        have been lucky in them: they count where none of those that were in most of them will do."""
        arms, taken_part = self.confirmed_arms(point), self.taken_part(point)
        most = tuple(arm for arm in arms if 2 * taken_part[arm.spec] > taken_part[NATIVE])
        if most and choice.choose(most) != NATIVE:
            return most
        return arms if len(arms) > 1 else self.raced(point)

    def choose(self, point: Point) -> str | None:
        """None where nothing can be said: native failed, all candidates did, or nobody is surely as fast
        and somebody looks faster. What is not known must not look as if native had won."""
        arms = self.confirmed(point)
        if not any(arm.spec == NATIVE for arm in arms):
            return None
        if len(arms) == 1 and self.failed_candidates(point):
            return None
        return None if choice.leaves_open(arms) else choice.choose(arms)

    def outcome(self, points: Sequence[Point], interrupted: bool) -> Outcome:
        chosen = {point: self.choose(point) for point in points}
        left_out = [point for point, spec in chosen.items() if spec is None]
        undecided = [point for point in left_out if choice.has_rival(self.confirmed(point))]
        cells = []
        for collective in sorted({point.collective for point in points}):
            own = {point.bytes: spec for point, spec in chosen.items() if point.collective == collective}
            choices = {size: spec for size, spec in own.items() if spec is not None}
            measured = {size: Measured(size, self.all_arms(Point(collective, size))) for size in choices}
            missing = [size for size, spec in own.items() if spec is None]
            cells += choice.intervals(collective, choices, measured, missing) if choices else []
        untold = [point for point in left_out if point not in undecided]
        begun = set(self.record.points())
        # Every job measures the rate of the network anew: the middle one.
        keys = sorted((row.key for row in self.record.rows.values() if row.key), key=lambda k: k.network_rate)
        key = keys[len(keys) // 2] if keys else None
        return Outcome(
            profile=Profile((Environment(key, tuple(sort_cells(cells))),) if key and cells else ()),
            planned=len(points),
            measured=len(points) - len(left_out) + len(undecided),
            problems=[row for row in self.record.rows.values() if row.problem],
            failed=self.failed_candidates(),
            missing=untold,
            unreached=[point for point in untold if point not in begun],
            needed_s=len(points) * (self.bench.start + LEAST_SECONDS) / (1 - FOR_CONFIRMATIONS),
            undecided=undecided,
            modes=[mode for point, spec in chosen.items() if spec for mode in self.modes(point, spec)],
            interrupted=interrupted,
        )

    def modes(self, point: Point, chosen: str) -> list[tuple[Point, str, Modes]]:
        """Of all blocks of the run: jobs in different states of the machine are two modes as well."""
        rows = [row for row in self.record.rows.values() if row.point == point]
        found = []
        for spec in dict.fromkeys((NATIVE, chosen)):
            modes = find_modes([time for row in rows for time in row.blocks.get(spec, ())])
            found += [(point, spec, modes)] if modes else []
        return found

    def all_arms(self, point: Point) -> tuple[Arm, ...]:
        """Every arm once; predictions are the race's."""
        race = self.raced(point)
        predicted = {arm.spec: arm.predicted_s for arm in race}
        arms = choice.joined(race, self.confirmed_arms(point))
        return tuple(replace(arm, predicted_s=predicted.get(arm.spec)) for arm in arms)
