"""Process arrival patterns, Figures 11 to 13, Tables 9 and 10: the choice at run time.

  sudo .venv/bin/python -m experiments.arrival.robust --bed lab --ranks 16 --mpi openmpi
  .venv/bin/python -m experiments.arrival.robust --bed node --ranks 4 --collective bcast --bytes 1K

Every fixed algorithm, the MPI library's own, and Unisono's online selection, each in jobs of its own, in
turn, with the same arrival patterns: for every MAX_IF, for a program whose pattern changes in mid-run, and
balanced with several computation times. A time is the median over the calls of the mean over the ranks,
with its 95 % interval. Of online selection: `settled`, the calls after the first 200 of a
pattern, as the paper reports them; and `whole`, the mean of all calls with the search in it, by the
mean of native. Computing is sleeping: as if every rank had a processor of its own.

Jobs of one and the same algorithm differ by more than the calls within them. So every fourth call is
followed by one of the MPI library's own, in the same job (--native-every), and each job's times are divided
by these: what differs from job to job cancels. Judged is the median over the rounds of jobs; its least and
largest stand beside it, with five jobs a 94 % interval. What exploring loses counts against the mean of
the same job's native calls; a call for which native was chosen is charged so many at most, as by the bandit
itself: choosing costs something there too, but did not hold it up.

The raw results of every job are kept: what was interrupted goes on where it was, if nothing was built anew.
--json and --markdown are written anew after every round of jobs, and no round begins when --seconds are over.
"""

import argparse
import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table
from unisono import catalogue
from unisono.catalogue import format_size
from unisono.compare import matrix
from unisono.errors import UnisonoError
from unisono.tune.native.choose import interval

from experiments import harness, markdown
from experiments.arrival import measuring
from experiments.arrival.measuring import NATIVE, Place, forced
from experiments.harness import Check
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
ONLINE = ("star", "bandit")
MAX_IF = (1, 10, 50, 100)
CHANGE = (1, 50, 1)
ADAPTED = 200  # calls after which the choice must have settled
WARM = 10  # calls of a fixed algorithm before its time counts: the network's credit after a pause is spent
CLOSE = 1.05  # the settled choice by the best fixed, and by native
MOST_CHARGED = 4.0  # native calls, of a call for which native was chosen
REGRET, BUDGET = 20, 0.05  # what bandit may lose against native: native calls, and a share of all calls

Calls = tuple[float, ...]


@dataclass(frozen=True)
class Scenario:
    """A program: one phase for each maximum, the choice going on from one to the next."""

    title: str
    maxima: tuple[int, ...]
    computation_ms: int = 0


