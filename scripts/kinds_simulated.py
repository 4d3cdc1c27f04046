"""Nine kinds of calls (benchmarks/calls/kinds.cpp) on simulated Ethernets of more hosts than the lab has.

  .venv/bin/python scripts/kinds_simulated.py --hosts 32,64 --rate 100mbit --json FILE

The program runs once with each of SMPI's imitations of MPI libraries, and once as Unisono runs it with
nothing set. The simulator knows neither lost packets nor what ports hold, so that native's losses to those
are not in it; nothing varies from run to run. Needs SimGrid and a built tree.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unisono.core.files import read_json, write_json
from unisono.lab import layout

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from experiments.markdown import table
from scripts import unasked
from scripts.kinds_in_lab import GOODPUT, Cell, Hosts

ROOT = Path(__file__).resolve().parents[1]
SELECTORS = ("ompi", "mpich", "impi")
LATENCY = "30us"
PATIENCE = 3600  # seconds for a network


def simulated(hosts: int, rate: str, calls: int) -> dict[str, Any]:
    """What `unisono sim` says of the program on so many hosts."""
    bandwidth = layout.rate_of(rate) * GOODPUT / 1e6
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.json"
        command = [str(Path(sys.executable).parent / "unisono"), "sim", "--online", "--json", str(file)]
        command += ["--platform", f"ethernet:{hosts},bw={bandwidth:.6g}Mbps,lat={LATENCY}"]
        command += ["--selectors", ",".join(SELECTORS)]
        command += ["--", str(ROOT / "benchmarks/calls/kinds.cpp"), str(calls)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        found: dict[str, Any] = read_json(file)
    return found | {"rate": rate, "calls": calls}


@dataclass(frozen=True)
class Row:
    """A kind of call on so many hosts: seconds of a call, by run."""

    hosts: int
    rate: str
    kind: str
    peers: dict[str, float]
    ours: float

    @property
    def best(self) -> str:
        return min(self.peers, key=lambda name: self.peers[name])

    @property
    def speed(self) -> float:
        """Times as fast as the best of SMPI's imitations."""
        return self.peers[self.best] / self.ours

    @property
    def over_wire(self) -> float:
        return self.ours / Cell("", Hosts(self.hosts), self.rate, 1, 1).wire(self.kind)


def rows_of(document: dict[str, Any]) -> list[Row]:
    calls = document["calls"]
    seconds: dict[str, dict[str, float]] = {}
    ours = ""
    for run in document["runs"]:
        if run["problem"]:
            continue
        lines = (json.loads(line) for line in run["output"].splitlines() if line.startswith("{"))
        seconds[run["run"]] = {line["collective"]: line["seconds"] / calls for line in lines}
        ours = ours if run["is_peer"] else run["run"]
    if not ours:
        return []
    return [
        Row(
            document["ranks"],
            document["rate"],
            kind,
            {name: kinds[kind] for name, kinds in seconds.items() if name != ours and kind in kinds},
            mine,
        )
        for kind, mine in seconds[ours].items()
    ]


def tables(documents: list[dict[str, Any]]) -> list[str]:
    """A line for each network and kind, and the means of each network."""
    lines = []
    for document in documents:
        rows = rows_of(document)
        for row in rows:
            milliseconds = [f"{row.peers[row.best] * 1e3:.1f}", f"{row.ours * 1e3:.1f}"]
            figures = [*milliseconds, f"{row.speed:.2f}", f"{row.over_wire:.2f}"]
            lines.append((f"{row.hosts} at {row.rate}", row.kind.capitalize(), row.best, *figures))
        if rows:
            speed, over = (
                unasked.geometric(r.speed for r in rows),
                unasked.geometric(r.over_wire for r in rows),
            )
            lines.append(
                (f"{rows[0].hosts} at {rows[0].rate}", "all", "", "", "", f"{speed:.2f}", f"{over:.2f}")
            )
    head = (
        "hosts",
        "kind",
        "best imitation",
        "its call, ms",
        "Unisono's, ms",
        "times as fast",
        "over the wire",
    )
    return table(head, lines, (0, 1, 2))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", default="32,64")
    parser.add_argument("--rate", default="100mbit", help="100mbit,1gbit")
    parser.add_argument("--calls", type=int, default=8, help="of each kind")
    parser.add_argument("--json", type=Path, required=True, help="keep what was found in this file")
    options = parser.parse_args()
    networks = [(int(hosts), rate) for rate in options.rate.split(",") for hosts in options.hosts.split(",")]
    documents = [simulated(hosts, rate, options.calls) for hosts, rate in networks]
    write_json({"networks": documents}, options.json)
    print("\n".join(tables(documents)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
