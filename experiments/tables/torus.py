"""The tables of docs/results/torus.md."""

import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from unisono.core.files import read_json

from experiments.markdown import table
from experiments.torus import cooperating, cost, fattree, full, goals, groups, holes, peers, subsets, unasked
from experiments.torus.measuring import RESULTS, Store


@cache
def store(name: str, folder: Path = RESULTS) -> Store:
    return Store(folder / f"{name}.json.zst", f"torus-{name}", time.monotonic())


def verdicts() -> list[str]:
    rows = [(check.claim, check.word, check.numbers) for check in goals.checks(RESULTS)]
    return table(("goal", "here", "numbers"), rows, range(3))


TABLES: Mapping[str, Callable[[], list[str]]] = {
    "goals": verdicts,
    "full": lambda: full.tables(store("full")),
    "contrast": lambda: full.contrast(store("full")),
    "peers": lambda: peers.tables(store("peers"), store("full")),
    "holes": lambda: holes.share_table(store("holes"), [*holes.small(), *holes.more(), *holes.seeds()]),
    "figures": lambda: holes.figure_table(store("holes")),
    "groups": lambda: groups.tables(store("groups")),
    "counted": lambda: subsets.count_table(store("subsets")),
    "sample": lambda: subsets.sample_table(store("subsets")),
    "figure1": lambda: subsets.figure_table(store("subsets")),
    "cooperating": lambda: cooperating.tables(read_json(RESULTS / "cooperating.json.zst")["rows"]),
    "unasked": lambda: unasked.tables(store("unasked")),
    "cost": lambda: cost.tables(read_json(RESULTS / "cost.json.zst")),
    "fattree": lambda: fattree.tables(RESULTS),
}
