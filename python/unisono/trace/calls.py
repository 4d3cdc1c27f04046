"""Which events of the ranks are one call: equal communicator, equal sequence number."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unisono.core import catalogue
from unisono.trace.reader import Rank, Trace
from unisono.trace.schema import INTER

BLOCK = 1 << 18  # events looked at together: bounds the memory

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Complete calls on communicators of the same ranks: a row per call, a column per rank."""

    group: int
    members: Int  # ranks of the world, of the communicator in its order; the traced ones
    of: int  # ranks of the communicator
    begin_s: Float  # since the trace's first event, on rank 0's clock
    end_s: Float
    error_s: Float  # of begin_s
    bytes: Float
    site: NDArray[np.uint64]  # address in each rank's process
    program: NDArray[np.uint64]  # likewise: where the program called what called; 0: the program itself did
    root: Int  # column, or -1: none, or not traced
    collective: NDArray[np.uint16]
    algorithm: NDArray[np.uint16]  # in the first member's numbering


@dataclass
class Count:
    """Events that make no call."""

    complete: int = 0  # calls
    incomplete: int = 0  # calls that a rank never entered or left
    mismatched: int = 0  # calls in which ranks called different collectives, or cannot have met
    unmatched_events: int = 0  # on inter-communicators, and on ones with ranks of another world

    def left_out(self) -> list[tuple[int, str]]:
        return [
            (self.incomplete, "calls that not every rank entered and left"),
            (
                self.mismatched,
                "calls in which ranks called different collectives, or threads mixed up communicators",
            ),
            (self.unmatched_events, "events on inter-communicators or with ranks outside MPI_COMM_WORLD"),
        ]


@dataclass
class Member:
    """A rank's events on the communicators of a group, in the order of the calls."""

    rank: Rank
    order: Int
    key: Int  # occurrence and sequence


@dataclass
class Group:
    ranks: tuple[int, ...]
    name: str
    members: dict[int, Member] = field(default_factory=dict)


