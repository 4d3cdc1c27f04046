"""What a program got on a torus that asked for nothing, in SimGrid's SMPI: the tables of what was kept.

The policy that was measured, which tried what the model proposed, is gone (docs/adr/0052-safe-first.md). The
program called one collective again and again. Beside it the program under SMPI's imitations of MPI libraries.
"""

import statistics
from collections.abc import Iterator

from unisono.sim import smpi

from experiments.markdown import table
from experiments.torus.measuring import MIB, Store, size_text

SHAPES = ("4x4", "3x3x3", "8x8")
COLLECTIVES = ("bcast", "reduce", "allreduce")
SIZES = (MIB // 4, MIB)
CALLS = 100
LAST = 20
SELECTORS = smpi.SELECTORS
OWN = "unisono"


def cells() -> Iterator[tuple[str, str, int]]:
    for shape in SHAPES:
        for collective in COLLECTIVES:
            yield from ((shape, collective, size) for size in SIZES)


def tables(store: Store) -> list[str]:
    rows = []
    for shape, collective, size in cells():
        row = store.rows.get(f"{shape} {collective} {size}", {})
        known = {who: of for who, of in row.items() if who != "left_out" and "calls" in of}
        peers = [name for name in SELECTORS if name in known]
        if OWN not in known or not peers:
            rows.append((shape, collective, size_text(size), *[""] * (len(SELECTORS) + 3)))
            continue
        last = {who: statistics.median(of["calls"][-LAST:]) for who, of in known.items()}
        best = min(peers, key=lambda name: last[name])
        rows.append(
            (
                shape,
                collective,
                size_text(size),
                *(f"{1e6 * last[name]:.0f}" if name in last else "" for name in (*SELECTORS, OWN)),
                f"{last[best] / last[OWN]:.1f}",
                f"{known[best]['seconds'] / known[OWN]['seconds']:.1f}",
            )
        )
    headings = ("torus", "collective", "size", *(f"{name}: us" for name in SELECTORS), "Unisono: us")
    return table((*headings, "last calls: times", "all: times"), rows, range(3))
