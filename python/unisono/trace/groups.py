"""Calls that are alike: of one call site, communicator, collective, size class and root."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unisono.core.memory import size_class
from unisono.trace import bounds
from unisono.trace.calls import Block, Count, Matcher
from unisono.trace.metrics import OneWay
from unisono.trace.reader import Trace
from unisono.trace.sites import Place, Sites

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """What the calls of a group have in common."""

    site: int
    members: tuple[int, ...]  # ranks of the world
    of: int  # ranks of the communicator: more than `members` where some were not traced
    collective: str
    least: int  # bytes of the size class, as traces count them
    most: int
    root: int  # in the communicator; -1: none


@dataclass
class Group:
    """Calls in the order of time: a row each, a column for each rank. Seconds."""

    kind: Kind
    place: Place
    hosts: tuple[int, ...]  # of each column, numbered from 0
    begin: Float
    end: Float
    error: Float  # of `begin`, from the clocks
    bytes: Float  # mean over ranks
    algorithm: NDArray[np.object_]  # spec, or native
    split: bounds.Split = field(repr=False)

    @property
    def calls(self) -> int:
        return len(self.begin)

    @property
    def elapsed(self) -> Float:
        """Mean over ranks, of each call."""
        return np.asarray((self.end - self.begin).mean(axis=1))

    @property
    def nodes(self) -> int:
        return len(set(self.hosts))

    @property
    def ranks(self) -> int:
        return len(self.kind.members)

    @property
    def size(self) -> int:
        """Bytes of the median call."""
        return round(float(np.median(self.bytes)))


@dataclass
class Parts:
    """A group in the making, block by block."""

    hosts: tuple[int, ...]
    network: bounds.Network
    pieces: list[tuple[Float, Float, Float, Float, NDArray[np.object_], Int]] = field(default_factory=list)

    def group(self, kind: Kind, place: Place) -> Group:
        begin, end, error, size, algorithm, root = (
            np.concatenate([piece[at] for piece in self.pieces]) for at in range(6)
        )
        order = np.argsort(begin.min(axis=1), kind="stable")
        begin, end, size, root = begin[order], end[order], size[order], root[order]
        split = bounds.split(kind.collective, begin, end, root, size, self.network)
        return Group(kind, place, self.hosts, begin, end, error[order], size, algorithm[order], split)


def groups(trace: Trace, count: Count | None = None) -> list[Group]:
    """Those on communicators of two ranks or more; the one with most time first. What makes none is counted
    in `count`."""
    matcher, sites = Matcher(trace, count or Count()), Sites()
    one_way = OneWay(trace.one_way)
    made: dict[Kind, Parts] = {}
    for block in matcher.blocks():
        if block.of > 1:
            for kind, own in kinds_of(trace, sites, block):
                if kind not in made:
                    made[kind] = parts_of(trace, kind, one_way)
                made[kind].pieces.append(rows(trace, block, own))
    places = sites.places(trace, {kind.site for kind in made})
    found = [parts.group(kind, places[kind.site]) for kind, parts in made.items()]
    return sorted(found, key=lambda group: -float(group.elapsed.sum()) * group.ranks)


def parts_of(trace: Trace, kind: Kind, one_way: OneWay) -> Parts:
    names = [trace.ranks[member].host for member in kind.members]
    traced_hosts = len({rank.host for rank in trace.ranks.values()})
    network = bounds.network(names, traced_hosts, one_way.alpha, one_way.beta)
    return Parts(numbered(names), network)


def numbered(names: Sequence[str]) -> tuple[int, ...]:
    """Of each name its number, in the order in which they first appear."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return tuple(numbers[name] for name in names)


def kinds_of(trace: Trace, sites: Sites, block: Block) -> Iterator[tuple[Kind, Int]]:
    """With the rows of the block that belong to each. The first rank's call site counts."""
    members = tuple(map(int, block.members))
    site = sites.numbers(trace.ranks[members[0]], block.site[:, 0], block.program[:, 0])
    size = np.rint(block.bytes.mean(axis=1)).astype(np.int64)
    classes = np.array([size_class(int(each))[0] for each in size], np.int64)
    key = np.column_stack([site, block.collective.astype(np.int64), classes, block.root])
    unique, inverse = np.unique(key, axis=0, return_inverse=True)
    for number, row in enumerate(unique):
        own = np.flatnonzero(inverse.reshape(-1) == number)
        least, most = size_class(int(size[own[0]]))
        name = trace.collectives[int(row[1])]
        yield Kind(int(row[0]), members, block.of, name, least, most, int(row[3])), own


def rows(trace: Trace, block: Block, own: Int) -> tuple[Float, Float, Float, Float, NDArray[np.object_], Int]:
    known = trace.ranks[int(block.members[0])].algorithms
    names = [known.get(int(n), f"algorithm {n}") if n else "native" for n in block.algorithm[own]]
    return (
        block.begin_s[own],
        block.end_s[own],
        block.error_s[own],
        block.bytes[own].mean(axis=1),
        np.array(names, object),
        block.root[own],
    )
