"""What crosses the links at the top of a fat tree with two levels of switches, counted on the schedules of
Bine trees and of the algorithms that they stand beside.

A message between hosts of two leaf switches takes one link up and one down; D-mod-k routing, as SimGrid has
it, takes the link whose number is the receiver's modulo the links up. Beside all bytes, those of the busiest
link are counted, each way: what a time would be that nothing but the top limits.

    python -m experiments.torus.top_links [--json FILE]
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from unisono.core import places
from unisono.core.files import write_json

# The ranks fill the first hosts. Leaf switches whose hosts are no power of two cut every butterfly.
NETWORKS = (("8x8:4", 64), ("16x16:8", 256), ("12x6:6", 64))
BLOCK = 1024  # bytes; a vector is a block for each rank

# Each with what it is instead of.
PAIRS = (
    ("bcast", "bine", "binomial"),
    ("reduce", "bine", "binomial"),
    ("gather", "bine", "binomial"),
    ("scatter", "bine", "binomial"),
    ("allgather", "bine", "recursive_doubling"),
    ("reduce_scatter", "bine", "recursive_halving"),
    ("allreduce", "bine", "rabenseifner"),
    ("allreduce", "bine_whole", "recursive_doubling"),
    ("allreduce", "bine", "ring"),
)


@dataclass(frozen=True)
class FatTree:
    """Hosts to a leaf switch, leaf switches, links up from each."""

    down: int
    leaves: int
    up: int

    @classmethod
    def parse(cls, text: str) -> "FatTree":
        shape, _, up = text.partition(":")
        down, leaves = shape.split("x")
        return cls(int(down), int(leaves), int(up))


@dataclass(frozen=True)
class Count:
    all: int  # bytes between leaf switches
    busiest: int  # over one link


def messages(collective: str, algorithm: str, ranks: int, root: int) -> Iterator[tuple[int, int, int]]:
    """Sender, receiver, bytes."""
    is_vector = collective in ("bcast", "reduce", "allreduce")
    line = [str(places.build_directory() / "bin" / "unisono-schedule"), "show", "--format", "json"]
    line += ["--collective", collective, "--algorithm", algorithm, "--ranks", str(ranks)]
    line += ["--root", str(root), "--count", str(BLOCK * ranks if is_vector else BLOCK)]
    shown = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    for one in shown["ranks"]:
        for op in one["ops"]:
            if op["op"] == "send":
                yield one["rank"], op["peer"], op["slice"][2]


def count(tree: FatTree, ranks: int, collective: str, algorithm: str) -> Count:
    """The mean over the roots of a leaf switch, where there is one."""
    roots = range(tree.down) if collective in ("bcast", "reduce", "gather", "scatter") else range(1)
    everything = busiest = 0
    for root in roots:
        links: Counter[tuple[str, int, int]] = Counter()
        for sender, receiver, size in messages(collective, algorithm, ranks, root):
            above, below = sender // tree.down, receiver // tree.down
            if above == below:
                continue
            everything += size
            links["up", above, receiver % tree.up] += size
            links["down", below, receiver % tree.up] += size
        busiest += max(links.values())
    return Count(everything // len(roots), busiest // len(roots))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the counts there, too")
    options = parser.parse_args()
    rows = []
    print(
        f"{'fat tree':10} {'collective':15} {'bine':12} {'beside':20} {'all bytes':>22} {'busiest link':>22}"
    )
    for shape, ranks in NETWORKS:
        tree = FatTree.parse(shape)
        for collective, bine, other in PAIRS:
            own, peer = (count(tree, ranks, collective, name) for name in (bine, other))
            print(
                f"{shape:10} {collective:15} {bine:12} {other:20} "
                f"{own.all:9} {peer.all:9} {own.all / peer.all:4.2f} "
                f"{own.busiest:8} {peer.busiest:8} {own.busiest / peer.busiest:5.2f}"
            )
            rows.append(
                {
                    "fat_tree": shape,
                    "ranks": ranks,
                    "collective": collective,
                    "algorithm": bine,
                    "beside": other,
                }
                | {"block_bytes": BLOCK, "counted": asdict(own), "counted_beside": asdict(peer)}
            )
    if options.json:
        what = {
            "experiment": "torus-top-links",
            "command": "python -m experiments.torus.top_links",
            "rows": rows,
        }
        write_json(what, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
