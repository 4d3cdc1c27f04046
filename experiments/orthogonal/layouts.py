"""Orthogonal processor groups, Figures 5 to 13: what grids gain over the MPI library's collectives.

  .venv/bin/python -m experiments.orthogonal.layouts --bed lab --mpi mpich,openmpi --ranks 16
  .venv/bin/python -m experiments.orthogonal.layouts --bed sim:ethernet:48,bw=100Mbps --dims 2,3

--figure 12 measures what Figure 12 shows; figures.py has them. --from evaluates what --json wrote.
Every phase of a grid is the MPI library's own collective on the rows or columns, as in the paper.
Improvement: (t_native - t_grid) / t_native.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure
from rich import box
from rich.table import Table
from unisono.core import amounts, places
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.sim import smpi

from experiments import harness, testbeds
from experiments.arrival.measuring import results_in
from experiments.harness import Check
from experiments.orthogonal import figures, grids, markdown, paper
from experiments.orthogonal.figures import FIGURES
from experiments.orthogonal.grids import Layout
from experiments.orthogonal.improvement import Improvement, Row, improvements
from experiments.orthogonal.measuring import LAM, Plan, measured, with_selectors
from experiments.testbeds import Json, Real, Simulated, Testbed

SIZES = "10K,20K,50K,100K,200K,500K"  # the paper: between 10 and 500 KB
SIM_SIZES = "16K,64K,128K"
SIM_SELECTORS = "ompi,mpich,lam"
SECONDS = 4.0
EXPERIMENT = "orthogonal-layouts"
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
    figure: str
    kept: Path | None
    json: Path | None
    markdown: Path | None

    def plan(self, testbed: Testbed) -> Plan:
        ranks = self.ranks or standard_ranks(testbed)
        layouts = grids.layouts(ranks, [d for d in self.dimensions if not (d == 3 and self.shapes)])
        layouts += grids.chosen(self.shapes, ranks) if self.shapes else []
        sizes = self.sizes or (SIM_SIZES if isinstance(testbed, Simulated) else SIZES)
        chosen = tuple(dict.fromkeys(layouts))
        return Plan(ranks, amounts.parse_sizes(sizes), self.families, chosen, self.deep, self.seconds)


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
    add("--figure", default="", choices=("", *FIGURES), help="of machines that are no Ethernet cluster")
    add("--from", dest="kept", type=Path, help="evaluate what --json wrote to this file")
    add("--json", type=Path, help="write the numbers to this file")
    add("--markdown", type=Path, help="write the tables to this file")
    given = parser.parse_args(arguments)
    if given.figure:  # what is given beside it comes after
        given = parser.parse_args(FIGURES[given.figure].options, given)
    without = given.kept or given.bed.startswith("sim:")
    mpis = [] if without else [places.find_mpi(name) for name in given.mpi.split(",")]
    selectors = some_of("--selectors", given.selectors, (*smpi.SELECTORS, LAM))
    beds = [] if given.kept else testbeds.parse(given.bed, mpis)
    chosen = [one for bed in beds for one in with_selectors(bed, selectors)]
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
        figure=given.figure,
        kept=given.kept,
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
    name: str
    testbed: Json
    ranks: int
    rows: list[Row]

    @property
    def found(self) -> list[Improvement]:
        return improvements(self.rows)

    def checks(self, figure: str) -> list[Check]:
        found = self.found
        return figures.checks(figure, found) if figure else paper.checks(found, self.ranks)


def measure(options: Options) -> list[Result]:
    results = []
    for testbed in options.testbeds:
        plan = options.plan(testbed)
        rows: list[Row] = []
        for collective in options.collectives:
            rows += measured(testbed, collective, plan, options.fresh)
        name = f"{testbed.name}, {plan.ranks} ranks"
        results.append(Result(name, testbed.describe(), plan.ranks, rows))
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
        "experiment": EXPERIMENT,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "columns": COLUMNS,
        "results": [
            {"name": r.name, "testbed": r.testbed, "ranks": r.ranks, "rows": [numbers(row) for row in r.rows]}
            for r in results
        ],
    }


def numbers(row: Row) -> list[Json | str | float]:
    values = [getattr(row, column) for column in COLUMNS]
    return [
        float(f"{v:.5g}") if isinstance(v, float) else str(v) if isinstance(v, Layout) else v for v in values
    ]


def read(results: Sequence[Json]) -> list[Result]:
    """What document() made."""
    made = []
    for one in results:
        bed = one["testbed"]
        kind = f"sim, {bed['platform'].split(',')[0]}, {bed['selector']}" if bed["kind"] == "sim" else ""
        name = one.get("name", f"{kind or bed['kind'] + ', ' + bed['mpi']}, {one['ranks']} ranks")
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in one["rows"]]
        for row in rows:
            row["layout"] = Layout.parse(row["layout"])
        made.append(Result(name, bed, one["ranks"], [Row(**row) for row in rows]))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    results = read(results_in(options.kept, EXPERIMENT)) if options.kept else measure(options)
    checks = {result.name: result.checks(options.figure) for result in results}
    for result in results:
        harness.console.print(table(result))
        shortened = result.name.replace(", ", "-").replace(" ", "-").replace(":", "-")
        harness.save(plot(result), f"orthogonal-{shortened}")
    harness.report(checks)
    if options.json:
        write_json(document(results), options.json)
    if options.markdown:
        pieces = [markdown.section(r.name, r.found, checks[r.name]) for r in results]
        options.markdown.write_text("\n".join(pieces))
    return 0


if __name__ == "__main__":
    harness.run(main)
