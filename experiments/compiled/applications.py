"""Compiled communication (CC-MPI), Tables 4 to 6: IS, FT and a distributed shared memory.

  sudo .venv/bin/unisono lab up --hosts 16 --rate 100mbit
  sudo .venv/bin/python -m experiments.compiled.applications --mpi openmpi --minutes 60 --json tables.json
  .venv/bin/python -m experiments.compiled.applications --from tables.json --markdown tables.md

Table 4: IS, Table 5: FT, of the classes S, W and A; with what FT takes for its first transform, as in the
benchmark. Table 6: 100 barriers, before each of which every rank modifies 1, 4 or 8 pages. Every job compares
its results with what the benchmark publishes, or every word of the pages with what it must be.

Arms: native; unasked, Unisono with nothing set and nothing remembered; phased, the paper's own: the phases
of an all-to-all with barriers between them; credits; persistent, the same from calls that are made once
(--form persistent), of IS and FT. --arm "NAME:COLLECTIVE=SPEC UNISONO_X=VALUE" makes one more. A round is one
job of every cell and arm, the arms forwards and backwards in turn; ratios are of the same round: geometric
mean and Student's 95 % interval.
"""

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from rich import box
from rich.table import Table
from unisono.core import launch, places
from unisono.core.errors import UnisonoError

from experiments import harness, markdown, testbeds
from experiments.arrival.measuring import numbers_of, paired_ratio, results_in, write
from experiments.harness import Check, above, below
from experiments.orthogonal.layouts import some_of
from experiments.testbeds import Json, Real

EXPERIMENT = "compiled-applications"
NATIVE, UNASKED, PHASED, CREDITS, PERSISTENT = "native", "unasked", "phased", "credits", "persistent"
ARMS = (UNASKED, PHASED, CREDITS, PERSISTENT)
LIMIT = 300.0  # seconds for a job
PROGRAMS = {4: "is", 5: "ft", 6: "dsm"}
CLASSES = ("S", "W", "A")
PAGES = ("1", "4", "8")
NODES = (4, 8, 16)

# Seconds on 4, 8 and 16 nodes: Karwande, Yuan, Lowenthal 2003. In Table 6 "MPICH" is the paper's dynamic
# communication, and "CC-MPI" its Level 1.
PAPER: dict[tuple[int, str], dict[str, tuple[float, float, float]]] = {
    (4, "S"): {"LAM/MPI": (0.11, 0.09, 0.07), "MPICH": (0.10, 0.08, 0.07), "CC-MPI": (0.13, 0.16, 0.28)},
    (4, "W"): {"LAM/MPI": (1.32, 1.02, 1.60), "MPICH": (2.69, 2.16, 1.57), "CC-MPI": (1.08, 0.69, 0.64)},
    (4, "A"): {"LAM/MPI": (9.62, 5.88, 4.62), "MPICH": (21.92, 15.40, 11.60), "CC-MPI": (8.45, 4.90, 3.00)},
    (5, "S"): {"LAM/MPI": (1.00, 0.70, 0.75), "MPICH": (2.04, 1.63, 1.01), "CC-MPI": (1.10, 0.63, 0.42)},
    (5, "W"): {"LAM/MPI": (2.15, 1.55, 1.42), "MPICH": (4.17, 2.77, 1.46), "CC-MPI": (2.20, 1.28, 0.77)},
    (5, "A"): {
        "LAM/MPI": (146.50, 27.37, 12.75),
        "MPICH": (111.91, 46.71, 28.01),
        "CC-MPI": (40.19, 21.34, 11.23),
    },
    (6, "1"): {"MPICH": (0.90, 4.29, 6.75), "CC-MPI": (0.93, 2.02, 4.57)},
    (6, "4"): {"MPICH": (4.13, 12.1, 27.5), "CC-MPI": (3.07, 6.76, 15.8)},
    (6, "8"): {"MPICH": (8.35, 18.6, 48.4), "CC-MPI": (9.46, 15.7, 35.5)},
}


@dataclass(frozen=True)
class Cell:
    table: int
    problem: str  # a class, or pages
    ranks: int

    def command(self, form: str) -> list[str]:
        """The program's name and its arguments."""
        program = PROGRAMS[self.table]
        if program == "dsm":
            return [program, "--program", "pages", "--pages", self.problem, "--verify"]
        return [program, "--class", self.problem, "--form", form, "--verify"]

    @property
    def words(self) -> str:
        what = f"{self.problem} pages" if self.table == 6 else f"class {self.problem}"
        return f"{PROGRAMS[self.table].upper()}, {what}, {self.ranks} ranks"

    def of_paper(self, rival: str) -> float | None:
        """The paper's CC-MPI / the rival."""
        times = PAPER[self.table, self.problem]
        if rival not in times or self.ranks not in NODES:
            return None
        at = NODES.index(self.ranks)
        return times["CC-MPI"][at] / times[rival][at]


