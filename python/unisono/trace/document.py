"""A report as JSON; docs/reference/schemas/report.json is generated from these."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from unisono.core import documents
from unisono.trace.analysis import Analysis
from unisono.trace.reader import Trace
from unisono.trace.summary import SMALL_BYTES, Site, Statistic, Summary, collective_name, distribution
from unisono.trace.verdict import verdict

Json = dict[str, Any]
Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


def said(description: str) -> Meta:
    return Meta(description=description)


class Traced(msgspec.Struct):
    """The run that was traced."""

    command: list[str]
    mpi: Annotated[str, said("What the MPI library calls itself.")]
    unisono: Annotated[str, said("Version that traced.")]
    started_unix_s: Annotated[float | None, said("Rank 0's start.")]
    ranks: Annotated[int, said("Of MPI_COMM_WORLD.")]
    traced_ranks: Annotated[int, said("Those with files.")]
    aborted_ranks: Annotated[list[int], said("Did not reach MPI_Finalize.")]
    hosts: int
    events: Annotated[int, said("Calls of all ranks together, complete or not.")]


class Bytes(msgspec.Struct):
    """As the trace counts them (trace.md), mean over the ranks of a call."""

    least: float
    mean: float
    most: float


class StatisticRow(msgspec.Struct, kw_only=True):
    """Of some calls; means per call."""

    calls: Annotated[Count, said("Calls that every traced rank entered and left.")]
    bytes: Bytes
    average_imbalance_time_s: Annotated[Seconds, said("Mean over ranks of |a_i - mean a|.")]
    worst_imbalance_time_s: Annotated[Seconds, said("max a - min a.")]
    clock_error_s: Annotated[Seconds, said("How wrong the worst-case imbalance time can be.")]
    below_clock_error: Annotated[bool, said("The worst-case time is.")]
    share_of_calls_below_clock_error: Share
    average_imbalance_factor: Annotated[
        Seconds | None, said("Imbalance time over the one-way time of a message, or null.")
    ]
    worst_imbalance_factor: Annotated[Seconds | None, said("Likewise.")]
    share_balanced: Annotated[Share | None, said("Of the calls: worst-case factor below 1.")]
    mean_per_rank_time_s: Annotated[Seconds, said("Mean over ranks of f_i - a_i: the next three.")]
    unavoidable_s: Annotated[Seconds, said("Waiting for arrivals.")]
    inefficiency_s: Annotated[Seconds, said("What another algorithm can win back at most.")]
    rest_s: Annotated[Seconds, said("Transfer that no algorithm avoids after the arrivals.")]
    seconds_per_rank: Annotated[Seconds, said("All calls together, mean over the ranks of the program.")]


class Program(msgspec.Struct):
    """All calls; the numbers of those that were left out."""

    seconds: Annotated[Seconds, said("From MPI_Init to MPI_Finalize, as far as it was traced.")]
    calls: Annotated[Count, said("Complete calls, those on one rank included.")]
    incomplete_calls: Annotated[Count, said("A rank never entered or left.")]
    mismatched_calls: Annotated[
        Count, said("Ranks called different collectives, or threads have mixed up communicators.")
    ]
    single_rank_calls: Annotated[Count, said("On communicators of one rank.")]
    unmatched_events: Annotated[Count, said("On inter-communicators, or with ranks outside MPI_COMM_WORLD.")]
    all_calls: Annotated[StatisticRow | None, said("Null: no call.")]


class OneWay(msgspec.Struct):
    """Time of one message."""

    bytes: Count
    seconds: float


class Class(msgspec.Struct):
    """Calls of a class of worst-case factors, which goes up to the next one's."""

    worst_imbalance_factor_from: float
    small: Annotated[Count, said("With messages of at most small_bytes.")]
    large: Count


class Distribution(msgspec.Struct):
    """Figure 2."""

    small_bytes: Count
    classes: list[Class]


class RoutineRow(StatisticRow, kw_only=True):
    """All calls of a collective."""

    collective: Annotated[str, said("As in UNISONO_<COLLECTIVE>.")]
    routine: Annotated[str, said("MPI's name.")]
    main_loop: Annotated[StatisticRow | None, said("Its calls in the main loop only.")]


class PhaseRow(msgspec.Struct):
    """Calls whose imbalance is alike; from 0, in the order of time, both included."""

    first_call: Count
    last_call: Count
    begin_s: Annotated[Seconds, said("Since the first event.")]
    end_s: Seconds
    median_worst_imbalance_time_s: Seconds


class LateRank(msgspec.Struct):
    """A rank that is late for two thirds or more of the imbalance time."""

    rank: Annotated[Count, said("Of MPI_COMM_WORLD.")]
    host: str
    share_last: Annotated[Share, said("Of the calls it took part in: it arrived last.")]
    share_of_imbalance_late: Annotated[Share, said("Of their worst-case times: in the later half.")]


