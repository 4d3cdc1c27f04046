"""Process arrival patterns, Figures 6 to 10: what imbalance does to algorithms.

  .venv/bin/python -m experiments.arrival.impact --bed lab --ranks 16 --mpi openmpi
  .venv/bin/python -m experiments.arrival.impact --bed sim:ethernet:16 --collectives bcast
  .venv/bin/python -m experiments.arrival.impact --from docs/results/arrival/impact-openmpi-16.json.zst

Every rank waits r times the time of one message after a barrier, r drawn below MAX_IF, then calls the
collective; all algorithms have the same patterns. Times are the mean over the ranks, with 95 % confidence
intervals over the patterns; comparisons are of the same patterns. Computing is sleeping: as if
every rank had a processor of its own.

Jobs of one algorithm differ by more than its patterns: with --jobs N all algorithms run in turn, N times, and
what is compared are the ratios of the N rounds (of the patterns, with one job, as in the simulator). Raw
results of every job are kept, and --json and --markdown written anew after every figure.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from matplotlib.figure import Figure
from rich import box
from rich.table import Table
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError

from experiments import harness, markdown
from experiments.arrival import measuring
from experiments.arrival.measuring import NATIVE, Mean, Place, forced, paired_ratio
from experiments.harness import Check, above, below, every
from experiments.testbeds import Json

ALGORITHMS = {
    "alltoall": ("simple", "bruck", "pair", "ring", NATIVE),
    "bcast": ("flat", "binomial", "scatter_allgather", NATIVE),
}
SIZES = (1, 65536)
MAX_IF = (1, 4, 10, 50, 100)
BALANCED, IMBALANCED = (1, 4), (50, 100)  # where the paper's figures say who is best
ALIKE = 1.25
CLOSE = 1.05
EXPERIMENT = "arrival-impact"


@dataclass(frozen=True)
class Panel:
    """One figure: a collective at one size."""

    collective: str
    bytes: int
    message_s: float
    times: Mapping[tuple[str, int], tuple[float, ...]]  # by algorithm and MAX_IF: seconds in each pattern,
    # those of the first job, then those of the next; of all algorithms equally many in each
    jobs: int = 1

    @property
    def title(self) -> str:
        return f"{self.collective}, {format_size(self.bytes)}"

    @property
    def algorithms(self) -> list[str]:
        return list(dict.fromkeys(algorithm for algorithm, _ in self.times))

    @property
    def maxima(self) -> list[int]:
        return sorted({maximum for _, maximum in self.times})

    def mean(self, algorithm: str, maximum: int) -> Mean:
        return measuring.mean(self.times[algorithm, maximum])

    def best(self, maximum: int, among: Sequence[str] = ()) -> str:
        return min(among or self.algorithms, key=lambda name: fmean(self.times[name, maximum]))

    def ratio(self, own: str, other: str, maximum: int) -> tuple[float, float, float]:
        return paired_ratio(self.by_job(own, maximum), self.by_job(other, maximum))

    def by_job(self, algorithm: str, maximum: int) -> Sequence[float]:
        """The mean of every job; with one job, its patterns."""
        times = self.times[algorithm, maximum]
        if self.jobs == 1:
            return times
        count = len(times) // self.jobs
        return [fmean(times[first : first + count]) for first in range(0, len(times), count)]

    def faster(self, own: str, others: Sequence[str], maxima: Sequence[int]) -> tuple[bool | None, str]:
        """Whether surely faster than each of the others at every maximum; the ratio that says most."""
        asked = [(m, other) for m in maxima if m in self.maxima for other in others]
        ratios = {(m, other): self.ratio(own, other, m) for m, other in asked}
        (maximum, other), (ratio, low, high) = max(ratios.items(), key=lambda item: item[1][2])
        text = f"{ratio:.2f} ({low:.2f} to {high:.2f}) of {other}'s time at {maximum}"
        return every(below(low, high, 1) for _, low, high in ratios.values()), text

    def lead(self, own: str, others: Sequence[str], maximum: int) -> Mean:
        """By how much own is ahead of the best of the others, in seconds."""
        best = self.by_job(self.best(maximum, others), maximum)
        pairs = zip(best, self.by_job(own, maximum), strict=False)
        return measuring.mean([other - mine for other, mine in pairs])


def checks(panel: Panel) -> list[Check]:
    """What section 6 says of Figures 7 to 10, as far as these algorithms ran here."""
    there = set(panel.algorithms)
    found: list[Check] = []

    def claim(text: str, own: str, others: Sequence[str], maxima: Sequence[int]) -> None:
        if own in there and there.issuperset(others) and set(maxima) & set(panel.maxima):
            found.append(Check(text, *panel.faster(own, others, maxima)))

    if panel.collective == "alltoall":
        others = [name for name in panel.algorithms if name in ("bruck", "pair", "ring")]
        if panel.bytes < 1024:
            claim("balanced: bruck is faster than ring", "bruck", ["ring"], BALANCED)
            claim("balanced: bruck is faster than pair", "bruck", ["pair"], BALANCED)
            claim("balanced: ring is faster than simple", "ring", ["simple"], BALANCED)
            claim("imbalanced: simple is faster than all others", "simple", others, IMBALANCED)
        else:
            others = [name for name in others if name != "bruck"]
            claim("balanced: pair is faster than ring", "pair", ["ring"], BALANCED)
            claim("balanced: ring is faster than simple", "ring", ["simple"], BALANCED)
            claim("imbalanced: simple is faster than all others", "simple", others, IMBALANCED)
        found += alike(panel)
    else:
        others = [name for name in panel.algorithms if name != "flat"]
        if panel.bytes >= 1024:
            claim("balanced: binomial is faster than flat", "binomial", ["flat"], BALANCED)
        claim("imbalanced: flat is faster than all others", "flat", others, IMBALANCED)
        if panel.bytes >= 1024:
            found += widening(panel, others)
    found += crossing(panel)
    return found


def crossing(panel: Panel) -> list[Check]:
    """The paper's conclusion; which algorithms does not matter."""
    claim = "curves cross: the best when balanced is not the best when imbalanced"
    first, last = panel.maxima[0], panel.maxima[-1]
    balanced, imbalanced = panel.best(first), panel.best(last)
    text = f"{balanced} at {first}, {imbalanced} at {last}"
    if balanced == imbalanced:
        ends = [
            panel.ratio(o, balanced, m)[1] for m in (first, last) for o in panel.algorithms if o != balanced
        ]
        # Nobody can be faster by 5 % at either end, so there is nothing to cross.
        return [Check(claim, False if min(ends) >= 1 / CLOSE else None, text)]
    before, after = (panel.ratio(imbalanced, balanced, m) for m in (first, last))
    ratios = " and ".join(f"{r:.2f} ({low:.2f} to {high:.2f})" for r, low, high in (before, after))
    answer = True if before[1] > 1 and after[2] < 1 else None
    return [Check(claim, answer, f"{text}, which takes {ratios} of the other's time")]


