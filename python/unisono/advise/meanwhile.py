"""What ranks do between two calls of a group: compute, and wait for each other in other collectives.

What they compute takes as long as in the trace, whatever becomes of the calls that are asked about. A wait
does not: a rank that sat in MPI_Bcast because the root was still in MPI_Gather leaves it sooner if MPI_Gather
is faster. So of every collective between the two calls it is kept how long after the ranks that it needed
each rank left it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unisono.core import catalogue
from unisono.core.limits import Cut, bytes_over, plain_form
from unisono.trace.bounds import Network, earliest
from unisono.trace.groups import Group

Float = NDArray[np.float64]
Int = NDArray[np.int64]
TICK = 1e-9  # seconds, of a trace's clock


@dataclass(frozen=True)
class Other:
    """A call between, on two members of the group or more. A rank is its column in the group."""

    collective: str
    ranks: Int  # in the order of its own communicator, which scans go by
    root: int  # in `ranks`; -1: none, or elsewhere
    begin: Float
    end: Float
    error: Float  # of `begin`, from the clocks
    traffic: tuple[tuple[int, int, int], ...]  # rank, bytes out of its host, into it

    @cached_property
    def had(self) -> Float:
        """Of each rank: when everybody had come that it may wait for."""
        return np.asarray(self.free(self.begin[None, :])[0])

    @property
    def began(self) -> Float:
        """Of each rank: when it had all that it waits for."""
        return np.asarray(np.minimum(self.had, self.end))

    @property
    def waits(self) -> NDArray[np.bool_]:
        """Of each rank: not if it left before others came that it would have to wait for, as where nobody has
        anything for it."""
        return np.asarray(self.had <= self.end + self.error + self.error.max() + TICK)

    def left(self, arrivals: Float) -> Float:
        """When each of `ranks` leaves it: as long as in the trace after it had all that it waits for."""
        alone = arrivals + (self.end - self.begin)
        return np.asarray(np.where(self.waits, self.free(arrivals) + (self.end - self.began), alone))

    def free(self, arrivals: Float) -> Float:
        """When each of `ranks` has all that it waits for, if data took no time: a row per case."""
        cases, columns = arrivals.shape
        nothing = Network(0.0, 0.0, np.zeros(columns, np.int64), True)
        roots = np.full(cases, self.root)
        return earliest(plain_form(self.collective), arrivals, roots, np.zeros(cases), nothing)


@dataclass(frozen=True)
class Meanwhile:
    """Between a call and the next one. `after`, row d, column r: rank r arrives at the next one no sooner
    than so long after rank d has left the first; minus infinity: whatever d does. `computing`: for how long
    each rank is in no collective when it has left it. `traffic`: rank, bytes out of its host and into it, and
    how long before the rank arrives they begin to move."""

    after: Float
    computing: Float
    traffic: tuple[tuple[int, int, int, float], ...]


def after_call(group: Group, others: Sequence[Group], call: int) -> Meanwhile:
    ranks = np.arange(group.ranks)
    after = np.where(ranks[:, None] == ranks[None, :], 0.0, -np.inf)
    left, computing = group.end[call].copy(), np.full(group.ranks, np.nan)
    traffic: list[tuple[int, int, int, float]] = []
    for other in in_order(group.ranks, list(between(group, others, call))):
        own = other.ranks
        away = np.maximum(0.0, other.begin - left[own])
        computing[own] = np.where(np.isnan(computing[own]), away, computing[own])
        after[:, own] = other.left(after[:, own] + away)
        left[own] = other.end
        began = dict(zip(own.tolist(), other.began.tolist(), strict=True))
        traffic += [(*moved, group.begin[call + 1, moved[0]] - began[moved[0]]) for moved in other.traffic]
    away = np.maximum(0.0, group.begin[call + 1] - left)
    return Meanwhile(after + away, np.where(np.isnan(computing), away, computing), tuple(traffic))


def between(group: Group, others: Sequence[Group], call: int) -> Iterator[Other]:
    """Those that all its ranks in the group make after `call` and before the next one."""
    own = {member: rank for rank, member in enumerate(group.kind.members)}
    left, back = group.end[call], group.begin[call + 1]
    for other in others:
        at = [column for column, member in enumerate(other.kind.members) if member in own]
        if other is group or len(at) < 2:
            continue
        ranks = np.array([own[other.kind.members[column]] for column in at])
        root = at.index(other.kind.root) if other.kind.root in at else -1
        first = np.searchsorted(other.begin[:, at[0]], left[ranks[0]] - TICK)
        last = np.searchsorted(other.begin[:, at[0]], back[ranks[0]])
        traffic = traffic_of(other, ranks.tolist()) if first < last else ()
        has_data = catalogue.collective(other.kind.collective).measure != "nothing"
        for row in range(int(first), int(last)):
            if has_data and not other.bytes[row]:
                continue  # nobody has anything to wait for
            begin, end = other.begin[row, at], other.end[row, at]
            if (begin > left[ranks] - TICK).all() and (end < back[ranks] + TICK).all():
                yield Other(other.kind.collective, ranks, root, begin, end, other.error[row, at], traffic)


def traffic_of(other: Group, common: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """At least, of each host by one of its ranks; nothing where some of its ranks are not in the group."""
    row = catalogue.collective(other.kind.collective)
    if len(common) < other.ranks or row.peers != "all":
        return ()
    found, size = [], other.size
    for host in set(other.hosts):
        own = [at for at, its in enumerate(other.hosts) if its == host]
        holds_root = other.kind.root in own
        moved = bytes_over(row.name, size, other.ranks, Cut(len(own), holds_root, 0.0))
        sends = not row.rooted or holds_root == row.from_root
        receives = not row.rooted or holds_root != row.from_root
        found.append((common[own[0]], moved * sends, moved * receives))
    return tuple(found)


def in_order(ranks: int, calls: Sequence[Other]) -> list[Other]:
    """Each after those that one of its ranks made before it; none where ranks contradict each other or are in
    two at once, as they may be with several threads: then all that lies between is computing."""
    order: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(len(calls)), ()))
    for rank in range(ranks):
        own = [
            (float(call.begin[at[0]]), number)
            for number, call in enumerate(calls)
            if len(at := np.flatnonzero(call.ranks == rank))
        ]
        for (_, former), (begin, later) in pairwise(sorted(own)):
            if begin < ended(calls[former], rank) - TICK:
                return []
            order.add(later, former)
    try:
        return [calls[number] for number in order.static_order()]
    except CycleError:
        return []


def ended(call: Other, rank: int) -> float:
    return float(call.end[call.ranks == rank][0])
