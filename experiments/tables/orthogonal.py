"""The tables of docs/results/orthogonal.md."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

from unisono.core.catalogue import format_size
from unisono.core.files import read_json
from unisono.profile import document
from unisono.tune import prediction

from experiments import markdown
from experiments.arrival.measuring import results_in
from experiments.harness import ROOT
from experiments.orthogonal import applications, grid_cost, layouts
from experiments.orthogonal.grid_cost import Call
from experiments.orthogonal.markdown import section

FOLDER = ROOT / "docs" / "results" / "orthogonal"
ORDER = ("bcast", "gather", "scatter", "reduce", "allreduce", "allgather")
Maker = Callable[[], Sequence[str]]


def file(name: str) -> Path:
    return FOLDER / f"{name}.json.zst"


# --- layouts


@cache
def layouts_in(name: str) -> list[layouts.Result]:
    return layouts.read(results_in(file(name), layouts.EXPERIMENT))


def layout_tables(name: str, number: int, figure: str) -> list[str]:
    result = layouts_in(name)[number]
    return section("", result.found, result.checks(figure)).splitlines()[2:]


# Of each file, what was measured in turn.
LAYOUTS = {
    "lab-16": ("mpich", "openmpi"),
    "lab-32": ("mpich", "openmpi"),
    "sim-48": ("ompi", "mpich", "lam"),
    "sim-96": ("ompi", "mpich", "lam"),
    "sim-48-switches": ("lam",),
    "figure-9-gather": ("ompi", "mpich"),
    "figure-9-allgather": ("ompi", "mpich"),
    "figure-10": ("ompi", "mpich"),
    "figure-12": ("ompi", "mpich"),
    "figure-13-lam": ("lam",),
    "figure-13-scampi": ("ompi", "mpich"),
}


def all_layouts() -> dict[str, Maker]:
    made: dict[str, Maker] = {}
    for name, libraries in LAYOUTS.items():
        figure = name.removeprefix("figure-") if name.startswith("figure-") else ""
        for number, library in enumerate(libraries):
            made[f"{name} {library}"] = partial(layout_tables, name, number, figure)
    return made


# --- tuning


def verified(*names: str) -> dict[tuple[str, int], Any]:
    """Of a cell in several files the last one counts."""
    cells = [cell for name in names for cell in read_json(file(name))["cells"]]
    return {(cell["collective"], cell["bytes"]): cell for cell in cells}


def ratio_text(cell: Any) -> str:
    text = "-" if cell["choice"] == "native" else f"{cell['ratio']:.2f}"
    return f"{text}{'' if cell['is_best'] else '*'}{'!' if cell['is_slow'] else ''}"


def tuned(title: str, *names: str) -> list[str]:
    cells = verified(*names)
    sizes = sorted({size for _, size in cells})
    rows = [(name, *(ratio_text(cells[name, size]) for size in sizes)) for name in ORDER]
    return markdown.table((title, *map(format_size, sizes)), rows, (0,))


BEST = 0.95  # the goal: of the cells
VERIFIED = {
    "MPICH": ["verified-mpich-16"],
    "MPICH, two collectives tuned again": ["verified-mpich-16", "verified-mpich-16-all"],
    "Open MPI": ["verified-openmpi-16"],
}


def goals() -> list[str]:
    slow, best = [], []
    for names in VERIFIED.values():
        cells = list(verified(*names).values())
        wrong = sum(cell["is_slow"] for cell in cells)
        right = sum(cell["is_best"] for cell in cells)
        slow.append(f"{'missed' if wrong else 'reached'}: {wrong} of {len(cells)} are")
        word = "reached" if right >= BEST * len(cells) else "missed"
        best.append(f"{word}: {right} of {len(cells)}, {100 * right / len(cells):.0f} %")
    rows = [
        ("no cell slower than 0.97 of native", *slow),
        (f"the best arm chosen in {100 * BEST:.0f} % of the cells", *best),
    ]
    return markdown.table(("goal", *VERIFIED), rows, range(len(VERIFIED) + 1))


def correlations_in(name: str) -> dict[str, list[float]]:
    (environment,) = document.from_json(read_json(file(name))).environments
    return prediction.correlations(environment)


def rank_correlations() -> list[str]:
    """Of the model's times and the measured ones, the median over the sizes."""
    again = correlations_in("tuned-mpich-16-all")  # the two collectives that were tuned again
    found = {
        "MPICH": correlations_in("tuned-mpich-16") | again,
        "Open MPI": correlations_in("tuned-openmpi-16"),
    }
    rows = [(title, *(f"{median(own[name]):.2f}" for name in ORDER)) for title, own in found.items()]
    return markdown.table(("", *ORDER), rows, (0,))


# --- applications


def rows_in(*names: str) -> list[applications.Row]:
    results = [results_in(file(name), applications.EXPERIMENT) for name in names]
    return [
        row
        for found in results
        for own in found.values()
        for row in applications.rows_of(applications.read(own))
    ]


def programs(*names: str) -> list[str]:
    cells = [row.cells() for row in rows_in(*names)]
    return markdown.table(applications.HEAD, cells, applications.WORDS)


def programs_and_checks(name: str) -> list[str]:
    return [*programs(name), *markdown.verdicts(applications.checks(rows_in(name)))]


def simulated_programs(name: str) -> list[str]:
    found = results_in(file(name), applications.EXPERIMENT)
    rows = {bed: applications.rows_of(applications.read(own)) for bed, own in found.items()}
    return applications.side_by_side(rows)


FORCED = {
    "both": "`reduce=sorted:segment=4K`, `bcast=circulant:segment=4K` (the profile)",
    "reduce-6": "the Reduce alone",
    "reduce": "the Reduce alone",
    "bcast": "the Bcast alone",
    "32K": "both with segments of 32K",
    "binomial": "both `binomial`",
}


def forced() -> list[str]:
    made = []
    for name, words in FORCED.items():
        kept = f"applications-mpich-jacobi-8000-{name}"
        (row,) = (row for row in rows_in(kept) if row.times.arm.with_unisono)
        gain = row.over_native.text() if row.over_native else ""
        link = f"[numbers](orthogonal/{kept}.json.zst)"
        made.append((words, gain, str(len(row.times.seconds)), link))
    return markdown.table(("forced", "gain: %", "rounds", ""), made, (0, 3))


def groups() -> list[str]:
    (calls,) = results_in(file("grid-cost"), grid_cost.EXPERIMENT).values()
    return grid_cost.tables([Call(**{**call, "made_ms": tuple(call["made_ms"])}) for call in calls])


TABLES: Mapping[str, Maker] = {
    **all_layouts(),
    "tuned mpich": partial(tuned, "MPICH", "verified-mpich-16", "verified-mpich-16-all"),
    "tuned openmpi": partial(tuned, "Open MPI", "verified-openmpi-16"),
    "tuned, goals": goals,
    "correlations": rank_correlations,
    "programs mpich": partial(programs, "applications-mpich-jacobi", "applications-mpich-jacobi-8000"),
    "programs openmpi": partial(
        programs,
        "applications-openmpi-jacobi",
        "applications-openmpi-jacobi-8000",
        "applications-openmpi-adams",
    ),
    "forced": forced,
    "pab 4": partial(programs_and_checks, "applications-mpich-pab-4"),
    "pab 8": partial(programs_and_checks, "applications-mpich-pab-8"),
    "groups": groups,
    "simulated jacobi": partial(simulated_programs, "applications-sim-48-jacobi"),
    "simulated adams": partial(simulated_programs, "applications-sim-48-adams-4"),
}
