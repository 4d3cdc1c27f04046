"""The limits: as MEASURE's formulas say, and no algorithm of the catalogue gets below one."""

from collections.abc import Iterator

import pytest
from unisono.core import catalogue
from unisono.core.amounts import parse_sizes
from unisono.core.errors import UnisonoError
from unisono.core.limits import (
    Cut,
    bytes_over,
    memory_seconds,
    moved_bytes,
    plain_form,
    wire_seconds,
)

RATE = 100e6
MIB = 1 << 20


def ports(ranks: int, per_host: int, rate: float = RATE) -> list[Cut]:
    return [Cut(min(per_host, ranks - k), k == 0, rate) for k in range(0, ranks, per_host)]


@pytest.mark.parametrize(
    ("collective", "blocks"),
    [
        ("bcast", 1),
        ("reduce", 1),
        ("scan", 1),
        ("exscan", 1),
        ("allreduce", 2 * 15 / 16),
        ("gather", 15),
        ("scatterv", 15),
        ("allgather", 15),
        ("alltoall", 15),
        ("alltoallw", 15),
        ("reduce_scatter_block", 15 / 16),
    ],
)
def test_sixteen_hosts_with_a_rank_each(collective: str, blocks: float) -> None:
    seconds = wire_seconds(collective, MIB, 16, ports(16, 1))
    assert seconds == pytest.approx(blocks * MIB * 8 / RATE)


def test_nothing_on_the_wire_has_no_limit() -> None:
    assert wire_seconds("barrier", 0, 16, ports(16, 1)) is None
    assert wire_seconds("allreduce", MIB, 4, ports(4, 4)) is None


def test_ranks_share_the_port_of_their_host() -> None:
    assert bytes_over("alltoall", 10, 16, Cut(4, True, RATE)) == 10 * 4 * 12
    assert bytes_over("gather", 10, 16, Cut(4, True, RATE)) == 10 * 12
    assert bytes_over("gather", 10, 16, Cut(4, False, RATE)) == 10 * 4
    # two full hosts and one with a single rank, whose port is not the busiest
    assert wire_seconds("alltoall", 10, 9, ports(9, 4)) == pytest.approx(10 * 4 * 5 * 8 / RATE)


def test_a_slow_port_or_uplink_counts() -> None:
    slow = [*ports(3, 1), Cut(1, False, RATE / 10)]
    assert wire_seconds("bcast", MIB, 4, slow) == pytest.approx(10 * MIB * 8 / RATE)
    uplink = [Cut(8, False, RATE)]
    plain, through = (wire_seconds("alltoall", 10, 16, ports(16, 1), links) for links in ([], uplink))
    assert plain == pytest.approx(10 * 15 * 8 / RATE)
    assert through == pytest.approx(10 * 64 * 8 / RATE)


Message = tuple[int, int, int]  # from, to, bytes


def messages_of_all(collective: str, ranks: int, count: int) -> Iterator[tuple[str, list[Message]]]:
    """What every algorithm that can serve the call sends."""
    for row in catalogue.algorithms():
        if collective not in row.collectives:
            continue
        asked = ["--collective", collective, "--algorithm", row.name]
        try:
            shown = catalogue.schedule([*asked, "--ranks", str(ranks), "--count", str(count)])
        except UnisonoError:
            continue  # a restriction
        yield (
            row.name,
            [
                (op["peer"], one["rank"], op["slice"][2])
                for one in shown["ranks"]
                for op in one["ops"]
                if op["op"] == "recv" and "slice" in op
            ],
        )


# unisono show gives v-forms unequal counts; with equal ones they are the plain forms.
PLAIN = [name for name in catalogue.collectives() if plain_form(name) == name != "barrier"]


@pytest.mark.parametrize("collective", [*PLAIN, "exscan"])
@pytest.mark.parametrize(("ranks", "per_host"), [(4, 1), (16, 1), (6, 2), (7, 3)])
def test_no_algorithm_moves_less(collective: str, ranks: int, per_host: int) -> None:
    count = 6720  # divisible by every number of ranks here
    # unisono show counts the units of one block, as MPI does.
    size = count * ranks if catalogue.collective(collective).counts_all_blocks else count
    limit = wire_seconds(collective, size, ranks, ports(ranks, per_host, rate=8.0))
    assert limit is not None
    busiest = {}
    for name, messages in messages_of_all(collective, ranks, count):
        hosts = -(-ranks // per_host)
        came, went = [0] * hosts, [0] * hosts
        for source, target, size in messages:
            if source // per_host != target // per_host:
                came[target // per_host] += size
                went[source // per_host] += size
        busiest[name] = max(*came, *went)
    assert busiest, "no algorithm could be looked at"
    for name, load in busiest.items():
        assert load >= limit - 1e-6, f"{name} needs {load}, the limit says {limit}"
    if per_host == 1 and collective != "exscan":
        assert min(busiest.values()) == pytest.approx(limit), "nobody reaches it: too low?"


def test_every_input_byte_is_read_and_every_output_byte_written() -> None:
    assert moved_bytes("bcast", 100, 4) == 100 + 3 * 100
    assert moved_bytes("bcast", 100, 1) == 0
    assert moved_bytes("allgather", 100, 4) == 4 * 100 + 4 * 400
    assert moved_bytes("alltoall", 100, 4) == 4 * 400 + 4 * 400
    assert moved_bytes("reduce", 100, 4) == 4 * 100 + 100
    assert moved_bytes("reduce_scatter", 400, 4) == 4 * 400 + 4 * 100
    assert moved_bytes("exscan", 100, 4) == 3 * 100 + 3 * 100
    assert memory_seconds("reduce", 100, 4, 1000.0) == 0.5
    assert memory_seconds("barrier", 0, 4, 1000.0) is None


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8", (8,)),
        ("8:64", (8, 16, 32, 64)),
        ("1M,8,64K", (8, 65536, MIB)),
        ("8,8:20", (8, 16)),
        ("8:1K:4,9", (8, 9, 32, 128, 512)),
    ],
)
def test_sizes_are_written_as_for_the_bench(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    "text", ["", "x", "8:4", "0", "-1", "8:", "1X", "8:64:1", "8:64:x", "8:16:2:2", "8:64:"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UnisonoError, match="--sizes"):
        parse_sizes(text)
