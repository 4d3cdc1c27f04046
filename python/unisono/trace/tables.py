"""A trace as tables: a row for each call of each rank, streamed rank by rank."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono.trace.reader import Rank, Trace
from unisono.trace.schema import IN_PLACE, Events
from unisono.trace.sites import Sites

BLOCK = 1 << 16  # events that are in memory
COLUMNS = (
    *("rank", "collective", "begin_ns", "end_ns", "clock_error_ns", "bytes", "communicator", "sequence"),
    *("root", "algorithm", "in_place", "thread", "site", "function", "communicator_id", "inside"),
)


class Tables:
    """Columns of blocks of events, times in ns on rank 0's clock. `end_ns` 0: never left."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.sites = trace, Sites()
        self.communicators: dict[tuple[tuple[int, ...], int], int] = {}
        for rank in trace.ranks.values():
            for start in range(0, len(rank.events), BLOCK):
                part = rank.events[start : start + BLOCK]
                self.sites.numbers(rank, part["site"], part["program"])
        self.places = self.sites.places(trace, self.sites.number.values())

    def blocks(self, rank: Rank) -> Iterator[dict[str, NDArray[Any] | list[Any]]]:
        for start in range(0, len(rank.events), BLOCK):
            yield self.block(rank, rank.events[start : start + BLOCK])

    def block(self, rank: Rank, events: Events) -> dict[str, NDArray[Any] | list[Any]]:
        begin = rank.clock.corrected(events["begin_ns"])
        left = events["end_ns"] > 0
        places = [self.places[int(n)] for n in self.sites.numbers(rank, events["site"], events["program"])]
        return {
            "rank": np.full(len(events), rank.rank),
            "collective": named(self.trace.collectives, events["collective"]),
            "begin_ns": begin,
            "end_ns": np.where(left, rank.clock.corrected(events["end_ns"]), 0),
            "clock_error_ns": np.rint(rank.clock.error(events["begin_ns"])).astype(np.int64),
            "bytes": events["bytes"],
            "communicator": [communicator_text(rank, int(n)) for n in events["communicator"]],
            "sequence": events["sequence"],
            "root": events["root"],
            "algorithm": [rank.algorithms.get(int(n), "native") for n in events["algorithm"]],
            "in_place": (events["flags"] & IN_PLACE) != 0,
            "thread": events["thread"],
            "site": [place.text for place in places],
            "function": [place.function for place in places],
            "communicator_id": self.communicator_ids(rank, events["communicator"]),
            "inside": [place.inside for place in places],
        }

    def communicator_ids(self, rank: Rank, numbers: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The same on all ranks, as names need not be, and of one communicator only; -1: not known."""
        unique, inverse = np.unique(numbers, return_inverse=True)
        return np.array([self.communicator_id(rank, int(n)) for n in unique], np.int64)[inverse]

    def communicator_id(self, rank: Rank, number: int) -> int:
        known = rank.communicators.get(number)
        if known is None or not known.ranks:
            return -1
        return self.communicators.setdefault((known.ranks, known.occurrence), len(self.communicators))


def named(names: Sequence[str], numbers: NDArray[Any]) -> list[str]:
    return [names[n] if n < len(names) else f"collective {n}" for n in map(int, numbers)]


def communicator_text(rank: Rank, number: int) -> str:
    known = rank.communicators.get(number)
    if known is None:
        return f"{number}"
    return known.name or f"{number} of {len(known.ranks)} ranks"


def rows(columns: dict[str, NDArray[Any] | list[Any]]) -> Iterator[tuple[Any, ...]]:
    plain = (c if isinstance(c, list) else c.tolist() for c in (columns[name] for name in COLUMNS))
    return zip(*plain, strict=True)
