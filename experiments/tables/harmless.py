"""The tables of docs/results/harmless.md."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

from unisono.core.files import read_json

from experiments import start
from experiments.harness import ROOT
from experiments.markdown import table
from experiments.programs import cells, installing, times
from experiments.programs.cells import Cell
from experiments.programs.judge import SAME, Kind, Verdict
from experiments.programs.program import Ran

FOLDER = ROOT / "docs" / "results" / "harmless"
FILE = FOLDER / "programs.json.zst"
LAB = FOLDER / "lab.json.zst"
LIBRARIES = {
    "debian-openmpi": "Open MPI 4.1",
    "debian-mpich": "MPICH 4.0",
    "mpich": "MPICH 5",
    "openmpi": "Open MPI 5",
    "intel": "Intel MPI",
}
LONGEST = 110  # characters of a reason


@cache
def raw(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_json(file)
    return found


def judged(file: Path) -> list[tuple[Cell, Verdict]]:
    programs = installing.all_programs()
    found = [Cell.from_data(data) for data in raw(file)["cells"]]
    return [(cell, cells.verdict(cell, programs[cell.program])) for cell in found]


def short(text: str) -> str:
    text = text.replace("|", r"\|").replace("<", "&lt;")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def told(verdict: Verdict) -> str:
    if verdict.kind in (Kind.ORDER, Kind.BEYOND, Kind.NEAR):
        apart = f"by {verdict.apart:.0e}" if verdict.apart else "where numbers count as zero"
        by_order = f" ({verdict.by_order:.0e})" if verdict.by_order else ""
        varies = ", and differs from run to run" if verdict.varies else ""
        return f"{verdict.kind.words}: {verdict.why} {apart}{by_order}{varies}"
    if verdict.kind in SAME or verdict.kind == Kind.IDLE:
        return verdict.kind.words
    return f"{verdict.kind.words}: {short(verdict.why)}"


def calls(cell: Cell) -> str:
    """Of the last run."""
    return f"{cell.unisono[-1].own}, {cell.unisono[-1].left}" if cell.unisono else ""


def programs(file: Path) -> Sequence[str]:
    """A row for a program with an MPI library; what is equal for its numbers of ranks is said once."""
    known = installing.all_programs()
    found: dict[tuple[str, str], list[tuple[Cell, Verdict]]] = {}
    for cell, verdict in judged(file):
        found.setdefault((cell.program, cell.mpi), []).append((cell, verdict))
    rows = []
    for (name, mpi), own in sorted(found.items()):
        results = list(dict.fromkeys(told(verdict) for _, verdict in own))
        if len(results) > 1:
            results = [f"{cell.ranks} ranks: {told(verdict)}" for cell, verdict in own]
        ranks = ", ".join(str(cell.ranks) for cell, _ in own)
        counts = "; ".join(filter(None, (calls(cell) for cell, _ in own)))
        rows.append((f"{name}: {known[name].what}", LIBRARIES[mpi], ranks, counts, "; ".join(results)))
    return table(("program", "MPI library", "ranks", "own, left", "results"), rows, (0, 1, 2, 4))


def tally(file: Path) -> Sequence[str]:
    found = judged(file)
    names = {kind: {cell.program for cell, verdict in found if verdict.kind == kind} for kind in Kind}
    rows = [
        (kind.words, str(sum(verdict.kind == kind for _, verdict in found)), str(len(names[kind])))
        for kind in Kind
        if names[kind]
    ]
    return table(("results under Unisono", "cells", "programs"), rows, (0,))


def taken(runs: Sequence[Ran]) -> tuple[float, float]:
    """The median and the longest, of the main part where the program prints its time."""
    found = [times.seconds(run) for run in runs if not run.problem]
    return (median(found), max(found)) if found else (math.nan, math.nan)


def program_times(file: Path) -> Sequence[str]:
    """Slowest beside native first."""
    rows = []
    for cell, verdict in judged(file):
        if verdict.kind >= Kind.FAILS:
            continue
        native, ours = taken(cell.native), taken(cell.unisono)
        told = [f"{seconds:.2f}" for seconds in (*native, *ours)]
        rows.append((ours[0] / native[0], (cell.program, LIBRARIES[cell.mpi], calls(cell), *told)))
    head = (
        "program",
        "MPI library",
        "own, left",
        "natively, s",
        "worst",
        "Unisono, s",
        "worst",
        "time / native",
    )
    return table(head, [(*row, f"{ratio:.2f}") for ratio, row in sorted(rows, reverse=True)], (0, 1))


def starts() -> Sequence[str]:
    """What Unisono adds to a job before its first call, and after some."""
    rows = []
    for name, pairs in read_json(FOLDER / "start.json.zst")["pairs"].items():
        native = f"{median(pair['native']['init'] + pair['native']['finalize'] for pair in pairs):.0f}"
        columns = [("init", "finalize"), ("pss",), ("pss", "calls"), ("communicators",)]
        rows.append((LIBRARIES[name], native, *(start.more(pairs, *column) for column in columns)))
    head = (
        "MPI library",
        "natively, ms",
        "more, ms",
        "more memory, KB",
        "after 50 Allreduces",
        "for 30 duplicates",
    )
    return table(head, rows, (0,))


HARMLESS: Mapping[str, Callable[[], Sequence[str]]] = {
    "programs, tally": partial(tally, FILE),
    "programs": partial(programs, FILE),
    "lab, tally": partial(tally, LAB),
    "lab": partial(programs, LAB),
    "lab, times": partial(program_times, LAB),
    "starts": starts,
}
