"""The independent look at a profile: every cell again, in fresh jobs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unisono.profile.document import Arm, Cell, Environment, Measured
from unisono.tune.bench import Point
from unisono.tune.choice import NATIVE, ratio_of
from unisono.tune.tuner import BLOCKS, Measure

SLOW = 1 / 0.97  # of native's time; above it lies what is slower than 0.97 of native's speed
LOSERS = 3


@dataclass(frozen=True)
class Verdict:
    point: Point
    choice: str
    arms: tuple[Arm, ...]
    problem: str = ""

    @property
    def ratio(self) -> float:
        """Of the choice to native."""
        return next((ratio_of(arm) for arm in self.arms if arm.spec == self.choice), float("nan"))

    @property
    def is_slow(self) -> bool:
        return self.ratio > SLOW

    @property
    def best(self) -> Arm | None:
        return min(self.arms, key=ratio_of) if self.arms else None

    @property
    def is_best(self) -> bool:
        """No other is surely faster: the interval of the choice reaches down to the best's median."""
        own = next((arm for arm in self.arms if arm.spec == self.choice), None)
        if own is None or self.best is None:
            return False
        return low_of(own) <= ratio_of(self.best)


def low_of(arm: Arm) -> float:
    """Lower end of the interval of its ratio to native; of native itself, of its own times."""
    if arm.ratio_to_native:
        return arm.ratio_to_native.low
    return arm.low_s / arm.median_s


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


def verify(environment: Environment, bench: Measure, remaining: Callable[[], float]) -> Iterator[Verdict]:
    """The seconds that remain are shared by the cells that remain, small ones first."""
    points = sorted(environment.points(), key=lambda both: both[1].bytes)
    for number, (cell, measured) in enumerate(points):
        seconds = remaining() / (len(points) - number)
        if seconds <= 0:
            return
        point = Point(cell.collective, measured.bytes)
        row = bench.measure(point, opponents_within(cell, measured, seconds - bench.start), seconds)
        yield Verdict(point, cell.choice, row.arms, row.problem)


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
