"""The tables of docs/results/torus.md, made anew from the results beside it.

    python -m experiments.torus.page [--check]

A table stands between <!-- table: NAME --> and <!-- end -->; the text around is written by hand.
"""

import argparse
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from unisono.errors import UnisonoError
from unisono.files import read_json, write_text

from experiments import harness
from experiments.markdown import table
from experiments.torus import cooperating, cost, fattree, full, goals, groups, holes, peers, subsets, unasked
from experiments.torus.measuring import RESULTS, Store

PAGE = RESULTS.parent / "torus.md"
PLACE = re.compile(r"<!-- table: (\S+) -->\n.*?<!-- end -->", re.S)


def makers(folder: Path) -> dict[str, Callable[[], list[str]]]:
    stores = {
        name: Store(folder / f"{name}.json.zst", f"torus-{name}", time.monotonic()) for name in goals.NAMES
    }

    def verdicts() -> list[str]:
        rows = [(check.claim, check.word, check.numbers) for check in goals.checks(folder)]
        return table(("goal", "here", "numbers"), rows, range(3))

    return {
        "goals": verdicts,
        "full": lambda: full.tables(stores["full"]),
        "contrast": lambda: full.contrast(stores["full"]),
        "peers": lambda: peers.tables(stores["peers"], stores["full"]),
        "holes": lambda: holes.share_table(stores["holes"], [*holes.small(), *holes.more(), *holes.seeds()]),
        "figures": lambda: holes.figure_table(stores["holes"]),
        "groups": lambda: groups.tables(stores["groups"]),
        "counted": lambda: subsets.count_table(stores["subsets"]),
        "sample": lambda: subsets.sample_table(stores["subsets"]),
        "figure1": lambda: subsets.figure_table(stores["subsets"]),
        "cooperating": lambda: cooperating.tables(read_json(folder / "cooperating.json")["rows"]),
        "unasked": lambda: unasked.tables(stores["unasked"]),
        "cost": lambda: cost.tables(read_json(folder / "cost.json")),
        "fattree": lambda: fattree.tables(folder),
    }


def filled(page: str, folder: Path = RESULTS) -> str:
    known = makers(folder)

    def fill(place: re.Match[str]) -> str:
        if place[1] not in known:
            raise UnisonoError(f"{PAGE.name}: no table {place[1]}; there are {', '.join(known)}")
        lines = "\n".join(known[place[1]]()).strip()
        return f"<!-- table: {place[1]} -->\n{lines}\n<!-- end -->"

    return PLACE.sub(fill, page)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say whether they are those of the results")
    given = parser.parse_args(arguments)
    page = PAGE.read_text()
    made = filled(page)
    if given.check:
        return 0 if made == page else 1
    write_text(made, PAGE)
    return 0


if __name__ == "__main__":
    harness.run(main)
