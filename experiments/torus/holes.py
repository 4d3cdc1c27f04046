"""Tori without some hosts: one missing host (the paper's Figure 2), several, and missing planes (Figure 3).

    python -m experiments.torus.holes [--quick] [--minutes 60]

Shares of the max-flow limit of the hosts that are left, whatever routes that would take, and of the limit of
the routes that the network has. Segments grow with the size, so that a simulation stays below some minutes.
"""

import random
from collections.abc import Iterator, Sequence

from unisono.sim import platforms

from experiments import harness
from experiments.markdown import table
from experiments.torus import measuring
from experiments.torus.measuring import KIB, MIB, PAPER, Cell, Store, letters, percent, size_text
from experiments.torus.subsets import ROUTINGS

SMALL = ("torus:4x4x4", "torus:5x7x3")
FIGURE = (512 * KIB, 4 * MIB, 32 * MIB, 512 * MIB)
SEGMENT = {512 * KIB: 2 * KIB, 4 * MIB: 8 * KIB, 16 * MIB: 8 * KIB, 32 * MIB: 32 * KIB, 512 * MIB: 512 * KIB}
ONE = "without:5"  # rank 0 is on host 0
SEEDS = 2
LONG = "torus:segment=16K"
AXES = "xyz"
FAST = ",speed=3.4Gf"


def with_routing(platform: str, routing: str) -> str:
    return platform + ("" if routing == "minimal" else f",routing={routing}")


def segment(size: int) -> str:
    return f"torus:segment={letters(SEGMENT[size])}"


def missing(platform: str, number: int, seed: int) -> str:
    hosts = platforms.parse(platform).hosts
    return "without:" + ",".join(map(str, sorted(random.Random(seed).sample(range(hosts), number))))


def planes(platform: str, axes: str, seed: int) -> str:
    """A random third of the planes across each of these dimensions, one at least; never all."""
    draw = random.Random(f"{seed} {axes}")
    sizes = dict(zip(AXES, platforms.parse(platform).dimensions, strict=False))  # type: ignore[attr-defined]
    taken = [(axis, n) for axis in axes for n in draw.sample(range(sizes[axis]), max(1, sizes[axis] // 3))]
    return "without:" + ",".join(f"{axis}={n}" for axis, n in sorted(taken))


def small() -> Iterator[tuple[str, Cell]]:
    """By what is missing."""
    for platform in SMALL:
        for routing in ROUTINGS:
            for collective in ("bcast", "reduce", "allreduce"):
                place = with_routing(platform, routing) + ("" if collective == "bcast" else FAST)
                call = (collective, "torus:segment=4K", 16 * MIB)
                for where in (ONE, *(f"without:{host}" for host in (1, 21, 42))):
                    yield "1 host", Cell(place, *call, where)
                yield "1 host", Cell(place, *call, ONE, root=17)


def short() -> Iterator[Cell]:
    """For the tests, which simulate them anew."""
    for platform in SMALL:
        for routing in ROUTINGS:
            for collective in ("bcast", "allreduce"):
                for where in (ONE, missing(platform, 4, 0), planes(platform, AXES, 0)):
                    yield Cell(with_routing(platform, routing), collective, "torus:segment=8K", MIB, where)


def more() -> Iterator[tuple[str, Cell]]:
    for platform in SMALL:
        for routing in ROUTINGS:
            for collective in ("bcast", "allreduce"):
                place = with_routing(platform, routing) + ("" if collective == "bcast" else FAST)
                call = (collective, LONG, 16 * MIB)
                for number in (2, 4, 8):
                    for seed in range(SEEDS):
                        yield f"{number} hosts", Cell(place, *call, missing(platform, number, seed))
                for axes in (*AXES, AXES):
                    yield f"planes in {axes}", Cell(place, *call, planes(platform, axes, 0))


def figures() -> Iterator[tuple[str, Cell]]:
    for size in FIGURE:
        for collective in ("bcast", "allreduce"):
            place = PAPER + ("" if collective == "bcast" else FAST)
            yield "1 host", Cell(place, collective, segment(size), size, ONE)
            yield "planes in z", Cell(place, collective, segment(size), size, planes(PAPER, "z", 0))
            yield "planes in xyz", Cell(place, collective, segment(size), size, planes(PAPER, AXES, 0))


def seeds() -> Iterator[tuple[str, Cell]]:
    for axes in (*AXES, AXES):
        for seed in range(SEEDS):
            yield f"planes in {axes}", Cell(PAPER, "bcast", LONG, 16 * MIB, planes(PAPER, axes, seed))


def share_table(store: Store, asked: Sequence[tuple[str, Cell]]) -> list[str]:
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for what, cell in asked:
        if store.get(cell):
            shape, *options = cell.platform.partition(":")[2].split(",")
            routing = next((o.partition("=")[2] for o in options if o.startswith("routing=")), "minimal")
            groups.setdefault((shape, what, cell.collective, routing), []).append(cell)
    rows = []
    for key, cells in groups.items():
        results = [store.cells[cell] for cell in cells]
        flow = [r["limit"] / r["seconds"] for r in results]
        routes = [max(r["limit"], r["routing_limit"] or 0) / r["seconds"] for r in results]
        numbers = [percent(f(x)) for x in (flow, routes) for f in (min, lambda x: sum(x) / len(x))]
        rows.append([*key, str(len(cells)), *numbers])
    head = ("torus", "missing", "collective", "routing", "cases", "% of the max-flow: least", "mean")
    return table((*head, "% of the routes' limit: least", "mean"), rows, range(4))


def figure_table(store: Store) -> list[str]:
    lines: dict[tuple[str, str], list[str]] = {}
    for what, cell in figures():
        found = store.get(cell)
        rate = f"{cell.bytes / found['seconds'] / 1e6:.0f} ({percent(store.share(cell))})" if found else ""
        lines.setdefault((what, cell.collective), []).append(rate)
    head = [f"{size_text(size)}, segments of {letters(SEGMENT[size])}" for size in FIGURE]
    return table(("missing", "collective", *head), [[*key, *row] for key, row in lines.items()], (0, 1))


def main(arguments: Sequence[str] | None = None) -> int:
    given, store = measuring.options(__doc__ or "", "holes", arguments)
    near = list(small())
    store.ask(short())
    if not given.quick:
        store.ask([cell for _, cell in (*near, *figures(), *seeds(), *more())])
    print("\n".join([*share_table(store, [*near, *more(), *seeds()]), *figure_table(store)]))
    return 0


if __name__ == "__main__":
    harness.run(main)