@dataclass(frozen=True)
class Phase:
    """An arm in one phase; for each job the seconds of every call, mean over the ranks."""

    jobs: tuple[Calls, ...]
    online: bool
    natives: tuple[Calls, ...] = ()  # of the same jobs: the native calls in between
    by_unisono: tuple[Calls, ...] = ()  # of each call 1, and 0 where native was chosen; empty: all 1

    @property
    def calls(self) -> tuple[float, ...]:
        return tuple(call for job in self.jobs for call in job)

    @property
    def settled_jobs(self) -> list[tuple[float, ...]]:
        """Without the calls that online selection has for its search, or a fixed algorithm to get warm."""
        return [job[self.first :] or job for job in self.jobs]

    @property
    def first(self) -> int:
        return ADAPTED if self.online else WARM

    @property
    def by_native(self) -> list[float]:
        """Of each job: the median of its settled calls by that of the native calls among them."""
        if not self.natives:
            return []
        medians = []
        for job, own, native in zip(self.jobs, self.settled_jobs, self.natives, strict=True):
            among = native[self.first * len(native) // len(job) :] or native
            medians.append(statistics.median(own) / statistics.median(among))
        return medians

    @property
    def settled(self) -> tuple[float, ...]:
        return tuple(call for job in self.settled_jobs for call in job)

    @property
    def median(self) -> float:
        return statistics.median(self.settled)

    def against(self, other: "Phase") -> tuple[float, float, float]:
        """The ratio of the settled times, each by the native calls of its job where there are such."""
        if self.natives and other.natives:
            return spread([own / its for own, its in zip(self.by_native, other.by_native, strict=True)])
        pairs = zip(self.settled_jobs, other.settled_jobs, strict=True)
        return spread([statistics.median(own) / statistics.median(its) for own, its in pairs])

    def against_native(self, native: "Phase") -> tuple[float, float, float]:
        """`native`: its own jobs, for want of native calls in these."""
        return spread(self.by_native) if self.natives else self.against(native)

    @property
    def tried(self) -> Sequence[Calls]:
        """Of each call of each job, whether Unisono ran it itself."""
        return self.by_unisono or [(1.0,) * len(job) for job in self.jobs]

    def lost(self, native: "Phase") -> list[float]:
        """Of each job, in native calls."""
        means = [statistics.fmean(one) for one in self.natives] or [native.whole] * len(self.jobs)
        return [
            sum(
                (call / mean if own else min(call / mean, MOST_CHARGED)) - 1
                for call, own in zip(job, owns, strict=True)
            )
            for job, owns, mean in zip(self.jobs, self.tried, means, strict=True)
        ]

    @property
    def whole(self) -> float:
        return statistics.fmean(self.calls)

    def text(self) -> str:
        found = interval(self.settled)
        span = f" ({found.low * 1e3:.3g} to {found.high * 1e3:.3g})" if found else ""
        return f"{self.median * 1e3:.3g}{span}"


def spread(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Median, least and largest."""
    return statistics.median(ratios), min(ratios), max(ratios)


@dataclass(frozen=True)
class Result:
    scenario: Scenario
    arms: Mapping[str, tuple[Phase, ...]]

    def fixed(self) -> list[str]:
        return [name for name in self.arms if name not in ONLINE and name != NATIVE]

    def best(self, phase: int) -> str:
        """Of the fixed algorithms and native."""

        names = [*self.fixed(), NATIVE]
        own = {name: self.arms[name][phase] for name in names}
        if all(one.natives for one in own.values()):
            return min(names, key=lambda name: statistics.median(own[name].by_native))
        return min(names, key=lambda name: own[name].median)

    def title(self, phase: int) -> str:
        if len(self.scenario.maxima) == 1:
            return self.scenario.title
        return f"{self.scenario.title}, phase {phase + 1} (MAX_IF {self.scenario.maxima[phase]})"

    def checks(self) -> list[Check]:
        made = []
        for phase in range(len(self.scenario.maxima)):
            for name in (name for name in ONLINE if name in self.arms):
                own = self.arms[name][phase]
                where = f"{self.title(phase)}, {name}"
                native, best = self.arms[NATIVE][phase], self.best(phase)
                to_native = own.against_native(native)
                to_best = to_native if best == NATIVE else own.against(self.arms[best][phase])
                for claim, other, (close, least, most) in (
                    ("the best", best, to_best),
                    ("native or faster", NATIVE, to_native),
                ):
                    text = f"{close:.2f} ({least:.2f} to {most:.2f}) of the time of {other}"
                    made.append(Check(f"{where}: settled within 5 % of {claim}", close <= CLOSE, text))
        return [*made, *self.budget_checks()]

    def budget_checks(self) -> list[Check]:
        """Of all calls with the search; STAR-MPI knows no budget."""
        if "bandit" not in self.arms:
            return []
        pairs = list(zip(self.arms["bandit"], self.arms[NATIVE], strict=True))
        of_jobs = [sum(phases) for phases in zip(*(own.lost(native) for own, native in pairs), strict=True)]
        lost, jobs = sum(of_jobs), len(of_jobs)
        calls = sum(len(own.calls) for own, _ in pairs)
        allowed = REGRET * jobs + BUDGET * calls
        claim = f"{self.scenario.title}, bandit: loses no more than its budget against native"
        tried = sum(sum(job) for own, _ in pairs for job in own.tried)
        numbers = (
            f"{lost:.0f} native calls of {allowed:.0f} allowed in {calls}, {tried:.0f} of them not native"
        )
        if jobs > 1:
            numbers += f"; a job {min(of_jobs):.0f} to {max(of_jobs):.0f} of {allowed / jobs:.0f}"
        return [Check(claim, lost <= allowed, numbers)]

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
    calls: int  # of a fixed algorithm in a phase of a job
    online_calls: int
    jobs: int  # of every arm
    native_every: int  # 0: no native calls among the others


Series = list[tuple[Calls, Calls, Calls]]  # of each phase: an arm's calls, and what else a Phase has


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
    arguments += ["--native-every", str(own.native_every)]
    variables = {"UNISONO_ONLINE": arm} if online else forced(own.collective, arm)
    result = place.run(arguments, variables, job)
    if arm not in (NATIVE, *ONLINE) and not any(found[0].by_unisono[0] for _, found in result.patterns):
        raise UnisonoError(f"{own.collective} by {arm}: the MPI library ran it instead")
    natives = [patterns[0].mean_elapsed_s if patterns else () for patterns in result.native]
    return [
        (found[0].mean_elapsed_s, among, found[0].by_unisono)
        for (_, found), among in zip(result.patterns, natives, strict=True)
    ]


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
    made = []
    for own in zip(*jobs, strict=True):
        calls, natives, owns = zip(*own, strict=True)
        made.append(Phase(calls, online, natives if all(natives) else (), owns))
    return tuple(made)


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
                "arms": {arm: [phase.jobs for phase in phases] for arm, phases in result.arms.items()},
                "natives": {arm: [phase.natives for phase in phases] for arm, phases in result.arms.items()},
                "by_unisono": {
                    arm: [one.by_unisono for one in phases] for arm, phases in result.arms.items()
                },
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
    add("--calls", type=int, default=130, help="of a fixed algorithm in a phase (130)")
    add("--online-calls", type=int, default=320, help="of online selection in a phase (320)")
    add("--jobs", type=int, default=5, help="of every arm (5)")
    add("--native-every", type=int, default=4, help="calls to a native one in the same job; 0: none (4)")
    add("--seconds", type=float, default=math.inf, help="after which no round of jobs begins (no limit)")
    given = parser.parse_args(arguments)
    maxima = measuring.numbers_of(given.max_if, "--max-if")
    change = measuring.numbers_of(given.change, "--change")
    times = measuring.numbers_of(given.computations, "--computations") if given.computations else ()
    end = time.monotonic() + given.seconds
    found: dict[str, list[Result]] = {}
    body: Json = {}
    for place in measuring.places_of(given):
        if not isinstance(place.testbed, Real):
            raise UnisonoError(f"--bed {given.bed}: valid are node and lab")
        for size in matrix.parse_sizes(given.bytes):
            own = Settings(
                given.collective, size, given.calls, given.online_calls, given.jobs, given.native_every
            )
            name = f"{place.name}: {own.collective}, {format_size(size)}"
            for found[name] in measured(place, own, scenarios(maxima, change, times), end):
                body[name] = document(own, found[name])
                write(given, body, found)
            harness.console.print(table(name, found[name]))
    harness.report(verdicts_of(found))
    return 0


def verdicts_of(found: Mapping[str, Sequence[Result]]) -> dict[str, list[Check]]:
    return {name: [c for one in results for c in one.checks()] for name, results in found.items()}


def write(given: argparse.Namespace, body: Json, found: Mapping[str, Sequence[Result]]) -> None:
    sections = []
    for name, verdicts in verdicts_of(found).items():
        rows = [row for result in found[name] for row in result.rows()]
        lines = [f"### {name}, ms", "", *markdown.table(HEAD, rows, WORDS)]
        sections.append("\n".join([*lines, *markdown.verdicts(verdicts)]))
    measuring.write(given, "arrival-robust", body, sections)


if __name__ == "__main__":
    harness.run(main)
