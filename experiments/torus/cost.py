"""What making the trees costs a rank: CPU time, and memory, of 4096 and of 65,536 hosts.

    python -m experiments.torus.cost [--quick] [--fresh] [--times 15]

Hosts at random, all, half, a tenth or 31; every kind of trees that applies. Times are the CPU time of one
thread (benchmarks/torus), so that what others do on the machine counts little.
"""

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from unisono.core import machine, places
from unisono.core.files import read_json, write_json

from experiments import harness
from experiments.markdown import table
from experiments.testbeds import Json
from experiments.torus.measuring import RESULTS

SMALL = 4096
LIMITS = {4096: (10.0, 1e6), 65536: (100.0, None)}  # milliseconds, bytes


def measure(times: int, largest: int) -> Json:
    line = [str(places.program("unisono-torus-benchmark")), str(times), str(largest)]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    cpus = [*(machine.read(Path("/proc/cpuinfo")) or "").splitlines(), "model name: unknown"]
    return {
        "experiment": "torus-cost",
        "command": "python -m experiments.torus.cost",
        "cpu": next(line.partition(":")[2].strip() for line in cpus if line.startswith("model name")),
        "rows": [json.loads(text) for text in told.splitlines()],
    }


def within(row: Json) -> str:
    hosts = SMALL if row["torus"] == "16x16x16" else 65536
    milliseconds, size = LIMITS[hosts]
    in_time = row["milliseconds"] < milliseconds
    in_memory = size is None or row["most_bytes"] < size
    return (
        "yes"
        if in_time and in_memory
        else " and ".join(w for w, ok in (("time", in_time), ("memory", in_memory)) if not ok)
    )


def tables(body: Json) -> list[str]:
    rows = [
        [
            *(
                row["torus"],
                row["members"],
                f"`{row['kind']}`",
                row["for"],
                row["routing"],
                str(row["trees"]),
            ),
            *(
                f"{row['milliseconds']:.1f}",
                f"{row['most_bytes'] / 1e6:.2f}",
                f"{row['kept_bytes'] / 1e6:.2f}",
            ),
            within(row),
        ]
        for row in body["rows"]
    ]
    head = (
        "torus",
        "hosts",
        "kind",
        "for",
        "routing",
        "trees",
        "ms",
        "MB at most",
        "MB kept",
        "within the goal",
    )
    return table(head, rows, (0, 1, 2, 3, 4, 9))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    file = RESULTS / "cost.json.zst"
    parser.add_argument("--json", type=Path, default=file, help="results: read, or written")
    parser.add_argument("--times", type=int, default=15, help="the median of so many (15)")
    parser.add_argument("--fresh", action="store_true", help="measure anew")
    parser.add_argument("--quick", action="store_true", help="4096 hosts, once each")
    given = parser.parse_args(arguments)
    if given.fresh or not given.json.exists():
        write_json(measure(*((1, SMALL) if given.quick else (given.times, 1 << 16))), given.json)
    print("\n".join(tables(read_json(given.json))))
    return 0


if __name__ == "__main__":
    harness.run(main)
