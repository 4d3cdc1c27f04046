#!/usr/bin/env python3
"""The table of defaults, from measurements to source.

  scripts/defaults.py measure FLAVOUR RANKS...   runs unisono-bench on this machine
  scripts/defaults.py derive                     writes src/select/defaults.inc, docs/results/defaults.md
  scripts/defaults.py derive --check             fails if they are not what the measurements give

A cell (MPI library, place, collective, ranks, bytes) gets an algorithm when it was faster than the
MPI library's own there: the 95 % interval of the median ratio below 0.95, or not above 1.05 and its
geometric middle below 0.9. Where no rank knows how many bytes the call has (gatherv, ...), one choice
holds for all: the one with the lowest geometric mean, if that is below 0.95, it won at some size in that
way, and at none its interval ends above 1.05. Between two measured
sizes the choice of the smaller one holds if both were won, otherwise the MPI library's own; below
the smallest size holds its choice, and that of the largest up to four times its bytes. Ranks
between two measured numbers take the rows of the smaller.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unisono.core import machine, places
from unisono.core.catalogue import collective as meaning_of
from unisono.core.catalogue import collectives as all_collectives
from unisono.core.files import read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/results/defaults"
TABLE = ROOT / "src/select/defaults.inc"
PAGE = ROOT / "docs/results/defaults.md"
SIZES = "8,1K,16K,128K,1M"
WIN = 0.95
HARDLY_SLOWER, MUCH_FASTER = 1.05, 0.9
ENOUGH = 6  # repetitions: the fewest whose range is a 95 % interval of the median
SURE_WITHOUT_INTERVAL = 0.2  # native so slow that few repetitions fit into the time
QUIET = 0.9  # share of idle time before and after a measurement
BEYOND = 4  # times the ranks of the last row: farther lies what nobody has measured
# Beside every algorithm with its standard parameters: pipelines want other segments where a message
# costs little, or much.
VARIANTS = {
    "bcast": ["chain:segment=4K", "chain:segment=64K"],
    "reduce": ["chain:segment=4K", "chain:segment=64K"],
    "scan": ["chain:segment=4K", "chain:segment=64K"],
    "exscan": ["chain:segment=4K", "chain:segment=64K"],
    "allreduce": ["ring:segment=16K"],
    "reduce_scatter": ["ring:segment=16K"],
    "reduce_scatter_block": ["ring:segment=16K"],
    "allgather": ["ring:segment=16K"],
    "allgatherv": ["ring:segment=16K"],
}

Cell = dict[str, Any]


def wait_for_quiet(limit: float = 600) -> None:
    end = time.monotonic() + limit
    while 1 - machine.busy_share() < QUIET:
        if time.monotonic() > end:
            sys.exit("other programs keep the machine busy: no measurement")
        time.sleep(2)


@dataclass(frozen=True)
class Bed:
    """An MPI library and its ranks on this machine."""

    flavour: str
    ranks: int

    @property
    def mpi(self) -> places.Mpi:
        return places.find_mpi(self.flavour)

    def command(self, program: list[str]) -> tuple[list[str], dict[str, str]]:
        return [*self.mpi.launcher(self.ranks), *program], self.mpi.shell(self.ranks)

    def bench(self, collective: str, sizes: str, arms: list[str], budget: float) -> Cell:
        """Again if the machine was not quiet before and after: a rank that spins beside somebody
        else's program is as slow as the scheduler wants, and says nothing of an algorithm."""
        raw = ROOT / "build" / "defaults.json"
        built = places.program(f"unisono-bench-{self.mpi.flavour}")
        program = [str(built), "--collectives", collective]
        program += ["--sizes", sizes, "--arms", ",".join(["native", *arms]), "--memory", "256M"]
        program += ["--budget", str(budget), "--json", str(raw)]
        command, environment = self.command(program)
        for _ in range(10):
            wait_for_quiet()
            subprocess.run(command, check=True, timeout=3600, env=environment, capture_output=True)
            time.sleep(1)  # launchers clear up after themselves
            if 1 - machine.busy_share() >= QUIET:
                break
        result: Cell = read_json(raw)
        return result

    def refined(self, cell: Cell, budget: float) -> Cell:
        """A cell with too few repetitions again, with the three fastest algorithms only."""
        ours = {spec: arm for spec, arm in cell["arms"].items() if spec != "native"}
        if not ours or min(arm[-1] for arm in ours.values()) >= ENOUGH:
            return cell
        best = sorted(ours, key=lambda spec: ours[spec][0])[:3]
        seconds = sum(cell["arms"][spec][0] for spec in ["native", *best]) / 1e6
        result = self.bench(cell["collective"], str(cell["bytes"]), best, max(budget, (ENOUGH + 2) * seconds))
        again = trim(result["cells"][0])
        return {**again, "arms": cell["arms"] | again["arms"]}


