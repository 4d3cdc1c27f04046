"""What messages and reductions cost on a simulated network, as `unisono-model fit` reads it.

unisono-calibrate runs in SMPI as well, but sends as MPI_Isend does there: everything at once. Unisono's sends
are synchronous in SMPI, and two are under way (docs/adr/0008-simulator.md), which a message of a stream pays
for. So the quantities are those of unisono-calibrate, and Unisono itself sends the messages."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from unisono.core import cost_model
from unisono.core.errors import RunError
from unisono.sim import runner, smpi
from unisono.sim.platforms import Platform
from unisono.sim.table import Json, Question

SIZES = tuple(4**power for power in range(11))  # those of unisono-calibrate
LONGEST = SIZES[-1]
SHORT, LONG = 2, 8  # messages of two streams: whole pairs, as two are under way


def seconds(
    network: Platform, ranks: int, collective: str, algorithm: str, sizes: Sequence[int]
) -> list[float]:
    question = Question(network, ranks, collective, 0, tuple(sizes))
    cells = runner.simulate(question, [algorithm], [], "4G", lambda _: None).rows[0].cells
    for size in sizes:
        if cells[size].seconds is None:
            raise RunError(f"{network.spec}: {collective} {algorithm}: {cells[size].left_out}")
    return [cells[size].seconds or 0.0 for size in sizes]


def samples(network: Platform, ranks: int) -> Json:
    """A message from rank 0 to 1; one more in a stream of these; all ranks to their neighbours, in p - 1
    rounds; what a reduction adds to a message. Copies are free."""
    found: list[Json] = []

    def add(quantity: str, size: int, time: float, **more: int) -> None:
        found.append({"quantity": quantity, "level": 1, "bytes": size, "seconds": [time], **more})

    alone = seconds(network, 2, "bcast", "flat", SIZES)
    rounds = seconds(network, ranks, "allgather", f"ring:segment={LONGEST}", SIZES)
    for size, one, all_rounds in zip(SIZES, alone, rounds, strict=True):
        short, long = seconds(network, 2, "bcast", f"chain:segment={size}", (SHORT * size, LONG * size))
        add("one_way", size, one)
        add("gap", size, (long - short) / (LONG - SHORT))
        add("exchange", size, all_rounds / (ranks - 1), active=ranks)
    (reduced,) = seconds(network, 2, "reduce", "flat", (LONGEST,))
    add("reduce", LONGEST, reduced - alone[-1])
    add("copy", LONGEST, 0.0)
    library = {"flavour": "smpi", "library": f"SimGrid {smpi.simgrid_version()}, {network.spec}"}
    return {
        "format": "unisono-samples",
        "version": 1,
        "mpi": library,
        "node_of_rank": list(range(ranks)),
        "samples": found,
    }


def calibrate(network: Platform, ranks: int, file: Path) -> Path:
    """Simulates and fits; the machine goes to `file`."""
    with tempfile.TemporaryDirectory(prefix="unisono-calibrate-") as folder:
        kept = Path(folder) / "samples.json"
        kept.write_text(json.dumps(samples(network, ranks)))
        cost_model.ask("fit", str(kept), "-o", str(file))
    return file
