"""The paper's tables from the calls: by routine, by call site, for the whole program."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unisono.trace.analysis import Analysis, Calls, Row
from unisono.trace.phases import Phase, phases
from unisono.trace.sites import Place

SMALL_BYTES = 1000  # the paper's border in Figure 2
FACTORS = (0.0, 1.0, 10.0, 100.0, 1000.0)  # classes begin here; the first is "balanced"
OFTEN, COVER, LEAST = 5, 0.9, 0.01  # main loop: see main_loop
LATE = 2 / 3  # of the imbalance time; ranks that arrive at random have 1/2


@dataclass(frozen=True)
class Statistic:
    """Over some calls; means per call unless said. Times in s; factors None without one-way times."""

    calls: int
    bytes_least: float
    bytes_mean: float
    bytes_most: float
    average_time: float
    worst_time: float
    clock_error: float
    average_factor: float | None
    worst_factor: float | None
    balanced: float | None  # share of calls with a worst-case factor below 1
    unsure: float  # share of calls with a worst-case imbalance time below the error of the clocks
    elapsed: float
    waiting: float
    transfer: float
    inefficiency: float
    seconds_per_rank: float  # all calls together, mean over the ranks of the program

    @property
    def below_clock_error(self) -> bool:
        return self.worst_time < self.clock_error


@dataclass(frozen=True)
class Late:
    rank: int
    last_share: float  # of the calls it took part in: arrived last
    late_share: float  # of their worst-case imbalance times: arrived in the later half


@dataclass(frozen=True)
class Site:
    place: Place
    collective: str
    statistic: Statistic
    share: float  # of the time in collectives
    main: bool  # in the main loop
    phases: list[Phase]
    late: list[Late]  # whoever is late for LATE of the imbalance time, the latest first
    algorithms: dict[str, int]  # calls by algorithm
    several: int  # calls whose ranks called from several places; the first rank's counts
    row: Row
    calls: Calls


@dataclass(frozen=True)
class Routine:
    collective: str
    statistic: Statistic


@dataclass(frozen=True)
class Summary:
    analysis: Analysis
    whole: Statistic | None  # None: no complete call
    routines: list[Routine]  # all, most time first
    main: list[Routine]  # the calls of main-loop sites only
    sites: list[Site]  # most time first


def summarise(analysis: Analysis) -> Summary:
    calls, size = analysis.calls, analysis.trace.size
    if not len(calls):
        return Summary(analysis, None, [], [], [])
    order = np.argsort(calls["row"], kind="stable")  # within a row still in the order of time
    borders = np.searchsorted(calls["row"][order], np.arange(len(analysis.rows) + 1))
    own = [calls[order[a:b]] for a, b in pairwise(borders)]
    statistics = [statistic(each, size) for each in own]
    main = main_loop([s.calls for s in statistics], [s.seconds_per_rank for s in statistics])
    whole = statistic(calls, size)
    places = analysis.sites.places(analysis.trace, {row.site for row in analysis.rows})
    sites = [
        make_site(analysis, row, own[at], statistics[at], places[row.site], at in main, whole)
        for at, row in enumerate(analysis.rows)
    ]
    sites.sort(key=lambda site: -site.statistic.seconds_per_rank)
    important = [site for site in sites if site.main]
    return Summary(analysis, whole, routines(sites, size), routines(important, size), sites)


def mean_or_none(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def statistic(calls: Calls, size: int) -> Statistic:
    """Precondition: at least one call. `size`: ranks of the program."""
    mean = {name: float(calls[name].mean(dtype=float)) for name in calls.dtype.names or () if name != "row"}
    one_way = calls["one_way"].astype(float)
    worst = calls["worst"] / one_way
    return Statistic(
        calls=len(calls),
        bytes_least=float(calls["bytes"].min()),
        bytes_mean=mean["bytes"],
        bytes_most=float(calls["bytes"].max()),
        average_time=mean["average"],
        worst_time=mean["worst"],
        clock_error=mean["error"],
        average_factor=mean_or_none(calls["average"] / one_way),
        worst_factor=mean_or_none(worst),
        balanced=mean_or_none(np.where(np.isnan(worst), np.nan, worst < 1)),
        unsure=float((calls["worst"] <= calls["error"]).mean()),
        elapsed=mean["elapsed"],
        waiting=mean["waiting"],
        transfer=mean["transfer"],
        inefficiency=mean["inefficiency"],
        seconds_per_rank=float((calls["elapsed"] * calls["ranks"]).sum()) / size,
    )


def main_loop(calls: Sequence[int], seconds: Sequence[float]) -> set[int]:
    """The sites of the program's main loop, as far as a trace can tell: called OFTEN or more, each with
    LEAST or more of the time in collectives, and of these as few as hold COVER of their time."""
    total = sum(seconds)
    often = [at for at, n in enumerate(calls) if n >= OFTEN and seconds[at] >= LEAST * total]
    often.sort(key=lambda at: -seconds[at])
    wanted = COVER * sum(seconds[at] for at in often)
    found: set[int] = set()
    held = 0.0
    for at in often:
        if held >= wanted:
            break
        found.add(at)
        held += seconds[at]
    return found


def make_site(
    analysis: Analysis, row: Row, calls: Calls, own: Statistic, place: Place, main: bool, whole: Statistic
) -> Site:
    floor = max(own.clock_error, 1e-9)
    numbers, counts = np.unique(calls["algorithm"], return_counts=True)
    return Site(
        place=place,
        collective=row.collective,
        statistic=own,
        share=own.seconds_per_rank / whole.seconds_per_rank if whole.seconds_per_rank else 0.0,
        main=main,
        phases=phases(calls["worst"].astype(float), floor),
        late=late_ranks(row),
        algorithms={analysis.algorithms[n]: int(c) for n, c in zip(numbers, counts, strict=True)},
        several=int(np.count_nonzero(calls["several"])),
        row=row,
        calls=calls,
    )


def late_ranks(row: Row) -> list[Late]:
    share = row.late_in / np.maximum(row.imbalance_of, 1e-300)
    last = row.last_in / np.maximum(row.calls_of, 1)
    found = [
        Late(int(row.ranks[at]), float(last[at]), float(share[at])) for at in np.flatnonzero(share >= LATE)
    ]
    return sorted(found, key=lambda late: (-late.last_share, -late.late_share, late.rank))


def routines(sites: Sequence[Site], size: int) -> list[Routine]:
    found = []
    for name in dict.fromkeys(site.collective for site in sites):
        calls = np.concatenate([site.calls for site in sites if site.collective == name])
        found.append(Routine(name, statistic(calls, size)))
    return sorted(found, key=lambda routine: -routine.statistic.seconds_per_rank)


def distribution(calls: Calls) -> list[tuple[float, int, int]]:
    """Figure 2: for each class of worst-case factors where it begins, and its calls with messages of at
    most SMALL_BYTES and with larger ones. Empty without one-way times."""
    known = calls[~np.isnan(calls["one_way"])]
    if not len(known):
        return []
    place = np.searchsorted(FACTORS, known["worst"] / known["one_way"], side="right") - 1
    small = known["message"] <= SMALL_BYTES
    counts = [np.bincount(place[part], minlength=len(FACTORS)) for part in (small, ~small)]
    return [(at, int(counts[0][n]), int(counts[1][n])) for n, at in enumerate(FACTORS)]


def collective_name(name: str) -> str:
    """alltoall: MPI_Alltoall"""
    return "MPI_" + name.capitalize()
