"""Advice on several jobs of one program.

A trace shows a call site as one job had it. Natively some have states that last a whole job, as where ranks
drift apart (docs/adr/0046-short-trains.md), and what an algorithm gains depends on which one it was.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median, median_low

from unisono.advise import choose
from unisono.advise.predict import Advice, Gain, of_one_arm
from unisono.advise.result import Result, of_folder
from unisono.core.errors import UnisonoError
from unisono.trace.groups import Kind

Site = tuple[str, Kind, int]  # where, what calls, and which of those that are alike so far


def of_folders(folders: Sequence[Path], machine_file: Path | None) -> Result:
    """Of the trace in each folder."""
    found = [of_folder(folder, machine_file) for folder in folders]
    return found[0] if len(found) == 1 else of_jobs(found)


def of_jobs(results: Sequence[Result]) -> Result:
    """Shown as the job whose run took the median time, with the gains of all."""
    for other in results[1:]:
        refuse_other(results[0], other)
    middle = median_low(result.seconds for result in results)
    shown = next(result for result in results if result.seconds == middle)
    advices = together([shown.advices, *(result.advices for result in results if result is not shown)])
    if not advices and shown.advices:
        raise UnisonoError("no call site is in all of these traces: are they of one program?")
    left_out = list(shown.left_out)
    if fewer := max(len(result.advices) for result in results) - len(advices):
        left_out.append(f"{fewer} kinds of calls that are not in all of the traces")
    chosen = choose.choices(advices)
    return replace(
        shown,
        advices=tuple(advices),
        left_out=tuple(left_out),
        choices=tuple(chosen),
        variables=tuple(choose.variables(advices, chosen)),
        jobs=len(results),
    )


def refuse_other(one: Result, other: Result) -> None:
    for what, ours, theirs in (
        ("ranks", one.trace.size, other.trace.size),
        ("MPI library", one.trace.first.start.get("mpi"), other.trace.first.start.get("mpi")),
    ):
        if ours != theirs:
            raise UnisonoError(
                f"{other.trace.folder}: {what}: {theirs}, but {ours} in {one.trace.folder}; "
                "several traces must be of the same program at the same scale"
            )


def together(jobs: Sequence[Sequence[Advice]]) -> list[Advice]:
    """On the call sites that all jobs have, in the first one's order and with its calls."""
    by_site = [sites(advices) for advices in jobs]
    common = [site for site in by_site[0] if all(site in own for own in by_site)]
    return [of_site([own[site] for own in by_site]) for site in common]


def sites(advices: Sequence[Advice]) -> dict[Site, Advice]:
    found: dict[Site, Advice] = {}
    for advice in advices:
        # Numbers of call sites are a trace's own.
        place, kind = advice.group.place.text, replace(advice.group.kind, site=0)
        alike = sum((place, kind) == site[:2] for site in found)
        found[place, kind, alike] = advice
    return found


def of_site(own: Sequence[Advice]) -> Advice:
    gains = []
    for gain in own[0].gains:
        every = [found for advice in own if (found := advice.gain(gain.spec))]
        if len(every) == len(own):
            gains.append(of_arm(every))
    unknown = dict.fromkeys(spec for advice in own for spec in advice.unknown)
    return replace(
        own[0],
        traced_s=median(advice.traced_s for advice in own),
        gains=tuple(sorted(gains, key=lambda gain: -gain.seconds)),
        unknown=tuple(unknown),
    )


def of_arm(every: Sequence[Gain]) -> Gain:
    """The median; what is possible in any of the jobs is possible."""
    return of_one_arm(
        every,
        median(gain.seconds for gain in every),
        min(gain.low for gain in every),
        max(gain.high for gain in every),
    )
