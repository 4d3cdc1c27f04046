"""The cost model, asked what algorithms would take (docs/reference/model.md); testbeds.calibrate measures
what it is made from."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unisono.core import files, places
from unisono.core.errors import UnisonoError


@dataclass(frozen=True)
class Job:
    """One call, and the algorithms to be priced for it."""

    collective: str
    ranks: int
    nodes: int  # blocks of neighbouring ranks, equally many on each but the last
    bytes: int  # as in a profile: the vector, one block, or (reduce_scatter) all blocks
    specs: Sequence[str]
    root: int = 0
    # Calls one after the other: for how long each rank is away between them, s; before the first since 0.
    delays: Sequence[Sequence[float]] = ()
    # By call: [rank, other, s], a rank arrives no sooner than so long after the other has left the last call.
    waits: Sequence[Sequence[tuple[int, int, float]]] = ()
    # By call: for how long each rank computes when it has left it, s. Counts where ranks share cores.
    computing: Sequence[Sequence[float]] = ()
    # By call: [rank, bytes out of its node, into it, s before it arrives]: what else has passed meanwhile.
    traffic: Sequence[Sequence[tuple[int, int, int, float]]] = ()
    node_of_rank: Sequence[int] = ()  # in place of `nodes` blocks


@dataclass(frozen=True)
class Prediction:
    spec: str
    seconds: float | None  # None: the MPI library's own, or unmet
    unmet: str = ""  # what the algorithm lacks for this call; empty: it can serve it
    chosen: str = ""  # of segment=auto: the spec with the segment that the model finds best
    arrivals: Sequence[Sequence[float]] = ()  # when each rank is at each call, s
    exits: Sequence[Sequence[float]] = ()  # when it is done with it

    @property
    def runs(self) -> str:
        return self.chosen or self.spec


def predict(machine: Path, wanted: Sequence[Job]) -> list[list[Prediction]]:
    """For each job its specs, the fastest first, those without a time last. With segment=auto the model
    chooses the segment."""
    told = ask(
        "predict", "--machine", str(machine), "--jobs", "-", given=json.dumps([asdict(job) for job in wanted])
    )
    return [[prediction_of(row) for row in rows] for rows in files.decoded(told)]


def prediction_of(row: dict[str, Any]) -> Prediction:
    unmet, chosen = row.get("unmet", ""), row.get("chosen", "")
    followed = row.get("arrivals_s", ()), row.get("exits_s", ())
    return Prediction(row["spec"], row["seconds"], unmet, chosen, *followed)


def shapes(ranks: int, dimensions: int = 3) -> list[tuple[int, ...]]:
    """The grids worth trying: ordered factorisations, and for awkward numbers of ranks ragged ones."""
    return [
        tuple(shape)
        for shape in files.decoded(ask("shapes", "--ranks", str(ranks), "--dims", str(dimensions)))
    ]


def ask(*arguments: str, given: str = "") -> str:
    command = [str(places.program("unisono-model")), *arguments]
    done = subprocess.run(command, input=given, check=False, capture_output=True, text=True)
    if done.returncode:
        raise UnisonoError(
            done.stderr.strip().removeprefix("unisono-model: ")
            or f"unisono-model: exit status {done.returncode}"
        )
    return done.stdout