@dataclass(frozen=True)
class Arm:
    name: str
    variables: Mapping[str, str]  # none: natively
    form: str = "blocking"

    def runs(self, cell: Cell) -> bool:
        return cell.table != 6 or self.form == "blocking"


@dataclass
class Times:
    """The seconds of every round, by arm."""

    cell: Cell
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def ratio(self, arm: str, other: str = NATIVE) -> tuple[float, float, float] | None:
        own, theirs = self.seconds.get(arm), self.seconds.get(other)
        return paired_ratio(own, theirs) if own and theirs else None


# --- measuring ------------------------------------------------------------------------------------


def seconds_of(result: Json) -> float:
    if result["verified"] is not True:
        raise UnisonoError(f"{result['app']}: the result is wrong")
    own: float = result["seconds"] + result.get("setup_seconds", 0.0)
    return own


def once(testbed: Real, cell: Cell, arm: Arm) -> float:
    program, *arguments = cell.command(arm.form)
    executable = places.build_directory() / "apps" / f"{program}-{testbed.mpi.flavour}"
    command = [*testbeds.prefix(arm.variables), str(executable), *arguments]
    done = testbed.start(command, cell.ranks, LIMIT, into="--json")
    if not done.ok:
        raise UnisonoError(f"{testbed.name}: {cell.words}, {arm.name}: {done.problem}")
    return seconds_of(harness.printed_object(done.output, cell.words))


def measured(
    testbed: Real, cells: Sequence[Cell], arms: Sequence[Arm], rounds: int, end: float
) -> list[Times]:
    """No round begins after `end` or without as much time as the longest took."""
    found = [Times(cell) for cell in cells]
    longest = 0.0
    for number in range(rounds):
        begin = time.monotonic()
        if number > 0 and begin + longest > end:
            break
        for times in found:
            for arm in arms if number % 2 == 0 else list(reversed(arms)):
                if arm.runs(times.cell):
                    times.seconds.setdefault(arm.name, []).append(once(testbed, times.cell, arm))
        longest = max(longest, time.monotonic() - begin)
        harness.console.print(f"[dim]{testbed.name}: round {number + 1}, {longest:.0f} s[/dim]")
    return found


def arm_of(text: str) -> Arm:
    """NAME:COLLECTIVE=SPEC or NAME:UNISONO_X=VALUE, several by spaces."""
    name, _, rest = text.partition(":")
    settings = rest.split()
    if not name or not settings or not all("=" in one for one in settings):
        raise UnisonoError(f"--arm {text}: write NAME:COLLECTIVE=SPEC or NAME:UNISONO_X=VALUE")
    own = [one for one in settings if one.startswith("UNISONO")]
    variables = dict(launch.forced([one for one in settings if one not in own]))
    return Arm(name, {**variables, **dict(one.split("=", 1) for one in own)})


def arms_of(given: argparse.Namespace) -> list[Arm]:
    def through(algorithm: str) -> dict[str, str]:
        return dict(launch.forced([f"{name}={algorithm}" for name in ("alltoall", "alltoallv")]))

    known = {
        NATIVE: Arm(NATIVE, {}),
        UNASKED: Arm(UNASKED, {"UNISONO": "measure"}),
        PHASED: Arm(PHASED, through("all_to_all_based_barriers")),
        CREDITS: Arm(CREDITS, through("credits")),
        PERSISTENT: Arm(PERSISTENT, through("credits"), form="persistent"),
    }
    wanted = some_of("--arms", given.arms, tuple(known))
    found = [known[name] for name in known if name in wanted or name == NATIVE]
    return [*found, *(arm_of(text) for text in given.arm)]


# --- what came out --------------------------------------------------------------------------------

HEAD = ("table", "problem", "ranks", "arm", "s", "/ native", "paper: CC-MPI / LAM", "/ MPICH")
WORDS = (1, 3)


def rows_of(times: Sequence[Times]) -> list[tuple[str, ...]]:
    rows = []
    for one in times:
        cell = one.cell
        of_paper = [cell.of_paper(rival) for rival in ("LAM/MPI", "MPICH")]
        for arm, seconds in one.seconds.items():
            ratio = one.ratio(arm) if arm != NATIVE else None
            beside = of_paper if arm == PHASED else [None, None]
            rows.append(
                (
                    *(str(cell.table), cell.problem, str(cell.ranks), arm),
                    f"{statistics.median(seconds):.3f}",
                    span(ratio) if ratio else "",
                    *(f"{paper:.2f}" if paper else "" for paper in beside),
                )
            )
    return rows


