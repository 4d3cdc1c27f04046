"""The independent look at a profile: every cell again, in fresh jobs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unisono.compare.results import Estimate
from unisono.profile.document import Arm, Cell, Environment, Measured
from unisono.tune.bench import Point, Row
from unisono.tune.choice import NATIVE, NOT_SLOWER, WORTH, pooled, ratio_of
from unisono.tune.tuner import BLOCKS, Measure

LOSERS = 3
SECOND_LOOK = 0.25  # of the time
JOBS = 3  # of a cell: the middle one counts, and the middle of two would be their mean
ITSELF = Estimate(1, 1, 1, 1)  # native's ratio to native


@dataclass(frozen=True)
class Verdict:
    point: Point
    choice: str
    arms: tuple[Arm, ...]
    problem: str = ""

    @property
    def ratio(self) -> float:
        """Of the choice to native."""
        return ratio_of(self.own) if self.own else float("nan")

    @property
    def is_slow(self) -> bool:
        return self.ratio > NOT_SLOWER

    @property
    def own(self) -> Arm | None:
        return next((arm for arm in self.arms if arm.spec == self.choice), None)

    @property
    def best(self) -> Arm | None:
        """The choice, unless another is surely faster."""
        own = self.own
        better = [arm for arm in self.arms if own and is_beaten(own, arm)]
        return min(better, key=ratio_of) if better else own

    @property
    def is_best(self) -> bool:
        own = self.own
        return own is not None and estimate(own) is not None and self.best is own


def is_beaten(arm: Arm, by: Arm) -> bool:
    """Each one's interval lies wholly on its side of the other's median, and that of the faster is a sure
    one. A gain of less than the margin does not count: the tuner ignores it on purpose."""
    slow, fast = estimate(arm), estimate(by)
    if slow is None or fast is None or not fast.is_sure:
        return False
    return fast.high < slow.median and fast.median < slow.low and fast.median < WORTH * slow.median


def estimate(arm: Arm) -> Estimate | None:
    return ITSELF if arm.spec == NATIVE else arm.ratio_to_native


def opponents(cell: Cell, measured: Measured) -> list[str]:
    """The choice and the fastest of those that lost."""
    losers = [arm for arm in measured.arms if arm.spec not in {NATIVE, cell.choice}]
    losers.sort(key=lambda arm: arm.median_s)
    own = [] if cell.choice == NATIVE else [cell.choice]
    return own + [arm.spec for arm in losers[:LOSERS]]


def opponents_within(cell: Cell, measured: Measured, seconds: float) -> list[str]:
    """As many as the time gives an interval for, one at least."""
    known = {arm.spec: arm.median_s for arm in measured.arms}
    arms = opponents(cell, measured)
    while len(arms) > 1 and BLOCKS * sum(known.get(spec, 0) for spec in (NATIVE, *arms)) > seconds:
        arms.pop()
    return arms


@dataclass
class CallInfo:
    """What the jobs of a cell have told so far."""

    cell: Cell
    measured: Measured
    rows: list[Row]

    def verdict(self) -> Verdict:
        point = Point(self.cell.collective, self.measured.bytes)
        problem = next((row.problem for row in self.rows if row.problem), "")
        arms = () if problem else pooled([row.arms for row in self.rows])
        return Verdict(point, self.cell.choice, arms, problem)

    def doubts(self) -> bool:
        verdict = self.verdict()
        return not verdict.problem and (verdict.is_slow or not verdict.is_best)


def verify(
    environment: Environment, bench: Measure, remaining: Callable[[], float], jobs: int = JOBS
) -> Iterator[Verdict]:
    """Three quarters of the seconds that remain are shared by the cells, small ones first; those of a
    cell, by its jobs. The rest is for as many jobs more of each cell whose choice looks wrong: of some
    hundred comparisons some look so by chance. All jobs of a cell count."""
    looks = [CallInfo(cell, measured, []) for cell, measured in environment.points()]
    looks.sort(key=lambda look: look.measured.bytes)
    spare = remaining() * SECOND_LOOK
    doubtful = []
    for look in measure(looks, bench, lambda: remaining() - spare, jobs):
        if look.doubts():
            doubtful.append(look)
        else:
            yield look.verdict()
    for _ in measure(doubtful, bench, remaining, jobs):
        pass
    yield from (look.verdict() for look in doubtful)


def measure(
    looks: Sequence[CallInfo], bench: Measure, remaining: Callable[[], float], jobs: int
) -> Iterator[CallInfo]:
    """Adds the jobs of each, while there is time."""
    for number, look in enumerate(looks):
        seconds = remaining() / (len(looks) - number) / jobs
        if seconds <= 0:
            return
        point = Point(look.cell.collective, look.measured.bytes)
        arms = opponents_within(look.cell, look.measured, seconds - bench.start)
        look.rows += [bench.measure(point, arms, seconds) for _ in range(jobs)]
        yield look


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    measured = [verdict for verdict in verdicts if verdict.arms]
    best = sum(verdict.is_best for verdict in measured)
    return {
        "cells": len(measured),
        "failed": len(verdicts) - len(measured),
        "slower_than_0.97_of_native": sum(verdict.is_slow for verdict in measured),
        "choice_is_best": best,
        "share_best": round(best / len(measured), 4) if measured else None,
    }


def to_json(environment: Environment, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "schema": "unisono-profile-verification",
        "schema_version": 1,
        "environment": environment.key.to_json(),
        "margin": round(1 - WORTH, 4),  # a smaller gain of another does not count
        "summary": summary(verdicts),
        "cells": [
            {
                **asdict(verdict.point),
                "choice": verdict.choice,
                "ratio": verdict.ratio if verdict.arms else None,
                "is_best": verdict.is_best,
                "is_slow": verdict.is_slow,
                "problem": verdict.problem,
                "arms": [asdict(arm) for arm in verdict.arms],
            }
            for verdict in verdicts
        ],
    }
