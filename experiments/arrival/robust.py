"""Process arrival patterns, Figures 11 to 13, Tables 9 and 10: the choice at run time.

  sudo .venv/bin/python -m experiments.arrival.robust --bed lab --ranks 16 --mpi openmpi
  .venv/bin/python -m experiments.arrival.robust --bed node --ranks 4 --collective bcast --bytes 1K
  .venv/bin/python -m experiments.arrival.robust --from docs/results/arrival/robust-openmpi-16.json.zst

Every fixed algorithm, the MPI library's own, and Unisono's online selection, each in jobs of its own, in
turn, with the same arrival patterns: for every MAX_IF, for a program whose pattern changes in mid-run, and
balanced with several computation times. A time is that of a call, the mean over the ranks. Of online
selection: `settled`, the calls after the first 200 of a pattern, as the paper reports them; and `whole`,
all calls with the search in them. Computing is sleeping: as if every rank had a processor of its own.

What is compared are the jobs of one round, as they are: the ratio of their medians, and that of their
means, which lost packets are part of. A ratio is the geometric mean over the rounds with Student's 95 %
interval, and a statement whose limit lies in the interval is undecided. What exploring loses counts
against the mean of the native job of the same round.

The raw results of every job are kept: what was interrupted goes on where it was, if nothing was built anew.
--json and --markdown are written anew after every round of jobs, and no round begins when --seconds are over.
--from evaluates what --json wrote, and measures nothing.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from rich import box
from rich.table import Table
from unisono.core import amounts, catalogue
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError

from experiments import harness, markdown
from experiments.arrival import measuring
from experiments.arrival.measuring import NATIVE, Place, forced, mean, paired_ratio
from experiments.harness import Check, below
from experiments.testbeds import Json, Real

# Section 7.1's seven for alltoall; for the others what differs most in how it takes late ranks.
FIXED = {
    "alltoall": ("simple", *(a + b for b in ("", "_barrier", "_light_barrier") for a in ("pair", "ring"))),
    "bcast": ("flat", "announced", "binomial", "chain", "scatter_allgather", "circulant"),
    "allgather": ("ring", "recursive_doubling", "bruck", "gather_bcast"),
    "allreduce": ("ring", "recursive_doubling", "rabenseifner", "reduce_bcast"),
    "reduce": ("flat", "binomial", "chain"),
}
POWERS_OF_TWO = ("pair", "pair_barrier", "pair_light_barrier")
ONLINE = ("star", "auto")
FORMER = "bandit"  # a policy that is gone; kept results have it
MAX_IF = (1, 10, 50, 100)
CHANGE = (1, 50, 1)
ADAPTED = 200  # calls after which the choice must have settled
WARM = 10  # calls of a fixed algorithm before its time counts: the network's credit after a pause is spent
CLOSE = 1.05  # the settled choice by the best fixed, and by native
STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
}
REGRET, BUDGET = 20, 0.05  # what bandit might lose against native: native calls, and a share of all calls

Calls = tuple[float, ...]
Series = list[Calls]  # of each phase: an arm's calls
EXPERIMENT = "arrival-robust"


def online_of(arms: Iterable[str]) -> list[str]:
    """Those that are selected while the program runs."""
    return [name for name in ("star", FORMER, "auto") if name in arms]


@dataclass(frozen=True)
class Scenario:
    """A program: one phase for each maximum, the choice going on from one to the next."""

    title: str
    maxima: tuple[int, ...]
    computation_ms: int = 0


@dataclass(frozen=True)
class Ratio:
    """Of the times of two arms, over the rounds: geometric mean, 95 % interval."""

    value: float
    low: float
    high: float

    def text(self) -> str:
        if self.low == 0:
            return f"{self.value:.2f} (one round)"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Phase:
    """An arm in one phase; for each job the seconds of every call, mean over the ranks."""

    jobs: tuple[Calls, ...]
    online: bool

    @property
    def settled_jobs(self) -> list[Calls]:
        """Without the calls that online selection has for its search, or a fixed algorithm to get warm."""
        first = ADAPTED if self.online else WARM
        return [job[first:] or job for job in self.jobs]

    def settled(self, statistic: str) -> list[float]:
        """Of each job."""
        return [STATISTICS[statistic](job) for job in self.settled_jobs]

    def against(self, other: "Phase", statistic: str) -> Ratio:
        """The ratio of the settled times of the same rounds."""
        return Ratio(*paired_ratio(self.settled(statistic), other.settled(statistic)))

    def whole_against(self, other: "Phase") -> Ratio:
        """The ratio of the means of all calls of the same rounds."""
        return Ratio(*paired_ratio(self.whole, other.whole))

    def lost(self, native: "Phase") -> list[float]:
        """Of each job, in native calls of the same round."""
        return [sum(job) / mean - len(job) for job, mean in zip(self.jobs, native.whole, strict=True)]

    @property
    def whole(self) -> list[float]:
        """Of each job the mean of all its calls."""
        return [statistics.fmean(job) for job in self.jobs]

    def text(self) -> str:
        return f"{1e3 * statistics.median(self.settled('median')):.3g}"


@dataclass(frozen=True)
class Result:
    scenario: Scenario
    arms: Mapping[str, tuple[Phase, ...]]

    def best(self, phase: int, statistic: str = "median") -> str:
        """Of the fixed algorithms and native."""
        names = [name for name in self.arms if name not in online_of(self.arms)]
        return min(names, key=lambda name: geometric_mean(self.arms[name][phase].settled(statistic)))

    def title(self, phase: int) -> str:
        if len(self.scenario.maxima) == 1:
            return self.scenario.title
        return f"{self.scenario.title}, phase {phase + 1} (MAX_IF {self.scenario.maxima[phase]})"

    def checks(self) -> list[Check]:
        made = [
            check
            for phase in range(len(self.scenario.maxima))
            for name in online_of(self.arms)
            for statistic in STATISTICS
            for check in self.settled_checks(phase, name, statistic)
        ]
        return [*made, *self.budget_checks(), *self.change_checks()]

    def settled_checks(self, phase: int, name: str, statistic: str) -> list[Check]:
        made = []
        for other in dict.fromkeys((self.best(phase, statistic), NATIVE)):
            ratio = self.arms[name][phase].against(self.arms[other][phase], statistic)
            claim = f"{self.title(phase)}, {name}: settled within 5 % of {other}, {statistic}"
            made.append(Check(claim, below(ratio.low, ratio.high, CLOSE), ratio.text()))
        return made

    def budget_checks(self) -> list[Check]:
        """Of all calls with the search; STAR-MPI knows no budget."""
        if FORMER not in self.arms:
            return []
        pairs = list(zip(self.arms[FORMER], self.arms[NATIVE], strict=True))
        lost = mean([sum(own) for own in zip(*(own.lost(native) for own, native in pairs), strict=True)])
        calls = sum(len(own.jobs[0]) for own, _ in pairs)
        allowed = REGRET + BUDGET * calls
        claim = f"{self.scenario.title}, {FORMER}: loses no more than its budget against native"
        numbers = (
            f"{lost.value:.0f} ({lost.low:.0f} to {lost.high:.0f}) native calls of {allowed:.0f} allowed"
            f" in the {calls} of a job"
        )
        return [Check(claim, below(lost.low, lost.high, allowed), numbers)]

    def change_checks(self) -> list[Check]:
        """Whether there was anything to adapt to."""
        if len(self.scenario.maxima) < 2:
            return []
        first, second = self.best(0), self.best(1)
        claim = f"{self.scenario.title}: the best algorithm changes with the pattern"
        if first == second:
            return [Check(claim, self.stays(first), f"{first} in both")]
        before = self.arms[first][0].against(self.arms[second][0], "median")
        after = self.arms[second][1].against(self.arms[first][1], "median")
        numbers = f"{first}, {before.text()} of {second}'s time; then {second}, {after.text()} of {first}'s"
        return [Check(claim, True if max(before.high, after.high) < 1 else None, numbers)]

    def stays(self, best: str) -> bool | None:
        """False if in one of the two phases nobody can be more than 5 % faster."""

        def beaten(phase: int) -> bool:
            own = self.arms[best][phase]
            others = [
                self.arms[name][phase] for name in self.arms if name not in (*online_of(self.arms), best)
            ]
            return any(one.against(own, "median").low < 1 / CLOSE for one in others)

        return None if beaten(0) or beaten(1) else False

    def rows(self) -> list[tuple[str, ...]]:
        made = []
        for phase in range(len(self.scenario.maxima)):
            native = self.arms[NATIVE][phase]
            best = self.best(phase)
            cells = [self.title(phase), native.text(), best, self.arms[best][phase].text()]
            for name in online_of(self.arms):
                own = self.arms[name][phase]
                cells += [own.text(), *(own.against(native, one).text() for one in STATISTICS)]
                cells.append(own.whole_against(native).text())
            made.append(tuple(cells))
        return made


def head(results: Sequence[Result]) -> tuple[str, ...]:
    online = online_of(results[0].arms) if results else ()
    of_each = ("", ": / native, medians", ": means", ": whole")
    return (
        "program",
        "native",
        "best fixed",
        "",
        *(f"{name}{column}" for name in online for column in of_each),
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
    calls: int  # of a fixed algorithm in a phase of a job
    online_calls: int
    jobs: int  # of every arm


def run_arm(
    place: Place,
    own: Settings,
    phases: Sequence[int],
    computation_ms: int,
    arm: str,
    message: float,
    job: int,
) -> Series:
    online = arm in ONLINE
    arguments = ["--collective", own.collective, "--bytes", str(own.bytes), "--barrier"]
    arguments += ["--max-if", ",".join(map(str, phases)), "--message-us", repr(message * 1e6)]
    arguments += ["--calls", str(own.online_calls if online else own.calls)]
    arguments += ["--computation", str(computation_ms)]
    variables = {"UNISONO_ONLINE": arm} if online else forced(own.collective, arm)
    result = place.run(arguments, variables, job)
    if arm not in (NATIVE, *ONLINE) and not any(found[0].by_unisono[0] for _, found in result.patterns):
        raise UnisonoError(f"{own.collective} by {arm}: the MPI library ran it instead")
    return [found[0].mean_elapsed_s for _, found in result.patterns]


def measured(
    place: Place, own: Settings, planned: Sequence[Scenario], end: float = math.inf
) -> Iterator[list[Result]]:
    """All arms in each round, forwards and backwards in turn; what is known after it. A fixed algorithm,
    which has nothing to learn, runs the programs that compute equally long in one job. No round begins
    after `end`."""
    message = place.message_seconds(own.bytes)
    arms = [NATIVE, *fixed_for(own.collective, place.ranks), *ONLINE]
    found: dict[tuple[str, int], list[Series]] = {}  # by arm and position in the plan: of each job
    for job in range(own.jobs):
        if job > 0 and time.monotonic() > end:
            return
        for arm in arms if job % 2 == 0 else reversed(arms):
            groups: list[list[int]] = [[at] for at in range(len(planned))]
            if arm not in ONLINE:
                times = dict.fromkeys(one.computation_ms for one in planned)
                groups = [[at for at, s in enumerate(planned) if s.computation_ms == ms] for ms in times]
            for group in groups:
                phases = [maximum for at in group for maximum in planned[at].maxima]
                series = run_arm(place, own, phases, planned[group[0]].computation_ms, arm, message, job)
                for at in group:
                    count = len(planned[at].maxima)
                    found.setdefault((arm, at), []).append(series[:count])
                    series = series[count:]
        yield [
            Result(scenario, {arm: phases_of(found[arm, at], arm in ONLINE) for arm in arms})
            for at, scenario in enumerate(planned)
        ]


def phases_of(jobs: Sequence[Series], online: bool) -> tuple[Phase, ...]:
    return tuple(Phase(calls, online) for calls in zip(*jobs, strict=True))


def table(title: str, results: Sequence[Result]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=f"{title}, ms")
    for position, column in enumerate(head(results)):
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
                "arms": {arm: [phase.jobs for phase in phases] for arm, phases in result.arms.items()},
            }
            for result in results
        ],
    }


def read(found: Json) -> list[Result]:
    """What document() made."""
    results = []
    for one in found["programs"]:
        computation = one["computation_ms"]
        times = (computation,) if computation else ()
        maxima = one["max_if"]
        changing = len(maxima) > 1
        (scenario,) = scenarios(() if changing or times else maxima, maxima if changing else (), times)
        arms = {
            arm: tuple(Phase(tuple(map(tuple, jobs)), arm in (*ONLINE, FORMER)) for jobs in phases)
            for arm, phases in one["arms"].items()
        }
        results.append(Result(scenario, arms))
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.parser(__doc__ or "")
    add = parser.add_argument
    add("--collective", default="alltoall", choices=tuple(FIXED))
    add("--bytes", default="4K", help="of a message, several by commas (4K)")
    add("--max-if", default=",".join(map(str, MAX_IF)), help="(1,10,50,100); none: ''")
    add("--change", default=",".join(map(str, CHANGE)), help="MAX_IF of the phases; one: no such program")
    add("--computations", default="", help="ms, for balanced programs; the paper 50,100,200,400")
    add("--calls", type=int, default=130, help="of a fixed algorithm in a phase (130)")
    add("--online-calls", type=int, default=320, help="of online selection in a phase (320)")
    add("--jobs", type=int, default=5, help="of every arm (5)")
    add("--seconds", type=float, default=math.inf, help="after which no round of jobs begins (no limit)")
    add("--from", dest="kept", type=Path, help="evaluate what --json wrote to this file")
    given = parser.parse_args(arguments)
    if given.kept:
        raw = measuring.results_in(given.kept, EXPERIMENT)
        return shown(given, raw, {name: read(one) for name, one in raw.items()})
    maxima = measuring.numbers_of(given.max_if, "--max-if") if given.max_if else ()
    change = measuring.numbers_of(given.change, "--change")
    times = measuring.numbers_of(given.computations, "--computations") if given.computations else ()
    end = time.monotonic() + given.seconds
    found: dict[str, list[Result]] = {}
    body: Json = {}
    for place in measuring.places_of(given):
        if not isinstance(place.testbed, Real):
            raise UnisonoError(f"--bed {given.bed}: valid are node and lab")
        for size in amounts.parse_sizes(given.bytes):
            own = Settings(given.collective, size, given.calls, given.online_calls, given.jobs)
            name = f"{place.name}: {own.collective}, {format_size(size)}"
            for found[name] in measured(place, own, scenarios(maxima, change, times), end):
                body[name] = document(own, found[name])
                write(given, body, found)
    return shown(given, body, found)


def shown(given: argparse.Namespace, body: Json, found: Mapping[str, Sequence[Result]]) -> int:
    write(given, body, found)
    for name, results in found.items():
        harness.console.print(table(name, results))
    harness.report(verdicts_of(found))
    return 0


def verdicts_of(found: Mapping[str, Sequence[Result]]) -> dict[str, list[Check]]:
    return {name: [c for one in results for c in one.checks()] for name, results in found.items()}


def write(given: argparse.Namespace, body: Json, found: Mapping[str, Sequence[Result]]) -> None:
    sections = []
    for name, verdicts in verdicts_of(found).items():
        rows = [row for result in found[name] for row in result.rows()]
        lines = [f"### {name}, ms", "", *markdown.table(head(found[name]), rows, WORDS)]
        sections.append("\n".join([*lines, *markdown.verdicts(verdicts)]))
    measuring.write(given, EXPERIMENT, body, sections)


if __name__ == "__main__":
    harness.run(main)
