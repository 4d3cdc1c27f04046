"""*Collective algorithms for sub-communicators*, Figures 4 and 5: groups of random hosts of a torus of
8x8x16, all of which broadcast, or reduce to all, at the same time; flows, 425 MB/s a link.

Cooperating, each group uses its share of link-disjoint trees over all hosts; apart, each uses what is
best for it alone. What is printed is the sum over the groups of bytes by seconds, and whether the rule
(cooperate where the trees' rate is more, counted on the links without simulating) chose the better one.

    python -m experiments.torus.cooperating --json docs/results/torus/cooperating.json.zst
    python -m experiments.torus.cooperating --show docs/results/torus/cooperating.json.zst
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unisono.core import places
from unisono.core.files import read_json, write_json

SHAPE = "8x8x16"
LINK = 425e6
NETWORK = ["--network", f"torus:{SHAPE}", "--bandwidth", f"{LINK:g}", "--latency", "1e-7", "--flops", "850e6"]
GROUPS = (2, 4, 8, 16, 32)
KIB = 1 << 10
SIZES = (512 * KIB, 2048 * KIB, 16384 * KIB)
# Of all pipelines, so that simulating takes seconds: where trees share links each message costs more.
SEGMENTS = {
    "bcast": {2: 1024, 4: 512, 8: 256, 16: 256, 32: 256},
    "allreduce": {2: 256, 4: 256, 8: 128, 16: 128, 32: 128},
}
FEW = 32  # of the shortest vector, so that trees which share many links can be simulated, too
COOPERATE = "cooperate"
TREES = ("torus:trees=greedy", "torus:trees=raster", "torus:trees=snake")
# What MPI libraries use without a torus.
LIBRARIES = {"bcast": ("binomial", "scatter_allgather"), "allreduce": ("rabenseifner",)}

Json = dict[str, Any]


def segments(collective: str, groups: int, size: int) -> int:
    return FEW if size == SIZES[0] else SEGMENTS[collective][groups]


def measure(collective: str, groups: int, size: int, algorithm: str, seconds: float) -> Json:
    is_pipeline = algorithm == COOPERATE or algorithm in TREES
    spec = algorithm
    if is_pipeline:
        spec += f"{',' if ':' in spec else ':'}segment={size // segments(collective, groups, size)}"
    line = [str(places.program("unisono-network")), "groups", *NETWORK, "--routing", "directed"]
    line += ["--groups", f"random:{groups}:seed=1", "--collective", collective]
    line += ["--bytes", str(size), "--algorithm", spec]
    row: Json = {"collective": collective, "groups": groups, "bytes": size, "algorithm": algorithm}
    try:
        done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return row | {"left_out": f"its simulation takes more than {seconds:g} s"}
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    told: Json = json.loads(done.stdout)
    kept = (
        "left_out",
        "rate",
        "trees_of_each",
        "sharing",
        "depth",
        "seconds",
        "bandwidth",
        "messages",
        "sent",
    )
    return row | {name: told[name] for name in kept if name in told} | {"spec": spec}


def best_apart(rows: list[Json]) -> Json:
    return max((row for row in rows if "bandwidth" in row and row["algorithm"] != COOPERATE), key=bandwidth)


def is_bound(rows: list[Json]) -> bool:
    """Whether trees that may be better were not simulated; snakes are below rasters wherever both were."""
    known = {row["algorithm"] for row in rows if "bandwidth" in row}
    return not {COOPERATE, *TREES[:2]} <= known


def bandwidth(row: Json) -> float:
    return float(row["bandwidth"])


def judged(rows: list[Json]) -> tuple[bool, bool] | None:
    """Whether the rule says to cooperate, and whether that was faster than what it compared with."""
    together = next((r for r in rows if r["algorithm"] == COOPERATE and "bandwidth" in r), None)
    apart = [r for r in rows if r["algorithm"] in TREES and "bandwidth" in r]
    if together is None or not apart:
        return None
    own = max(apart, key=lambda r: float(r["rate"]))
    return together["rate"] > own["rate"], bandwidth(together) > bandwidth(own)


def cell(rows: list[Json], algorithm: str) -> str:
    row = next((r for r in rows if r["algorithm"] == algorithm), None)
    return f"{bandwidth(row) / LINK:.2f}" if row and "bandwidth" in row else "-"


def table(found: list[Json], collective: str) -> str:
    names = [COOPERATE, *TREES, *LIBRARIES[collective]]
    heads = [name.removeprefix("torus:trees=") for name in names]
    lines = [f"| groups | bytes | {' | '.join(heads)} | cooperating / best apart | rule says | right |"]
    lines.append("|---" * (len(names) + 5) + "|")
    for groups in GROUPS:
        for size in SIZES:
            rows = [
                r for r in found if (r["collective"], r["groups"], r["bytes"]) == (collective, groups, size)
            ]
            verdict = judged(rows)
            if verdict is None:
                continue
            together = next(r for r in rows if r["algorithm"] == COOPERATE)
            gain = bandwidth(together) / bandwidth(best_apart(rows))
            says, is_faster = verdict
            right = "?" if is_bound(rows) else "yes" if says == is_faster else "no"
            most = "at most " if is_bound(rows) else ""
            cells = " | ".join(cell(rows, name) for name in names)
            lines.append(
                f"| {groups} | {size // KIB} KiB | {cells} | {most}{gain:.2f} | "
                f"{'?' if is_bound(rows) else 'together' if says else 'apart'} | {right} |"
            )
    return "\n".join(lines)


def tables(found: list[Json]) -> list[str]:
    lines = []
    for collective in LIBRARIES:
        lines += [f"{collective.capitalize()}:", "", table(found, collective), ""]
    return lines


def show(found: list[Json]) -> None:
    print(f"Sum of bandwidths, in links of {LINK / 1e6:g} MB/s, on {SHAPE}\n")
    print("\n".join(tables(found)))


def points() -> Iterator[tuple[str, int, str]]:
    """What matters most comes first."""
    for i in range(len(TREES) + 3):
        for collective, libraries in LIBRARIES.items():
            names = (COOPERATE, *TREES[:2], *libraries, TREES[2])
            for groups in GROUPS:
                if i < len(names):
                    yield collective, groups, names[i]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="measure, and write there; what it holds is kept")
    parser.add_argument("--show", type=Path, help="only print what is in this file")
    parser.add_argument("--sizes", type=int, nargs="*", choices=SIZES, help="only these")
    parser.add_argument("--seconds", type=float, default=60, help="for one simulation (60)")
    options = parser.parse_args()
    if options.show:
        show(read_json(options.show)["rows"])
        return 0
    found: list[Json] = []
    if options.json and options.json.exists():
        found = read_json(options.json)["rows"]
    known = {(r["collective"], r["groups"], r["bytes"], r["algorithm"]) for r in found}
    for size in options.sizes or SIZES:
        for collective, groups, algorithm in points():
            if (collective, groups, size, algorithm) in known:
                continue
            found.append(measure(collective, groups, size, algorithm, options.seconds))
            print(found[-1], file=sys.stderr)
            if options.json:
                what = {"experiment": "torus-cooperating", "shape": SHAPE, "link": LINK, "rows": found}
                write_json(what, options.json)
    show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
