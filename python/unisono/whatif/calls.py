"""A program's calls, from its trace: the same sequence on every rank, with the computing between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unisono.core import catalogue, memory
from unisono.core.errors import UnisonoError
from unisono.trace.reader import Rank, Trace, ranks_text
from unisono.trace.schema import INTER
from unisono.trace.sites import Sites

Float = NDArray[np.float64]
WHOLE = "unisono whatif replays programs all of whose ranks make the same calls in the same order"


@dataclass(frozen=True, order=True)
class Shape:
    """A communicator in each of whose groups are `ranks` ranks: neighbours, or with equal distances."""

    ranks: int
    strided: bool = False

    def text(self, of: int) -> str:
        if self.ranks == of:
            return f"{self.ranks} ranks"
        kind = "strided " if self.strided else ""
        return f"{of // self.ranks} {kind}groups of {self.ranks}"


@dataclass(frozen=True)
class Kind:
    """Calls that are alike: of one place in the program, collective, class of sizes and shape."""

    site: int
    place: str  # of the site in the source
    collective: str
    shape: Shape
    bytes: float  # as the trace counts them: the mean
    calls: int
    seconds: float  # in all calls, in the trace: the mean over the ranks


@dataclass(frozen=True)
class Calls:
    ranks: int
    per_host: int
    kinds: tuple[Kind, ...]
    kind_of: tuple[int, ...]  # of each call, in the order of the program
    roots: tuple[int, ...]
    computing: Float  # seconds before a call; a row per call, a column per rank
    mpi: str  # what the library says it is
    alone: int  # calls on communicators of one rank, left out
    empty: int = 0  # calls without a byte, left out


def shape_of(members: tuple[int, ...], world: int, rank: int) -> Shape:
    size = len(members)
    if size == 0:
        raise UnisonoError("the trace has a communicator with ranks of another world; leave it out")
    if len(set(members)) == size == world:
        return Shape(world)
    first, stride = members[0], world // size
    if world % size == 0 and first % size == 0 and members == tuple(range(first, first + size)):
        return Shape(size)
    if world % size == 0 and members == tuple(range(first, world, stride)):
        return Shape(size, strided=True)
    raise UnisonoError(
        f"rank {rank} is on a communicator of {ranks_text(list(members))} of {world}: what that is among "
        "another number of ranks nobody knows; MPI_COMM_WORLD, rows and columns of a grid are known"
    )


@dataclass
class OfRank:
    """A rank's calls, those alone left out, in their order."""

    key: list[tuple[int, Shape]]  # collective, shape
    bytes: Float
    site: NDArray[np.int64]
    root: NDArray[np.int64]
    inside: Float
    computing: Float
    alone: int

    def only(self, kept: Sequence[int]) -> "OfRank":
        """The calls of these numbers. The time of the others counts as computing before the next."""
        begin = np.cumsum(self.computing + self.inside) - self.inside
        own, former = begin[kept], (begin + self.inside)[kept][:-1]
        return replace(
            self,
            key=[self.key[call] for call in kept],
            bytes=self.bytes[kept],
            site=self.site[kept],
            root=self.root[kept],
            inside=self.inside[kept],
            computing=np.maximum(own - np.concatenate([[0.0], former]), 0.0),
        )


def of_rank(trace: Trace, rank: Rank, sites: Sites) -> OfRank:
    events = rank.events[np.argsort(rank.events["begin_ns"], kind="stable")]
    if (events["flags"] & INTER).any():
        raise UnisonoError(f"rank {rank.rank} calls collectives between groups: {WHOLE}")
    if events["thread"].any():
        raise UnisonoError(f"rank {rank.rank} calls collectives in several threads: {WHOLE}")
    ended = events["end_ns"] >= events["begin_ns"]
    events = events if ended.all() else events[: int(ended.argmin())]  # aborted in the first of these
    shapes: dict[int, Shape] = {}
    for number in map(int, np.unique(events["communicator"])):
        known = rank.communicators.get(number)
        if known is None:
            raise UnisonoError(f"rank {rank.rank}: the trace does not say who is on communicator {number}")
        shapes[number] = shape_of(known.ranks, trace.size, rank.rank)
    alone = np.array([shapes[int(n)].ranks == 1 for n in events["communicator"]], bool)
    kept = events[~alone]
    begin, end = kept["begin_ns"].astype(float), kept["end_ns"].astype(float)
    computing = np.maximum(begin - np.concatenate([begin[:1], end[:-1]]), 0.0)
    return OfRank(
        key=[(int(c), shapes[int(n)]) for c, n in zip(kept["collective"], kept["communicator"], strict=True)],
        bytes=kept["bytes"].astype(float),
        site=sites.numbers(rank, kept["site"], kept["program"]),
        root=kept["root"].astype(np.int64),
        inside=1e-9 * (end - begin),
        computing=1e-9 * computing,
        alone=int(alone.sum()),
    )


