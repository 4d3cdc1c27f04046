"""What jobs remember, as tests write it (docs/reference/memory.md)."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def verdict(call: tuple[str, int, int, int], other: str, seconds: float, native: float) -> Json:
    """The other way won, in a program that does nothing between such calls. A call: collective, bytes, ranks,
    nodes."""
    collective, size, ranks, nodes = call
    return {
        **{"collective": collective, "bytes": size, "ranks": ranks, "nodes": nodes, "ranks_per_core": 0},
        **{"choice": other, "other": other, "seconds": seconds, "from_call_to_call": seconds},
        **{"native_seconds": native, "native_from_call_to_call": native, "when": 1_700_000_000},
    }


def memory(where: Mapping[str, Any], machine: Json | None, *verdicts: Json) -> Json:
    return {
        **{"format": "unisono-memory", "version": 4, "where": where, "measured": 1_700_000_000},
        **{"machine": machine, "verdicts": list(verdicts)},
    }
