"""Advice on several jobs of one program, which made the same calls.

A trace shows a call site as one job had it. Natively some have states that last a whole job, as where ranks
drift apart (docs/adr/0046-short-trains.md), and what an algorithm gains depends on which one it was. What is
said of several jobs is the mean: only means of call sites add up to what a run takes.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from unisono.advise import machine, predict
from unisono.advise.predict import Advice, Gain, of_one_arm
from unisono.advise.result import Result, chosen, of_folder
from unisono.core.errors import UnisonoError
from unisono.trace.groups import Group, Kind, numbered
from unisono.trace.reader import Trace
from unisono.trace.sites import Place
from unisono.trace.summary import collective_name

SAME = "several traces must be of the same program, doing the same in the same place"


class Site(NamedTuple):
    """What calls of two jobs have in common: numbers of call sites are a trace's own."""

    place: Place
    offset: int
    kind: Kind


def site_of(group: Group) -> Site:
    return Site(group.place, group.place.offset, replace(group.kind, site=0))


def of_folders(folders: Sequence[Path], machine_file: Path | None) -> Result:
    """On the trace in each folder. An error of one line where these are not of like jobs."""
    for at, folder in enumerate(folders):
        if os.path.realpath(folder) in map(os.path.realpath, folders[:at]):
            raise UnisonoError(f"{folder} is named twice: every trace counts once")
    found = [of_folder(folder, machine_file) for folder in folders]
    if len(found) == 1:
        return found[0]
    for other in found[1:]:
        refuse_other(found[0], other)
    specs = asked(found)
    if any(gain_specs(advice) < specs[advice.group.kind.collective] for r in found for advice in r.advices):
        # What the model cuts messages into may differ by job.
        more = {collective: sorted(own) for collective, own in specs.items()}
        found = [of_folder(folder, machine_file, more) for folder in folders]
    return of_jobs(found)


def gain_specs(advice: Advice) -> set[str]:
    return {gain.spec for gain in advice.gains}


def asked(results: Sequence[Result]) -> Mapping[str, set[str]]:
    specs: dict[str, set[str]] = {}
    for advice in (advice for result in results for advice in result.advices):
        specs.setdefault(advice.group.kind.collective, set()).update(gain_specs(advice))
    return specs


def of_jobs(results: Sequence[Result]) -> Result:
    advices = together([result.advices for result in results])
    left_out = [
        line if all(line in each.left_out for each in results) else f"{result.trace.folder}: {line}"
        for result in results
        for line in result.left_out
    ]
    every = {site_of(advice.group) for result in results for advice in result.advices}
    if few := len(every) - len(advices):
        left_out.append(f"kinds of calls that take too little of the run in some of the jobs: {few}")
    return chosen(
        replace(
            results[0],
            traces=tuple(result.trace for result in results),
            seconds=mean(result.seconds for result in results),
            advices=tuple(advices),
            left_out=tuple(dict.fromkeys(left_out)),
        )
    )


def refuse_other(one: Result, other: Result) -> None:
    for what, ours, theirs in differences(one, other):
        if ours != theirs:
            where = f"{what}: {theirs} in {other.trace.folder}, {ours} in {one.trace.folder}"
            raise UnisonoError(f"{where}; {SAME}")


def differences(one: Result, other: Result) -> Iterator[tuple[str, object, object]]:
    """What must be equal."""
    yield "ranks", one.trace.size, other.trace.size
    yield "MPI library", one.trace.first.start.mpi, other.trace.first.start.mpi
    yield "hosts of the ranks", numbered_hosts(one.trace), numbered_hosts(other.trace)
    yield "what messages cost", one.machine.source, other.machine.source
    sizes = set(one.trace.one_way) & set(other.trace.one_way)
    if sizes and len(set(numbered_hosts(one.trace))) > 1 and one.machine.error == machine.TRACE_ERROR:
        # The traces alone say what the network is. Within a node their times are of single messages to ranks
        # that share cores, and tell nothing.
        ours, theirs = (job.trace.one_way[max(sizes)] for job in (one, other))
        if max(ours / theirs, theirs / ours) > machine.ALIKE:
            yield f"seconds of a message of {max(sizes)} bytes", ours, theirs
    own, its = calls_of(one), calls_of(other)
    for site in dict.fromkeys([*own, *its]):
        name = f"{collective_name(site.kind.collective)} at {site.place.text}"
        yield f"calls of {name}", own.get(site, NONE).number, its.get(site, NONE).number
        yield f"what ran {name}", own.get(site, NONE).algorithm, its.get(site, NONE).algorithm


class Calls(NamedTuple):
    number: int
    algorithm: str  # of most of them


NONE = Calls(0, "")


def numbered_hosts(trace: Trace) -> tuple[int, ...]:
    """Of each rank."""
    return numbered([trace.ranks[rank].host for rank in sorted(trace.ranks)])


def calls_of(result: Result) -> dict[Site, Calls]:
    return {site_of(group): Calls(group.calls, predict.running(group)) for group in result.groups}


def together(jobs: Sequence[Sequence[Advice]]) -> list[Advice]:
    """On the call sites that all of the jobs have, in the order of the first one."""
    by_site = [{site_of(advice.group): advice for advice in advices} for advices in jobs]
    common = [site for site in by_site[0] if all(site in own for own in by_site)]
    return [of_site([own[site] for own in by_site]) for site in common]


def of_site(own: Sequence[Advice]) -> Advice:
    known = [spec for spec in gain_specs(own[0]) if all(advice.gain(spec) for advice in own)]
    gains = [of_arm([gain for advice in own if (gain := advice.gain(spec))]) for spec in known]
    return Advice(
        tuple(advice.group for advice in own),
        mean(advice.traced_s for advice in own),
        tuple(sorted(gains, key=lambda gain: (-gain.seconds, gain.spec))),
        tuple(dict.fromkeys(spec for advice in own for spec in advice.unknown)),
    )


def of_arm(every: Sequence[Gain]) -> Gain:
    """What is possible in one of the jobs is possible, up to the mean of what is possible at most."""
    return of_one_arm(
        every,
        mean(gain.seconds for gain in every),
        min(gain.low for gain in every),
        mean(gain.high for gain in every),
    )
