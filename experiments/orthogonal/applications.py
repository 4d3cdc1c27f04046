"""Orthogonal processor groups, Figures 14 to 17: what whole programs gain.

  .venv/bin/python -m experiments.orthogonal.applications --bed lab --mpi mpich,openmpi --ranks 16
  .venv/bin/python -m experiments.orthogonal.applications --bed lab --mpi mpich --profile profile.json
  .venv/bin/python -m experiments.orthogonal.applications --bed sim:ethernet:48,bw=100Mbps --ranks 48

The programs of apps/, on their MPI library alone and under Unisono: with a profile, with what --force
says, or with balanced grids whose phases are the MPI library's own, as in the paper. All arms of an
application run one after the other, in several rounds; ratios are of runs of the same round. In the
simulator computing takes no time: gains are those of communication, and the same in every run; the first
iteration, which makes the groups, is left out.
"""

import argparse
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich import box
from rich.table import Table
from unisono.core import amounts, launch, places
from unisono.core.errors import UnisonoError
from unisono.core.estimates import outliers
from unisono.core.files import write_json
from unisono.sim import smpi

from experiments import harness, markdown, testbeds
from experiments.arrival.measuring import paired_ratio, results_in
from experiments.harness import Check, above
from experiments.orthogonal.grids import FORMS, PAPER
from experiments.orthogonal.improvement import percent
from experiments.orthogonal.layouts import some_of
from experiments.orthogonal.measuring import LAM
from experiments.orthogonal.runs import Runs, on
from experiments.testbeds import Json

JACOBI = ("row-allgather", "column-allreduce", "column-reduce-bcast", "column-gather-scatter")
ADAMS = ("dp", "dp-orthogonal", "tp", "tp-orthogonal")
APPLICATIONS = {"jacobi": JACOBI, "pab": ADAMS, "pabm": ADAMS}
EXPERIMENT = "orthogonal-applications"
ROUNDS = 6  # the fewest whose range is a 95 % interval of the median


@dataclass(frozen=True)
class Arm:
    application: str
    form: str
    size: int  # rows of Jacobi's system; points on a side of the Brusselator
    with_unisono: bool


@dataclass(frozen=True)
class Problem:
    iterations: int
    steps: int
    stages: int

    def command(self, arm: Arm) -> tuple[str, list[str]]:
        """Program and arguments."""
        line = ["--form", arm.form]
        if arm.application == "jacobi":
            return "jacobi", [*line, "--n", str(arm.size), "--iterations", str(self.iterations)]
        line += ["--method", arm.application, "--stages", str(self.stages)]
        return "adams", [*line, "--grid", str(arm.size), "--steps", str(self.steps)]


@dataclass(frozen=True)
class Gain:
    """In percent of the other's time; the interval is that of the median over the rounds."""

    median: float
    low: float
    high: float

    def text(self) -> str:
        if self.low == self.high:
            return f"{self.median:.1f}"
        span = "one round" if self.low < -1e6 else f"{self.low:.1f} to {self.high:.1f}"
        return f"{self.median:.1f} ({span})"


def gain(base: Sequence[float], own: Sequence[float]) -> Gain:
    """The 95 % interval is the range of the rounds, from nine on without as many at both ends as that
    allows; of fewer than six Student's, since no range would do."""
    gains = sorted(100 * (1 - after / before) for before, after in zip(base, own, strict=True))
    if len(gains) < ROUNDS:
        _, low, high = paired_ratio(own, base)
        return Gain(statistics.median(gains), 100 * (1 - high), 100 * (1 - low))
    outer = outliers(len(gains))
    return Gain(statistics.median(gains), gains[outer], gains[-1 - outer])


def balanced_grids() -> dict[str, str]:
    forms = {**FORMS[PAPER], "allgatherv": FORMS[PAPER]["allgather"]}
    return {
        f"UNISONO_{collective.upper()}": f"grid:form={form},rows=native,columns=native"
        for collective, form in forms.items()
    }


@dataclass(frozen=True)
class Times:
    arm: Arm
    seconds: tuple[float, ...]  # the program's loop, in each round
    in_collectives: tuple[float, ...]  # of it, all iterations; mean over the ranks