def alike(panel: Panel) -> list[Check]:
    def spread(maximum: int) -> tuple[float, float, float]:
        """The slowest by the fastest."""
        slowest = max(panel.algorithms, key=lambda name: fmean(panel.times[name, maximum]))
        return panel.ratio(slowest, panel.best(maximum), maximum)

    first, last = spread(panel.maxima[0]), spread(panel.maxima[-1])
    numbers = "slowest / fastest " + ", ".join(
        f"{ratio:.2f} ({low:.2f} to {high:.2f}) at {maximum}"
        for (ratio, low, high), maximum in zip(
            (first, last), (panel.maxima[0], panel.maxima[-1]), strict=True
        )
    )
    narrower = below(last[1] / first[2], last[2] / first[1], 1)
    answer = every((below(last[1], last[2], ALIKE), narrower))
    return [Check("very imbalanced: all take about as long", answer, numbers)]


def widening(panel: Panel, others: Sequence[str]) -> list[Check]:
    """Of flat's lead over the best other: where the paper has flat ahead it must be one, and grow."""
    large = [m for m in panel.maxima if m in IMBALANCED]
    if "flat" not in panel.algorithms or len(large) < 2:
        return []
    leads = [panel.lead("flat", others, m) for m in large]
    numbers = ", ".join(
        f"{1e3 * lead.value:.3g} ms ({1e3 * lead.low:.3g} to {1e3 * lead.high:.3g}) at {m}"
        for m, lead in zip(large, leads, strict=True)
    )
    growth = [after.value - before.value for before, after in pairwise(leads)]
    halves = [math.hypot(before.half, after.half) for before, after in pairwise(leads)]
    grows = [above(by - half, by + half, 0) for by, half in zip(growth, halves, strict=True)]
    ahead = [above(lead.low, lead.high, 0) for lead in leads]
    return [
        Check("imbalanced: flat leads, and by more the larger the imbalance", every(ahead + grows), numbers)
    ]


