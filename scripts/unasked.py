#!/usr/bin/env python3
"""What Unisono does unasked: a program of nine kinds of calls in the lab, natively and with Unisono under it.

  sudo .venv/bin/python scripts/unasked.py --hosts 7,13 --rate 100mbit,1gbit --json FILE
  sudo .venv/bin/python scripts/unasked.py --hosts 8x2,6x3t --rate 100mbit    # 2 ranks a host; 3, in turn

Needs root (the lab) and a built tree. Nothing is configured. Per cell (MPI library, hosts, rate, kind): the
program's time and its time from the eighth call on, as ratios to native, and the limit: what the wire takes
for the bytes that must go through one host's port, at 95.6 % of the rate. Jobs alternate.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAME = "unasked"
UNITS = {"mbit": 1e6, "gbit": 1e9}
GOODPUT = 0.956  # of TCP in the lab: docs/guide/lab.md
Job = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Hosts:
    """So many, with so many ranks on each: the first ones on the first host, or in turn."""

    number: int
    ranks_on_each: int = 1
    in_turn: bool = False

    @property
    def ranks(self) -> int:
        return self.number * self.ranks_on_each

    def __str__(self) -> str:
        if self.ranks_on_each == 1:
            return f"{self.number} hosts"
        order = " in turn" if self.in_turn else ""
        return f"{self.number} hosts of {self.ranks_on_each} ranks{order}"


def hosts_of(text: str) -> Hosts:
    found = re.fullmatch(r"(\d+)(?:x(\d+)(t?))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: valid are 7, 8x2 and, ranks in turn, 6x3t")
    return Hosts(int(found[1]), int(found[2] or 1), found[3] == "t")


def rate_of(text: str) -> float:
    return float(text[:-4]) * UNITS[text[-4:]]


def limit(kind: str, size: int, hosts: Hosts, rate: float) -> float:
    """Seconds of the bytes that some host's port must pass, one way."""
    others = hosts.ranks - hosts.ranks_on_each
    port = {
        "bcast": size,
        "reduce": size,
        "allreduce": 2 * others / hosts.ranks * size,
        "scan": size,
        "allgather": others * size,
        "alltoall": hosts.ranks_on_each * others * size,
        "scatter": others * size,
        "gather": others * size,
        "reduce_scatter_block": others * size,
    }
    return port[kind] * 8 / (rate * GOODPUT)


def run(mpi: str, hosts: Hosts, calls: int, native: bool) -> Job:
    command = [str(ROOT / ".venv/bin/unisono"), "lab", "run", "--name", NAME, "--mpi", mpi]
    command += ["-n", str(hosts.ranks), "--ppn", str(hosts.ranks_on_each)]
    command += ["--in-turn"] if hosts.in_turn else []
    command += ["--native"] if native else []
    command += ["--", str(ROOT / f"build/bin/unisono-kinds-{mpi}"), str(calls)]
    # Nothing is remembered from job to job: what is asked is how fast the first one is.
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ | {"XDG_CACHE_HOME": empty}
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=600, env=environment
        )
    rows = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return {row["collective"]: row for row in rows}


def cell(mpi: str, hosts: Hosts, rate: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    jobs: list[tuple[Job, Job]] = []
    for job in range(options.jobs):
        pair = {}
        for native in (True, False) if job % 2 == 0 else (False, True):
            calls = (native and options.native_calls) or options.calls
            pair[native] = run(mpi, hosts, calls, native=native)
        jobs.append((pair[True], pair[False]))
    rows = []
    for kind, first in jobs[0][1].items():
        figures = {}
        for arm, at in (("native", 0), ("unisono", 1)):
            means = [means_of(job[at][kind], options.calls) for job in jobs]
            figures[f"{arm}_seconds"] = statistics.fmean(whole for whole, _ in means)
            figures[f"{arm}_from_eighth"] = statistics.fmean(later for _, later in means)
        wire = limit(kind, int(first["bytes"]), hosts, rate_of(rate))
        rows.append({"mpi": mpi, "hosts": str(hosts), "rate": rate, "kind": kind, "limit": wire, **figures})
    return rows


def means_of(measured: dict[str, Any], calls: int) -> tuple[float, float]:
    """Of a program of so many calls, and of those from the eighth on; seconds a call. Fewer may have been
    measured: the rest is as those from the eighth on, and not as the first, which open connections."""
    later = measured["from_eighth"] / (measured["calls"] - 7)
    first = measured["seconds"] - measured["from_eighth"]
    return (first + later * (calls - 7)) / calls, later


def geometric(values: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| kind | limit ms | native ms | program | from the 8th "
        "| native from the 8th / limit | from the 8th / limit |"
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    whole, later = [], []
    for row in rows:
        whole.append(row["unisono_seconds"] / row["native_seconds"])
        later.append(row["unisono_from_eighth"] / row["native_from_eighth"])
        lines.append(
            f"| {row['kind']} | {row['limit'] * 1e3:.1f} | {row['native_seconds'] * 1e3:.1f} "
            f"| {whole[-1]:.2f} | {later[-1]:.2f} | {row['native_from_eighth'] / row['limit']:.2f} "
            f"| {row['unisono_from_eighth'] / row['limit']:.2f} |"
        )
    lines.append(f"| geometric mean | | | {geometric(whole):.2f} | {geometric(later):.2f} | | |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--hosts",
        default="7,13",
        type=lambda text: [hosts_of(part) for part in text.split(",")],
        help="7, 8x2 (ranks on each), 6x3t (in turn)",
    )
    parser.add_argument("--rate", default="100mbit,1gbit")
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--calls", type=int, default=60, help="of each kind")
    parser.add_argument("--native-calls", type=int, help="of native's jobs, whose calls are all alike")
    parser.add_argument("--jobs", type=int, default=1, help="pairs for a cell")
    parser.add_argument("--json", type=Path, help="add the cells to this file")
    options = parser.parse_args()
    lab = [str(ROOT / ".venv/bin/unisono"), "lab"]
    for hosts in options.hosts:
        for rate in options.rate.split(","):
            up = [*lab, "up", "--name", NAME, "--hosts", str(hosts.number), "--rate", rate]
            subprocess.run(up, check=True, stdout=subprocess.DEVNULL)
            try:
                for mpi in options.mpi.split(","):
                    rows = cell(mpi, hosts, rate, options)
                    print(f"\n{mpi}, {hosts} at {rate}\n\n{table(rows)}", flush=True)
                    if options.json:
                        before = json.loads(options.json.read_text()) if options.json.exists() else []
                        options.json.write_text(json.dumps(before + rows, indent=1) + "\n")
            finally:
                subprocess.run([*lab, "down", "--name", NAME], check=True, stdout=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
