"""What the experiments on tori share: simulated calls, in a file that is never asked the same twice.

A cell is a call of one collective on some hosts, as flows on links (`unisono sim --engine flows`). Its
result is exact: the same on every machine, so that a file grows from run to run, and tests compare digits.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from unisono.core import catalogue, places
from unisono.core.files import read_json, write_json
from unisono.sim import network, platforms
from unisono.sim.ranks import hosts_of_ranks
from unisono.sim.table import FLOWS, Question

from experiments import harness
from experiments.testbeds import ROOT, Json

RESULTS = ROOT / "docs" / "results" / "torus"
KIB, MIB = 1 << 10, 1 << 20
MEMORY = "8G"
ALL = "all"
PAPER = "torus:8x8x16"  # Sharma, Rastogi, Sabharwal 2012: half a rack of a BlueGene/P


@dataclass(frozen=True)
class Cell:
    platform: str
    collective: str
    algorithm: str
    bytes: int
    ranks: str = ALL  # as `unisono sim --ranks` has it
    root: int = 0

    @property
    def command(self) -> str:
        where = "" if self.ranks == ALL else f" --ranks '{self.ranks}'"
        root = f" --root {self.root}" if self.root else ""
        return (
            f"unisono sim --engine flows --platform {self.platform}{where} --collective {self.collective}"
            f"{root} --arms {self.algorithm} --sizes {self.bytes}"
        )


def hosts_of(platform: str, ranks: str) -> tuple[int, ...]:
    parsed = platforms.parse(platform)
    return tuple(range(parsed.hosts)) if ranks == ALL else hosts_of_ranks(ranks, parsed)


def simulate(cell: Cell) -> Json:
    """seconds, messages, and the two limits in seconds."""
    platform, hosts = platforms.parse(cell.platform), hosts_of(cell.platform, cell.ranks)
    question = Question(platform, len(hosts), cell.collective, cell.root, (cell.bytes,), hosts, FLOWS)
    spec = catalogue.complete_spec(cell.collective, cell.algorithm)
    call = [
        "--collective",
        cell.collective,
        "--algorithm",
        spec,
        "--bytes",
        str(cell.bytes),
        "--memory",
        MEMORY,
    ]
    told = network.times(platform, hosts, cell.root, call, lambda: True)
    if "seconds" not in told:
        return {"left_out": told["left_out"]}
    return {
        "seconds": round(told["seconds"], 12),
        "messages": told["messages"],
        "limit": question.limit(cell.bytes),
        "routing_limit": question.routing_limit(cell.bytes),
    }


@dataclass
class Store:
    """The results of one experiment, in a file."""

    file: Path
    experiment: str
    deadline: float  # as time.monotonic() has it
    cells: dict[Cell, Json] = field(default_factory=dict)
    rows: dict[str, Json] = field(default_factory=dict)  # of other things than calls

    def __post_init__(self) -> None:
        if not self.file.exists():
            return
        before = read_json(self.file)
        for row in before["cells"]:
            self.cells[Cell(**row["cell"])] = row["result"]
        self.rows = before["rows"]

    def ask(self, cells: Iterable[Cell]) -> None:
        """The ones that are not known yet, until the time is over."""
        for cell in cells:
            if cell in self.cells or time.monotonic() > self.deadline:
                continue
            self.cells[cell] = simulate(cell)
            harness.console.print(
                f"[dim]{cell.command}[/dim]: {share_text(self.cells[cell])}", soft_wrap=True
            )
            self.save()

    def ask_row(self, name: str, make: Callable[[], Json]) -> Json | None:
        if name not in self.rows and time.monotonic() <= self.deadline:
            self.rows[name] = make()
            self.save()
        return self.rows.get(name)

    def save(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        own = [{"cell": asdict(cell), "result": result} for cell, result in self.cells.items()]
        write_json({"experiment": self.experiment, "cells": own, "rows": self.rows}, self.file)

    def get(self, cell: Cell) -> Json | None:
        found = self.cells.get(cell)
        return found if found and "seconds" in found else None

    def share(self, cell: Cell) -> float | None:
        """Of the max-flow limit."""
        found = self.get(cell)
        return found["limit"] / found["seconds"] if found else None


def share_text(result: Json | None) -> str:
    if not result or "seconds" not in result:
        return "-"
    return f"{100 * result['limit'] / result['seconds']:.1f} %"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def best(store: Store, cells: Iterable[Cell]) -> tuple[Cell, float] | None:
    """The one with the largest share of the limit."""
    found = [(cell, share) for cell in cells if (share := store.share(cell)) is not None]
    return max(found, key=lambda pair: pair[1], default=None)


def size_text(size: int) -> str:
    return f"{size // MIB} MiB" if size % MIB == 0 else f"{size // KIB} KiB"


def letters(size: int) -> str:
    """As in segment=4K."""
    return f"{size // KIB}K" if size % KIB == 0 else str(size)


def trees(torus: str, members: Sequence[int], *options: str) -> Json:
    """What `unisono-schedule trees` says of these hosts."""
    listed = ",".join(map(str, members))
    line = ["trees", "--torus", torus, "--members", listed, *options, "--json"]
    found: Json = json.loads(catalogue.ask(*line))
    return found


def options(description: str, name: str, arguments: Sequence[str] | None) -> tuple[argparse.Namespace, Store]:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--json", type=Path, default=RESULTS / f"{name}.json.zst", help="results: read, and more added"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="then no new simulation begins (60; 0: only tables)"
    )
    parser.add_argument("--quick", action="store_true", help="only what takes seconds")
    given = parser.parse_args(arguments)
    places.program("unisono-network")
    return given, Store(given.json, f"torus-{name}", time.monotonic() + 60 * given.minutes)
