"""Process arrival patterns, Figures 11 to 13, Tables 9 and 10: the choice at run time.

  sudo .venv/bin/python -m experiments.arrival.robust --bed lab --ranks 16 --mpi openmpi
  .venv/bin/python -m experiments.arrival.robust --bed node --ranks 4 --collective bcast --bytes 1K

Every fixed algorithm, the MPI library's own, and Unisono's online selection, each in jobs of its own with
the same arrival patterns: for every MAX_IF, for a program whose pattern changes in mid-run, and
balanced with several computation times. A time is the median over the calls of the mean over the ranks,
with its 95 % interval. Of online selection: `settled`, the calls after the first 200 of a
pattern, as the paper reports them; and `whole`, the mean of all calls with the search in it, by the
mean of native. Computing is sleeping: as if every rank had a processor of its own.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table
from unisono import catalogue
from unisono.catalogue import format_size
from unisono.compare import matrix
from unisono.tune.native.choose import interval

from experiments import harness, markdown
from experiments.arrival import measuring
from experiments.arrival.measuring import NATIVE, Place, forced
from experiments.harness import Check
from experiments.testbeds import Json

# Section 7.1 for alltoall; for the others what differs most in how it takes late ranks.
FIXED = {
    "alltoall": (
        "pair",
        "ring",
        "pair_barrier",
        "ring_barrier",
        "pair_light_barrier",
        "ring_light_barrier",
        "simple",
    ),
    "bcast": ("flat", "binomial", "chain", "scatter_allgather", "circulant"),
    "allgather": ("ring", "recursive_doubling", "bruck", "gather_bcast"),
    "allreduce": ("ring", "recursive_doubling", "rabenseifner", "reduce_bcast"),
    "reduce": ("flat", "binomial", "chain"),
}
POWERS_OF_TWO = ("pair", "pair_barrier", "pair_light_barrier")
ONLINE = ("star", "bandit")
MAX_IF = (1, 10, 50, 100)
CHANGE = (1, 50, 1)
ADAPTED = 200  # calls after which the choice must have settled
CLOSE, BUDGET = 1.05, 1.05  # the settled choice by the best fixed; all calls by native


@dataclass(frozen=True)
class Scenario:
    """A program: one phase for each maximum, the choice going on from one to the next."""

    title: str
    maxima: tuple[int, ...]
    computation_ms: int = 0


@dataclass(frozen=True)
class Phase:
    """An arm in one phase; seconds of every call, mean over the ranks."""

    calls: tuple[float, ...]
    online: bool

    @property
    def settled(self) -> tuple[float, ...]:
        return self.calls[ADAPTED:] if self.online and len(self.calls) > ADAPTED else self.calls

    @property
    def median(self) -> float:
        return statistics.median(self.settled)

    @property
    def whole(self) -> float:
        return statistics.fmean(self.calls)

    def text(self) -> str:
        found = interval(self.settled)
        span = f" ({found.low * 1e3:.3g} to {found.high * 1e3:.3g})" if found else ""
        return f"{self.median * 1e3:.3g}{span}"


@dataclass(frozen=True)
class Result:
    scenario: Scenario
    arms: Mapping[str, tuple[Phase, ...]]

    def fixed(self) -> list[str]:
        return [name for name in self.arms if name not in ONLINE and name != NATIVE]

    def best(self, phase: int) -> str:
        """Of the fixed algorithms and native."""
        return min([*self.fixed(), NATIVE], key=lambda name: self.arms[name][phase].median)

    def title(self, phase: int) -> str:
        if len(self.scenario.maxima) == 1:
            return self.scenario.title
        return f"{self.scenario.title}, phase {phase + 1} (MAX_IF {self.scenario.maxima[phase]})"

    def checks(self) -> list[Check]:
        made = []
        for phase in range(len(self.scenario.maxima)):
            native, best = self.arms[NATIVE][phase], self.arms[self.best(phase)][phase]
            for name in (name for name in ONLINE if name in self.arms):
                own = self.arms[name][phase]
                where = f"{self.title(phase)}, {name}"
                close, gain = own.median / best.median, own.median / native.median
                text = f"{close:.2f} of the time of {self.best(phase)}"
                made += [
                    Check(f"{where}: settled within 5 % of the best", close <= CLOSE, text),
                    Check(f"{where}: settled no slower than native", gain <= 1, f"{gain:.2f} of its time"),
                ]
                if name == "bandit":  # STAR-MPI knows no budget
                    whole = own.whole / native.whole
                    claim = f"{where}: with its search within the budget of 5 % over native"
                    made.append(Check(claim, whole <= BUDGET, f"{whole:.2f} of its time"))
        return made

    def rows(self) -> list[tuple[str, ...]]:
        made = []
        for phase in range(len(self.scenario.maxima)):
            native = self.arms[NATIVE][phase]
            best = self.best(phase)
            cells = [self.title(phase), native.text(), best, self.arms[best][phase].text()]
            for name in ONLINE:
                own = self.arms[name][phase]
                speed_up = 100 * (native.median / own.median - 1)
                cells += [own.text(), f"{speed_up:.1f}", f"{own.whole / native.whole:.2f}"]
            made.append(tuple(cells))
        return made


HEAD = (
    "program",
    "native",
    "best fixed",
    "",
    *(f"{n}{c}" for n in ONLINE for c in ("", ": speed-up %", ": whole")),
)
WORDS = (0, 2)


def scenarios(maxima: Sequence[int], change: Sequence[int], computations: Sequence[int]) -> list[Scenario]:
    made = [Scenario(f"MAX_IF {maximum}", (maximum,)) for maximum in maxima]
    if len(change) > 1:
        made.append(Scenario("changing", tuple(change)))
    return made + [Scenario(f"computing {ms} ms", (1,), ms) for ms in computations]


def fixed_for(collective: str, ranks: int) -> list[str]:
    """Those that the catalogue has and that run on so many ranks."""
    known = {row.name for row in catalogue.algorithms() if collective in row.collectives}
    power = ranks & (ranks - 1) == 0
    return [name for name in FIXED[collective] if name in known and (power or name not in POWERS_OF_TWO)]


@dataclass(frozen=True)
class Settings:
    collective: str
    bytes: int
    calls: int  # of a fixed algorithm in a phase, in each of the two rounds
    online_calls: int


def run_arm(
    place: Place, own: Settings, scenario: Scenario, arm: str, message: float, number: int
) -> list[Phase]:
    online = arm in ONLINE
    arguments = ["--collective", own.collective, "--bytes", str(own.bytes), "--barrier"]
    arguments += ["--max-if", ",".join(map(str, scenario.maxima)), "--message-us", repr(message * 1e6)]
    arguments += ["--calls", str(own.online_calls if online else own.calls)]
    arguments += ["--computation", str(scenario.computation_ms)]
    variables = {"UNISONO_ONLINE": arm} if online else forced(own.collective, arm)
    result = place.run(arguments, variables, number)
    return [Phase(patterns[0].mean_elapsed_s, online) for _, patterns in result.patterns]


def measured(place: Place, own: Settings, planned: Sequence[Scenario]) -> list[Result]:
    """Fixed algorithms before and after online selection, so that a drift of the machine shows in both."""
    message = place.message_seconds(own.bytes)
    fixed = [NATIVE, *fixed_for(own.collective, place.ranks)]
    results = []
    for scenario in planned:
        first = {arm: run_arm(place, own, scenario, arm, message, 0) for arm in fixed}
        arms = {arm: tuple(run_arm(place, own, scenario, arm, message, 0)) for arm in ONLINE}
        for arm in reversed(fixed):
            again = run_arm(place, own, scenario, arm, message, 1)
            both = zip(first[arm], again, strict=True)
            arms[arm] = tuple(Phase(a.calls + b.calls, online=False) for a, b in both)
        results.append(Result(scenario, arms))
    return results


def table(title: str, results: Sequence[Result]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=f"{title}, ms")
    for position, column in enumerate(HEAD):
        made.add_column(column, justify="left" if position in WORDS else "right")
    for result in results:
        for row in result.rows():
            made.add_row(*row)
    return made


def document(own: Settings, results: Sequence[Result]) -> Json:
    return {
        "collective": own.collective,
        "bytes": own.bytes,
        "programs": [
            {
                "max_if": list(result.scenario.maxima),
                "computation_ms": result.scenario.computation_ms,
                "arms": {arm: [list(phase.calls) for phase in phases] for arm, phases in result.arms.items()},
            }
            for result in results
        ],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.parser(__doc__ or "")
    add = parser.add_argument
    add("--collective", default="alltoall", choices=tuple(FIXED))
    add("--bytes", default="4K", help="of a message, several by commas (4K)")
    add("--max-if", default=",".join(map(str, MAX_IF)), help="(1,10,50,100)")
    add("--change", default=",".join(map(str, CHANGE)), help="MAX_IF of the phases; one: no such program")
    add("--computations", default="", help="ms, for balanced programs; the paper 50,100,200,400")
    add("--calls", type=int, default=20, help="of a fixed algorithm, twice (20)")
    add("--online-calls", type=int, default=320, help="of online selection in a phase (320)")
    given = parser.parse_args(arguments)
    maxima = measuring.numbers_of(given.max_if, "--max-if")
    change = measuring.numbers_of(given.change, "--change")
    times = measuring.numbers_of(given.computations, "--computations") if given.computations else ()
    found: dict[str, list[Result]] = {}
    body: Json = {}
    for place in measuring.places_of(given):
        for size in matrix.parse_sizes(given.bytes):
            own = Settings(given.collective, size, given.calls, given.online_calls)
            name = f"{place.name}: {own.collective}, {format_size(size)}"
            found[name] = measured(place, own, scenarios(maxima, change, times))
            body[name] = document(own, found[name])
            harness.console.print(table(name, found[name]))
    verdicts = {name: [c for one in results for c in one.checks()] for name, results in found.items()}
    harness.report(verdicts)
    sections = []
    for name, results in found.items():
        rows = [row for result in results for row in result.rows()]
        lines = [f"### {name}, ms", "", *markdown.table(HEAD, rows, WORDS)]
        sections.append("\n".join([*lines, *markdown.verdicts(verdicts[name])]))
    measuring.write(given, "arrival-robust", body, sections)
    return 0


if __name__ == "__main__":
    harness.run(main)
