"""What the cost model is asked, and how well it ranked."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from unisono.core import catalogue, cost_model
from unisono.core.errors import UnisonoError
from unisono.profile.document import Environment
from unisono.testbeds.bench import Point
from unisono.tune import candidates
from unisono.tune.candidates import Candidate, Shape


class Field:
    """The candidates of a cell. Without a model (`machine` is None) a short list of them."""

    def __init__(self, machine: Path | None, ranks: int, nodes: int, warn: Callable[[str], None]) -> None:
        self.machine, self.warn = machine, warn
        self.catalogue = catalogue.load()
        self.job = Shape(ranks, nodes, self.grid_shapes(ranks))

    def grid_shapes(self, ranks: int) -> list[tuple[int, ...]]:
        try:
            return cost_model.shapes(ranks)
        except UnisonoError as error:
            self.warn(f"no grids: {error}")
            return []

    def __call__(self, point: Point, near: Sequence[str], most: int) -> list[Candidate]:
        found = candidates.specs(self.catalogue, point.collective, point.bytes, self.job)
        chosen = candidates.select(*self.predicted(point, found, near), most)
        if self.job.nodes == 1:
            chosen += candidates.over_other_transports(self.catalogue, point.collective, chosen, near)
        # One that the bench refuses would cost the whole job.
        return [candidate for candidate in chosen if candidates.exists(point.collective, candidate.spec)]

    def predicted(
        self, point: Point, found: Sequence[str], near: Sequence[str]
    ) -> tuple[list[str], Sequence[str], Mapping[str, float]]:
        """What can serve the call, winners near it, and predicted seconds."""
        told = {each.spec: each for each in self.predict(point, found)}
        # The model does not know which ranks are on a node.
        able = [s for s in found if f"shape={candidates.BY_NODES}" in s or s not in told or not told[s].unmet]
        return able, near, {spec: each.seconds for spec, each in told.items() if each.seconds is not None}

    def predict(self, point: Point, specs: Sequence[str]) -> Sequence[cost_model.Prediction]:
        if self.machine is None:
            return []
        job = cost_model.Job(point.collective, self.job.ranks, self.job.nodes, point.bytes, specs)
        try:
            return cost_model.predict(self.machine, [job])[0]
        except UnisonoError as error:
            self.warn(f"without the model from here on: {error}")
            self.machine = None
            return []


def rank_correlation(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Spearman's: 1 when the order is the same; nan when there is none, because all are equal.
    Precondition: equal lengths, at least 2."""
    if len(set(predicted)) == 1 or len(set(measured)) == 1:
        return math.nan
    from scipy.stats import spearmanr  # noqa: PLC0415 - no other command of ours needs it, and it takes time to load

    return float(spearmanr(predicted, measured).statistic)


def correlations(environment: Environment) -> dict[str, list[float]]:
    """Of each collective, one for every measured size with three predicted arms or more."""
    found: dict[str, list[float]] = {}
    for cell, measured in environment.points():
        pairs = [(arm.predicted_s, arm.median_s) for arm in measured.arms if arm.predicted_s is not None]
        if len(pairs) >= 3:
            value = rank_correlation([p for p, _ in pairs], [m for _, m in pairs])
            if not math.isnan(value):
                found.setdefault(cell.collective, []).append(value)
    return found
