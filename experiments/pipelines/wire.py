"""What the wire itself takes, and what an algorithm's rounds do: times without any latency.

The wire: the bytes that must pass the busiest port over the line rate. TCP takes 1514/1448 = 1.046 of it.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from unisono.core import cost_model
from unisono.core.cost_model import Job

TCP = 1514 / 1448  # bytes of a full frame as the lab's shaper counts them, over its data


def bytes_in_port(collective: str, size: int, ranks: int) -> float:
    """No algorithm can do with less. `size` as unisono-bench counts it."""
    if collective == "allreduce":
        return 2 * (ranks - 1) / ranks * size
    if collective in ("reduce_scatter", "reduce_scatter_block"):
        return (ranks - 1) / ranks * size
    return float(size)


def seconds(collective: str, size: int, ranks: int, bits: float) -> float:
    return 8 * bytes_in_port(collective, size, ranks) / bits


def line(alpha: float, beta: float) -> list[dict[str, float]]:
    return [{"from_bytes": 0, "alpha_s": alpha, "beta_s_per_byte": beta}]


def machine(alpha: float, beta: float) -> str:
    """One that takes alpha + beta * bytes for a message, one at a time in each direction."""
    costs = {quantity: line(alpha, beta) for quantity in ("one_way", "gap", "exchange")}
    body = {
        "format": "unisono-machine",
        "version": 1,
        "mpi": {"flavour": "none", "library": "none"},
        "levels": {"between_nodes": {**costs, "active": 2}},
        "reduce_s_per_byte": 0.0,
        "copy_s_per_byte": 0.0,
    }
    return json.dumps(body)


def predict(machine_text: str, jobs: Sequence[Job]) -> list[dict[str, float]]:
    """For each job seconds by spec, without what has no prediction."""
    with tempfile.TemporaryDirectory(prefix="unisono-machine-") as folder:
        file = Path(folder) / "machine.json"
        file.write_text(machine_text)
        told = cost_model.predict(file, jobs)
    return [{one.spec: one.seconds for one in answers if one.seconds is not None} for answers in told]


def rounds(wanted: Sequence[tuple[str, int, int, Sequence[str]]]) -> list[dict[str, float]]:
    """Of (collective, bytes, ranks, specs): times the wire without latency, as (p - 2 + n) / n of a chain."""
    jobs = [Job(collective, ranks, ranks, size, specs) for collective, size, ranks, specs in wanted]
    told = predict(machine(0.0, 1.0), jobs)
    return [
        {spec: time / bytes_in_port(job.collective, job.bytes, job.ranks) for spec, time in answers.items()}
        for job, answers in zip(jobs, told, strict=True)
    ]