def target_of(bed: Bed, run: Cell) -> Path:
    machine = run["machine"]
    place = "oversubscribed" if machine["most_ranks_on_a_node"] > machine["cores"] else "undersubscribed"
    return DATA / f"{bed.flavour}-{place}-{bed.ranks}.json.zst"


def name_of(file: Path) -> str:
    return file.name.split(".")[0]


def known_cells(target: Path) -> list[Cell]:
    """Those that new ones may stand beside."""
    return read_json(target)["cells"] if target.exists() else []


def measure(bed: Bed, budget: float, collectives: str, sizes: str, only: str) -> None:
    names = collectives.split(",") if collectives else all_collectives()
    cells: list[Cell] = []
    known: list[Cell] = []
    head: Cell = {}
    for number, name in enumerate(names, 1):
        print(f"\r{bed.flavour}, {bed.ranks} ranks: {number}/{len(names)} {name:24}", end="", flush=True)
        arms = only.split(",") if only else ["all", *VARIANTS.get(name, [])]
        run = bed.bench(name, sizes or SIZES, arms, budget)
        if not head:
            target = target_of(bed, run)
            head = {"machine": run["machine"], "date": run["date"]}
            head["machine"].pop("environment", None)
            known = known_cells(target) if only or collectives else []
        cells += [bed.refined(trim(c), budget) for c in run["cells"] if "arms" in c]
    if only:  # the other arms stay, with their ratios to the native times of their own run
        cells = joined(known, cells)
    else:  # the other collectives stay
        cells += [c for c in known if c["collective"] not in names]
    cells.sort(key=lambda c: all_collectives().index(c["collective"]))
    target.parent.mkdir(parents=True, exist_ok=True)
    write_json({**head, "cells": cells}, target)
    print(f"\n{target.relative_to(ROOT)}")


def joined(known: list[Cell], cells: list[Cell]) -> list[Cell]:
    """With the new arms of cells that were known; the others stay as they are."""
    new = {(cell["collective"], cell["bytes"]): cell["arms"] for cell in cells}
    found = []
    for cell in known:
        arms = new.pop((cell["collective"], cell["bytes"]), {})
        added = {spec: arm for spec, arm in arms.items() if spec != "native"}
        last = {"last": list(added)} if added else {}
        found.append({**cell, **last, "arms": {**cell["arms"], **added}})
    return found + [cell for cell in cells if (cell["collective"], cell["bytes"]) in new]


def trim(cell: Cell) -> Cell:
    """What the decision needs: a line per arm."""
    arms = {}
    for arm in cell["arms"]:
        if not arm["available"] or arm["arm"] == "default":
            continue
        if not arm["correct"]:
            sys.exit(f"{cell['collective']} {arm['arm']}: wrong result; no defaults from this")
        ratio = arm.get("ratio_to_native", {"median": 1, "low": 1, "high": 1})
        values = [arm["time_us"]["median"], ratio["median"], ratio["low"], ratio["high"]]
        arms[arm["arm"]] = [round(v, 4) for v in values] + [arm["blocks"]]
    return {"collective": cell["collective"], "bytes": cell["bytes"], "arms": arms}


@dataclass
class Row:
    flavour: str
    place: str
    collective: str
    least_ranks: int
    most_ranks: int
    least_bytes: int
    most_bytes: int
    spec: str
    ratio: float


def won(arm: list[float]) -> bool:
    """Surely faster; or hardly slower at worst and much faster at best, as where the MPI library
    loses packets in one call and none in the next."""
    _, median, low, high, blocks = arm
    if blocks < ENOUGH:
        return median < SURE_WITHOUT_INTERVAL
    return high < WIN or (high <= HARDLY_SLOWER and math.sqrt(low * high) < MUCH_FASTER)


def harmless(arm: list[float]) -> bool:
    """Hardly slower at worst."""
    return won(arm) or (arm[4] >= ENOUGH and arm[3] <= HARDLY_SLOWER)


