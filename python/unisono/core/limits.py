"""What no implementation of a collective can beat: bytes that must pass a port, or move in memory.

A bound holds whatever the algorithm. It counts bytes only; latency is left out, so that it says
nothing about small messages. What a size is the size of says `size_kind`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from unisono.core import catalogue


class Sized(StrEnum):
    """What the size of a cell is the size of."""

    VECTOR = "vector"  # the whole vector that a rank contributes or gets
    BLOCK = "block"  # what one rank gets from, or gives to, one other
    NOTHING = "nothing"


def size_kind(collective: str) -> Sized:
    """As the table of semantics says it for every command: a scattered reduction cuts a vector."""
    measure = catalogue.collective(collective).measure
    return {"block": Sized.BLOCK, "nothing": Sized.NOTHING}.get(measure, Sized.VECTOR)


def plain_form(collective: str) -> str:
    """With equal blocks a v- or w-form moves what the plain form does, and exscan what scan does."""
    regular = catalogue.collective(collective).regular
    return "scan" if regular == "exscan" else regular


@dataclass(frozen=True)
class Cut:
    """A full-duplex line that separates some ranks from the others: a host's port, an uplink."""

    ranks: int  # on the inner side
    holds_root: bool
    bits_per_second: float


def bytes_over(collective: str, size: int, ranks: int, cut: Cut) -> int:
    """Bytes that must pass the cut in its busier direction.

    Ranks behind one cut are taken to combine what they reduce and to share what they get, and to be
    neighbours in rank order (which matters for scan).
    """
    inside, outside = cut.ranks, ranks - cut.ranks
    if not inside or not outside:
        return 0
    larger = max(inside, outside)
    units: dict[str, int | Fraction] = {
        "barrier": 0,
        "bcast": 1,
        "reduce": 1,
        "allreduce": 1,
        "scan": 1,
        "gather": outside if cut.holds_root else inside,
        "scatter": outside if cut.holds_root else inside,
        "allgather": larger,
        "alltoall": inside * outside,
        # Out go the others' blocks with the inner contributions, in come the own ones.
        "reduce_scatter_block": Fraction(larger, ranks),
    }
    return int(size * units[plain_form(collective)])


def wire_seconds(
    collective: str, size: int, ranks: int, ports: Sequence[Cut], uplinks: Sequence[Cut] = ()
) -> float | None:
    """Bytes in a port over its line rate; the slowest port or uplink counts. `ports` are those of
    the hosts, which share the ranks out among them. None: nothing has to pass a wire."""
    seconds = [
        8 * bytes_over(collective, size, ranks, cut) / cut.bits_per_second for cut in (*ports, *uplinks)
    ]
    if collective == "allreduce":
        # All ports together take in 2 (h - 1) vectors: h - 1 while the sum is made, h - 1 while it
        # is handed out (Patarasuk, Yuan 2009). With equal ports that is 2 (h - 1) / h m in each.
        received = 2 * (sum(port.ranks > 0 for port in ports) - 1) * size
        seconds.append(8 * received / sum(port.bits_per_second for port in ports if port.ranks))
    longest = max(seconds, default=0.0)
    return longest or None


def moved_bytes(collective: str, size: int, ranks: int) -> int:
    """Bytes that a node must read and write: every input byte is read at least once, every output
    byte is written at least once."""
    read, written = {
        "barrier": (0, 0),
        "bcast": (min(1, ranks - 1), ranks - 1),
        "gather": (ranks, ranks),
        "scatter": (ranks, ranks),
        "allgather": (ranks, ranks * ranks),
        "alltoall": (ranks * ranks, ranks * ranks),
        "reduce": (ranks, 1),
        "allreduce": (ranks, ranks),
        "reduce_scatter_block": (ranks, 1),
        "scan": (ranks, ranks),
    }[plain_form(collective)]
    if collective == "exscan":  # the last contribution goes nowhere, rank 0 gets nothing
        read, written = ranks - 1, ranks - 1
    return size * (read + written)


def memory_seconds(collective: str, size: int, ranks: int, bytes_per_second: float) -> float | None:
    """`bytes_per_second`: read and written together, by all cores that take part."""
    return moved_bytes(collective, size, ranks) / bytes_per_second or None
