"""What messages cost on a test bed, measured for the cost model (docs/reference/model.md)."""

import tempfile
from pathlib import Path

from unisono.core import cost_model, jobs
from unisono.core.errors import RunError
from unisono.core.places import Mpi
from unisono.testbeds.beds import Bed


def calibrate(
    bed: Bed,
    mpi: Mpi,
    ranks: int,
    file: Path,
    per_host: int | None = None,
    silence: float = 120.0,
    seconds: float = 0.1,
) -> Path:
    """Measures the bed with so many ranks, for so long at each size, fits the model and writes it to
    `file`. Some 10 s altogether; an error after `silence` seconds."""
    with tempfile.TemporaryDirectory(prefix="unisono-calibrate-") as folder:
        samples = Path(folder) / "samples.json"
        program = [*mpi.tool("unisono-calibrate"), "--seconds", str(seconds), "--output", str(samples)]
        line, environment = bed.command(mpi, ranks, bed.per_host(ranks, per_host), program)
        outcome = jobs.run(line, environment, silence)
        if not outcome.ok:
            raise RunError(f"unisono-calibrate: {outcome.problem}")
        cost_model.ask("fit", str(samples), "-o", str(file))
    return file
