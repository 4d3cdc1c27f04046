"""What unisono advise takes from calls on communicators that are not alike, and from calls that overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from traces import Writer
from unisono.advise import meanwhile
from unisono.core import places
from unisono.trace import reader
from unisono.trace.groups import Group, groups

RANKS, SIZE, CALLS = 4, 1000, 3
OWN = "reduce_scatter_block"  # of the group, and of no other call
TAKES = 0.01  # seconds, of a call
APART = 1.0  # seconds, between calls of the group
ORDER = tuple(range(RANKS))
BACKWARDS = ORDER[::-1]


@pytest.fixture(autouse=True)
def built() -> None:
    places.program("unisono-schedule")


@dataclass(frozen=True)
class Between:
    """A call: when each rank of `ranks` comes and leaves, in seconds after it left the group's call."""

    collective: str
    begin: Sequence[float]
    end: Sequence[float]
    ranks: Sequence[int] = ORDER
    root: int = -1
    size: int = SIZE


def followed(folder: Path, *calls: Between, hosts: Sequence[str] = ()) -> tuple[Group, meanwhile.Meanwhile]:
    """The calls between two of the group."""
    writer = Writer(folder, RANKS, hosts=hosts)
    ids = {
        tuple(call.ranks): [writer.communicator(rank, tuple(call.ranks)) for rank in call.ranks]
        for call in calls
    }
    for number in range(CALLS):
        start = 1.0 + number * APART
        left = start + TAKES
        writer.call(OWN, [start] * RANKS, [left] * RANKS, SIZE, site=0x2000)
        for at, call in enumerate(calls):
            begin, end = ([left + each for each in times] for times in (call.begin, call.end))
            own = ids[tuple(call.ranks)]
            writer.call(call.collective, begin, end, call.size, call.ranks, own, 0x3000 + at, root=call.root)
    found = groups(reader.read(writer.write()))
    group = next(each for each in found if each.kind.collective == OWN)
    done = meanwhile.after_call(group, found, 0)
    arrivals = (group.end[0][:, None] + done.after).max(axis=0)
    assert arrivals == pytest.approx(group.begin[1], abs=1e-5), "as they left, they come as in the trace"
    return group, done


def waits(done: meanwhile.Meanwhile) -> set[tuple[int, int]]:
    """Who waits for whom."""
    return {(int(r), int(d)) for d, r in zip(*np.nonzero(np.isfinite(done.after)), strict=True) if d != r}


@pytest.mark.parametrize("collective", ["scan", "exscan"])
def test_a_scan_goes_by_the_order_of_its_own_communicator(tmp_path: Path, collective: str) -> None:
    at, out = [0.1] * RANKS, [0.2] * RANKS
    _, done = followed(tmp_path / "forth", Between(collective, at, out))
    assert waits(done) == {(rank, former) for rank in ORDER for former in range(rank)}
    _, done = followed(tmp_path / "back", Between(collective, at, out, BACKWARDS))
    assert waits(done) == {(rank, former) for rank in ORDER for former in range(rank + 1, RANKS)}


def test_traffic_is_that_of_the_hosts_of_its_own_communicator(tmp_path: Path) -> None:
    """Rank 0 of the other communicator is the last of the group."""
    call = Between("gather", [0.1] * RANKS, [0.2] * RANKS, BACKWARDS, root=0)
    _, done = followed(tmp_path / "trace", call)
    moved = {rank: (out, come) for rank, out, come, _ in done.traffic}
    root, *others = BACKWARDS
    assert moved == {root: (0, (RANKS - 1) * SIZE)} | dict.fromkeys(others, (SIZE, 0))
    assert waits(done) == {(root, other) for other in others}


def test_a_rank_that_is_in_two_calls_at_once_computes(tmp_path: Path) -> None:
    """Of two threads: one call after the other would take longer than both did."""
    first = Between("bcast", [0.0] * RANKS, [0.5] * RANKS, root=0)
    second = Between("allreduce", [0.1] * RANKS, [0.2] * RANKS, BACKWARDS)
    _, done = followed(tmp_path / "trace", first, second)
    assert waits(done) == set()
    assert done.computing == pytest.approx([APART - TAKES] * RANKS, abs=1e-5)


def test_who_leaves_before_another_comes_does_not_wait_for_it(tmp_path: Path) -> None:
    """In MPI_Alltoallv only neighbours may have anything for each other."""
    late = [0.1] * (RANKS - 1) + [0.5]
    _, done = followed(tmp_path / "trace", Between("alltoallv", late, [0.2] * (RANKS - 1) + [0.6]))
    assert {rank for rank, _ in waits(done)} == {RANKS - 1}
    _, done = followed(tmp_path / "all", Between("alltoallv", late, [0.6] * RANKS))
    assert waits(done) == {(rank, other) for rank in ORDER for other in ORDER if rank != other}


@pytest.mark.parametrize(
    ("collective", "size", "wait"), [("allreduce", 0, 0), ("barrier", 0, 1), ("allreduce", 1, 1)]
)
def test_without_data_nobody_waits_but_in_a_barrier(
    tmp_path: Path, collective: str, size: int, wait: int
) -> None:
    call = Between(collective, [0.1] * RANKS, [0.2] * RANKS, BACKWARDS, size=size)
    _, done = followed(tmp_path / "trace", call)
    assert len(waits(done)) == wait * RANKS * (RANKS - 1)


def test_members_in_another_order_wait_for_their_own_root(tmp_path: Path) -> None:
    call = Between("bcast", [0.1] * 3, [0.2] * 3, (3, 1, 2), root=1)
    _, done = followed(tmp_path / "trace", call)
    assert waits(done) == {(3, 1), (2, 1)}
    assert {rank: moved for rank, *moved, _ in done.traffic} == {1: [SIZE, 0], 2: [0, SIZE], 3: [0, SIZE]}
