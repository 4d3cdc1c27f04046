"""A report as JSON: docs/reference/report.schema.json."""

from typing import Any

from unisono import __version__
from unisono.trace.reader import Trace
from unisono.trace.summary import SMALL_BYTES, Site, Statistic, Summary, collective_name, distribution
from unisono.trace.verdict import verdict

SCHEMA = "unisono-report"
VERSION = 1
Json = dict[str, Any]


def to_json(summary: Summary) -> Json:
    analysis = summary.analysis
    count = analysis.count
    main = {routine.collective: routine.statistic for routine in summary.main}
    return {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "unisono": __version__,
        "trace": trace_json(analysis.trace),
        "notes": analysis.trace.notes,
        "program": {
            "seconds": analysis.seconds,
            "calls": count.complete,
            "incomplete_calls": count.incomplete,
            "mismatched_calls": count.mismatched,
            "single_rank_calls": analysis.alone,
            "unmatched_events": count.unmatched_events,
            "all_calls": statistic_json(summary.whole) if summary.whole else None,
        },
        "one_way": [{"bytes": size, "seconds": time} for size, time in analysis.trace.one_way.items()],
        "distribution": {
            "small_bytes": SMALL_BYTES,
            "classes": [
                {"worst_imbalance_factor_from": at, "small": small, "large": large}
                for at, small, large in distribution(analysis.calls)
            ],
        },
        "routines": [
            {
                "collective": routine.collective,
                "routine": collective_name(routine.collective),
                **statistic_json(routine.statistic),
                "main_loop": statistic_json(main[routine.collective]) if routine.collective in main else None,
            }
            for routine in summary.routines
        ],
        "call_sites": [site_json(site, analysis.trace) for site in summary.sites],
    }


def trace_json(trace: Trace) -> Json:
    start = trace.first.start
    return {
        "command": list(map(str, start.get("command", []))),
        "mpi": str(start.get("mpi", "")),
        "unisono": str(start.get("unisono", "")),
        "started_unix_s": start.get("started_unix_s"),
        "ranks": trace.size,
        "traced_ranks": len(trace.ranks),
        "aborted_ranks": [rank.rank for rank in trace.ranks.values() if rank.ended_ns is None],
        "hosts": len({rank.host for rank in trace.ranks.values()}),
        "events": trace.events,
    }


def statistic_json(own: Statistic) -> Json:
    return {
        "calls": own.calls,
        "bytes": {"least": own.bytes_least, "mean": own.bytes_mean, "most": own.bytes_most},
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


def site_json(site: Site, trace: Trace) -> Json:
    return {
        "site": site.place.text,
        "file": site.place.file or None,
        "line": site.place.line or None,
        "function": site.place.function or None,
        "collective": site.collective,
        "routine": collective_name(site.collective),
        "main_loop": site.main,
        "share_of_collective_time": site.share,
        **statistic_json(site.statistic),
        "phases": [
            {
                "first_call": phase.first,
                "last_call": phase.last,
                "begin_s": float(site.calls["begin"][phase.first]),
                "end_s": float(site.calls["begin"][phase.last] + site.calls["elapsed"][phase.last]),
                "median_worst_imbalance_time_s": phase.median,
            }
            for phase in site.phases
        ],
        "late_ranks": [
            {
                "rank": late.rank,
                "host": trace.ranks[late.rank].host,
                "share_last": late.last_share,
                "share_of_imbalance_late": late.late_share,
            }
            for late in site.late
        ],
        "algorithms": site.algorithms,
        "calls_from_several_sites": site.several,
        "verdict": verdict(site),
    }
