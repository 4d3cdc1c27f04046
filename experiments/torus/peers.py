"""SMPI's imitations of MPI libraries on full tori, beside the trees; and the trees in both simulators.

    python -m experiments.torus.peers [--quick] [--minutes 60]

Selectors run in SimGrid's SMPI alone, our algorithm there where it is small enough, and as flows on links in
any case; the ratio is the best selector's time over ours as flows. --share lets the ranks' buffers be the
same memory, so that 16 MiB on many ranks fit.
"""

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from unisono.sim import smpi

from experiments import harness
from experiments.markdown import table
from experiments.testbeds import Json
from experiments.torus import full, measuring
from experiments.torus.measuring import MIB, Cell, Store, size_text

LIMIT = 900.0  # seconds for one simulation
OWN = "torus:segment=4K"
SHAPES = ("4x4", "8x8", "4x4x4", "5x7x3", "8x8x8", "8x8x16")
COLLECTIVES = ("bcast", "reduce", "allreduce")
# Ours in SMPI: what takes minutes at most.
BOTH = (
    *(("4x4", 16 * MIB), ("8x8", MIB), ("4x4x4", MIB)),
    *(("4x4x4", 16 * MIB), ("5x7x3", MIB), ("8x8x8", MIB)),
)


@dataclass(frozen=True)
class Peer:
    shape: str
    collective: str
    bytes: int
    who: str  # a selector, or OWN

    @property
    def name(self) -> str:
        return f"{self.shape} {self.collective} {self.bytes} {self.who}"

    @property
    def command(self) -> list[str]:
        who = ["--arms", self.who]
        if self.who != OWN:
            who = ["--arms", "native", "--selectors", self.who]
        return [
            *("unisono", "sim", "--platform", f"torus:{self.shape}", "--collective", self.collective),
            *("--sizes", str(self.bytes), *who, "--share", "--json", "-"),
        ]


def run(peer: Peer) -> Json:
    begin = time.monotonic()
    try:
        # The process group's children end with it: unisono sim ends its simulations at SIGTERM.
        process = subprocess.Popen(peer.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        output, problem = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.communicate()
        return {"left_out": f"more than {LIMIT:.0f} s"}
    harness.console.print(f"[dim]{peer.name}: {time.monotonic() - begin:.0f} s[/dim]", soft_wrap=True)
    try:
        cell: Json = json.loads(output)["rows"][0]["cells"][0]
    except (ValueError, LookupError):
        return {"left_out": (problem or output).strip()[-200:]}
    return {"seconds": cell["seconds"]} if cell.get("seconds") else {"left_out": cell["left_out"]}


def selectors() -> Iterator[Peer]:
    for shape in SHAPES:
        for collective in COLLECTIVES:
            for selector in smpi.SELECTORS:
                yield Peer(shape, collective, 16 * MIB, selector)


def both() -> Iterator[Peer]:
    for shape, size in BOTH:
        for collective in COLLECTIVES:
            yield Peer(shape, collective, size, OWN)


def flows(ours: Store, shape: str, collective: str, size: int) -> float | None:
    """By the best segment that has been simulated."""
    found = measuring.best(ours, full.asked(shape, collective, "", size))
    return float(ours.cells[found[0]]["seconds"]) if found else None


def in_both(store: Store, ours: Store) -> Iterator[tuple[Peer, float, float]]:
    """Seconds of a call as flows, and in SMPI."""
    for peer in both():
        in_smpi = store.rows.get(peer.name, {}).get("seconds")
        told = ours.get(Cell(f"torus:{peer.shape}", peer.collective, OWN, peer.bytes))
        if in_smpi and told:
            yield peer, told["seconds"], in_smpi


def errors(store: Store, ours: Store) -> dict[str, tuple[float, float]]:
    """By collective, the least and the most that flows take of SMPI's time."""
    found: dict[str, tuple[float, float]] = dict.fromkeys(COLLECTIVES, (1.0, 1.0))
    for peer, flow, in_smpi in in_both(store, ours):
        low, high = found[peer.collective]
        found[peer.collective] = min(low, flow / in_smpi), max(high, flow / in_smpi)
    return found


def tables(store: Store, ours: Store) -> list[str]:
    rows = []
    for shape in SHAPES:
        for collective in COLLECTIVES:
            own = flows(ours, shape, collective, 16 * MIB)
            found = [store.rows.get(Peer(shape, collective, 16 * MIB, s).name, {}) for s in smpi.SELECTORS]
            times = [one.get("seconds") for one in found]
            known = [t for t in times if t]
            numbers = [f"{1000 * t:.2f}" if t else "" for t in (own, *times)]
            rows.append([shape, collective, *numbers, f"{min(known) / own:.1f}" if known and own else ""])
    head = ("torus", "collective", "`torus`", *smpi.SELECTORS, "best / `torus`")
    lines = table(head, rows, (0, 1))
    rows = []
    for peer, flow, in_smpi in in_both(store, ours):
        words = f"{1e6 * flow:.1f}", f"{1e6 * in_smpi:.1f}", f"{flow / in_smpi:.4f}"
        rows.append([peer.shape, peer.collective, size_text(peer.bytes), *words])
    return lines + table(
        ("torus", "collective", "size", "flows: us", "SMPI: us", "flows / SMPI"), rows, (0, 1, 2)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    given, store = measuring.options(__doc__ or "", "peers", arguments)
    asked = [*both(), *selectors()]
    for peer in (
        asked[:1] if given.quick else sorted(asked, key=lambda p: (p.who == OWN, SHAPES.index(p.shape)))
    ):
        store.ask_row(peer.name, partial(run, peer))
    print("\n".join(tables(store, full.results(time.monotonic()))))
    return 0


if __name__ == "__main__":
    harness.run(main)
