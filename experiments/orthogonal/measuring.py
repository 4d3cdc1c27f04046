"""Times of the MPI library's collectives and of grids: unisono-bench on a test bed, or simulated."""

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from unisono.core import jobs
from unisono.core.errors import UnisonoError
from unisono.sim import runner, smpi
from unisono.sim.table import Question

from experiments import harness
from experiments.orthogonal.grids import FORMS, NATIVE, PAPER, Layout
from experiments.orthogonal.improvement import Row
from experiments.testbeds import ROOT, Json, Program, Run, Simulated, Testbed

BENCH = Program("unisono-bench", ROOT / "src/tools/bench/main.cpp", with_unisono=True)
SIM = Program("unisono-sim", ROOT / "src/tools/sim/main.cpp", with_unisono=True)
MEMORY = "8G"  # of all simulated ranks: an Allgather of 256 KB from 96 ranks needs 5 GB
# What the paper's LAM-MPI ran, by its section 2.2.1 (Bcast on a tree, Allreduce and Allgather through
# rank 0): as a base line in the simulator, where none of SMPI's selectors does that.
LAM = "lam"
LAM_ALGORITHMS = {
    "bcast": "binomial",
    "gather": "flat",
    "scatter": "flat",
    "reduce": "binomial",
    "allreduce": "reduce_bcast",
    "allgather": "gather_bcast",
}


@dataclass(frozen=True)
class Plan:
    ranks: int
    sizes: tuple[int, ...]
    families: tuple[str, ...]
    layouts: tuple[Layout, ...]
    deep: tuple[str, ...]  # the collectives with more than two dimensions
    seconds: float  # for all arms at one size

    def specs(self, collective: str, inner: str = NATIVE) -> dict[str, tuple[str, Layout]]:
        """The grids by the specs of the arms."""
        return {
            layout.spec(FORMS[family][collective], inner): (family, layout)
            for family in self.families
            if collective in FORMS[family] and (inner == NATIVE or family == PAPER)
            for layout in self.layouts
            if layout.dimensions == 2 or collective in self.deep
        }


@dataclass(frozen=True)
class SimulatedCollective(Simulated):
    """Simulates cells of one collective, instead of a program of its own."""

    @property
    def name(self) -> str:
        return f"{super().name}, {self.selector}"

    def files(self, program: Program) -> list[Path]:
        return [smpi.built(program.name)]

    def base(self, collective: str) -> str:
        """What grids are compared with, and run in their phases."""
        return LAM_ALGORITHMS[collective] if self.selector == LAM else NATIVE

    def execute(self, run: Run, silence: float) -> jobs.Outcome:
        collective, sizes, *specs = run.arguments
        question = Question(self.platform, run.ranks, collective, 0, tuple(map(int, sizes.split(","))))
        cells = [(spec, size) for size in question.sizes for spec in specs]
        selector = "" if self.selector == LAM else self.selector

        def simulate(cell: tuple[str, int]) -> Json:
            spec, size = cell
            done = runner.simulate_cell(question, (spec, selector), size, MEMORY, lambda: True)
            if done.seconds is None or not done.correct:
                raise UnisonoError(f"{collective} {size} {spec}: {done.left_out or 'WRONG RESULT'}")
            return {"arm": spec, "bytes": size, "seconds": done.seconds}

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            try:
                return jobs.Outcome(json.dumps({"cells": list(pool.map(simulate, cells))}))
            finally:
                pool.shutdown(cancel_futures=True)


def with_selectors(testbed: Testbed, selectors: Sequence[str]) -> list[Testbed]:
    """The simulator stands for an MPI library by one of its selectors."""
    if not isinstance(testbed, Simulated):
        return [testbed]
    return [SimulatedCollective(testbed.platform, selector) for selector in selectors]


def measured(testbed: Testbed, collective: str, plan: Plan, fresh: bool) -> list[Row]:
    base = testbed.base(collective) if isinstance(testbed, SimulatedCollective) else NATIVE
    specs = plan.specs(collective, base)
    if not specs:
        return []
    sizes = ",".join(map(str, plan.sizes))
    if isinstance(testbed, SimulatedCollective):
        run = Run(SIM, plan.ranks, [collective, sizes, base, *specs])
        return rows_of_sim(collective, harness.measure(testbed, run, 0, fresh), specs, base)
    arguments = ["--collectives", collective, "--sizes", sizes, "--arms", ",".join(("native", *specs))]
    arguments += ["--budget", str(plan.seconds), "--memory", "1G"]
    run = Run(BENCH, plan.ranks, arguments, into="--json")
    # The bench may need five budgets for six repetitions.
    limit = 60 + 10 * plan.seconds * len(plan.sizes)
    return rows_of_bench(collective, harness.measure(testbed, run, limit, fresh), specs)


def rows_of_bench(collective: str, raw: Json, specs: dict[str, tuple[str, Layout]]) -> list[Row]:
    rows = []
    for cell in raw["cells"]:
        if "left_out" in cell:
            raise UnisonoError(f"{collective} {cell['bytes']}: left out: {cell['left_out']}")
        arms = {arm["arm"]: arm for arm in cell["arms"]}
        for spec, (family, layout) in specs.items():
            arm = arms[spec]
            if not arm["available"]:
                raise UnisonoError(f"{collective} {cell['bytes']}: the MPI library ran instead of {spec}")
            ratio = arm["ratio_to_native"]
            native_s, grid_s = (arms[name]["time_us"]["median"] * 1e-6 for name in ("native", spec))
            interval = (ratio["median"], ratio["low"], ratio["high"])
            times = (native_s, grid_s, *interval)
            rows.append(Row(collective, family, layout, cell["bytes"], *times, arm["blocks"]))
    return rows


def rows_of_sim(
    collective: str, raw: Json, specs: dict[str, tuple[str, Layout]], base: str = NATIVE
) -> list[Row]:
    times = {(cell["arm"], cell["bytes"]): cell["seconds"] for cell in raw["cells"]}
    rows = []
    for (spec, size), seconds in times.items():
        if spec == base:
            continue
        native = times[base, size]
        ratio = seconds / native
        rows.append(Row(collective, *specs[spec], size, native, seconds, ratio, ratio, ratio, 1))
    return rows