# --- measuring and showing ------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    maxima: tuple[int, ...]
    seconds: float  # for one algorithm at one maximum
    calls: int
    patterns: int
    jobs: int


def measured(place: Place, collective: str, size: int, given: Settings) -> Panel:
    """All algorithms in each round, forwards and backwards in turn."""
    message = place.message_seconds(size)
    power = place.ranks & (place.ranks - 1) == 0
    algorithms = [name for name in ALGORITHMS[collective] if power or name != "pair"]
    found: dict[tuple[str, int], list[list[float]]] = {(a, m): [] for a in algorithms for m in given.maxima}
    for job in range(given.jobs):
        for algorithm in algorithms if job % 2 == 0 else reversed(algorithms):
            arguments = ["--collective", collective, "--bytes", str(size), "--barrier"]
            arguments += ["--max-if", ",".join(map(str, given.maxima)), "--calls", str(given.calls)]
            arguments += ["--patterns", str(given.patterns), "--seconds", str(given.seconds / given.jobs)]
            arguments += ["--message-us", repr(message * 1e6)]
            result = place.run(arguments, forced(collective, algorithm), job)
            for maximum, patterns in result.patterns:
                found[algorithm, maximum].append([fmean(own.mean_elapsed_s) for own in patterns])
    # Of all algorithms equally many patterns in each job; with one job, as many as each had time for.
    counts = {m: [len(job) for a in algorithms for job in found[a, m]] for m in given.maxima}
    fewest = {m: min(own) if given.jobs > 1 else max(own) for m, own in counts.items()}
    times = {key: tuple(t for job in jobs for t in job[: fewest[key[1]]]) for key, jobs in found.items()}
    return Panel(collective, size, message, times, given.jobs)


def rows_of(panel: Panel) -> list[tuple[str, ...]]:
    rows = []
    for maximum in panel.maxima:
        best = panel.best(maximum)
        cells = []
        for algorithm in panel.algorithms:
            own = panel.mean(algorithm, maximum)
            mark = " *" if algorithm == best else ""
            cells.append(f"{own.value * 1e3:.3g} ± {own.half * 1e3:.1g}{mark}")
        fewest = min(len(panel.times[name, maximum]) for name in panel.algorithms)
        rows.append((str(maximum), *cells, str(fewest)))
    return rows


def head(panel: Panel) -> tuple[str, ...]:
    return "MAX_IF", *panel.algorithms, "patterns"


def table(name: str, panel: Panel) -> Table:
    title = f"{name}: {panel.title}, ms, T = {panel.message_s * 1e3:.3g} ms"
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    for column in head(panel):
        made.add_column(column, justify="right", no_wrap=True)
    for row in rows_of(panel):
        made.add_row(*row)
    return made