@dataclass
class Matcher:
    """Groups the events of a trace. Memory: 16 bytes an event, and a block."""

    trace: Trace
    count: Count = field(default_factory=Count)
    origin_ns: int = 0
    has_threads: bool = False
    groups: list[Group] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = np.array([*self.trace.known, False])  # the last: numbers without a name
        ranks = [rank for rank in self.trace.ranks.values() if len(rank.events)]
        if ranks:
            self.has_threads = any(rank.events["thread"].any() for rank in ranks)
            self.origin_ns = min(int(rank.clock.corrected(rank.events["begin_ns"][:1])[0]) for rank in ranks)
        by_ranks: dict[tuple[int, ...], Group] = {}
        for rank in ranks:
            for ids, member in self.members(rank):
                group = by_ranks.setdefault(ids.ranks, Group(ids.ranks, ids.name))
                group.members[rank.rank] = member
        self.groups = list(by_ranks.values())

    def members(self, rank: Rank) -> Iterator[tuple[Group, Member]]:
        """The rank's events by the ranks of their communicator. Calls of one communicator follow
        each other, so that most often nothing needs sorting."""
        communicator = rank.events["communicator"]
        numbers: dict[tuple[int, ...], int] = {}
        names: list[str] = []
        told = sorted(rank.communicators)
        unknown = len(told)  # numbers that no line explains
        group_of, occurrence_of = np.full(unknown + 1, -1, np.int64), np.zeros(unknown + 1, np.int64)
        for at, number in enumerate(told):
            known = rank.communicators[number]
            if rank.rank in known.ranks:
                group_of[at] = numbers.setdefault(known.ranks, len(numbers))
                occurrence_of[at] = known.occurrence
                if len(names) < len(numbers):
                    names.append(known.name)
        place = np.searchsorted(told, communicator)
        communicator = np.where(np.append(told, -1)[place] == communicator, place, unknown)
        group = group_of[communicator]
        group[(rank.events["flags"] & INTER) != 0] = -1
        self.count.unmatched_events += int(np.count_nonzero(group < 0))
        key = occurrence_of[communicator] << 32 | rank.events["sequence"].astype(np.int64)
        order = np.lexsort((key, group))
        starts = np.searchsorted(group, np.arange(len(numbers) + 1), sorter=order)
        for ranks, number in numbers.items():
            own = order[starts[number] : starts[number + 1]]
            own = own[np.diff(key[own], prepend=-1) > 0]  # none twice, whatever the file holds
            if len(own):
                yield Group(ranks, names[number]), Member(rank, own, key[own])

    def blocks(self) -> Iterator[Block]:
        for number, group in enumerate(self.groups):
            yield from self.blocks_of(number, group)

    def blocks_of(self, number: int, group: Group) -> Iterator[Block]:
        traced = [rank for rank in group.ranks if rank in self.trace.ranks]
        present = [group.members[rank] for rank in traced if rank in group.members]
        everywhere = self.common_keys(present, len(traced))
        step = max(1, BLOCK // len(traced))
        for start in range(0, len(everywhere), step):
            block = self.block(number, group, present, everywhere[start : start + step])
            if block is not None:
                yield block

    def common_keys(self, members: list[Member], wanted: int) -> Int:
        keys = members[0].key
        if len(members) == wanted and all(np.array_equal(keys, member.key) for member in members[1:]):
            return keys
        keys, counts = np.unique(np.concatenate([member.key for member in members]), return_counts=True)
        everywhere: Int = keys[counts == wanted]
        self.count.incomplete += len(keys) - len(everywhere)
        return everywhere

    def can_have_met(
        self, begin: Float, end: Float, error: Float, size: Float, kind: NDArray[np.uint16]
    ) -> NDArray[np.bool_]:
        """Where threads begin to use communicators of the same ranks at once, ranks number them differently.
        Ranks of one call agree on its bytes, if all of them know these; and where everybody needs data of
        everybody, nobody leaves before the last has come."""
        met = np.ones(len(kind), bool)
        if not self.has_threads:
            return met
        for number in np.unique(kind):
            own, row = kind == number, catalogue.collective(self.trace.collectives[int(number)])
            if row.bytes_known and row.peers == "all":
                met[own] &= (size[own] == size[own][:, :1]).all(axis=1)
            if row.synchronises and row.regular == row.name:
                apart = (begin[own] - error[own]).max(axis=1) - (end[own] + error[own]).min(axis=1)
                met[own] &= (apart <= 0) | (size[own] == 0).all(axis=1) & (row.measure != "nothing")
        return met

    def columns(self, group: Group, members: list[Member]) -> Int:
        """Of the communicator's ranks; the last, where -1 leads, is none."""
        place = {member.rank.rank: column for column, member in enumerate(members)}
        return np.array([*(place.get(rank, -1) for rank in group.ranks), -1])

    def block(self, number: int, group: Group, members: list[Member], keys: Int) -> Block | None:
        shape = (len(keys), len(members))
        begin, end, error, size = (np.empty(shape) for _ in range(4))
        site, program = np.empty(shape, np.uint64), np.empty(shape, np.uint64)
        kind = np.empty(shape, np.uint16)
        left = np.ones(len(keys), bool)
        columns = self.columns(group, members)
        for column, member in enumerate(members):
            events = member.rank.events[member.order[np.searchsorted(member.key, keys)]]
            clock = member.rank.clock
            begin[:, column] = 1e-9 * (clock.corrected(events["begin_ns"]) - self.origin_ns)
            end[:, column] = begin[:, column] + 1e-9 * (events["end_ns"] - events["begin_ns"])
            error[:, column] = 1e-9 * clock.error(events["begin_ns"])
            size[:, column], site[:, column] = events["bytes"], events["site"]
            program[:, column], kind[:, column] = events["program"], events["collective"]
            left &= events["end_ns"] >= events["begin_ns"]
            if column == 0:
                root, algorithm = (
                    columns[np.clip(events["root"], -1, len(group.ranks))],
                    events["algorithm"].copy(),
                )
        same = (kind == kind[:, :1]).all(axis=1) & self.known[np.minimum(kind[:, 0], len(self.known) - 1)]
        same[same] = self.can_have_met(begin[same], end[same], error[same], size[same], kind[same, 0])
        good = left & same
        self.count.incomplete += int(np.count_nonzero(~left))
        self.count.mismatched += int(np.count_nonzero(left & ~same))
        self.count.complete += int(np.count_nonzero(good))
        if not good.any():
            return None
        return Block(
            number,
            np.array([member.rank.rank for member in members]),
            len(group.ranks),
            *(each[good] for each in (begin, end, error, size, site, program, root, kind[:, 0], algorithm)),
        )