def measure(runs: Runs, arms: Sequence[Arm], problem: Problem, rounds: int) -> list[Times]:
    """Every arm once in each round, forwards and backwards in turn."""
    found: dict[Arm, list[tuple[float, float]]] = {arm: [] for arm in arms}
    for number in range(1 if runs.is_exact else rounds):
        for arm in arms if number % 2 == 0 else list(reversed(arms)):
            program, arguments = problem.command(arm)
            result = runs.once(program, arguments, arm.with_unisono)
            found[arm].append(times_in(result, runs.is_exact))
        what = f"{arms[0].application} {arms[0].size}, round {number + 1}"
        harness.console.print(f"[dim]{runs.name}: {what}[/dim]")
    if runs.is_exact:
        found = {arm: own * ROUNDS for arm, own in found.items()}
    return [
        Times(arm, tuple(s for s, _ in own), tuple(shares for _, shares in own)) for arm, own in found.items()
    ]


def times_in(result: Json, is_exact: bool) -> tuple[float, float]:
    """Of the loop, and in its collectives. Where every iteration takes the same time, without the first,
    which makes the groups of grids: the few that are simulated would not pay for them."""
    if not is_exact:
        return result["seconds"], sum(result["collective_seconds"])
    return sum(result["iteration_seconds"][1:]), sum(result["collective_seconds"][1:])


@dataclass(frozen=True)
class Row:
    times: Times
    over_native: Gain | None  # of the same form; none for native itself
    over_first: Gain | None  # native in the application's first form, where the result is the same

    def cells(self) -> tuple[str, ...]:
        arm = self.times.arm
        return (
            arm.application,
            str(arm.size),
            arm.form,
            "Unisono" if arm.with_unisono else "native",
            f"{statistics.median(self.times.seconds):.3f}",
            f"{statistics.median(self.times.in_collectives):.3f}",
            self.over_native.text() if self.over_native else "",
            self.over_first.text() if self.over_first else "",
        )


WORDS = (0, 2, 3)  # the columns that hold no numbers
HEAD = (
    "program",
    "size",
    "form",
    "on",
    "s",
    "in collectives: s",
    "gain over native: %",
    "gain over first form: %",
)


def rows_of(times: Sequence[Times]) -> list[Row]:
    of = {one.arm: one.seconds for one in times}
    rows = []
    for one in times:
        arm = one.arm
        own = of.get(replace(arm, with_unisono=False))
        first = of.get(replace(arm, form=APPLICATIONS[arm.application][0], with_unisono=False))
        rows.append(
            Row(
                one,
                gain(own, one.seconds) if own and arm.with_unisono else None,
                gain(first, one.seconds) if first and one.seconds is not first else None,
            )
        )
    return rows


def checks(rows: Sequence[Row]) -> list[Check]:
    """What sections 3.1 and 3.2 say: every form of Jacobi gains, so do the data-parallel Adams methods,
    and the task-parallel programs bring a little more than orthogonal data-parallel ones."""
    made = []
    for row in rows:
        arm = row.times.arm
        if row.over_native and (arm.application == "jacobi" or arm.form == "dp"):
            claim = f"{arm.application} {arm.size} {arm.form} gains by its collectives"
            answer = above(row.over_native.low, row.over_native.high, 0)
            made.append(Check(claim, answer, f"{row.over_native.text()} %"))
    of = {row.times.arm: row for row in rows}
    for arm, data in of.items():
        task = of.get(replace(arm, form="tp-orthogonal"))
        if arm.form != "dp" or not arm.with_unisono or not task:
            continue
        more = gain(data.times.seconds, task.times.seconds)
        claim = f"{arm.application} {arm.size}: task-parallel gains more than data-parallel"
        made.append(Check(claim, above(more.low, more.high, 0), f"{more.text()} % of its time"))
    return made


