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
UNIT = 1e-3  # seconds: what the model is asked with; times grow in proportion
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
    jobs = [predict.question(group, specs_of(known, group)) for group in short]
    file = folder / "wake.json"
    files.write_json({k: v for k, v in with_wake(body, UNIT).items() if k != "incast"}, file)
    found: list[float] = []
    for group, job, told in zip(short, jobs, cost_model.predict(file, jobs), strict=True):
        times = [
            float(np.median(predict.predicted_completion(each, job.delays))) for each in told if each.exits
        ]
        if times and min(times) > 0:
            took = predict.completion(group.begin, group.end)
            found += (took * UNIT / min(times)).tolist()
    return median(found) if found else None


def specs_of(known: catalogue.Catalogue, group: Group) -> list[str]:
    ran = str(group.algorithm[0])
    kind = group.kind
    return [ran] if ran != NATIVE else arms_module.legal(known, kind.collective, group.ranks, group.nodes)
