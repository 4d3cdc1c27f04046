#!/usr/bin/env python3
"""Whether what the cost model proposes is what is fastest, on many more hosts than it was fitted on.

  scripts/choices_at_scale.py --hosts 64,256 --json FILE          # goes on where the last run ended
  scripts/choices_at_scale.py --json FILE --report                # prints what is there

On a simulated network (--platforms; SimGrid) of 16 hosts unisono-calibrate measures what messages cost and
unisono-model fits it. On networks of the same kind with more hosts unisono-model names what online selection
would try; the first three of these and every algorithm of the catalogue with its standard parameters are
simulated. No other machine is asked, so the figures are the same wherever this runs.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from unisono.compare.summary import geometric_mean
from unisono.core import places
from unisono.core.amounts import parse_size
from unisono.core.files import read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
LEARNED_ON = 16
PLATFORMS = {
    "ethernet": "ethernet:{hosts}",
    "fat tree": "fattree:16x{leaves}:8",  # half as many links up as down
}
# Bytes as unisono sim has them: of a vector, or a block.
KINDS = {
    "bcast": ["1K", "64K", "1M"],
    "reduce": ["1K", "64K", "1M"],
    "allreduce": ["1K", "64K", "1M"],
    "scan": ["1K", "64K", "1M"],
    "allgather": ["64", "1K", "16K"],
    "alltoall": ["64", "1K", "8K"],
    "gather": ["64", "1K", "16K"],
    "scatter": ["64", "1K", "16K"],
    "reduce_scatter_block": ["1K", "64K", "1M"],
}
TRIED = 3
NEAR = 1.10
Cell = dict[str, Any]


def platform_of(name: str, hosts: int) -> str:
    return PLATFORMS[name].format(hosts=hosts, leaves=hosts // 16)


def run(command: list[str], seconds: int) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:6])}: {done.stderr.strip()[-300:]}")
    return done.stdout


def unisono() -> str:
    return str(Path(sys.executable).with_name("unisono"))


def learn(name: str, folder: Path) -> Path:
    """The machine file of this network, from 16 hosts."""
    samples, machine = folder / "samples.json", folder / "machine.json"
    source = str(ROOT / "src/tools/calibrate/calibrate.cpp")
    learned_on = platform_of(name, LEARNED_ON)
    program = ["--", source, "--seconds", "0.002", "--output", str(samples)]
    run([unisono(), "sim", "--platform", learned_on, "--selectors", "ompi", *program], 1200)
    run([str(places.program("unisono-model")), "fit", str(samples), "-o", str(machine)], 60)
    return machine


def offers(machine: Path, collective: str, size: str, hosts: int) -> dict[str, Any]:
    command = [str(places.program("unisono-model")), "offers", "--machine", str(machine)]
    command += ["--collective", collective, "--ranks", str(hosts)]
    command += ["--bytes", str(parse_size(size, "bytes"))]
    found: dict[str, Any] = json.loads(run(command, 60))
    return found


def simulate(platform: str, collective: str, size: str, specs: list[str], seconds: int) -> dict[str, float]:
    command = [unisono(), "sim", "--platform", platform, "--selectors", "none", "--collective", collective]
    command += ["--arms", ",".join(["all", *specs]), "--sizes", size, "--json", "-"]
    rows = json.loads(run(command, seconds))["rows"]
    return {row["algorithm"]: cell["seconds"] for row in rows for cell in row["cells"] if cell.get("seconds")}


def measure(name: str, hosts: int, machine: Path, collective: str, size: str, patience: int) -> Cell:
    cell: Cell = {"platform": name, "hosts": hosts, "collective": collective, "bytes": size}
    said = offers(machine, collective, size, hosts)
    cell |= {"took": said["took"], "offers": said["offers"]}
    tried = [offer["spec"] for offer in said["offers"][:TRIED]]
    try:
        cell["seconds"] = simulate(platform_of(name, hosts), collective, size, tried, patience)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        cell["failed"] = str(error)[-300:]
    return cell


def ratios(cell: Cell) -> tuple[float, float] | None:
    """Of the first proposal, and of the best of those tried, over the fastest of all."""
    times = cell.get("seconds", {})
    tried = [times[o["spec"]] for o in cell["offers"][:TRIED] if o["spec"] in times]
    if len(tried) < min(TRIED, len(cell["offers"])) or not tried:
        return None
    best = min(times.values())
    return tried[0] / best, min(tried) / best


def report(cells: list[Cell]) -> list[str]:
    lines = [
        f"| network | hosts | cells | first within {100 * (NEAR - 1):.0f} % of the best arm "
        f"| best of {TRIED} | geometric mean, first | best of {TRIED} | worst, first | best of {TRIED} |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, hosts in sorted({(cell["platform"], cell["hosts"]) for cell in cells}):
        of = [ratios(c) for c in cells if (c["platform"], c["hosts"]) == (name, hosts)]
        known = [both for both in of if both]
        if not known:
            continue
        first, tried = zip(*known, strict=True)
        near = [f"{sum(r <= NEAR for r in one)} of {len(one)}" for one in (first, tried)]
        means = [f"{geometric_mean(list(one)):.3f}" for one in (first, tried)]
        worst = [f"{max(one):.2f}" for one in (first, tried)]
        lines.append(f"| {name} | {hosts} | {len(of)} | " + " | ".join([*near, *means, *worst]) + " |")
    far = [(both, c) for c in cells if (both := ratios(c)) and both[1] > NEAR]
    for both, cell in sorted(far, key=lambda one: -one[0][1]):
        best = min(cell["seconds"], key=cell["seconds"].get)
        lines.append(
            f"- {cell['collective']} of {cell['bytes']}, {cell['platform']} of {cell['hosts']}: "
            f"{cell['offers'][0]['spec']} {both[0]:.2f}, best tried {both[1]:.2f}; fastest: {best}"
        )
    failed = [c for c in cells if not ratios(c)]
    lines += [
        f"- not simulated: {c['collective']} of {c['bytes']}, {c['platform']} of {c['hosts']}" for c in failed
    ]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", default="64,256")
    parser.add_argument("--platforms", default=",".join(PLATFORMS))
    parser.add_argument("--collectives", default=",".join(KINDS))
    parser.add_argument("--patience", type=int, default=600, help="seconds for the arms of a cell")
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds after which no cell begins")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    cells: list[Cell] = read_json(options.json) if options.json.exists() else []
    if not options.report:
        cells = measure_all(options, cells)
    print("\n".join(report(cells)))
    return 0


def measure_all(options: argparse.Namespace, cells: list[Cell]) -> list[Cell]:
    end = time.monotonic() + options.budget
    known = {(c["platform"], c["hosts"], c["collective"], c["bytes"]) for c in cells}
    for name in options.platforms.split(","):
        with tempfile.TemporaryDirectory() as folder:
            machine = learn(name, Path(folder))
            for hosts in map(int, options.hosts.split(",")):
                for collective in options.collectives.split(","):
                    for size in KINDS[collective]:
                        if (name, hosts, collective, size) in known or time.monotonic() > end:
                            continue
                        cells.append(measure(name, hosts, machine, collective, size, options.patience))
                        write_json(cells, options.json)
    return cells


if __name__ == "__main__":
    sys.exit(main())
