#!/usr/bin/env python3
"""Simulate what docs/results/simulator.md shows, about ten minutes, into docs/results/simulator/.

Then python -m experiments.pages simulator fills the page, as it does from what is kept there."""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from unisono.core.catalogue import format_size
from unisono.core.files import read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "results" / "simulator"

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


def command_of(platform: str, collective: str, sizes: str) -> str:
    return f"unisono sim --platform {platform} --collective {collective} --sizes {sizes}"


def name_of(platform: str, collective: str) -> str:
    return f"{collective} on {platform}"


def file_of(platform: str, collective: str) -> Path:
    return KEPT / f"{collective}-{platform.replace(':', '-')}.json.zst"


def simulate(platform: str, collective: str, sizes: str) -> None:
    command = command_of(platform, collective, sizes)
    print(command, flush=True)
    program, *arguments = shlex.split(command)
    line = [sys.executable, "-m", f"{program}.cli", *arguments, "--json", "-"]
    found = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)
    KEPT.mkdir(parents=True, exist_ok=True)
    write_json(found, file_of(platform, collective))


def texts(cell: dict[str, Any]) -> list[str]:
    if "seconds" not in cell:
        return [cell["left_out"], "", ""]
    share, ratio = cell["share_of_limit"], cell["ratio_to_best_selector"]
    return [f"{cell['seconds'] * 1e6:.1f}", f"{share:.1%}", f"{ratio:.2f}" if ratio else ""]


def markdown(lines: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in lines]


def table(platform: str, collective: str) -> list[str]:
    found = read_json(file_of(platform, collective))
    able = [row for row in found["rows"] if any("seconds" in cell for cell in row["cells"])]
    rows = sorted(able, key=lambda row: row["cells"][-1].get("seconds", float("inf")))
    sizes = [format_size(int(size)) for size in found["limit_seconds"]]
    heading = ["algorithm"] + [text for size in sizes for text in (f"{size}: us", "limit", "ratio")]
    lines = [heading, ["---", *["---:"] * (len(heading) - 1)]]
    for row in rows:
        name = f"native, {row['selector']}" if "selector" in row else row["algorithm"]
        lines.append([name, *(text for cell in row["cells"] for text in texts(cell))])
    return markdown(lines)


def best_rows(platform: str, found: dict[str, Any]) -> list[list[str]]:
    """Of Unisono's algorithms the fastest at each size."""
    rows = []
    for i, size in enumerate(found["limit_seconds"]):
        own = [row for row in found["rows"] if "selector" not in row and "seconds" in row["cells"][i]]
        best = min(own, key=lambda row: row["cells"][i]["seconds"])
        place = [platform, found["collective"], format_size(int(size))]
        rows.append([*place, best["algorithm"], *texts(best["cells"][i])[1:]])
    return rows


def kept() -> list[tuple[str, str]]:
    return [
        (platform, collective) for platform, collective, _ in TABLES if file_of(platform, collective).exists()
    ]


def best() -> list[str]:
    rows = [["network", "collective", "bytes", "Unisono's best", "limit", "ratio"]]
    rows += [["---", "---", "---:", "---", "---:", "---:"]]
    for platform, collective in kept():
        rows += best_rows(platform, read_json(file_of(platform, collective)))
    return markdown(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--missing", action="store_true", help="only what is not kept yet")
    missing = parser.parse_args().missing
    for platform, collective, sizes in TABLES:
        if not (missing and file_of(platform, collective).exists()):
            simulate(platform, collective, sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
