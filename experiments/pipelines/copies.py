"""On a node of two ranks: how long a reduction takes beside the copies that it cannot do without.

A Bcast is one copy: the root reads and writes the message once, and so does the other rank, at the same
time. Through memory that both can reach, without a way to read the other's buffers for nothing, a rank must
read and write at least so often, in messages:

  reduce, scan   the rank that has the result reads both inputs and writes the result: 3, a Bcast 2
  allreduce      a rank writes its own result, and to the other what that cannot know: half of its input and
                 half of the result, or all of its input; as much is read, its own input and the other's: 4

A rank that reads the other's buffer at once, by single copy, needs one write less. And a Bcast is not its
copy alone: short ones are mostly waiting, so that less than 1 says nothing of the reduction.
"""

from collections.abc import Sequence

from unisono.core.catalogue import format_size

from experiments.harness import Check, below, every
from experiments.markdown import table
from experiments.pipelines.measuring import DEFAULT, SUM, Point, Ratio

COPIES = {"reduce": 1.5, "scan": 1.5, "allreduce": 2.0}  # of a Bcast
GOAL = 1.5  # times these
SHORTEST = 32 << 10


def over_bcast(points: Sequence[Point]) -> dict[tuple[str, int], Ratio]:
    """By collective and size, from SHORTEST on: times a Bcast of the same job, as Unisono chooses."""
    own = {(p.collective, p.bytes): p for p in points if p.op == SUM and p.bytes >= SHORTEST}
    found = {}
    for (collective, size), point in own.items():
        bcast = own.get(("bcast", size))
        ratio = point.over(DEFAULT, bcast, DEFAULT) if bcast and collective in COPIES else None
        if ratio:
            found[collective, size] = ratio
    return found


def over_bound(collective: str, ratio: Ratio) -> Ratio:
    copies = COPIES[collective]
    return Ratio(ratio.value / copies, ratio.low / copies, ratio.high / copies)


def checks(points: Sequence[Point]) -> list[Check]:
    found = []
    for collective in COPIES:
        bounds = [
            (format_size(size), over_bound(name, ratio))
            for (name, size), ratio in over_bcast(points).items()
            if name == collective
        ]
        if bounds:
            where, most = max(bounds, key=lambda one: one[1].value)
            good = every(below(ratio.low, ratio.high, GOAL) for _, ratio in bounds)
            claim = f"{collective}: at most {GOAL} times the copy bound from {format_size(SHORTEST)} on"
            found.append(Check(claim, good, f"{most.text()} ({where})"))
    return found


def copy_table(points: Sequence[Point]) -> list[str]:
    rows = [
        (collective, format_size(size), ratio.text(), over_bound(collective, ratio).text())
        for (collective, size), ratio in sorted(over_bcast(points).items())
    ]
    return table(("collective", "bytes", "times a Bcast", "times the copy bound"), rows, (0,)) if rows else []
