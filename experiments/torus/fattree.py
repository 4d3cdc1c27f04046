"""Bine trees on fat trees with an oversubscribed top, and what stands beside the trees on tori: tables of
what top_links has counted and contrast has simulated.

    python -m experiments.torus.fattree [--folder docs/results/torus]
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from unisono.core import documents
from unisono.core.files import read_json

from experiments import harness
from experiments.markdown import table
from experiments.testbeds import Json
from experiments.torus.measuring import RESULTS, letters

MIB = 1 << 20


def counted(body: Json) -> list[str]:
    rows = []
    for row in body["rows"]:
        own, beside = row["counted"], row["counted_beside"]
        numbers = [f"{own[n] / beside[n]:.2f}" for n in ("all", "busiest")]
        names = [
            row["fat_tree"],
            str(row["ranks"]),
            row["collective"],
            f"`{row['algorithm']}`",
            f"`{row['beside']}`",
        ]
        rows.append([*names, f"{own['all']}", f"{beside['all']}", *numbers])
    head = ("fat tree", "ranks", "collective", "own", "beside", "own: bytes over the top", "beside: bytes")
    return table((*head, "own / beside: all", "busiest link"), rows, (0, 2, 3, 4))


def size_of(size: int) -> str:
    return f"{size // MIB}M" if size % MIB == 0 else letters(size) if size >= 1024 else str(size)


def simulated(body: Json) -> list[str]:
    """Microseconds, one line an algorithm."""
    network = body["platform"].partition(",")[0]
    sizes = [cell["bytes"] for cell in body["rows"][0]["cells"]]
    rows = []
    for row in body["rows"]:
        times = [f"{1e6 * cell['seconds']:.1f}" if cell.get("seconds") else "" for cell in row["cells"]]
        rows.append([f"`{row['algorithm']}`", *times])
    return table((f"{network}, {body['collective']}: us", *map(size_of, sizes)), rows, (0,))


def tables(folder: Path) -> list[str]:
    top = folder / "top-links.json.zst"
    lines = counted(read_json(top)) if top.exists() else []
    for file in sorted(folder.glob("*.json.zst")):
        body = documents.load(file)
        if isinstance(body, dict) and body.get("schema") == "unisono.sim":
            lines += simulated(body)
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=RESULTS, help="of the results")
    given = parser.parse_args(arguments)
    print("\n".join(tables(given.folder)))
    return 0


if __name__ == "__main__":
    harness.run(main)
