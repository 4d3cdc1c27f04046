"""What a program gets on a torus that asks for nothing: online selection, in SimGrid's SMPI.

    python -m experiments.torus.unasked [--quick] [--minutes 60]

The program calls one collective again and again. Unisono reads where the hosts are, as it does from a
topology file; the model offers what should be fast on these links, and what was faster than the library's own
is kept. Beside it the program under SMPI's imitations of MPI libraries.
"""

import json
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from functools import partial

from unisono.sim import smpi

from experiments import harness
from experiments.markdown import table
from experiments.testbeds import ROOT, Json
from experiments.torus import measuring
from experiments.torus.measuring import MIB, Store, size_text

PROGRAM = ROOT / "experiments" / "inputs" / "repeated.c"
SHAPES = ("4x4", "3x3x3", "8x8")
COLLECTIVES = ("bcast", "reduce", "allreduce")
SIZES = (MIB // 4, MIB)
CALLS = 100
LAST = 20
SELECTORS = smpi.SELECTORS
OWN = "unisono"


def run(shape: str, collective: str, size: int) -> Json:
    """Seconds of each call, by who served it; of whom it failed for, the problem."""
    line = ["unisono", "sim", "--platform", f"torus:{shape}", "--selectors", ",".join(SELECTORS)]
    line += ["--online", "--json", "-", "--", str(PROGRAM), collective, str(size), str(CALLS)]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    try:
        runs = json.loads(done.stdout)["runs"]
    except ValueError:
        return {"left_out": done.stderr.strip()[-200:]}
    names = [*SELECTORS, OWN]
    return {
        name: {"left_out": run["problem"]}
        if run["problem"]
        else {"seconds": run["seconds"], "calls": [float(word) for word in run["output"].split()]}
        for name, run in zip(names, runs, strict=True)
    }


def cells(quick: bool) -> Iterator[tuple[str, str, int]]:
    for shape in SHAPES[:1] if quick else SHAPES:
        for collective in COLLECTIVES:
            yield from ((shape, collective, size) for size in SIZES[: 1 if quick else None])


def tables(store: Store) -> list[str]:
    rows = []
    for shape, collective, size in cells(False):
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


def main(arguments: Sequence[str] | None = None) -> int:
    given, store = measuring.options(__doc__ or "", "unasked", arguments)
    for shape, collective, size in cells(given.quick):
        store.ask_row(f"{shape} {collective} {size}", partial(run, shape, collective, size))
    print("\n".join(tables(store)))
    return 0


if __name__ == "__main__":
    harness.run(main)
