"""Advice in the terminal: what gains, how to get it, what would not help."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unisono.advise.predict import Advice
from unisono.advise.result import AT_BOUND, Result
from unisono.core.console import table
from unisono.trace.analysis import analyse
from unisono.trace.groups import Group
from unisono.trace.summary import collective_name, summarise
from unisono.trace.verdict import time_text, whom

HEAD = ("call site", "algorithm", "bytes", "calls", "takes", "gain", "from")
SOURCES = {"model": "model", "trace": "measured here", "memory": "measured before"}
FEW = 3  # algorithms that are named in a line


def show(result: Result, out: Console, top: int, profile: Path | None) -> None:
    for note in result.notes:
        out.print(Text(note, style="yellow"), soft_wrap=True)
    hosts = len({rank.host for rank in result.trace.ranks.values()})
    out.print(Text(result.trace.command(), style="bold"), soft_wrap=True)
    where = f"{result.trace.size} ranks on {hosts} host{'s' if hosts > 1 else ''}"
    took = f"{time_text(result.seconds)} as traced"
    took += f" (the mean of {len(result.traces)} jobs)" if len(result.traces) > 1 else ""
    out.print(f"{where}, {took}; what messages cost: {result.machine.source}")
    out.print(sites(result, top))
    total(result, out)
    to_get_it(result, out, profile)
    out.print(Text("What would not help", style="bold"))
    for line in not_helping(result):
        out.print(f"- {line}")


def sites(result: Result, top: int) -> Table:
    made = table(*HEAD, left=2)
    made.columns[-1].justify = "left"
    ranked = sorted(result.advices, key=lambda advice: -(advice.best.seconds if advice.best else 0.0))
    for advice in ranked[:top]:
        made.add_row(*row(advice, result.seconds))
    return made


def row(advice: Advice, seconds: float) -> tuple[str, ...]:
    group, shown = advice.group, advice.shown
    site = f"{collective_name(group.kind.collective)} at {group.place.text}"
    amounts = (str(group.size), str(group.calls), time_text(advice.traced_s))
    if shown is None:
        return (site, "none is faster", *amounts, "none", "")
    gain = f"undecided, {time_text(abs(shown.seconds))} {'less' if shown.seconds > 0 else 'more'}"
    if shown is advice.best:
        gain = f"{time_text(shown.seconds)} ({time_text(max(0.0, shown.low))} to {time_text(shown.high)})"
        gain += f", {100 * shown.seconds / seconds:.1f} %"
    return (site, shown.spec, *amounts, gain, SOURCES[shown.source])


def total(result: Result, out: Console) -> None:
    gain = result.gain
    if not result.choices:
        out.print("No algorithm surely gains anything.")
        return
    out.print(
        f"Together {time_text(gain.seconds)} of a run ({time_text(max(0.0, gain.low))} to "
        f"{time_text(gain.high)}), {100 * gain.seconds / result.seconds:.1f} % of it."
    )


def to_get_it(result: Result, out: Console, profile: Path | None) -> None:
    if not result.choices:
        return
    out.print(Text("To get it", style="bold"))
    command = shlex.join(result.trace.first.start.command)
    if profile:
        out.print(f"  UNISONO_PROFILE={profile} mpiexec ... unisono-exec {command}", soft_wrap=True)
    lines = " ".join(variable.line for variable in result.variables)
    covered = {variable.collective for variable in result.variables}
    if lines:
        out.print(f"  {lines} mpiexec ... unisono-exec {command}", soft_wrap=True)
    if not profile and any(choice.entry.collective not in covered for choice in result.choices):
        first = "" if result.machine.memory else ", after a run under Unisono there that says where it holds"
        out.print(f"  -o FILE writes a profile{first}: its calls want different algorithms", soft_wrap=True)
    for choice in result.choices:
        if choice.conflict:
            out.print(f"  {choice.entry.collective}: {choice.conflict}")


def not_helping(result: Result) -> Iterator[str]:
    away = max(0.0, result.seconds - result.collectives_s())
    yield f"Other algorithms do not touch {time_text(away)} of the run: it is outside of these collectives."
    if result.waiting_s() > AT_BOUND * result.collectives_s():
        yield f"{time_text(result.waiting_s())} is waiting for late ranks{late(result)}."
    for advice in result.advices:
        if is_at_bound(advice):
            group = advice.group
            yield f"{group.kind.collective} at {group.place.text} is at the bound of its network already."
    for advice in result.advices:
        losing = [gain.spec for gain in reversed(advice.gains) if gain.decision == "loses"]
        if losing:
            group = advice.group
            more = f" and {len(losing) - FEW} others" if len(losing) > FEW else ""
            names = ", ".join(losing[:FEW])
            yield f"{group.kind.collective} at {group.place.text}: slower are {names}{more}."
    unknown = sorted({f"{a.group.kind.collective} {spec}" for a in result.advices for spec in unmeasured(a)})
    if unknown:
        more = f" and {len(unknown) - FEW} others" if len(unknown) > FEW else ""
        yield f"Nothing is known of {', '.join(unknown[:FEW])}{more}: the model has no time for them."
    yield from result.doubts
    yield from (f"Left out: {line}." for line in result.left_out)


def unmeasured(advice: Advice) -> Iterator[str]:
    """Arms of which neither the model nor a measurement knows anything."""
    ran = set(map(str, advice.group.algorithm))
    return (spec for spec in advice.unknown if advice.gain(spec) is None and spec not in ran)


def is_at_bound(advice: Advice) -> bool:
    """In all jobs."""

    def is_one(group: Group) -> bool:
        elapsed = float(group.elapsed.sum())
        moving = float(group.split.transfer.sum()) > 0.5 * elapsed
        return moving and float(group.split.inefficiency.sum()) < AT_BOUND * elapsed

    return all(is_one(group) for group in advice.groups)


def late(result: Result) -> str:
    """At the site with most of it; of several jobs there may be several."""
    if len(result.traces) > 1:
        return ""
    worst = max(result.advices, key=lambda advice: advice.waiting_s * advice.group.ranks).group
    for site in summarise(analyse(result.trace)).sites:
        if site.place.text == worst.place.text and site.collective == worst.kind.collective:
            return f", most at {worst.place.text} for {whom(site)}"
    return ""