def plot(panels: Sequence[Panel]) -> Figure:
    figure = Figure(figsize=(5 * len(panels), 3.5), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for algorithm in panel.algorithms:
            means = [panel.mean(algorithm, maximum) for maximum in panel.maxima]
            values, halves = [1e3 * m.value for m in means], [1e3 * m.half for m in means]
            axes.errorbar(panel.maxima, values, halves, marker="o", markersize=3, label=algorithm)
        axes.set(xscale="log", yscale="log", xlabel="MAX_IF", title=f"{panel.title} (ms)")
        axes.legend(frameon=False, fontsize="small")
    return figure


def document(panels: Sequence[Panel]) -> list[Json]:
    return [
        {
            "collective": panel.collective,
            "bytes": panel.bytes,
            "message_s": panel.message_s,
            "jobs": panel.jobs,
            "points": [
                {"algorithm": algorithm, "max_if": maximum, "seconds": list(seconds)}
                for (algorithm, maximum), seconds in panel.times.items()
            ],
        }
        for panel in panels
    ]


def read(found: Sequence[Json]) -> list[Panel]:
    """What document() made."""
    return [
        Panel(
            one["collective"],
            one["bytes"],
            one["message_s"],
            {(point["algorithm"], point["max_if"]): tuple(point["seconds"]) for point in one["points"]},
            one.get("jobs", 1),
        )
        for one in found
    ]


def section(name: str, panels: Sequence[Panel]) -> str:
    lines = [f"### {name}", ""]
    for panel in panels:
        lines += [f"{panel.title}, ms, T = {panel.message_s * 1e3:.3g} ms, best: *", ""]
        lines += [*markdown.table(head(panel), rows_of(panel), ())]
        lines += markdown.verdicts(checks(panel))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.parser(__doc__ or "")
    add = parser.add_argument
    add("--collectives", default=",".join(ALGORITHMS), help="of alltoall, bcast")
    add("--sizes", default=",".join(map(str, SIZES)), help="bytes (1,65536)")
    add("--max-if", default=",".join(map(str, MAX_IF)), help="(1,4,10,50,100)")
    add("--seconds", type=float, default=3, help="for one algorithm at one MAX_IF (3)")
    add("--calls", type=int, default=2, help="of one pattern (2; the paper 100)")
    add("--patterns", type=int, default=32, help="at most, in a job (32)")
    add("--jobs", type=int, default=1, help="of every algorithm, which share --seconds (1)")
    add("--from", dest="kept", type=Path, help="evaluate what --json wrote to this file")
    given = parser.parse_args(arguments)
    if given.kept:
        raw = measuring.results_in(given.kept, EXPERIMENT)
        return shown(given, {name: read(panels) for name, panels in raw.items()})
    maxima = measuring.numbers_of(given.max_if, "--max-if")
    settings = Settings(maxima, given.seconds, given.calls, given.patterns, given.jobs)
    wanted = given.collectives.split(",")
    if not set(wanted) <= set(ALGORITHMS):
        raise UnisonoError(f"--collectives {given.collectives}: valid are {', '.join(ALGORITHMS)}")
    sizes = measuring.numbers_of(given.sizes, "--sizes")
    results: dict[str, list[Panel]] = {}
    for place in measuring.places_of(given):
        results[place.name] = []
        for collective, size in [(collective, size) for collective in wanted for size in sizes]:
            results[place.name].append(measured(place, collective, size, settings))
            write(given, results)
    return shown(given, results)


def write(given: argparse.Namespace, results: Mapping[str, Sequence[Panel]]) -> None:
    body = {name: document(panels) for name, panels in results.items()}
    sections = [section(name, panels) for name, panels in results.items()]
    measuring.write(given, EXPERIMENT, body, sections)


def shown(given: argparse.Namespace, results: Mapping[str, Sequence[Panel]]) -> int:
    write(given, results)
    for name, panels in results.items():
        for panel in panels:
            harness.console.print(table(name, panel))
        words = "".join(c if c.isalnum() else "-" for c in name)
        harness.save(plot(panels), f"arrival-impact-{words}")
    harness.report(
        {f"{n}: {panel.title}": checks(panel) for n, panels in results.items() for panel in panels}
    )
    return 0


if __name__ == "__main__":
    harness.run(main)
