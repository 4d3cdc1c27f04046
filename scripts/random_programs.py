#!/usr/bin/env python3
"""Random programs of collectives under each MPI library, every byte compared with the MPI library's.

  scripts/random_programs.py                      # 20,000 calls on 2 ranks under MPICH, Open MPI, Intel MPI
  scripts/random_programs.py --mpi openmpi -n 5 --calls 2000 --seed 7

A library's calls are cut into jobs of --piece calls, each with a seed of its own, from --seed on. What a job
draws: see tests/conformance/random_program.cpp, which prints the options that repeat a call that fails.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

from unisono import places
from unisono.errors import UnisonoError

CALLS = re.compile(r"^(\d+) calls, no differing byte$", re.M)
DEFECTS = re.compile(r"^results of the MPI library itself that are wrong: (\d+)$", re.M)
ROW = re.compile(r"^([a-z_]+) +(\d+) +(\d+)$", re.M)
SECONDS_A_JOB = 1800


def job(mpi: places.Mpi, options: argparse.Namespace, calls: int, seed: int) -> tuple[bool, str]:
    """Whether it ended well, and what it printed."""
    program = places.build_directory() / "bin" / f"random_program_{mpi.flavour}"
    if not program.exists():
        raise UnisonoError(f"{program} is not built: run make")
    command = [*mpi.launcher(options.ranks), str(program), "--calls", str(calls), "--seed", str(seed)]
    command += ["--nonblocking"] if options.nonblocking else []
    environment = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    environment |= mpi.environment()
    with tempfile.TemporaryFile(mode="w+") as output:
        done = subprocess.run(
            command,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=SECONDS_A_JOB,
            check=False,
        )
        output.seek(0)
        text = output.read()
    return done.returncode == 0 and CALLS.search(text) is not None, text


def run(name: str, options: argparse.Namespace) -> bool:
    mpi = places.find_mpi(name)
    tallies: collections.Counter[str] = collections.Counter()
    calls = defects = 0
    for seed, begin in enumerate(range(0, options.calls, options.piece), options.seed):
        well, text = job(mpi, options, min(options.piece, options.calls - begin), seed)
        if not well:
            print(text, end="")
            print(f"{name}: FAILED with --seed {seed}, after {calls} calls without a differing byte")
            return False
        calls += sum(map(int, CALLS.findall(text)))
        defects += sum(map(int, DEFECTS.findall(text)))
        for row in ROW.findall(text):
            tallies["of all ranks"] += int(row[1])
            tallies["run by Unisono"] += int(row[2])
    told = ", ".join(f"{count} {what}" for what, count in tallies.items())
    print(
        f"{name}: {calls} calls on {options.ranks} ranks ({told}), no differing byte; "
        f"{defects} results of the MPI library itself are wrong",
        flush=True,
    )
    return True


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="mpich,openmpi,intel", help="of these, with commas between")
    parser.add_argument("-n", dest="ranks", type=int, default=2)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--piece", type=int, default=1000, help="calls of a job")
    parser.add_argument("--seed", type=int, default=1, help="of the first job")
    parser.add_argument("--nonblocking", action="store_true", help="two of three calls, some persistent")
    options = parser.parse_args()
    if min(options.calls, options.piece, options.ranks) < 1:
        parser.error("--calls, --piece and -n are at least 1")
    try:
        well = [run(name, options) for name in options.mpi.split(",")]  # also after a failure
        return 0 if all(well) else 1
    except UnisonoError as error:
        print(f"random_programs.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
