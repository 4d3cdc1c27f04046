"""Advice as JSON: docs/guide/advise.md names the fields."""

from typing import Any

import msgspec

from unisono.advise import choose
from unisono.advise.predict import Advice, Gain
from unisono.advise.result import Result
from unisono.core import documents
from unisono.trace.document import Traced, traced

Json = dict[str, Any]


class SiteRow(msgspec.Struct):
    """Calls of one kind at one place in the program; times in seconds of the whole run."""

    site: str
    function: str | None
    collective: str
    ranks: int
    nodes: int
    root: int | None
    bytes: int
    profile_bytes: list[int]
    calls: int
    completion_s: float
    waiting_s: float
    algorithms: list[Json]  # algorithm, gain_s, low_s, high_s, decision, from, may_lose_packets
    without_prediction: list[str]


class Document(documents.Document, tag="unisono.advice", kw_only=True):
    """What other algorithms would gain (advise.md)."""

    trace: Traced  # of several jobs the first one
    jobs: int
    notes: list[str]
    costs_from: str
    run_s: float
    collectives_s: float
    waiting_s: float
    gain: Json
    sites: list[SiteRow]
    choices: list[Json]
    variables: dict[str, str]
    left_out: list[str]


def document_of(result: Result) -> Document:
    return Document(
        trace=traced(result.trace),
        jobs=len(result.traces),
        notes=[*result.notes, *result.doubts],
        costs_from=result.machine.source,
        run_s=result.seconds,
        collectives_s=result.collectives_s(),
        waiting_s=result.waiting_s(),
        gain=gain_json(result.gain),
        sites=[site_row(advice) for advice in result.advices],
        choices=[
            {
                "collective": choice.entry.collective,
                "ranks": choice.entry.ranks,
                "nodes": choice.entry.nodes,
                "bytes": [choice.entry.least, choice.entry.most],
                "conflict": choice.conflict or None,
                **gain_json(choice.gain),
            }
            for choice in result.choices
        ],
        variables={f"UNISONO_{each.collective.upper()}": each.gain.spec for each in result.variables},
        left_out=list(result.left_out),
    )


def gain_json(gain: Gain) -> Json:
    said: Json = {"gain_s": gain.seconds, "low_s": gain.low, "high_s": gain.high, "decision": gain.decision}
    if gain.spec:
        said = {"algorithm": gain.spec, **said, "from": gain.source}
        said["may_lose_packets"] = gain.may_lose_packets
    return said


def site_row(advice: Advice) -> SiteRow:
    group, entry = advice.group, choose.entry_of(advice)
    return SiteRow(
        site=group.place.text,
        function=group.place.function or None,
        collective=group.kind.collective,
        ranks=group.ranks,
        nodes=group.nodes,
        root=group.kind.root if group.kind.root >= 0 else None,
        bytes=group.size,
        profile_bytes=[entry.least, entry.most],
        calls=group.calls,
        completion_s=advice.traced_s,
        waiting_s=advice.waiting_s,
        algorithms=[gain_json(gain) for gain in advice.gains],
        without_prediction=list(advice.unknown),
    )
