"""A report in the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from unisono.core.console import table
from unisono.core.shown import line, shown
from unisono.trace.analysis import Analysis
from unisono.trace.reader import Trace
from unisono.trace.summary import (
    FACTORS,
    SMALL_BYTES,
    Routine,
    Site,
    Statistic,
    Summary,
    collective_name,
    distribution,
)
from unisono.trace.verdict import bytes_text, factor_text, percent, shares, time_text, verdict


def headline(trace: Trace) -> str:
    hosts = len({rank.host for rank in trace.ranks.values()})
    on = f"on {hosts} host{'s' if hosts > 1 else ''}"
    return f"{trace.command() or shown(str(trace.folder))}: {trace.size} ranks {on}, {trace.events} events"


def left_out(analysis: Analysis) -> list[str]:
    said = [
        *analysis.count.left_out(),
        (analysis.alone, "calls on communicators of one rank"),
    ]
    return [f"left out: {what}: {number}" for number, what in said if number]


def show(summary: Summary, console: Console, top: int) -> None:
    analysis = summary.analysis
    console.print(Text(headline(analysis.trace), style="bold"), soft_wrap=True)
    for note in [*analysis.trace.notes, *left_out(analysis)]:
        console.print(Text(line(note), style="yellow"), soft_wrap=True)
    if summary.whole is None:
        console.print("no complete call of a collective")
        return
    show_program(summary, summary.whole, console)
    show_routines("Collectives (Table 3)", summary.routines, console)
    show_routines("Main loop (Table 5)", summary.main, console)
    show_distribution(summary, console)
    show_sites(summary.sites[:top], console)
    if len(summary.sites) > top:
        console.print(f"{len(summary.sites) - top} more call sites: --top {len(summary.sites)}")


def show_program(summary: Summary, whole: Statistic, console: Console) -> None:
    seconds = summary.analysis.seconds
    share = f" ({percent(whole.seconds_per_rank / seconds)})" if seconds else ""
    console.print(
        f"{time_text(seconds)}, of which {time_text(whole.seconds_per_rank)} in collectives{share}, "
        f"mean over ranks; {whole.calls} calls"
    )
    console.print()
    console.print(Text("Imbalance of all calls (Table 4)", style="bold"))
    made = table("", "average", "worst", left=1)
    made.add_row("factor", factor_text(whole.average_factor), factor_text(whole.worst_factor))
    sure = "" if not whole.below_clock_error else f"< {time_text(whole.clock_error)}"
    made.add_row("time", sure or time_text(whole.average_time), sure or time_text(whole.worst_time))
    console.print(made)
    console.print(error_text(whole))


def error_text(own: Statistic) -> str:
    if own.clock_error == 0:
        return "all ranks read one clock"
    told = f"clocks agree within {time_text(own.clock_error)}"
    if own.below_clock_error:
        return f"{told}: the imbalance times are below that"
    return f"{told}; {percent(own.unsure)} of the calls have an imbalance below that"


def show_routines(heading: str, routines: Sequence[Routine], console: Console) -> None:
    if not routines:
        return
    console.print(Text(heading, style="bold"))
    made = table(
        "routine", "bytes", "calls", "time per call", "imbalance time", "factor ave.", "worst", "balanced"
    )
    for routine in routines:
        own = routine.statistic
        made.add_row(
            collective_name(routine.collective),
            bytes_text(own.bytes_least, own.bytes_most),
            str(own.calls),
            time_text(own.elapsed),
            f"< {time_text(own.clock_error)}" if own.below_clock_error else time_text(own.worst_time),
            factor_text(own.average_factor),
            factor_text(own.worst_factor),
            "-" if own.balanced is None else percent(own.balanced),
        )
    console.print(made)


def class_text(number: int) -> str:
    if number == 0:
        return "< 1 (balanced)"
    if number == len(FACTORS) - 1:
        return f">= {FACTORS[number]:.0f}"
    return f"{FACTORS[number]:.0f} - {FACTORS[number + 1]:.0f}"


def show_distribution(summary: Summary, console: Console) -> None:
    classes = distribution(summary.analysis.calls)
    if not classes:
        return
    console.print(Text("Calls by worst-case imbalance factor (Figure 2)", style="bold"))
    made = table("factor", f"messages up to {SMALL_BYTES} B", "", "larger", "")
    totals = [sum(row[part] for row in classes) for part in (1, 2)]
    for number, (_, *counts) in enumerate(classes):
        cells = []
        for count, total in zip(counts, totals, strict=True):
            cells += [str(count), percent(count / total) if total else ""]
        made.add_row(class_text(number), *cells)
    console.print(made)


def show_sites(sites: Sequence[Site], console: Console) -> None:
    """Who is late, and how often that changes, the sentences below say."""
    console.print(Text("Call sites", style="bold"))
    made = table("call site", "calls", "share", "per call", "waiting", "transfer", "inefficient", "factor")
    for site in sites:
        own = site.statistic
        waiting, inefficiency, transfer = shares(site)
        made.add_row(
            Text(
                line(
                    f"{collective_name(site.collective)} at {site.place.text}{' *' if site.main else ''}", 100
                )
            ),
            str(own.calls),
            percent(site.share),
            time_text(own.elapsed),
            percent(waiting),
            percent(transfer),
            percent(inefficiency),
            factor_text(own.worst_factor),
        )
    console.print(made)
    console.print(Text("* main loop; share: of the time in collectives; factor: worst-case\n", style="dim"))
    for site in sites:
        console.print(Text(verdict(site)), soft_wrap=True)
