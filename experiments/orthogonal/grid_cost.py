"""Orthogonal processor groups: what the groups of a grid cost to make, beside one collective.

  .venv/bin/python -m experiments.orthogonal.grid_cost --bed lab --mpi mpich,openmpi --ranks 16

The paper: "the overhead for the processor arrangement itself is very small; only two functions to create
the groups are required and the arrangement only has to be performed once for an entire application
program". Every job makes the groups once, at its first call; UNISONO_LOG=decision says how long it took.
"""

import argparse
import os
import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.table import Table
from unisono.core import amounts, places
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import harness, markdown, testbeds
from experiments.harness import Check, below, every
from experiments.orthogonal.grids import FORMS, OPERATIONS, PAPER, balanced, layouts
from experiments.orthogonal.measuring import BENCH
from experiments.testbeds import Real, Run, Testbed

MADE = re.compile(r"(\d+) sub-communicators? of \d+ ranks made in ([\d.]+) ms")
SIZES = "10K,100K"
JOBS = 5
EXPERIMENT = "orthogonal-grid-cost"
MOST_CALLS = 10  # "very small": less than so many calls, of the thousands in a program


@dataclass(frozen=True)
class Call:
    collective: str
    bytes: int
    native_us: float
    grid_us: float
    made_ms: tuple[float, ...]  # the groups, in each job

    @property
    def groups_us(self) -> float:
        return 1e3 * statistics.median(self.made_ms)

    @property
    def calls(self) -> float:
        """So many calls of the MPI library's collective take as long as making the groups."""
        return self.groups_us / self.native_us

    @property
    def span(self) -> tuple[float, float]:
        """Least and most of the jobs, in such calls."""
        return 1e3 * min(self.made_ms) / self.native_us, 1e3 * max(self.made_ms) / self.native_us

    @property
    def pays_after(self) -> float | None:
        """Calls, if the grid gains at all."""
        saved = self.native_us - self.grid_us
        return self.groups_us / saved if saved > 0 else None


def times_made(output: str) -> list[float]:
    return [float(ms) for _, ms in MADE.findall(output)]


def measure(
    testbed: Testbed, collective: str, ranks: int, sizes: Sequence[int], seconds: float
) -> list[Call]:
    layout = balanced(layouts(ranks, [2]))[0]
    arguments = ["--collectives", collective, "--sizes", ",".join(map(str, sizes))]
    arguments += ["--arms", f"native,{layout.spec(FORMS[PAPER][collective])}", "--budget", str(seconds)]
    made: list[float] = []
    times: dict[int, list[list[float]]] = {size: [] for size in sizes}
    for _ in range(JOBS):
        outcome = testbed.execute(Run(BENCH, ranks, arguments, into="--json"), 60 + 10 * seconds * len(sizes))
        if not outcome.ok:
            raise UnisonoError(f"{testbed.name}, {ranks} ranks: {collective}: {outcome.problem}")
        own = times_made(outcome.output)
        if len(own) != 1:
            raise UnisonoError(f"{collective}: {len(own)} lines about sub-communicators, expected 1")
        made += own
        for cell in harness.printed_object(outcome.output, testbed.name)["cells"]:
            times[cell["bytes"]].append([arm["time_us"]["median"] for arm in cell["arms"]])
    calls = []
    for size, pairs in times.items():
        native, grid = (statistics.median(side) for side in zip(*pairs, strict=True))
        calls.append(Call(collective, size, native, grid, tuple(made)))
    return calls


def checks(calls: Sequence[Call]) -> list[Check]:
    dearest = max(calls, key=lambda call: call.calls)
    numbers = f"at most {dearest.calls:.1f} ({dearest.collective}, {format_size(dearest.bytes)})"
    answer = every(below(*call.span, MOST_CALLS) for call in calls)
    return [Check(f"the groups cost less than {MOST_CALLS} calls", answer, numbers)]


def table(title: str, calls: Sequence[Call]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    for column in HEAD:
        made.add_column(column, justify="left" if column == "operation" else "right")
    for call in calls:
        made.add_row(*cells_of(call))
    return made


HEAD = ("operation", "bytes", "groups: ms", "native: ms", "grid: ms", "groups / native", "pays after calls")


def cells_of(call: Call) -> tuple[str, ...]:
    pays = "" if call.pays_after is None else f"{call.pays_after:.0f}"
    times = (f"{us / 1e3:.2f}" for us in (call.groups_us, call.native_us, call.grid_us))
    return (call.collective, format_size(call.bytes), *times, f"{call.calls:.2f}", pays)


def tables(calls: Sequence[Call]) -> list[str]:
    return [
        *markdown.table(HEAD, [cells_of(call) for call in calls], (0,)),
        *markdown.verdicts(checks(calls)),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bed", default="lab", help="node, lab, or both by a comma (lab)")
    parser.add_argument("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--sizes", default=SIZES, help=f"bytes ({SIZES})")
    parser.add_argument("--collectives", default=",".join(OPERATIONS))
    parser.add_argument("--seconds", type=float, default=1.0, help="for one size in one of the jobs (1)")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file")
    given = parser.parse_args(arguments)
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    os.environ["UNISONO_LOG"] = "decision"
    results: dict[str, list[Call]] = {}
    for testbed in testbeds.parse(given.bed, mpis):
        if not isinstance(testbed, Real):
            raise UnisonoError(f"--bed {given.bed}: valid are node and lab")
        name = f"{testbed.name}, {given.ranks} ranks"
        results[name] = []
        for collective in given.collectives.split(","):
            sizes = amounts.parse_sizes(given.sizes)
            results[name] += measure(testbed, collective, given.ranks, sizes, given.seconds)
        harness.console.print(table(name, results[name]))
    harness.report({name: checks(calls) for name, calls in results.items()})
    if given.json:
        body = {name: [asdict(call) for call in calls] for name, calls in results.items()}
        write_json({"experiment": EXPERIMENT, "results": body}, given.json)
    if given.markdown:
        lines: list[str] = []
        for name, calls in results.items():
            lines += [f"### {name}", "", *tables(calls)]
        given.markdown.write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    harness.run(main)
