"""Orthogonal processor groups, Figures 5 to 13: what grids gain over the MPI library's collectives.

  .venv/bin/python -m experiments.orthogonal.layouts --bed lab --mpi mpich,openmpi --ranks 16
  .venv/bin/python -m experiments.orthogonal.layouts --bed sim:ethernet:48,bw=100Mbps --dims 2,3

Every phase of a grid is the MPI library's own collective on the rows or columns, as in the paper.
Improvement: (t_native - t_grid) / t_native.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure
from rich import box
from rich.table import Table
from unisono import places
from unisono.compare import matrix
from unisono.errors import UnisonoError
from unisono.sim import smpi

from experiments import harness, testbeds
from experiments.orthogonal import grids, markdown, paper
from experiments.orthogonal.grids import Layout
from experiments.orthogonal.improvement import Improvement, Row, improvements
from experiments.orthogonal.measuring import LAM, Plan, measured, with_selectors
from experiments.testbeds import Json, Real, Simulated, Testbed

SIZES = "10K,20K,50K,100K,200K,500K"  # the paper: between 10 and 500 KB
SIM_SIZES = "16K,64K,128K"
SIM_SELECTORS = "ompi,mpich,lam"
SECONDS = 4.0
DEEP = "bcast,gather"  # Figure 11
COLORS = {2: "#4477aa", 3: "#ccbb44"}


@dataclass(frozen=True)
class Options:
    testbeds: list[Testbed]
    ranks: int | None
    sizes: str
    collectives: tuple[str, ...]
    families: tuple[str, ...]
    dimensions: tuple[int, ...]
    shapes: str
    deep: tuple[str, ...]
    seconds: float
    fresh: bool
    json: Path | None
    markdown: Path | None

    def plan(self, testbed: Testbed) -> Plan:
        ranks = self.ranks or standard_ranks(testbed)
        layouts = grids.layouts(ranks, [d for d in self.dimensions if not (d == 3 and self.shapes)])
        layouts += grids.chosen(self.shapes, ranks) if self.shapes else []
        sizes = self.sizes or (SIM_SIZES if isinstance(testbed, Simulated) else SIZES)
        chosen = tuple(dict.fromkeys(layouts))
        return Plan(ranks, matrix.parse_sizes(sizes), self.families, chosen, self.deep, self.seconds)


def standard_ranks(testbed: Testbed) -> int:
    if isinstance(testbed, Simulated):
        return testbed.platform.hosts
    return testbed.bed.fitting_ranks() if isinstance(testbed, Real) else 16


def parse(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--bed", default="lab", help="node, lab, sim:PLATFORM, several by commas (lab)")
    add("--mpi", default="mpich,openmpi", help="MPI libraries on node and lab (mpich,openmpi)")
    add("--selectors", default=SIM_SELECTORS, help=f"in the simulator: SMPI's, lam ({SIM_SELECTORS})")
    add("--ranks", type=int, help="otherwise one on each host")
    add("--sizes", default="", help=f"bytes ({SIZES}; simulated {SIM_SIZES})")
    add("--collectives", default=",".join(grids.OPERATIONS), help="of the paper's six")
    add("--form", default=grids.PAPER, help="paper, lanes, or both by a comma (paper)")
    add("--dims", default="2", help="2, 3, or both by a comma: all layouts (2)")
    add("--shapes", default="", metavar="2x4x4,..", help="these instead of all with three dimensions")
    add("--deep", default=DEEP, help=f"operations with three dimensions ({DEEP})")
    add("--seconds", type=float, default=SECONDS, help=f"for all arms at one size ({SECONDS:g})")
    add("--fresh", action="store_true", help="measure anew what is kept from before")
    add("--json", type=Path, help="write the numbers to this file")
    add("--markdown", type=Path, help="write the tables to this file")
    given = parser.parse_args(arguments)
    mpis = (
        [places.find_mpi(name) for name in given.mpi.split(",")] if not given.bed.startswith("sim:") else []
    )
    selectors = some_of("--selectors", given.selectors, (*smpi.SELECTORS, LAM))
    chosen = [one for bed in testbeds.parse(given.bed, mpis) for one in with_selectors(bed, selectors)]
    return Options(
        testbeds=chosen,
        ranks=given.ranks,
        sizes=given.sizes,
        collectives=some_of("--collectives", given.collectives, grids.OPERATIONS),
        families=some_of("--form", given.form, tuple(grids.FORMS)),
        dimensions=tuple(int(d) for d in some_of("--dims", given.dims, ("2", "3"))),
        shapes=given.shapes,
        deep=some_of("--deep", given.deep, grids.OPERATIONS),
        seconds=given.seconds,
        fresh=given.fresh,
        json=given.json,
        markdown=given.markdown,
    )


def some_of(option: str, text: str, valid: Sequence[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(text.split(",")))
    for name in found:
        if name not in valid:
            raise UnisonoError(f"{option} {name}: valid are {', '.join(valid)}")
    return found


@dataclass(frozen=True)
class Result:
    testbed: Testbed
    plan: Plan
    rows: list[Row]

    @property
    def name(self) -> str:
        return f"{self.testbed.name}, {self.plan.ranks} ranks"

    @property
    def found(self) -> list[Improvement]:
        return improvements(self.rows)


def measure(options: Options) -> list[Result]:
    results = []
    for testbed in options.testbeds:
        plan = options.plan(testbed)
        rows: list[Row] = []
        for collective in options.collectives:
            rows += measured(testbed, collective, plan, options.fresh)
        results.append(Result(testbed, plan, rows))
    return results


def table(result: Result) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    made.title = f"{result.name}: improvement in %"
    for column in ("operation", "form", "layout"):
        made.add_column(column)
    for column in ("least", "at", "average", "most", "at", "blocks"):
        made.add_column(column, justify="right")
    for one in result.found:
        made.add_row(*markdown.cells(one))
    return made


def plot(result: Result) -> Figure:
    """A panel for each operation; bars: the average, whiskers: least and most, as in the paper."""
    found = result.found
    panels = list(dict.fromkeys((one.collective, one.family) for one in found))
    figure = Figure(figsize=(5 * min(3, len(panels)), 3 * -(-len(panels) // 3)), layout="constrained")
    axes = figure.subplots(-(-len(panels) // 3), min(3, len(panels)), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    for axis, panel in zip(axes.flat, panels, strict=False):
        own = [one for one in found if (one.collective, one.family) == panel]
        heights = [one.average for one in own]
        # Of equal numbers the mean may differ in the last digit.
        below = [max(0.0, one.average - one.least.improvement) for one in own]
        above = [max(0.0, one.most.improvement - one.average) for one in own]
        names = [str(one.layout) for one in own]
        colors = [COLORS[one.layout.dimensions] for one in own]
        axis.bar(names, heights, color=colors)
        axis.errorbar(names, heights, [below, above], fmt="none", ecolor="black", capsize=3)
        axis.axhline(0, color="black", linewidth=0.8)
        axis.tick_params("x", rotation=90)
        # A grid that takes ten times as long would leave nothing to see of the others.
        lowest = min(one.least.improvement for one in own)
        axis.set(
            title=f"{panel[0]}, {panel[1]}",
            ylabel="improvement (%)",
            ylim=(max(-105, min(0, lowest) - 5), 105),
        )
    return figure


COLUMNS = [field.name for field in fields(Row)]


def document(results: Sequence[Result]) -> Json:
    return {
        "experiment": "orthogonal-layouts",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "columns": COLUMNS,
        "results": [
            {"testbed": r.testbed.describe(), "ranks": r.plan.ranks, "rows": [numbers(row) for row in r.rows]}
            for r in results
        ],
    }


def numbers(row: Row) -> list[Json | str | float]:
    values = [getattr(row, column) for column in COLUMNS]
    return [
        float(f"{v:.5g}") if isinstance(v, float) else str(v) if isinstance(v, Layout) else v for v in values
    ]


def compact(body: Json) -> str:
    """A line for each row: a repository keeps it."""
    head = {key: value for key, value in body.items() if key != "results"}
    blocks = []
    for result in body["results"]:
        own = {key: value for key, value in result.items() if key != "rows"}
        rows = ",\n".join(json.dumps(row) for row in result["rows"])
        blocks.append(json.dumps(own)[:-1] + ', "rows": [\n' + rows + "\n]}")
    return json.dumps(head)[:-1] + ', "results": [\n' + ",\n".join(blocks) + "\n]}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    results = measure(options)
    checks = {}
    for result in results:
        harness.console.print(table(result))
        shortened = result.name.replace(", ", "-").replace(" ", "-").replace(":", "-")
        harness.save(plot(result), f"orthogonal-{shortened}")
        checks[result.name] = paper.checks(result.found, result.plan.ranks)
    harness.report(checks)
    if options.json:
        options.json.write_text(compact(document(results)))
    if options.markdown:
        pieces = [markdown.section(r.name, r.found, checks[r.name]) for r in results]
        options.markdown.write_text("\n".join(pieces))
    return 0


if __name__ == "__main__":
    harness.run(main)
