#!/usr/bin/env python3
"""Random MPI programs under each MPI library, every byte compared with the MPI library's.

  scripts/random_programs.py                      # 500 programs on 2 ranks under MPICH, Open MPI, Intel MPI
  scripts/random_programs.py --mpi debian-openmpi -n 3 --mixed --programs 2000 --seed 7
  scripts/random_programs.py --mpi mpich --mixed --seed 12 --minimise

A program is --calls calls on communicators of its own, drawn from its seed; a job (one MPI_Init) runs --piece
of them one after the other. What is drawn: tests/conformance/random_program.cpp. --minimise: of the
first program that fails the smallest that still does, as options that repeat it.
"""

import argparse
import collections
import re
import sys

from minimise_program import Failure, minimise, outcome
from unisono.core import places
from unisono.core.errors import UnisonoError

DONE = re.compile(r"^(\d+) programs, (\d+) calls, no differing byte$", re.M)
DEFECTS = re.compile(r"^results of the MPI library itself that are wrong: (\d+)$", re.M)
OTHERS = re.compile(r"^messages: (\d+); calls with wrong arguments: (\d+), natively errors: (\d+)$", re.M)
THREADS = re.compile(r"^in Unisono, of all threads: (\d+)$", re.M)
ROW = re.compile(r"^([a-z_]+) +(\d+) +(\d+)$", re.M)
SECONDS_A_JOB = 1800


def arguments(options: argparse.Namespace) -> list[str]:
    """Of the test program, but for which programs and calls."""
    chosen = ["--patience", str(options.patience)]
    chosen += ["--mixed"] if options.mixed else ["--nonblocking"] if options.nonblocking else []
    chosen += ["--threads", str(options.threads)] if options.threads > 1 else []
    return chosen


def told(text: str, tallies: collections.Counter[str]) -> None:
    """Adds up what a job has told."""
    tallies["programs"] += sum(int(found[0]) for found in DONE.findall(text))
    tallies["calls"] += sum(int(found[1]) for found in DONE.findall(text))
    tallies["wrong results of the MPI library itself"] += sum(map(int, DEFECTS.findall(text)))
    for name, calls, own in ROW.findall(text):
        kind = "collectives among neighbours" if name.startswith("neighbor") else "collectives"
        tallies[f"{kind} of all ranks"] += int(calls)
        tallies[f"{kind} run by Unisono"] += int(own)
    for messages, wrong, refused in OTHERS.findall(text):
        tallies["rounds of messages"] += int(messages)
        tallies["calls with wrong arguments"] += int(wrong)
        tallies["of them errors natively"] += int(refused)
    tallies["run by Unisono, of all threads"] += sum(map(int, THREADS.findall(text)))


def run(name: str, options: argparse.Namespace) -> bool:
    mpi = places.find_mpi(name)
    tallies: collections.Counter[str] = collections.Counter()
    end = options.seed + options.programs
    seed, well = options.seed, True
    while seed < end and (well or options.go_on):
        piece = min(options.piece, end - seed)
        chosen = ["--calls", str(options.calls), "--seed", str(seed), "--programs", str(piece)]
        job = outcome(mpi, options.ranks, [*chosen, *arguments(options)], SECONDS_A_JOB)
        if not isinstance(job, Failure):
            told(job, tallies)
            seed += piece
            continue
        well = False
        print(job.text[-6000:], end="")
        failed = job.seed if job.seed is not None else seed
        print(
            f"{name}: FAILED ({job.kind}), of the seeds {seed} to {seed + piece - 1} at {failed}", flush=True
        )
        tallies["programs before those that failed"] += max(failed - seed, 0)
        if options.minimise:
            print(minimise(mpi, options.ranks, options.calls, failed, job, arguments(options)), flush=True)
        seed = failed + 1
    numbers = ", ".join(f"{count} {what}" for what, count in tallies.items() if count)
    print(f"{name}, {options.ranks} ranks: {numbers}{'' if well else '; SOME FAILED'}", flush=True)
    return well


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="mpich,openmpi,intel", help="of these, debian-openmpi, debian-mpich")
    parser.add_argument("-n", dest="ranks", type=int, default=2)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--calls", type=int, default=40, help="calls of a program")
    parser.add_argument("--piece", type=int, default=100, help="programs of a job")
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument("--nonblocking", action="store_true", help="two of three calls, some persistent")
    parser.add_argument("--mixed", action="store_true", help="that, and all other kinds of calls")
    parser.add_argument("--threads", type=int, default=1, help="each with calls of its own")
    parser.add_argument("--patience", type=int, default=60, help="seconds after which a call hangs")
    parser.add_argument("--minimise", action="store_true", help="a program that fails")
    parser.add_argument("--go-on", action="store_true", help="with the next program after a failure")
    options = parser.parse_args()
    if min(options.programs, options.calls, options.piece, options.ranks, options.threads) < 1:
        parser.error("--programs, --calls, --piece, --threads and -n are at least 1")
    try:
        well = [run(name, options) for name in options.mpi.split(",")]  # also after a failure
        return 0 if all(well) else 1
    except UnisonoError as error:
        print(f"random_programs.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