def winners(cell: Cell, allowed: set[str], wins: Callable[[list[float]], bool] = won) -> dict[str, float]:
    """Machines differ from day to day, and ratios of two runs cannot be compared. So the last run counts;
    what was measured before only stands in for its winners where they cannot serve."""
    won_ever = {spec: arm[1] for spec, arm in cell["arms"].items() if wins(arm)}
    last = set(cell.get("last", won_ever)) & set(won_ever)
    able = {spec: ratio for spec, ratio in won_ever.items() if spec.partition(":")[0] in allowed}
    if not last:
        return {}
    return {spec: ratio for spec, ratio in able.items() if spec in last} or able


def rows_of(file: Path, least: int, most: int, catalogue: Catalogue) -> Iterator[Row]:
    flavour, place, _ = name_of(file).split("-")
    cells: dict[str, list[Cell]] = {}
    for cell in read_json(file)["cells"]:
        cells.setdefault(cell["collective"], []).append(cell)
    for collective, measured in cells.items():
        measured.sort(key=lambda c: c["bytes"])
        for allowed in catalogue.choices(collective):
            for row in intervals(collective, measured, allowed):
                row.flavour, row.place, row.least_ranks, row.most_ranks = flavour, place, least, most
                yield row


def intervals(collective: str, cells: list[Cell], allowed: set[str]) -> Iterator[Row]:
    def row(spec: str, least: int, most: int, ratio: float) -> Row:
        return Row("", "", collective, 0, 0, least, most, spec, ratio)

    # One choice for all sizes: it must win them together, and lose none.
    if not meaning_of(collective).bytes_known:
        tables = [winners(cell, allowed, harmless) for cell in cells]
        won_once = set().union(*(winners(cell, allowed) for cell in cells))
        common = set.intersection(won_once, *(set(t) for t in tables))
        means = {n: math.prod(t[n] for t in tables) ** (1 / len(tables)) for n in common}
        best = min(means, key=means.__getitem__, default="")
        if best and means[best] < WIN:
            yield row(best, 0, 0, means[best])
        return
    current: Row | None = None
    smallest, largest = cells[0]["bytes"], cells[-1]["bytes"]
    for cell in cells:
        table = winners(cell, allowed)
        if not table:
            if current:
                yield current
            current = None
            continue
        best = min(table, key=table.__getitem__)
        # A row goes on while its algorithm is nearly the best: fewer rows, less change of pace.
        if current and table.get(current.spec, 9.0) <= 1.02 * table[best]:
            current.most_bytes = cell["bytes"]
            current.ratio = max(current.ratio, table[current.spec])
            continue
        least = cell["bytes"]
        if current:
            current.most_bytes = least - 1
            yield current
        current = row(best, 0 if least == smallest else least, least, table[best])
    if current:
        current.most_bytes *= 4 if current.most_bytes == largest else 1
        yield current


class Catalogue:
    def __init__(self) -> None:
        tool = str(places.program("unisono-schedule"))
        listing = subprocess.run([tool, "list", "--json"], check=True, capture_output=True).stdout
        self.algorithms = json.loads(listing)["algorithms"]

    def without(self, collective: str, *restrictions: str) -> set[str]:
        return {
            algorithm["name"]
            for algorithm in self.algorithms
            if collective in algorithm["collectives"]
            and not set(restrictions) & set(algorithm["restrictions"])
        }

    def choices(self, collective: str) -> list[set[str]]:
        """What a table may choose from, and what serves in place of it if the operation does not commute,
        or the node has no room in its shared memory. Exchanging counts in every call is not worth it in a
        choice for all sizes."""
        never = "all_counts" if not meaning_of(collective).bytes_known else ""
        orders = ("", "commutative") if meaning_of(collective).reduces else ("",)
        places = ("", "one_node")
        return [self.without(collective, never, order, place) for place in places for order in orders]


def all_rows(catalogue: Catalogue) -> list[Row]:
    groups: dict[tuple[str, str], list[tuple[int, Path]]] = {}
    for file in sorted(DATA.glob("*.json.zst")):
        flavour, place, ranks = name_of(file).split("-")
        groups.setdefault((flavour, place), []).append((int(ranks), file))
    rows: list[Row] = []
    for (_, place), group in groups.items():
        group.sort()
        for k, (measured, file) in enumerate(group):
            most = measured if place == "undersubscribed" else BEYOND * measured
            if k + 1 < len(group):
                most = group[k + 1][0] - 1
            for row in rows_of(file, measured, most, catalogue):
                twin = any(
                    (r.flavour, r.place, r.collective, r.least_ranks, r.spec)
                    == (row.flavour, row.place, row.collective, row.least_ranks, row.spec)
                    and r.least_bytes <= row.least_bytes <= row.most_bytes <= r.most_bytes
                    for r in rows
                )
                if not twin:
                    rows.append(row)
    return rows


