"""The tables of docs/results/arrival.md."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from unisono.core import catalogue

from experiments import harness
from experiments.arrival import applications, impact, measuring, microbenchmark, robust, traced, tracing_cost
from experiments.arrival.measuring import Mean
from experiments.arrival.microbenchmark import Row
from experiments.arrival.programs import Program, Times, times_of_app
from experiments.arrival.traced import Traced
from experiments.arrival.tracing_cost import Cost, Work
from experiments.harness import ROOT
from experiments.markdown import table, verdicts

FOLDER = ROOT / "docs" / "results" / "arrival"
# T of 64 KiB: what the kept factors of the microbenchmark were divided by, and what it is on drained ports.
BEFORE_MS, DRAINED_MS = 2.76, 5.49


def only(name: str, experiment: str) -> tuple[str, Any]:
    """The one place that a file has, and what was measured there."""
    ((place, found),) = measuring.results_in(FOLDER / f"{name}.json.zst", experiment).items()
    return place, found


def after_the_last() -> list[str]:
    """Rounds after the last arrival: exact, by unisono-schedule."""
    lines = catalogue.ask("arrival").splitlines()
    return lines[next(number for number, line in enumerate(lines) if line.startswith("|")) :]


def figures(name: str) -> list[str]:
    _, found = only(name, impact.EXPERIMENT)
    return impact.section("", impact.read(found)).splitlines()[2:]


def micro() -> list[str]:
    _, found = only("microbenchmark-openmpi-16", "arrival-microbenchmark")

    def by_drained(one: Any) -> Mean:
        scale = BEFORE_MS / DRAINED_MS
        return Mean(scale * one["factor"], scale * one["half_interval"], one["calls"])

    rows = [
        Row(
            one["computation_ms"],
            by_drained(one["exit"]),
            by_drained(one["computation"]),
            by_drained(one["arrival"]),
        )
        for one in found
    ]
    return [
        *table(microbenchmark.HEAD, [row.cells() for row in rows], ()),
        *verdicts(microbenchmark.checks(rows)),
    ]


def at_run_time(name: str) -> list[str]:
    _, found = only(name, robust.EXPERIMENT)
    results = robust.read(found)
    rows = [row for result in results for row in result.rows()]
    checks = [check for result in results for check in result.checks()]
    return [*table(robust.head(results), rows, robust.WORDS), *verdicts(checks)]


def traces(name: str) -> list[Traced]:
    _, found = only(name, applications.EXPERIMENT)
    return [
        Traced(Program(program, "", lambda _: [], "", times_of_app), Times(0, None), report)
        for program, report in found["trace"].items()
    ]


WHAT = {
    "ft": "a diffusion equation by 3-D FFTs",
    "fft2d": "2-D FFTs",
    "transpose": "a matrix transposed",
    "sweep": "hydrodynamics by 1-D sweeps",
    "is": "integers sorted by buckets",
    "nbody": "gravitation of N bodies",
    "lammps-copper": "molecular dynamics, copper",
    "lammps-melt": "molecular dynamics, a melt",
}


def programs(name: str) -> list[str]:
    """What the program itself timed was not kept, which leaves out what it does first and last."""
    rows = []
    for one in traces(name):
        whole = one.report["program"]
        calls = whole["all_calls"]
        figures = (whole["seconds"], calls["seconds_per_rank"])
        factors = (calls["average_imbalance_factor"], calls["worst_imbalance_factor"])
        rows.append((one.program.name, WHAT[one.program.name], *map(traced.number, (*figures, *factors))))
    times = ("from MPI_Init to MPI_Finalize: s", "in collectives: s")
    return table(("program", "what", *times, "average factor", "worst factor"), rows, (0, 1))


def routines(name: str) -> list[str]:
    return table(traced.ROUTINE_HEAD, traced.routine_rows(traces(name)), (0, 1))


def traced_checks(name: str) -> list[str]:
    return verdicts(traced.checks(traces(name)))


def compared(name: str) -> list[str]:
    with harness.console.capture():  # the same is printed
        return applications.kept(*only(name, applications.EXPERIMENT)).lines[2:]


def instructions() -> list[str]:
    _, found = only("tracing-cost", "arrival-tracing-cost")
    rows = [Cost(**{**one, "loop": Work(**one["loop"])}).row()[:6] for one in found["programs"]]
    head = ("program", "collectives in the loop", *tracing_cost.HEAD[2:4], "more, once, 10^6")
    return table((*head, "% of a rank of 16"), rows, (0,))


TABLES: Mapping[str, Callable[[], Sequence[str]]] = {
    "after the last arrival": after_the_last,
    "impact, simulated": partial(figures, "impact-sim-16"),
    "impact, openmpi": partial(figures, "impact-openmpi-16"),
    "microbenchmark": micro,
    "robust, 64 KB": partial(at_run_time, "robust-64k-openmpi-16"),
    "robust, openmpi": partial(at_run_time, "robust-openmpi-16"),
    "robust, mpich": partial(at_run_time, "robust-mpich-16"),
    "robust, changing": partial(at_run_time, "robust-bcast-openmpi-16"),
    "programs": partial(programs, "traces-openmpi-16"),
    "routines": partial(routines, "traces-openmpi-16"),
    "traced": partial(traced_checks, "traces-openmpi-16"),
    "programs, lammps": partial(programs, "traces-lammps-16"),
    "routines, lammps": partial(routines, "traces-lammps-16"),
    "gains": partial(compared, "applications-openmpi-16"),
    "instructions": instructions,
    "overhead": partial(compared, "overhead-openmpi-2"),
}