def span(ratio: tuple[float, float, float]) -> str:
    value, low, high = ratio
    if low <= 0 or high > 1e6 * value:
        return f"{value:.2f}"
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def checks(times: Sequence[Times]) -> list[Check]:
    """What sections 5.2 and 5.3 conclude from the tables."""
    made = []
    for one in times:
        cell = one.cell
        ratio = one.ratio(PHASED)
        if not ratio:
            continue
        _, low, high = ratio
        if cell.table != 6 and cell.problem != "S":
            answer = below(low, high, 1)
            made.append(Check(f"{cell.words}: phases are faster", answer, f"{span(ratio)} of native"))
        elif cell.table == 4:
            answer = above(low, high, 1)
            made.append(Check(f"{cell.words}: phases are slower", answer, f"{span(ratio)} of native"))
        elif cell.table == 6 and cell.ranks > 4:
            limit = 1 / 1.5 if cell.problem == "4" else 1.0
            claim = "almost twice as fast in phases" if cell.problem == "4" else "faster in phases"
            made.append(Check(f"{cell.words}: {claim}", below(low, high, limit), f"{span(ratio)} of native"))
    return made + growth(times)


def growth(times: Sequence[Times]) -> list[Check]:
    """The barriers: with more nodes the phases of the smallest problem take longer."""
    made = []
    small = sorted(
        (one for one in times if (one.cell.table, one.cell.problem) == (4, "S")), key=lambda o: o.cell.ranks
    )
    for few, more in pairwise(small):
        if PHASED not in few.seconds or PHASED not in more.seconds:
            continue
        ratio = paired_ratio(more.seconds[PHASED], few.seconds[PHASED])
        claim = f"IS, class S: phases take longer on {more.cell.ranks} ranks than on {few.cell.ranks}"
        made.append(Check(claim, above(ratio[1], ratio[2], 1), f"{span(ratio)} times"))
    return made


def table(title: str, rows: Sequence[Sequence[str]]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    for position, column in enumerate(HEAD):
        made.add_column(column, justify="left" if position in WORDS else "right")
    for row in rows:
        made.add_row(*row)
    return made


def shown(given: argparse.Namespace, results: Mapping[str, Sequence[Times]]) -> int:
    sections: list[str] = []
    for name, times in results.items():
        harness.console.print(table(name, rows_of(times)))
        sections += [f"### {name}", "", *markdown.table(HEAD, rows_of(times), WORDS)]
        sections += markdown.verdicts(checks(times))
    harness.report({name: checks(times) for name, times in results.items()})
    kept = {name: [{**vars(one), "cell": vars(one.cell)} for one in times] for name, times in results.items()}
    write(given, EXPERIMENT, kept, sections)
    return 0


def read(kept: Sequence[Json]) -> list[Times]:
    return [Times(Cell(**one["cell"]), one["seconds"]) for one in kept]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--bed", default="lab", help="node, lab, both by commas (lab)")
    add("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    add("--tables", default="4,5,6", help="some of them (4,5,6)")
    add("--ranks", default="4,8,16", help="several by commas (4,8,16)")
    add("--classes", default=",".join(CLASSES), help="of IS and FT (S,W,A)")
    add("--pages", default=",".join(PAGES), help="that a rank modifies (1,4,8)")
    add("--arms", default=",".join(ARMS), help="beside native; all by default")
    add("--arm", action="append", default=[], metavar="NAME:COLLECTIVE=SPEC", help="one more")
    add("--rounds", type=int, default=6, help="jobs of every cell and arm (6)")
    add("--minutes", type=float, default=0, help="no more rounds than go into them (0: all)")
    add("--json", type=Path, help="write the numbers to this file")
    add("--markdown", type=Path, help="write the tables to this file")
    add("--from", dest="kept", type=Path, help="evaluate what --json wrote to this file")
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        raise UnisonoError(f"--rounds {given.rounds}: one at least")
    return given


def cells_of(given: argparse.Namespace) -> list[Cell]:
    classes = some_of("--classes", given.classes, CLASSES)
    pages = some_of("--pages", given.pages, PAGES)
    chosen = [int(name) for name in some_of("--tables", given.tables, tuple(map(str, PROGRAMS)))]
    return [
        Cell(number, problem, ranks)
        for number in chosen
        for problem in (pages if number == 6 else classes)
        for ranks in numbers_of(given.ranks, "--ranks")
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    if given.kept:
        return shown(given, {n: read(own) for n, own in results_in(given.kept, EXPERIMENT).items()})
    cells, arms = cells_of(given), arms_of(given)
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    beds = testbeds.parse(given.bed, mpis)
    end = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
    results: dict[str, list[Times]] = {}
    for position, testbed in enumerate(beds):
        if not isinstance(testbed, Real):
            raise UnisonoError(f"--bed {testbed.name}: the programs run on node and lab only")
        own_end = time.monotonic() + (end - time.monotonic()) / (len(beds) - position)
        results[testbed.name] = measured(testbed, cells, arms, given.rounds, own_end)
    return shown(given, results)


if __name__ == "__main__":
    harness.run(main)
