"""The tables of docs/results/harmless.md."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import median
from typing import Any

from unisono.core.files import read_json

from experiments import start
from experiments.harness import ROOT
from experiments.markdown import table
from experiments.programs import cells, installing
from experiments.programs.cells import Cell
from experiments.programs.judge import SAME, Kind, Verdict

FOLDER = ROOT / "docs" / "results" / "harmless"
FILE = FOLDER / "programs.json.zst"
LIBRARIES = {
    "debian-openmpi": "Open MPI 4.1",
    "debian-mpich": "MPICH 4.0",
    "mpich": "MPICH 5",
    "openmpi": "Open MPI 5",
    "intel": "Intel MPI",
}
LONGEST = 110  # characters of a reason


@cache
def raw() -> dict[str, Any]:
    found: dict[str, Any] = read_json(FILE)
    return found


def judged() -> list[tuple[Cell, Verdict]]:
    programs = installing.all_programs()
    found = [Cell.from_data(data) for data in raw()["cells"]]
    return [(cell, cells.verdict(cell, programs[cell.program])) for cell in found]


def short(text: str) -> str:
    text = text.replace("|", r"\|").replace("<", "&lt;")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def told(verdict: Verdict) -> str:
    if verdict.kind == Kind.NEAR:
        return f"{verdict.kind.words}: {verdict.why} by {verdict.apart:.0e}"
    if verdict.kind in SAME or verdict.kind == Kind.IDLE:
        return verdict.kind.words
    return f"{verdict.kind.words}: {short(verdict.why)}"


def calls(cell: Cell) -> str:
    """Of the last run."""
    return f"{cell.unisono[-1].own}, {cell.unisono[-1].left}" if cell.unisono else ""


def programs() -> Sequence[str]:
    """A row for a program with an MPI library; what is equal for its numbers of ranks is said once."""
    known = installing.all_programs()
    found: dict[tuple[str, str], list[tuple[Cell, Verdict]]] = {}
    for cell, verdict in judged():
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


def tally() -> Sequence[str]:
    found = judged()
    names = {kind: {cell.program for cell, verdict in found if verdict.kind == kind} for kind in Kind}
    rows = [
        (kind.words, str(sum(verdict.kind == kind for _, verdict in found)), str(len(names[kind])))
        for kind in Kind
        if names[kind]
    ]
    return table(("results under Unisono", "cells", "programs"), rows, (0,))


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
    "programs, tally": tally,
    "programs": programs,
    "starts": starts,
}