def read(trace: Trace) -> Calls:
    missing = [rank for rank in range(trace.size) if rank not in trace.ranks]
    if missing:
        raise UnisonoError(f"{trace.folder}: no trace of {ranks_text(missing)}: {WHOLE}")
    sites = Sites()
    ranks = [of_rank(trace, trace.ranks[number], sites) for number in range(trace.size)]
    count = common_length(trace, ranks)
    kept = with_data(trace, ranks, count)
    if empty := count - len(kept):
        ranks, count = [rank.only(kept) for rank in ranks], len(kept)
    if not count:
        raise UnisonoError(f"{trace.folder}: no collective call of several ranks is in it")
    first = ranks[0]
    sizes = np.column_stack([rank.bytes[:count] for rank in ranks]).mean(axis=1)
    inside = np.column_stack([rank.inside[:count] for rank in ranks]).mean(axis=1)
    numbers: dict[tuple[int, int, tuple[int, int], Shape], int] = {}
    kind_of = []
    for call in range(count):
        collective, shape = first.key[call]
        size = memory.size_class(round(sizes[call]))
        key = (int(first.site[call]), collective, size, shape)
        kind_of.append(numbers.setdefault(key, len(numbers)))
    places = sites.places(trace, sorted({key[0] for key in numbers}))
    of = np.array(kind_of)
    kinds = [
        Kind(
            site,
            places[site].text,
            name_of(trace, collective),
            shape,
            float(sizes[of == number].mean()),
            int((of == number).sum()),
            float(inside[of == number].sum()),
        )
        for (site, collective, _, shape), number in numbers.items()
    ]
    hosts = len({rank.host for rank in trace.ranks.values()})
    return Calls(
        ranks=trace.size,
        per_host=-(-trace.size // hosts),
        kinds=tuple(kinds),
        kind_of=tuple(kind_of),
        roots=tuple(max(0, int(root)) for root in first.root[:count]),
        computing=np.column_stack([rank.computing[:count] for rank in ranks]),
        mpi=trace.first.start.mpi,
        alone=first.alone,
        empty=empty,
    )


def with_data(trace: Trace, ranks: Sequence[OfRank], count: int) -> list[int]:
    """The numbers of the calls that have any. A barrier is no call without data, but one that has none."""

    def has_data(call: int) -> bool:
        row = catalogue.collective(name_of(trace, ranks[0].key[call][0]))
        return row.measure == "nothing" or any(rank.bytes[call] > 0 for rank in ranks)

    return [call for call in range(count) if has_data(call)]


def name_of(trace: Trace, collective: int) -> str:
    if collective >= len(trace.collectives):
        raise UnisonoError(f"{trace.folder}: the trace does not say what collective {collective} is")
    name = trace.collectives[collective]
    catalogue.refuse_neighbours(name)
    if name not in catalogue.collectives():
        raise UnisonoError(f"{trace.folder}: MPI_{name.capitalize()} cannot be replayed")
    return name


def common_length(trace: Trace, ranks: list[OfRank]) -> int:
    """Calls that all ranks made; an error where they differ."""
    count = min(len(rank.key) for rank in ranks)
    for number, rank in enumerate(ranks):
        for call in range(count):
            if rank.key[call] != ranks[0].key[call]:
                ours, theirs = (call_text(trace, key) for key in (ranks[0].key[call], rank.key[call]))
                raise UnisonoError(
                    f"call {call + 1} is {ours} on rank 0 and {theirs} on rank {number}: {WHOLE}"
                )
    aborted = any(rank.ended_ns is None for rank in trace.ranks.values())
    if not aborted and any(len(rank.key) != count for rank in ranks):
        numbers = sorted({len(rank.key) for rank in ranks})
        raise UnisonoError(f"some ranks made {numbers[0]} calls, others {numbers[-1]}: {WHOLE}")
    return count


def call_text(trace: Trace, key: tuple[int, Shape]) -> str:
    name = trace.collectives[key[0]] if key[0] < len(trace.collectives) else f"collective {key[0]}"
    return f"{name} among {key[1].text(trace.size)}"
