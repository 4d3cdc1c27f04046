"""Advice as JSON: docs/guide/advise.md names the fields."""

from typing import Any

from unisono import __version__
from unisono.advise import choose
from unisono.advise.predict import Advice, Gain
from unisono.advise.result import Result, waiting
from unisono.trace.document import trace_json

SCHEMA = "unisono.advice"
VERSION = 1
Json = dict[str, Any]


def to_json(result: Result) -> Json:
    return {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "unisono_version": __version__,
        "trace": trace_json(result.trace),
        "notes": result.trace.notes,
        "costs_from": result.machine.source,
        "run_s": result.seconds,
        "collectives_s": result.collectives_s(),
        "waiting_s": result.waiting_s(),
        "gain": gain_json(result.gain),
        "sites": [advice_json(advice) for advice in result.advices],
        "choices": [
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
        "variables": {f"UNISONO_{each.collective.upper()}": each.gain.spec for each in result.variables},
        "left_out": list(result.left_out),
    }


def gain_json(gain: Gain) -> Json:
    said: Json = {"gain_s": gain.seconds, "low_s": gain.low, "high_s": gain.high, "decision": gain.decision}
    if gain.spec:
        said = {"algorithm": gain.spec, **said, "from": gain.source}
        said["may_lose_packets"] = gain.may_lose_packets
    return said


def advice_json(advice: Advice) -> Json:
    group, entry = advice.group, choose.entry_of(advice)
    return {
        "site": group.place.text,
        "function": group.place.function or None,
        "collective": group.kind.collective,
        "ranks": group.ranks,
        "nodes": group.nodes,
        "root": group.kind.root if group.kind.root >= 0 else None,
        "bytes": group.size,
        "profile_bytes": [entry.least, entry.most],
        "calls": group.calls,
        "completion_s": advice.traced_s,
        "waiting_s": waiting(group) / group.ranks,
        "algorithms": [gain_json(gain) for gain in advice.gains],
        "without_prediction": list(advice.unknown),
    }