def table_text(rows: list[Row]) -> str:
    lines = ["// Generated by scripts/defaults.py derive from docs/results/defaults."]
    for r in rows:
        lines.append(
            f'{{"{r.flavour}", Place::{r.place}, Collective::{r.collective}, {r.least_ranks}, '
            f'{r.most_ranks}, {r.least_bytes}, {r.most_bytes}, "{r.spec}"}},  // {r.ratio:.2g}'
        )
    return "\n".join(lines) + "\n"


def size_text(n: int) -> str:
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if n and n % factor == 0:
            return f"{n // factor}{unit}"
    return str(n)


def page_text(rows: list[Row], catalogue: Catalogue) -> str:
    out = [
        "# Defaults",
        "",
        "<!-- Generated by scripts/defaults.py derive. -->",
        "",
        "Where Unisono runs a collective of the ranks of one node when the user says nothing, and what was",
        "measured there. On several nodes the cost model proposes and native is the judge.",
        "Ratio: time of Unisono / time of the",
        "MPI library, the worst over the row's measured sizes (bytes any: their mean); below 1 is",
        "faster. *undersubscribed*: a core for every rank; *oversubscribed*: more ranks than cores.",
        "Cells that",
        "were lost are in the JSON files beside this page; they are why a row is missing. Where a cell was",
        "measured on several days the last one decides; what won before stands in where its winner cannot",
        "serve.",
        "",
        "Commands: `scripts/defaults.py measure FLAVOUR RANKS`, `scripts/defaults.py derive`.",
        "",
        "| MPI library | place | ranks | collective | bytes | algorithm | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        size = (
            "any"
            if not meaning_of(r.collective).bytes_known
            else (f"{size_text(r.least_bytes)} - {size_text(r.most_bytes)}" if r.most_bytes else "-")
        )
        out.append(
            f"| {r.flavour} | {r.place} | {r.least_ranks} - {r.most_ranks} | {r.collective} "
            f"| {size} | {r.spec} | {r.ratio:.2g} |"
        )
    out += [
        "",
        "## How many measured cells were won",
        "",
        "| measurement | cells | won | lost or even | geometric mean of the best ratio in won cells |",
        "|---|---|---|---|---|",
    ]
    for file in sorted(DATA.glob("*.json.zst")):
        cells = read_json(file)["cells"]
        best = [
            min(t.values()) for t in (winners(c, catalogue.choices(c["collective"])[0]) for c in cells) if t
        ]
        mean = math.exp(sum(map(math.log, best)) / len(best)) if best else 1.0
        lost = len(cells) - len(best)
        out.append(f"| {name_of(file)} | {len(cells)} | {len(best)} | {lost} | {mean:.2g} |")
    return "\n".join(out) + "\n"


def page() -> str:
    catalogue = Catalogue()
    return page_text(all_rows(catalogue), catalogue)


def derive(check: bool) -> int:
    catalogue = Catalogue()
    rows = all_rows(catalogue)
    stale = 0
    for path, text in ((TABLE, table_text(rows)), (PAGE, page_text(rows, catalogue))):
        if check:
            if not path.exists() or path.read_text() != text:
                print(
                    f"{path.relative_to(ROOT)} is not what the measurements give: "
                    "run scripts/defaults.py derive"
                )
                stale = 1
        else:
            path.write_text(text)
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("measure")
    run.add_argument("flavour", choices=["mpich", "openmpi", "intel"])
    run.add_argument("ranks", type=int, nargs="+")
    run.add_argument("--budget", type=float, default=1.5, help="seconds per cell")
    run.add_argument("--collectives", default="")
    run.add_argument("--sizes", default="")
    run.add_argument("--arms", default="", help="only these; the others keep what was measured")
    commands.add_parser("derive").add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.command == "derive":
        return derive(args.check)
    for ranks in args.ranks:
        measure(Bed(args.flavour, ranks), args.budget, args.collectives, args.sizes, args.arms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