class SiteRow(StatisticRow, kw_only=True):
    """A place in the program that calls a collective."""

    site: Annotated[str, said("file:line, or module+offset.")]
    file: Annotated[str | None, said("Whole path; null without debug information.")]
    line: Annotated[int | None, said("Likewise.")]
    function: Annotated[str | None, said("Null where unknown.")]
    inside: Annotated[
        str | None,
        said("The library, and its function, that the program called there. Null: it calls MPI itself."),
    ]
    collective: str
    routine: str
    main_loop: bool
    share_of_collective_time: Share
    phases: list[PhaseRow]
    late_ranks: list[LateRank]
    algorithms: Annotated[dict[str, int], said("Calls by algorithm; native: the MPI library's own.")]
    calls_from_several_sites: Annotated[Count, said("They count for the first rank's.")]
    verdict: str


class Document(documents.Document, tag="unisono.report", kw_only=True):
    """Where the time in collectives goes. Times in seconds; see report.md."""

    schema_version: int = 2
    trace: Traced
    notes: Annotated[list[str], said("What a reader must know before believing a number.")]
    program: Program
    one_way: list[OneWay]
    distribution: Distribution
    routines: list[RoutineRow]
    call_sites: list[SiteRow]


def document_of(summary: Summary) -> Document:
    analysis = summary.analysis
    main = {routine.collective: routine.statistic for routine in summary.main}
    return Document(
        trace=traced(analysis.trace),
        notes=list(analysis.trace.notes),
        program=program(analysis, summary.whole),
        one_way=[OneWay(size, time) for size, time in analysis.trace.one_way.items()],
        distribution=Distribution(SMALL_BYTES, [Class(*row) for row in distribution(analysis.calls)]),
        routines=[
            RoutineRow(
                collective=routine.collective,
                routine=collective_name(routine.collective),
                main_loop=row_of(main.get(routine.collective)),
                **of(routine.statistic),
            )
            for routine in summary.routines
        ],
        call_sites=[site_row(site, analysis.trace) for site in summary.sites],
    )


def traced(trace: Trace) -> Traced:
    start = trace.first.start
    return Traced(
        command=list(start.command),
        mpi=start.mpi,
        unisono=start.unisono,
        started_unix_s=start.started_unix_s or None,
        ranks=trace.size,
        traced_ranks=len(trace.ranks),
        aborted_ranks=[rank.rank for rank in trace.ranks.values() if rank.ended_ns is None],
        hosts=len({rank.host for rank in trace.ranks.values()}),
        events=trace.events,
    )


def program(analysis: Analysis, whole: Statistic | None) -> Program:
    count = analysis.count
    return Program(
        seconds=analysis.seconds,
        calls=count.complete,
        incomplete_calls=count.incomplete,
        mismatched_calls=count.mismatched,
        single_rank_calls=analysis.alone,
        unmatched_events=count.unmatched_events,
        all_calls=row_of(whole),
    )


def row_of(own: Statistic | None) -> StatisticRow | None:
    return StatisticRow(**of(own)) if own else None


def of(own: Statistic) -> Json:
    return {
        "calls": own.calls,
        "bytes": Bytes(own.bytes_least, own.bytes_mean, own.bytes_most),
        "average_imbalance_time_s": own.average_time,
        "worst_imbalance_time_s": own.worst_time,
        "clock_error_s": own.clock_error,
        "below_clock_error": own.below_clock_error,
        "share_of_calls_below_clock_error": own.unsure,
        "average_imbalance_factor": own.average_factor,
        "worst_imbalance_factor": own.worst_factor,
        "share_balanced": own.balanced,
        "mean_per_rank_time_s": own.elapsed,
        "unavoidable_s": own.waiting,
        "inefficiency_s": own.inefficiency,
        "rest_s": own.transfer,
        "seconds_per_rank": own.seconds_per_rank,
    }


def site_row(site: Site, trace: Trace) -> SiteRow:
    begin, elapsed = site.calls["begin"], site.calls["elapsed"]
    return SiteRow(
        site=site.place.text,
        file=site.place.file or None,
        line=site.place.line or None,
        function=site.place.function or None,
        inside=site.place.inside or None,
        collective=site.collective,
        routine=collective_name(site.collective),
        main_loop=site.main,
        share_of_collective_time=site.share,
        **of(site.statistic),
        phases=[
            PhaseRow(
                first_call=phase.first,
                last_call=phase.last,
                begin_s=float(begin[phase.first]),
                end_s=float(begin[phase.last] + elapsed[phase.last]),
                median_worst_imbalance_time_s=phase.median,
            )
            for phase in site.phases
        ],
        late_ranks=[
            LateRank(late.rank, trace.ranks[late.rank].host, late.last_share, late.late_share)
            for late in site.late
        ],
        algorithms=dict(site.algorithms),
        calls_from_several_sites=site.several,
        verdict=verdict(site),
    )
