"""The tables of the pages within a node: node.md, guidelines.md, tuned.md, node/judged.md."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from unisono.compare import guidelines, results, summary
from unisono.compare.results import Cell, Comparison
from unisono.core.estimates import Estimate
from unisono.core.files import read_json

from experiments.harness import ROOT
from experiments.markdown import table
from experiments.node import patterns, tables
from experiments.tables.words import LIBRARIES, size_text
from scripts import second_run

FOLDER = ROOT / "docs" / "results" / "node"


@cache
def load(*names: str) -> Comparison:
    return tables.joined([results.load(FOLDER / f"{name}.json.zst") for name in names])


NODE_FILES = ("node-2", "node-more", "node-mpich")


def times(ranks: int) -> list[str]:
    return tables.times(load(*NODE_FILES), ranks)


NODE: Mapping[str, Callable[[], Sequence[str]]] = {
    "overview": lambda: tables.overview(load(*NODE_FILES)),
    "slower": lambda: tables.slower(load(*NODE_FILES)),
    "loop": lambda: tables.overview(load("loop-more", "loop-mpich")),
    "hybrid": lambda: tables.several_nodes(load("hybrid")),
    **{f"{ranks} ranks": partial(times, ranks) for ranks in (2, 4, 8, 16)},
}

GUIDELINES: Mapping[str, Callable[[], Sequence[str]]] = {
    "counts": lambda: patterns.counts(guidelines.reports(load("guidelines-2"))),
    "broken": lambda: patterns.broken(guidelines.reports(load("guidelines-2"))),
    "patterns": lambda: patterns.patterns(load("patterns-2")),
}


# --- judged.md


def call_text(cell: Cell) -> str:
    size = f" {size_text(cell.point.size)}" if cell.point.size else ""
    return f"{cell.point.collective.capitalize()}{size}"


def of_setting(comparison: Comparison, ranks: int, pattern: str) -> Comparison:
    own = [
        cell
        for cell in comparison.cells
        if (cell.point.setting.ranks, cell.point.setting.pattern) == (ranks, pattern)
    ]
    return replace(comparison, cells=own)


WORST = 4
RUNS = (
    ("openmpi-loop-off", (3, 4)),
    ("openmpi-loop", (3, 4)),
    ("openmpi-compute-off", (3, 4)),
    ("openmpi-compute", (3, 4)),
    ("openmpi-barrier", (3, 4)),
    ("mpich-loop", (4,)),
)


def judged() -> list[str]:
    rows = []
    for file, ranks in RUNS:
        mpi, pattern, *rest = file.split("-")
        for number in ranks:
            own = of_setting(load(f"judged/{file}"), number, pattern)
            (row,) = summary.rows(own)
            sure = sorted(
                (
                    (ratio.median, call_text(cell))
                    for cell in own.cells
                    for arm, ratio in summary.ratios([cell]).get(tables.DEFAULT, [])
                    if ratio.is_slower
                ),
                reverse=True,
            )
            counts = (row.faster, len(sure), row.cells)
            worst = ", ".join(f"{name} {ratio:.2f}" for ratio, name in sure[:WORST])
            duels = "off" if rest else "auto"
            mean = f"{row.geometric_mean:.2f}"
            rows.append((f"{LIBRARIES[mpi]}, {number}", pattern, duels, mean, *map(str, counts), worst))
    head = ["ranks", "pattern", "duels", "mean", "surely faster", "surely slower", "cells"]
    return table([*head, "the worst of the sure ones"], rows, (0, 1, 2, 7))


def bracketed(ratio: Estimate) -> str:
    return f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def ratio_of(comparison: Comparison, collective: str, size: int) -> Estimate:
    (cell,) = (c for c in comparison.cells if (c.point.collective, c.point.size) == (collective, size))
    (found,) = summary.ratios([cell])[tables.DEFAULT]
    return found[1]


ROOTED = {
    "rooted-compute-before": "before",
    "rooted-compute-all-time": "all time alone decides after 24 runs",
    "rooted-compute": "and a row that ends in the class is judged, too",
}


def rooted() -> list[str]:
    collectives = ("gather", "scatter", "bcast")
    rows = [
        (
            f"[{words}](judged/{file}.json.zst)",
            *(bracketed(ratio_of(load(f"judged/{file}"), name, 8)) for name in collectives),
        )
        for file, words in ROOTED.items()
    ]
    return table(("", *map(str.capitalize, collectives)), rows, (0,))


AGAIN = (("barrier", 0), ("allgather", 8), ("allgather", 1024), ("scatter", 8), ("scatter", 1024))


def again() -> list[str]:
    points = (*AGAIN, ("allreduce", 8), ("allreduce", 1024))
    rows = []
    for words, file in (("duels", "mpich-loop-after"), ("table alone", "mpich-loop-off")):
        found = [ratio_of(load(f"judged/{file}"), *point) for point in points]
        sure = [ratio.is_faster or ratio.is_slower for ratio in found]
        texts = [
            f"{one.median:.2f}" if told else bracketed(one) for one, told in zip(found, sure, strict=True)
        ]
        rows.append((words, *texts))
    names = [f"{name.capitalize()}{f' {size_text(size)}' if size else ''}" for name, size in points]
    return table(("MPICH, 4 ranks, loop", *names), rows, (0,))


def second(ranks: int) -> list[str]:
    return second_run.table(read_json(FOLDER / "judged" / f"second-openmpi-{ranks}.json.zst")["milliseconds"])


def second_runs() -> list[str]:
    three, four = second(3), second(4)
    rows = [f"| {ranks} {line}" for ranks, lines in ((3, three), (4, four)) for line in lines[2:]]
    return [f"| ranks {three[0]}", f"|---{three[1]}", *rows]


JUDGED: Mapping[str, Callable[[], Sequence[str]]] = {
    "judged": judged,
    "again": again,
    "second runs": second_runs,
    "rooted": rooted,
}


# --- tuned.md


ALL_TUNED = 48  # cells of a run


@dataclass(frozen=True)
class Verified:
    """What `unisono profile verify` wrote."""

    cells: list[Any]

    def count(self, what: str, answer: str) -> str:
        number = sum(cell[f"within_{what}"] == answer for cell in self.cells)
        return f"**{number}**" if number and answer == "no" else str(number)

    @property
    def compared(self) -> list[Any]:
        return [cell for cell in self.cells if cell["to_native"]]

    @property
    def mean(self) -> str:
        return f"{summary.geometric_mean(cell['to_native']['median'] for cell in self.compared):.2f}"

    @property
    def native(self) -> str:
        return str(len(self.cells) - len(self.not_native.cells))

    @property
    def not_native(self) -> "Verified":
        return Verified([cell for cell in self.cells if cell["choice"] != tables.NATIVE])

    @property
    def jobs(self) -> str:
        """How many cells had so many."""
        found = Counter(cell["jobs"] for cell in self.cells)
        return ", ".join(f"{jobs} ({cells})" for jobs, cells in sorted(found.items()))


def verified(name: str) -> Verified:
    return Verified(read_json(FOLDER / "tuned" / f"{name}.json.zst")["cells"])


TUNED_RUNS = {
    "mpich-2": "MPICH, 2 ranks",
    "openmpi-2": "Open MPI, 2",
    "intel-2": "Intel MPI, 2",
    "openmpi-4": "Open MPI, 4 ranks on 2 cores",
    "mpich-4": "MPICH, 4",
    "intel-4": "Intel MPI, 4",
}
ANSWERS = ("yes", "no", "undecided")


def tuned() -> list[str]:
    rows = []
    for name, words in TUNED_RUNS.items():
        own = verified(name)
        counts = (*(own.count("native", answer) for answer in ANSWERS), own.native, own.jobs)
        rows.append((words, *counts, own.mean, own.not_native.mean))
    head = ["run", *ANSWERS, "of these native itself", "jobs a cell (cells)"]
    head += ["time / native, geometric mean of all", "where the choice is not native"]
    return table(head, rows, (0, 5))


EPYC_RUNS = {
    "mpich-2-epyc": "MPICH, 2 ranks",
    "openmpi-2-epyc": "Open MPI, 2",
    "intel-2-epyc": "Intel MPI, 2",
    "mpich-4-epyc": "MPICH, 4 ranks on 2 cores",
    "openmpi-4-epyc": "Open MPI, 4",
    "intel-4-epyc": "Intel MPI, 4",
    "intel-2-epyc-again": "Intel MPI, 2, mended",
    "intel-4-epyc-again": "Intel MPI, 4, mended",
}


def tuned_on_epyc() -> list[str]:
    rows = []
    for name, words in EPYC_RUNS.items():
        own = verified(name)
        left = ALL_TUNED - sum(cell["tuned"] for cell in own.cells)
        counts = [own.count(what, answer) for what in ("native", "best") for answer in ANSWERS]
        cells = (str(left), str(len(own.cells)), *counts, own.native)
        rows.append((words, *cells, own.mean, own.not_native.mean))
    head = ["run", "left undecided", "cells measured again", "within 0.97 of native: yes", *ANSWERS[1:]]
    head += ["within 0.97 of the best arm: yes", *ANSWERS[1:], "native kept"]
    head += ["time / native, geometric mean of all", "where the choice is not native"]
    return table(head, rows, (0,))


TUNED: Mapping[str, Callable[[], Sequence[str]]] = {"tuned": tuned, "tuned, epyc": tuned_on_epyc}
