"""Whether sums have the same bits in every run between hosts: in the lab, with ranks that come late.

  sudo .venv/bin/python -m experiments.same_bits --beds 4,9,4x2,3x3 --runs 5 --json FILE

Runs `reproducible` (tests/conformance/reproducible.cpp) with nothing set: sums of five reducing collectives
of three lengths on MPI_COMM_WORLD and on new communicators. In each run other ranks are late, and from the
second on there is what the run before has kept. Needs root (the lab) and a built tree.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from unisono.core import places
from unisono.core.files import write_json

from experiments import harness, markdown
from scripts.kinds_in_lab import Hosts, hosts_of

ROUNDS = 6
LAB = "same-bits"


@dataclass(frozen=True)
class Row:
    """`outputs`: different ones of the runs; 1: all bits were the same."""

    mpi: str
    hosts: int
    ranks_on_each: int
    runs: int
    sums: int
    outputs: int


def lab(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("unisono")), "lab", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)


def measure(mpi: str, hosts: Hosts, runs: int) -> Row:
    program = str(places.program(f"reproducible_{mpi}"))
    where = ["--name", LAB, "--mpi", mpi, "-n", str(hosts.ranks), "--ppn", str(hosts.ranks_on_each)]
    outputs = []
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        for seed in range(1, runs + 1):
            outputs.append(lab("run", *where, "--", program, str(ROUNDS), str(seed)).stdout)
    sums = sum(line.startswith("sums of") for line in outputs[0].splitlines())
    if sums == 0 or "differ" in "".join(outputs):
        raise SystemExit(f"{mpi} on {hosts}: {outputs[0][:300]}")
    return Row(mpi, hosts.number, hosts.ranks_on_each, runs, sums, len(set(outputs)))


def table(rows: list[Row]) -> list[str]:
    made = [(row.mpi, row.hosts, row.ranks_on_each, row.runs, row.sums, row.outputs) for row in rows]
    heads = ["library", "hosts", "ranks on each", "runs", "lines of sums in each", "different outputs"]
    return markdown.table(heads, [tuple(map(str, one)) for one in made], (0,))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beds", default="4,9,4x2,3x3", help="hosts, or hosts x ranks on each (4,9,4x2,3x3)")
    parser.add_argument("--mpi", default="mpich,openmpi", help="several by commas (mpich,openmpi)")
    parser.add_argument("--runs", type=int, default=5, help="of each bed and library (5)")
    parser.add_argument("--json", type=Path, help="the file to write")
    options = parser.parse_args()
    rows = []
    for hosts in map(hosts_of, options.beds.split(",")):
        lab("up", "--name", LAB, "--hosts", str(hosts.number), "--rate", "100mbit")
        try:
            rows += [measure(mpi, hosts, options.runs) for mpi in options.mpi.split(",")]
        finally:
            lab("down", "--name", LAB)
    print("\n".join(table(rows)))
    if options.json:
        write_json({"revision": harness.revision(), "rows": [asdict(row) for row in rows]}, options.json)


if __name__ == "__main__":
    main()
