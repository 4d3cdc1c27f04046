"""Full tori: Bcast, Reduce and Allreduce over contention-free trees as a share of the max-flow limit.

    python -m experiments.torus.full [--quick] [--minutes 60]

Segments of 512 bytes to 16 KiB, of each the calls with few enough messages to simulate; the default besides.
A reduction is limited by the host's additions as well as by links: hosts of 850 Mf add with one core of a
BlueGene/P, those of 3.4 Gf with its four. The contrast is of what else the catalogue has.
"""

from collections.abc import Iterator, Sequence

from unisono.core.amounts import parse_size
from unisono.sim import platforms

from experiments import harness
from experiments.markdown import table
from experiments.torus import measuring
from experiments.torus.measuring import KIB, MIB, Cell, Store, letters, percent, size_text

SHAPES = ("4x4", "8x8", "4x4x4", "5x7x3", "8x8x8", "8x8x16")
SIZES = (MIB, 16 * MIB)
SEGMENTS = (512, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB)
DEFAULT = 4 * KIB
FAST = ",speed=3.4Gf"
MOST = 8_500_000  # messages of a call
OTHERS = {
    "bcast": ("binomial", "scatter_allgather", "chain:segment=4K", "circulant"),
    "allreduce": (
        *("swing", "bucket", "bucket:segment=4K", "bucket:segment=1K"),
        *("trivance", "ring", "rabenseifner", "circulant"),
    ),
}
CONTRAST = ("8x8", "4x4x4")


def messages(cell: Cell, segment: int) -> int:
    ways = 2 if cell.collective == "allreduce" else 1
    return ways * (platforms.parse(cell.platform).hosts - 1) * (cell.bytes // segment)


def segment_of(cell: Cell) -> int:
    """Of what has none: as if it were long."""
    text = cell.algorithm.partition("segment=")[2]
    return parse_size(text, "segment") if text else 64 * KIB


def asked(shape: str, collective: str, speed: str, size: int) -> Iterator[Cell]:
    for segment in SEGMENTS:
        cell = Cell(f"torus:{shape}{speed}", collective, f"torus:segment={letters(segment)}", size)
        if messages(cell, segment) <= MOST:
            yield cell


def standard(shape: str, collective: str, speed: str, size: int) -> Cell:
    return Cell(f"torus:{shape}{speed}", collective, f"torus:segment={letters(DEFAULT)}", size)


KINDS = (("bcast", ""), ("reduce", ""), ("reduce", FAST), ("allreduce", ""), ("allreduce", FAST))


def own(quick: bool) -> Iterator[Cell]:
    for shape in SHAPES[:1] if quick else SHAPES:
        for size in SIZES:
            for collective, speed in KINDS:
                cells = asked(shape, collective, speed, size)
                yield from (cell for cell in cells if not quick or cell.bytes == MIB)


def others() -> Iterator[Cell]:
    for shape in CONTRAST:
        for size in SIZES:
            for collective, names in OTHERS.items():
                for name in names:
                    yield Cell(f"torus:{shape}", collective, name, size)


def results(deadline: float) -> Store:
    return Store(measuring.RESULTS / "full.json.zst", "torus-full", deadline)


def tables(store: Store) -> list[str]:
    lines = []
    for size in SIZES:
        rows = []
        for shape in SHAPES:
            row = [shape]
            for collective, speed in KINDS:
                cells = list(asked(shape, collective, speed, size))
                plain = standard(shape, collective, speed, size)
                found = measuring.best(store, cells)
                row.append(percent(store.share(plain)))
                row.append(f"{percent(found[1])} ({found[0].algorithm.partition('=')[2]})" if found else "")
            rows.append(row)
        names = [f"{c}{', 3.4 Gf' if s else ''}" for c, s in KINDS]
        head = [f"{size_text(size)}: % of the limit"] + [
            t for n in names for t in (f"{n}, 4K", "best segment")
        ]
        lines += table(head, rows, (0,))
    return lines


def contrast(store: Store) -> list[str]:
    rows = []
    for shape in CONTRAST:
        for collective, names in OTHERS.items():
            for name in ("torus:segment=4K", "torus:segment=1K", *names):
                shares = [store.share(Cell(f"torus:{shape}", collective, name, size)) for size in SIZES]
                rows.append([shape, collective, f"`{name}`", *map(percent, shares)])
    return table(("torus", "collective", "algorithm", *map(size_text, SIZES)), rows, (0, 1, 2))


def main(arguments: Sequence[str] | None = None) -> int:
    given, store = measuring.options(__doc__ or "", "full", arguments)
    cells = [*own(given.quick), *([] if given.quick else others())]
    # The long ones last: what the time is too short for, is the least of it.
    store.ask(sorted(cells, key=lambda c: messages(c, segment_of(c))))
    print("\n".join([*tables(store), *contrast(store)]))
    return 0


if __name__ == "__main__":
    harness.run(main)
