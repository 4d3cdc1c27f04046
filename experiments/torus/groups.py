"""Contiguous groups: boxes of the paper's torus that all call at once, over links between their own hosts.

    python -m experiments.torus.groups [--quick] [--minutes 60]

Links are counted over all groups' trees at once: where none is used by two groups, each goes as fast as if it
were alone, and the simulated time of one is that of each of its size. `2k` is for contrast: trees that may go
round the torus, through others' links.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from experiments import harness
from experiments.markdown import table
from experiments.testbeds import Json
from experiments.torus import measuring
from experiments.torus.measuring import MIB, PAPER, Cell, Store, letters, percent

# Groups along x, y, z.
CUTS = ((1, 1, 2), (1, 1, 4), (1, 2, 2), (2, 2, 2), (1, 1, 8))
KINDS = ("box", "auto")
SEGMENT = 8 << 10
FAST = ",speed=3.4Gf"
SHAPE = tuple(map(int, PAPER.partition(":")[2].split("x")))


def boxes(cut: Sequence[int]) -> list[list[int]]:
    """The hosts of each group."""
    sides = [size // parts for size, parts in zip(SHAPE, cut, strict=True)]
    found: dict[tuple[int, ...], list[int]] = {}
    for host in range(SHAPE[0] * SHAPE[1] * SHAPE[2]):
        place = (host % SHAPE[0], host // SHAPE[0] % SHAPE[1], host // (SHAPE[0] * SHAPE[1]))
        found.setdefault(tuple(p // side for p, side in zip(place, sides, strict=True)), []).append(host)
    return list(found.values())


def first_box(cut: Sequence[int]) -> str:
    """As --ranks has it: what is beyond it is left out."""
    beyond = []
    for axis, size, parts in zip("xyz", SHAPE, cut, strict=True):
        if parts > 1:
            beyond.append(f"{axis}={size // parts}-{size - 1}")
    return "without:" + ",".join(beyond)


def counted(cut: Sequence[int], kind: str, use: str) -> Json:
    """Trees of a group, and groups and messages on the busiest link of all."""
    groups, messages, users = boxes(cut), Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    fewest = 0
    for hosts in groups:
        made = measuring.trees("x".join(map(str, SHAPE)), hosts, "--trees", kind, "--for", use)
        links: Counter[tuple[int, int]] = Counter()
        for tree in made["trees"]:
            for route in tree["routes"]:
                links.update(itertools.pairwise(route))
        messages.update(links)
        users.update(dict.fromkeys(links, 1))
        fewest = min(fewest or len(made["trees"]), len(made["trees"]))
    return {
        "hosts": len(groups[0]),
        "trees": fewest,
        "messages": max(messages.values()),
        "groups": max(users.values()),
    }


def calls(cut: Sequence[int]) -> Iterator[Cell]:
    for collective in ("bcast", "allreduce"):
        place = PAPER + ("" if collective == "bcast" else FAST)
        yield Cell(place, collective, f"torus:trees=box,segment={letters(SEGMENT)}", 16 * MIB, first_box(cut))


def bcast_limit(cut: Sequence[int]) -> int:
    """Links between a group's own hosts that enter its corner: no broadcast within it is faster. A
    dimension that the group spans is a ring."""
    return sum(2 if parts == 1 else min(1, size // parts - 1) for size, parts in zip(SHAPE, cut, strict=True))


def allreduce_limit(cut: Sequence[int]) -> float:
    """All links between a group's own hosts together take in 2 (h - 1) vectors."""
    hosts, links = math.prod(SHAPE) // math.prod(cut), 0
    for size, parts in zip(SHAPE, cut, strict=True):
        side = size // parts
        links += hosts // side * 2 * (side if parts == 1 else side - 1)
    return min(bcast_limit(cut), links / (2 * (hosts - 1)))


LIMITS = {"bcast": bcast_limit, "allreduce": allreduce_limit}


def tables(store: Store) -> list[str]:
    rows = []
    for cut in CUTS:
        name = "x".join(str(size // parts) for size, parts in zip(SHAPE, cut, strict=True))
        for kind in KINDS:
            found = store.rows.get(f"{cut} {kind} broadcast")
            if not found:
                continue
            row = [str(len(boxes(cut))), name, f"`{kind}`", str(found["trees"])]
            row += [str(found["messages"]), str(found["groups"])]
            for cell in calls(cut):
                told, limit = store.get(cell) if kind == "box" else None, LIMITS[cell.collective](cut)
                rate = cell.bytes / told["seconds"] / 425e6 if told else 0
                row += [f"{limit:.2f}", *((f"{rate:.2f}", percent(rate / limit)) if told else ("", ""))]
            rows.append(row)
    head = ["groups", "hosts of each", "trees", "of a group", "messages on a link", "groups on a link"]
    head += ["Bcast: limit in links", "16 MiB", "%", "Allreduce: limit in links", "16 MiB", "%"]
    return table(head, rows, (1, 2))


def main(arguments: Sequence[str] | None = None) -> int:
    given, store = measuring.options(__doc__ or "", "groups", arguments)
    for cut in CUTS[-1:] if given.quick else CUTS:
        for kind in KINDS:
            store.ask_row(f"{cut} {kind} broadcast", partial(counted, cut, kind, "broadcast"))
    if not given.quick:
        store.ask([cell for cut in reversed(CUTS) for cell in calls(cut)])
    print("\n".join(tables(store)))
    return 0


if __name__ == "__main__":
    harness.run(main)
