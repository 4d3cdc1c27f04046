"""What the cost model is asked, and how well it ranked."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from unisono import model
from unisono.errors import UnisonoError
from unisono.profile.document import Environment
from unisono.tune import candidates
from unisono.tune.bench import Point
from unisono.tune.candidates import Candidate


class Field:
    """The candidates of a cell. Without a model (`machine` is None) a short list of them."""

    def __init__(self, machine: Path | None, ranks: int, nodes: int, warn: Callable[[str], None]) -> None:
        self.machine, self.ranks, self.nodes, self.warn = machine, ranks, nodes, warn
        self.shapes = self.grid_shapes()

    def grid_shapes(self) -> list[tuple[int, ...]]:
        try:
            return model.shapes(self.ranks)
        except UnisonoError as error:
            self.warn(f"no grids: {error}")
            return []

    def __call__(self, point: Point, near: Sequence[str], most: int) -> list[Candidate]:
        found = candidates.specs(point.collective, point.bytes, self.ranks, self.nodes, self.shapes)
        chosen = candidates.select(found, near, self.predict(point, found), most)
        return [*chosen, *candidates.over_shm(chosen)] if self.nodes == 1 else chosen

    def predict(self, point: Point, specs: Sequence[str]) -> Mapping[str, float]:
        if self.machine is None:
            return {}
        job = model.Job(point.collective, self.ranks, self.nodes, point.bytes, specs)
        try:
            told = model.predict(self.machine, [job])[0]
        except UnisonoError as error:
            self.warn(f"without the model from here on: {error}")
            self.machine = None
            return {}
        return {each.spec: each.seconds for each in told if each.seconds is not None}


def rank_correlation(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Spearman's: 1 when the order is the same; nan when there is none, because all are equal.
    Precondition: equal lengths, at least 2."""
    import numpy as np  # noqa: PLC0415 - no other command of ours needs it, and it takes time to load

    def ranks(values: Sequence[float]) -> "np.typing.NDArray[np.float64]":
        """Equal values share the mean of their ranks."""
        _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
        shared: np.typing.NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
        return shared

    if len(set(predicted)) == 1 or len(set(measured)) == 1:
        return math.nan
    return float(np.corrcoef(ranks(predicted), ranks(measured))[0, 1])


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
