"""The tables of docs/results/waiting.md."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unisono.compare import results, summary
from unisono.core.files import read_json

from experiments import floor, markdown, mpi4py_suite, stall, waits
from experiments.harness import ROOT
from experiments.node import whole
from experiments.programs import times as programs

FOLDER = ROOT / "docs" / "results" / "waiting"
MPI4PY = ("mpi4py", "mpi4py-mpich", "mpi4py-intel")


def file(name: str) -> Path:
    return FOLDER / f"{name}.json.zst"


def jobs(name: str) -> Any:
    return read_json(file(name))["jobs"]


def whole_jobs() -> list[str]:
    return whole.summary(
        [row for name in ("yield", "many", "mpich") for row in read_json(file(f"whole-{name}"))]
    )


def times() -> list[str]:
    """Of `unisono compare`: the time in calls, of those who come last."""
    lines = []
    for name in ("openmpi", "intel", "mpich-naps"):
        for row in summary.rows(results.load(file(f"times-{name}"))):
            if row.where == "all":
                continue
            counts = map(str, (row.cells, row.faster, row.slower, row.slow))
            lines.append([row.where, f"{row.geometric_mean:.2f}", f"{row.means or 0:.2f}", *counts])
    head = ["MPI library, ranks, pattern", "of medians", "of means", "cells", "surely faster"]
    return markdown.table([*head, "surely slower", "beyond 1.05"], lines, (0,))


TABLES: Mapping[str, Callable[[], Sequence[str]]] = {
    "whole": whole_jobs,
    "times": times,
    "sweep": lambda: whole.sweep(read_json(file("sweep"))),
    "messages": lambda: waits.table(jobs("messages")),
    "beside": lambda: waits.table(jobs("beside")),
    "quotas": lambda: waits.table(jobs("quotas")),
    "mpi4py": lambda: mpi4py_suite.table([job for name in MPI4PY for job in jobs(name)]),
    "programs": lambda: programs.table(programs.found_in(read_json(file("programs")))),
    "floor": lambda: floor.table(jobs("floor")),
    "stall": lambda: stall.tables(jobs("stall"), read_json(file("stall"))["moves"]),
}