def table(title: str, rows: Sequence[Row]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    for position, column in enumerate(HEAD):
        made.add_column(column, justify="left" if position in WORDS else "right")
    for row in rows:
        made.add_row(*row.cells())
    return made


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--bed", default="lab", help="node, lab, sim:PLATFORM, several by commas (lab)")
    add("--selectors", default="lam,mpich,ompi", help="in the simulator: SMPI's, lam (lam,mpich,ompi)")
    add("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    add("--ranks", type=int, default=16)
    add("--applications", default=",".join(APPLICATIONS), help="of jacobi, pab, pabm")
    add("--forms", default="", help="some of the programs' forms; otherwise all")
    add("--profile", type=Path, help="of unisono tune; otherwise grids")
    add("--force", action="append", default=[], metavar="COLLECTIVE=SPEC", help="instead of balanced grids")
    add("--rounds", type=int, default=ROUNDS, help=f"runs of every arm ({ROUNDS})")
    add("--n", default="2000", help="rows of Jacobi's system, several by commas (2000)")
    add("--iterations", type=int, default=40, help="of Jacobi (40)")
    add("--grid", default="150", help="points on a side of the Brusselator, several by commas (150)")
    add("--steps", type=int, default=5, help="of the Adams methods (5)")
    add("--stages", type=int, default=4, help="of the Adams methods, 4 or 8 (4)")
    add("--json", type=Path, help="write the numbers to this file")
    add("--markdown", type=Path, help="write the tables to this file")
    add("--compact", action="store_true", help="--markdown: one table, with the beds side by side")
    add("--from", dest="kept", type=Path, help="evaluate what --json wrote to this file")
    return parser.parse_args(arguments)


def settings(profile: Path | None, force: Sequence[str]) -> dict[str, str]:
    if profile and force:
        raise UnisonoError("--profile and --force: give one of them")
    if profile:
        return {"UNISONO_PROFILE": launch.profile_path(profile)}
    return launch.forced(force) if force else balanced_grids()


def arms_of(application: str, forms: str, size: int) -> list[Arm]:
    wanted = forms.split(",") if forms else APPLICATIONS[application]
    own = [form for form in APPLICATIONS[application] if form in wanted]
    return [Arm(application, form, size, with_unisono) for form in own for with_unisono in (False, True)]


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    if given.kept:
        return shown(
            given, {name: rows_of(read(own)) for name, own in results_in(given.kept, EXPERIMENT).items()}
        )
    variables = settings(given.profile, given.force)
    problem = Problem(given.iterations, given.steps, given.stages)
    mpis = [] if given.bed.startswith("sim:") else [places.find_mpi(n) for n in given.mpi.split(",")]
    results: dict[str, list[Row]] = {}
    selectors = some_of("--selectors", given.selectors, (*smpi.SELECTORS, LAM))
    for testbed in testbeds.parse(given.bed, mpis):
        for runs in on(testbed, selectors, given.ranks, variables):
            rows: list[Row] = []
            for application in some_of("--applications", given.applications, tuple(APPLICATIONS)):
                for size in amounts.parse_sizes(given.n if application == "jacobi" else given.grid):
                    arms = arms_of(application, given.forms, size)
                    rows += rows_of(measure(runs, arms, problem, given.rounds)) if arms else []
            results[runs.name] = rows
    if given.json:
        write_json(document(results, problem, variables), given.json)
    return shown(given, results)


def shown(given: argparse.Namespace, results: Mapping[str, Sequence[Row]]) -> int:
    for name, rows in results.items():
        harness.console.print(table(name, rows))
    harness.report({name: checks(rows) for name, rows in results.items()})
    if given.markdown:
        given.markdown.write_text("\n".join(side_by_side(results) if given.compact else sections(results)))
    return 0


def sections(results: Mapping[str, Sequence[Row]]) -> list[str]:
    lines: list[str] = []
    for name, rows in results.items():
        cells = [row.cells() for row in rows]
        lines += [f"### {name}", "", *markdown.table(HEAD, cells, WORDS), *markdown.verdicts(checks(rows))]
    return lines


def side_by_side(results: Mapping[str, Sequence[Row]]) -> list[str]:
    """A line for each form: what grids gain, and what the form itself does, on each bed; then the claims."""
    beds = {name: {row.times.arm: row for row in rows} for name, rows in results.items()}
    arms = dict.fromkeys(arm for rows in beds.values() for arm in rows if arm.with_unisono)
    lines = []
    for arm in arms:
        cells = [arm.application, str(arm.size), arm.form]
        for rows in beds.values():
            own, native = rows[arm], rows[replace(arm, with_unisono=False)]
            gains = (own.over_native, native.over_first, own.over_first)
            cells += [percent(one.median) if one else "" for one in gains]
        lines.append(cells)
    short = [name.split(", ")[2] if name.startswith("sim") else name for name in beds]
    head = ["program", "size", "form", *(f"{n}: {w}" for n in short for w in ("grids %", "form %", "both %"))]
    judged = {name: checks(rows) for name, rows in results.items()}
    tally = [f"{name}: {harness.tally(own)}." for name, own in zip(short, judged.values(), strict=True)]
    return [*markdown.table(head, lines, range(3)), " ".join(tally), ""]


def document(results: Mapping[str, Sequence[Row]], problem: Problem, variables: Mapping[str, str]) -> Json:
    named = {name: Path(value).name if "PROFILE" in name else value for name, value in variables.items()}
    return {
        "experiment": EXPERIMENT,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "problem": asdict(problem),
        "unisono": named,
        "results": {name: [asdict(row.times) for row in rows] for name, rows in results.items()},
    }


def read(found: Sequence[Json]) -> list[Times]:
    """What document() wrote."""
    return [Times(Arm(**one["arm"]), tuple(one["seconds"]), tuple(one["in_collectives"])) for one in found]


if __name__ == "__main__":
    harness.run(main)
