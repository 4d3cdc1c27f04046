"""Nine kinds of calls (benchmarks/calls/kinds.cpp) on simulated Ethernets of more hosts than the lab has.

  .venv/bin/python scripts/kinds_simulated.py --hosts 32,64 --rate 100mbit --json FILE

The program runs once with each of SMPI's imitations of MPI libraries, and once as Unisono runs it with
nothing set. The simulator knows neither lost packets nor what ports hold, so that native's losses to those
are not in it; nothing varies from run to run. Needs SimGrid and a built tree.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from unisono.core.files import read_json, write_json
from unisono.lab import layout

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from experiments.markdown import table
from scripts import unasked
from scripts.kinds_in_lab import GOODPUT, BesidePeers, Cell, Hosts, by_kind, unisono_command

ROOT = Path(__file__).resolve().parents[1]
SELECTORS = ("ompi", "mpich", "impi")
LATENCY = "30us"
PATIENCE = 3600  # seconds for a network


def simulated(hosts: int, rate: str, calls: int) -> dict[str, Any]:
    """What `unisono sim` says of the program on so many hosts."""
    bandwidth = layout.rate_of(rate) * GOODPUT / 1e6
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.json"
        command = [unisono_command(), "sim", "--online", "--json", str(file)]
        command += ["--platform", f"ethernet:{hosts},bw={bandwidth:.6g}Mbps,lat={LATENCY}"]
        command += ["--selectors", ",".join(SELECTORS)]
        command += ["--", str(ROOT / "benchmarks/calls/kinds.cpp"), str(calls)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        found: dict[str, Any] = read_json(file)
    return found | {"rate": rate, "calls": calls}


def rows_of(document: dict[str, Any]) -> list[BesidePeers]:
    """One for each kind; Unisono's run is the arm that is no peer."""
    cell = Cell("", Hosts(document["ranks"]), document["rate"], document["calls"], document["calls"])
    good = [run for run in document["runs"] if not run["problem"]]
    seconds = {
        run["run"]: {kind: row["seconds"] / cell.calls for kind, row in by_kind(run["output"]).items()}
        for run in good
    }
    peers = tuple(run["run"] for run in good if run["is_peer"])
    ours = next((run["run"] for run in good if not run["is_peer"]), "")
    return [
        BesidePeers(cell, kind, {arm: own[kind] for arm, own in seconds.items() if kind in own}, peers)
        for kind in seconds.get(ours, {})
    ]


def ours_of(row: BesidePeers) -> str:
    return next(arm for arm in row.seconds if arm not in row.peers)


def over_wire(row: BesidePeers) -> float:
    return row.seconds[ours_of(row)] / row.cell.wire(row.kind)


def tables(documents: list[dict[str, Any]]) -> list[str]:
    """A line for each network and kind, and the means of each network."""
    lines = []
    for rows in filter(None, map(rows_of, documents)):
        place = f"{rows[0].cell.hosts} at {rows[0].cell.rate}"
        for row in rows:
            took = [row.seconds[arm] * 1e3 for arm in (row.best_peer, ours_of(row))]
            speed = row.over_best(ours_of(row))
            figures = (*(f"{one:.1f}" for one in took), f"{speed:.2f}", f"{over_wire(row):.2f}")
            lines.append((place, row.kind.capitalize(), row.best_peer, *figures))
        speeds = unasked.geometric(row.over_best(ours_of(row)) for row in rows)
        wires = unasked.geometric(map(over_wire, rows))
        lines.append((place, "all", "", "", "", f"{speeds:.2f}", f"{wires:.2f}"))
    times = ("its call, ms", "Unisono's, ms", "times as fast", "over the wire")
    return table(("network", "kind", "best imitation", *times), lines, (0, 1, 2))


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
