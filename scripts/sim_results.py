#!/usr/bin/env python3
"""Write docs/results/simulator.md from the commands below; about ten minutes.

--reuse takes what an earlier run left in build/sim/results/."""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "results" / "simulator.md"
KEPT = ROOT / "build" / "sim" / "results"

VECTORS, BLOCKS = "64K,1M", "8K,64K"
TABLES = [
    (platform, collective, BLOCKS if collective == "alltoall" else VECTORS)
    for platform, collectives in {
        "ethernet:16": ("bcast", "allreduce", "alltoall"),
        "ethernet:64": ("bcast", "allreduce", "alltoall"),
        "torus:4x4x4": ("bcast", "allreduce", "alltoall"),
        "torus:8x8x8": ("bcast", "allreduce"),
    }.items()
    for collective in collectives
]

HEAD = """# Simulated networks: Unisono's algorithms, SMPI's selectors and the limit

Written by `scripts/sim_results.py` from the commands above each table, with SimGrid {version}. The times
are simulated: they are the same in every run on every machine. [unisono sim](../reference/sim.md) says
what the networks are and what is charged.

- **us**: from the common start of all ranks to the return of the last.
- **limit**: share of the network's limit, which is bytes over the narrowest cut. 100 %: nothing can be
  faster.
- **ratio**: time over the time of the best selector at that size. Below 1 Unisono is faster. Losses are
  printed like wins.

The rows "native, ompi" and so on are what SMPI's imitations of Open MPI, MPICH, MVAPICH2 and Intel MPI
choose. They are not these libraries. Their pipelines send all segments at once, which this simulator
punishes more than a network does ([decision 8](../adr/0008-simulator.md)); Unisono's send two.

None of the algorithms knows the torus yet: their rounds cross it as the rank numbers happen to lie, and
most of the six links of a host are idle. The distance to the limit there is what such algorithms can win.
"""


def command_of(platform: str, collective: str, sizes: str) -> str:
    return f"unisono sim --platform {platform} --collective {collective} --sizes {sizes}"


def result(command: str, reuse: bool) -> dict[str, Any]:
    kept = KEPT / f"{command.replace(' ', '_').replace(':', '-')}.json"
    if not (reuse and kept.exists()):
        print(command, flush=True)
        program, *arguments = shlex.split(command)
        line = [sys.executable, "-m", f"{program}.cli", *arguments, "--json", "-"]
        text = subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(text)
    found: dict[str, Any] = json.loads(kept.read_text())
    return found


def size_text(size: int) -> str:
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


def texts(cell: dict[str, Any]) -> list[str]:
    if "seconds" not in cell:
        return [cell["left_out"], "", ""]
    share, ratio = cell["share_of_limit"], cell["ratio_to_best_selector"]
    return [f"{cell['seconds'] * 1e6:.1f}", f"{share:.1%}", f"{ratio:.2f}" if ratio else ""]


def markdown(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table(found: dict[str, Any]) -> str:
    last = [row["cells"][-1].get("seconds", float("inf")) for row in found["rows"]]
    rows = [row for _, row in sorted(zip(last, found["rows"], strict=True), key=lambda pair: pair[0])]
    sizes = [size_text(int(size)) for size in found["limit_seconds"]]
    heading = ["algorithm"] + [text for size in sizes for text in (f"{size}: us", "limit", "ratio")]
    lines = [heading, ["---", *["---:"] * (len(heading) - 1)]]
    for row in rows:
        name = f"native, {row['selector']}" if "selector" in row else row["algorithm"]
        lines.append([name, *(text for cell in row["cells"] for text in texts(cell))])
    return markdown(lines)


def best_rows(command: str, found: dict[str, Any]) -> list[list[str]]:
    """Of Unisono's algorithms the fastest at each size."""
    rows = []
    for i, size in enumerate(found["limit_seconds"]):
        own = [row for row in found["rows"] if "selector" not in row and "seconds" in row["cells"][i]]
        best = min(own, key=lambda row: row["cells"][i]["seconds"])
        place = [shlex.split(command)[3], found["collective"], size_text(int(size))]
        rows.append([*place, best["algorithm"], *texts(best["cells"][i])[1:]])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--reuse", action="store_true")
    reuse = parser.parse_args().reuse
    found = {command: result(command, reuse) for command in (command_of(*row) for row in TABLES)}
    version = next(iter(found.values()))["simgrid_version"]
    summary = [["network", "collective", "bytes", "Unisono's best", "limit", "ratio"]]
    summary += [["---", "---", "---:", "---", "---:", "---:"]]
    summary += [row for command, one in found.items() for row in best_rows(command, one)]
    page = [HEAD.format(version=version), "## The best of Unisono's at each size\n", markdown(summary) + "\n"]
    for command, one in found.items():
        page += [f"## {one['collective']} on {one['platform']}\n", f"`{command}`\n", table(one) + "\n"]
    PAGE.write_text("\n".join(page))
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
