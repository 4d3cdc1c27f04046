"""How long ranks that wait for a message wait for a core on top, where they share cores.

A probe of the network cannot tell: nothing else runs then. Calls of a few bytes can, in which everybody waits
for everybody. Best are those that Unisono ran itself; of the MPI library's own it is taken that they are
rounds of the best textbook algorithm.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from unisono.advise import arms as arms_module
from unisono.advise import predict
from unisono.core import catalogue, cost_model, files
from unisono.core.catalogue import NATIVE
from unisono.trace.groups import Group

Json = dict[str, Any]
SHORT = 64  # bytes
ASKED = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)  # seconds: what the model is asked with; between them it is a line
ENOUGH = 8  # calls


def is_short(group: Group) -> bool:
    row = catalogue.collective(group.kind.collective)
    alike = len(set(group.algorithm)) == 1
    return group.kind.most < SHORT and row.synchronises and alike and group.calls >= predict.ENOUGH_CALLS


def with_wake(body: Json, seconds: float) -> Json:
    """What a round of all takes longer than a message alone is waking then, and no work that is shared."""
    levels = {name: {**level, "exchange": [], "active": 1} for name, level in body["levels"].items()}
    return {**body, "levels": levels, "wake_s": seconds}


def estimate(groups: Sequence[Group], body: Json, folder: Path) -> float | None:
    """Seconds; None where the trace has too few such calls."""
    short = [group for group in groups if is_short(group)]
    own = [group for group in short if group.algorithm[0] != NATIVE]
    short = own or short
    if sum(group.calls for group in short) < ENOUGH:
        return None
    known = catalogue.load()
    jobs = [predict.question(group, specs_of(known, group), groups) for group in short]
    shortest = np.array([fastest(with_wake(body, seconds), jobs, folder / "wake.json") for seconds in ASKED])
    found: list[float] = []
    for group, times in zip(short, shortest.T, strict=True):
        if np.isfinite(times).all():
            took = predict.completion(group.begin, group.end)
            found += np.interp(took, np.maximum.accumulate(times), ASKED).tolist()
    return median(found) if found else None


def fastest(body: Json, jobs: Sequence[cost_model.Job], file: Path) -> list[float]:
    """Of each job the least median over its algorithms; infinity: no algorithm has a prediction."""
    files.write_json({name: value for name, value in body.items() if name != "incast"}, file)
    return [
        min(
            (float(np.median(predict.predicted_completion(each))) for each in told if each.exits),
            default=np.inf,
        )
        for told in cost_model.predict(file, jobs)
    ]


def specs_of(known: catalogue.Catalogue, group: Group) -> list[str]:
    ran = str(group.algorithm[0])
    kind = group.kind
    return [ran] if ran != NATIVE else arms_module.legal(known, kind.collective, group.ranks, group.nodes)
