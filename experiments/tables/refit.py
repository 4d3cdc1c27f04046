"""The tables of docs/results/refit.md and lab.md."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unisono.compare import results
from unisono.compare.results import Arm
from unisono.compare.summary import geometric_mean
from unisono.core.estimates import Estimate, estimate_median
from unisono.core.files import read_json

from experiments.harness import ROOT
from experiments.markdown import table
from experiments.tables.words import LIBRARIES, size_text

FOLDER = ROOT / "docs" / "results"
MOST = 1.03  # the goal: no cell is slower than that

Cell = dict[str, Any]


def cells_of(name: str) -> list[Cell]:
    cells: list[Cell] = read_json(FOLDER / f"{name}.json.zst")["cells"]
    return cells


def ratio_of(cell: Cell) -> Estimate:
    return estimate_median(cell["ratios"])


def mean(cells: Sequence[Cell]) -> str:
    return f"{geometric_mean(ratio_of(cell).median for cell in cells):.3f}"


def count(cells: Sequence[Cell], verdict: str) -> int:
    return sum(cell["verdict"] == verdict for cell in cells)


BEFORE_AFTER = {
    "node/refit-before-after-mpich-2": "MPICH, 2",
    "node/refit-before-after-openmpi-2": "Open MPI, 2",
    "node/refit-before-after-intel-2": "Intel MPI, 2",
    "node/refit-before-after-mpich-4": "MPICH, 4 on the two cores",
    "node/refit-before-after-openmpi-4": "Open MPI, 4",
    "node/refit-before-after-openmpi-8": "Open MPI, 8",
    "lab/refit-before-after-openmpi-16": "Open MPI, 16 hosts of the lab, 6 collectives, 8 B, 32 KiB, 512 KiB",
    "lab/refit-before-after-mpich-16": "MPICH, 16 hosts (revision c4c6644)",
}


def before_after() -> list[str]:
    rows = []
    for name, words in BEFORE_AFTER.items():
        cells = cells_of(name)
        pairs = [geometric_mean(pair) for pair in zip(*(cell["ratios"] for cell in cells), strict=True)]
        above = sum(ratio_of(cell).median > MOST for cell in cells)
        counts = (str(count(cells, "faster")), str(count(cells, "slower")), f"{above} of {len(cells)}")
        rows.append((words, mean(cells), f"{min(pairs):.3f} - {max(pairs):.3f}", *counts))
    head = ["MPI library, ranks", "geometric mean of the medians, after / before", "of the single pairs"]
    return table([*head, "surely faster", "surely slower", f"median above {MOST}"], rows, (0, 2))


def surely_slower() -> list[str]:
    rows = []
    for name, words in BEFORE_AFTER.items():
        named = [cell_text(cell) for cell in cells_of(name) if cell["verdict"] == "slower"]
        if named:
            rows.append((words, ", ".join(named)))
    return table(("MPI library, ranks", "surely slower: after / before"), rows, (0, 1))


ON_EPYC = {
    "mpich-2": "MPICH, 2",
    "openmpi-2": "Open MPI, 2",
    "intel-2": "Intel MPI, 2",
    "mpich-4": "MPICH, 4",
    "openmpi-4": "Open MPI, 4",
    "openmpi-8": "Open MPI, 8",
    "mpich-4-off": "MPICH, 4, off",
    "openmpi-4-off": "Open MPI, 4, off",
    "openmpi-8-off": "Open MPI, 8, off",
}
# Of c46bba5, whose files were not kept.
THE_DAY_BEFORE = {
    "mpich-2": "0.811, 3",
    "openmpi-2": "0.749, 0",
    "intel-2": "0.785, 1",
    "mpich-4": "0.945, 2",
    "openmpi-4": "1.112, 3",
    "openmpi-8": "1.113, 8",
}


def on_epyc() -> list[str]:
    rows = []
    for name, words in ON_EPYC.items():
        cells = cells_of(f"node/refit-epyc-{name}")
        slower = f"{count(cells, 'slower')} of {len(cells)}"
        counts = (str(count(cells, "faster")), slower, str(count(cells, "undecided")))
        rows.append((words, mean(cells), *counts, THE_DAY_BEFORE.get(name, "")))
    head = [
        "MPI library, ranks",
        "geometric mean, after / before",
        "surely faster",
        "surely slower",
        "undecided",
    ]
    return table([*head, "the day before: mean, surely slower"], rows, (0, 5))


def again() -> list[str]:
    rows = []
    for mpi, library in LIBRARIES.items():
        cells = cells_of(f"node/refit-epyc-{mpi}-2-again")
        slower = sorted(
            (cell for cell in cells if cell["verdict"] == "slower"), key=lambda cell: -ratio_of(cell).median
        )
        named = ", ".join(cell_text(cell) for cell in slower)
        text = f"{len(slower)} of {len(cells)}{f': {named}' if named else ''}"
        rows.append((library, mean(cells), str(count(cells, "faster")), text, str(count(cells, "undecided"))))
    head = ("MPI library", "geometric mean", "surely faster", "surely slower", "undecided")
    return table(head, rows, (0, 3))


def cell_text(cell: Cell) -> str:
    ratio = ratio_of(cell)
    name = f"{cell['collective'].capitalize()} {size_text(cell['bytes'])}"
    return f"{name} {ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


REFIT: Mapping[str, Callable[[], Sequence[str]]] = {
    "before and after": before_after,
    "surely slower": surely_slower,
    "epyc": on_epyc,
    "again": again,
}


# --- lab.md

# By the table of defaults of that day, which the file does not name.
HOW = {
    "bcast": "`chain`",
    "reduce": "`chain:segment=4K`, `chain`",
    "allreduce": "`ring:segment=16K`",
    "scan": "`chain`, `chain:segment=4K`",
    "allgather": "native, `ring:segment=16K`",
    "alltoall": "native, `ring`",
    "gather": "native, `paced`",
    "scatter": "`paced`",
    "reduce_scatter_block": "`ring:segment=16K`",
}
VECTORS = ("bcast", "reduce", "allreduce", "scan", "reduce_scatter_block")


def times_limit(mpi: str, collective: str, name: str) -> str:
    size = 1 << 20 if collective in VECTORS else 64 << 10
    comparison = results.load(FOLDER / "lab" / "compare-16-hosts.json.zst")
    (cell,) = (
        cell
        for cell in comparison.cells
        if (cell.point.setting.mpi, cell.point.collective, cell.point.size) == (mpi, collective, size)
    )
    arm: Arm | None = cell.arm(name)
    over = cell.times_limit(arm) if arm else None
    return f"{over:.3g}" if over and over >= 10 else f"{over:.2f}" if over else ""


def against_goal() -> list[str]:
    rows = []
    for collective, how in HOW.items():
        cells = []
        for mpi in ("mpich", "openmpi"):
            cells += [
                times_limit(mpi, collective, "native"),
                f"**{times_limit(mpi, collective, 'default')}**",
            ]
        rows.append((collective.capitalize(), *cells, how))
    return table(("", "MPICH", "with Unisono", "Open MPI", "with Unisono", "how"), rows, (0, 5))


# Of what this project started from, in times the limit; its files were not kept.
THEN = {
    "bcast": ("2.6 - 4.2", "5.4"),
    "reduce": ("2.2 - 2.5", "4.2"),
    "allreduce": ("1.8 - 2.1", "3.3"),
    "scan": ("9.1", "14.9"),
    "allgather": ("1.04", "1.9 - 2.0"),
    "alltoall": ("1.04 - 1.46", "4.1 - 6.2"),
    "gather": ("1.03", "1.03"),
    "scatter": ("3.3", "3.6"),
    "reduce_scatter_block": ("4.1 - 7.2", "2.0 - 2.4"),
}


def then_and_now() -> list[str]:
    rows = [
        (
            collective.capitalize(),
            *(mpich, times_limit("mpich", collective, "native")),
            *(openmpi, times_limit("openmpi", collective, "native")),
        )
        for collective, (mpich, openmpi) in THEN.items()
    ]
    return table(("", "MPICH then", "now", "Open MPI then", "now"), rows, (0,))


LAB: Mapping[str, Callable[[], Sequence[str]]] = {"goal": against_goal, "then and now": then_and_now}
