"""mpi4py's own tests of collectives, natively and under Unisono: every test must have the same
outcome on every rank, with Unisono's own choices, selected online, and with every algorithm of the catalogue
forced. What the library lacks (persistent collectives before MPI 4) may pass where it is skipped natively.

    python mpi4py_suite.py            the blocking collectives; Open MPI 3, MPICH 2 (ctest)
    python mpi4py_suite.py --full     all modules and algorithms; Open MPI 1 2 3 4 5 8, MPICH 1 2 3
    python mpi4py_suite.py --full openmpi:8 --sets 1      only that, with the first set of algorithms
    python mpi4py_suite.py --full intel:2 debian-openmpi:5 debian-mpich:2      make intel, make debian
    python mpi4py_suite.py --whole openmpi:2 --sets 1 3   all of its tests: RMA, spawn, sessions, threads, ...

What hangs, or ends the process, natively: leave it out with --exclude. The tests come from mpi4py's source
package, which pip fetches once into .deps/mpi4py-tests.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from launch import BUILD, DEPS, EXEC, mpiexec
from unisono.core import catalogue, places

VERSION = "4.1.2"
HERE = Path(__file__).resolve().parent
# Quick: those that Unisono interposes on, and nonblocking ones beside them.
QUICK = [r"cco_(buf|vec|obj)(_inter)?\.py", r"cco_nb_buf"]
FULL = ["cco"]
RANKS_QUICK = {"openmpi": (3,), "mpich": (2,)}
RANKS_FULL = {"openmpi": (1, 2, 3, 4, 5, 8), "mpich": (1, 2, 3)}


@dataclass
class Outcome:
    tests: list[dict[str, str]]  # per rank: test -> outcome
    own: int  # collectives of rank 0 in Unisono
    trouble: str  # a job that did not end as it should


def fetch_tests() -> Path | str:
    """The folder test/ of the source package, or why it cannot be had."""
    cache = DEPS / "mpi4py-tests"
    folder: Path = cache / f"mpi4py-{VERSION}/test"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    package = cache / f"mpi4py-{VERSION}.tar.gz"
    if not package.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        done = subprocess.run(
            [*pip, "--no-binary", "mpi4py", f"mpi4py=={VERSION}", "--dest", str(cache)],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        # pip may have the package and yet fail to prepare its metadata.
        if not package.exists():
            return f"pip cannot fetch mpi4py {VERSION}: {done.stderr.strip().splitlines()[-1:]}"
    # Whole or not at all: a run that is interrupted must not leave half of the tests behind.
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        with tarfile.open(package) as archive:
            archive.extractall(scratch, filter="data")
        (Path(scratch) / f"mpi4py-{VERSION}").rename(folder.parent)
    return folder


def environment(name: str) -> dict[str, str]:
    """Of the MPI library. Ranks that share cores give theirs away while they wait."""
    mpi = places.find_mpi(name)
    idle = {
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
        "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
        "I_MPI_THREAD_YIELD": "2",
    }
    if name in ("intel", "debian-mpich"):  # nap.c says why
        idle |= {"LD_PRELOAD": str(BUILD / "tests/conformance/libnap.so"), "UNISONO_TEST_NAP": "1"}
    chosen = {"MPI4PY_MPIABI": mpi.flavour, "LD_LIBRARY_PATH": str(mpi.library.parent)}
    return mpi.environment() | idle | chosen


@dataclass
class Chosen:
    options: list[str]  # of mpi4py's test/main.py
    seconds: float  # for a job, and again for each rank


def run(tests: Path, flavour: str, ranks: int, chosen: Chosen, under: bool, **variables: str) -> Outcome:
    prefix = [EXEC] if under else []
    with tempfile.TemporaryDirectory() as output:
        trouble = ""
        try:
            done = mpiexec(
                flavour,
                ranks,
                *prefix,
                sys.executable,
                HERE / "mpi4py_runner.py",
                tests,
                output,
                *chosen.options,
                timeout=chosen.seconds * (4 + ranks),
                **environment(flavour),
                **variables,
            )
            if done.returncode not in (0, 1):  # 1: there are failures, which are compared
                trouble = f"exit status {done.returncode}: {done.stderr[-1500:]}"
        except subprocess.TimeoutExpired:
            trouble = "it hangs"
        records = []
        for rank in range(ranks):
            record = Path(output) / f"{rank}.json"
            if record.exists():
                records.append(json.loads(record.read_text()))
                continue
            running = Path(output) / f"{rank}.running"
            where = running.read_text() if running.exists() else "its first test"
            trouble += f"\n  rank {rank} did not get past {where}"
        if trouble:
            return Outcome([], 0, trouble)
        return Outcome([r["outcomes"] for r in records], records[0]["own"], "")


def differences(native: Outcome, ours: Outcome) -> list[str]:
    if ours.trouble:
        return [ours.trouble]
    found = []
    for rank, (a, b) in enumerate(zip(native.tests, ours.tests, strict=True)):
        for test in sorted(a.keys() | b.keys()):
            was, now = a.get(test, "not run"), b.get(test, "not run")
            kinds = was.partition(":")[0], now.partition(":")[0]
            if kinds[0] != kinds[1] and kinds != ("skipped", "passed"):
                found.append(f"rank {rank}, {test}: {was} natively, {now} under Unisono")
    return found


def summary(outcome: Outcome) -> str:
    kinds: dict[str, int] = {}
    for result in outcome.tests[0].values():
        kind = result.partition(":")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    return ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))


def passed(outcome: Outcome) -> int:
    return list(outcome.tests[0].values()).count("passed")


class Suite:
    def __init__(self, tests: Path, full: bool, chosen: Chosen) -> None:
        self.tests = tests
        self.full = full
        self.chosen = chosen
        self.wrong = 0
        self.sets = [{"UNISONO_ONLINE": "star:calls=2"}, *catalogue.forced_sets()]

    def report(self, name: str, native: Outcome, ours: Outcome, begin: float, forced: bool) -> None:
        found = differences(native, ours)
        if not found and forced and ours.own == 0:
            found = ["no collective ran in Unisono"]
        verdict = "the same" if not found else "DIFFERENT"
        seconds = time.monotonic() - begin
        counts = f"{ours.own:7} in Unisono {seconds:6.1f} s"
        if ours.tests and (more := passed(ours) - passed(native)) > 0:
            counts += f", {more} more pass than natively"
        print(f"  {name:12} {verdict:10} {counts}", flush=True)
        for line in found[:20]:
            print(f"    {line}", flush=True)
        self.wrong += bool(found)

    def compare(self, flavour: str, ranks: int, sets: list[int]) -> None:
        begin = time.monotonic()
        native = run(self.tests, flavour, ranks, self.chosen, under=False)
        if native.trouble:
            print(f"{flavour}, {ranks} ranks: not even natively: {native.trouble}", flush=True)
            self.wrong += 1
            return
        seconds = time.monotonic() - begin
        print(f"{flavour}, {ranks} ranks: {summary(native)}, native {seconds:.1f} s", flush=True)
        begin = time.monotonic()
        ours = run(self.tests, flavour, ranks, self.chosen, under=True)
        self.report("default", native, ours, begin, forced=False)
        for i in sets:
            begin = time.monotonic()
            ours = run(self.tests, flavour, ranks, self.chosen, under=True, **self.sets[i])
            self.report(f"set {i}", native, ours, begin, forced=ranks > 1)

    def run_all(self, only: list[str], chosen: list[int] | None) -> int:
        table = RANKS_FULL if self.full else RANKS_QUICK
        runs = only or [f"{flavour}:{ranks}" for flavour in table for ranks in table[flavour]]
        every = list(range(len(self.sets)))
        for turn, run_name in enumerate(runs):
            flavour, _, ranks = run_name.partition(":")
            # Quick runs share the algorithms out among themselves.
            sets = every if self.full else [turn % len(every)]
            self.compare(flavour, int(ranks), sets if chosen is None else chosen)
        return self.wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--whole", action="store_true", help="--full, of all of mpi4py's test files")
    parser.add_argument("--exclude", nargs="*", default=[], help="tests, by parts of their names")
    parser.add_argument(
        "--seconds", type=float, default=60, help="for a job: so many a rank, and 4 times (60)"
    )
    parser.add_argument("only", nargs="*", metavar="MPI:RANKS")
    parser.add_argument("--sets", type=int, nargs="*", help="0: online selection; others: forced")
    options = parser.parse_args()
    tests = fetch_tests()
    if isinstance(tests, str):
        print(f"skipped: {tests}")
        return 77  # ctest's SKIP_RETURN_CODE
    full = options.full or options.whole
    modules = [] if options.whole else FULL if options.full else QUICK
    named = [("-i", module) for module in modules] + [("-x", test) for test in options.exclude]
    chosen = Chosen([word for pair in named for word in pair], options.seconds)
    wrong = Suite(tests, full, chosen).run_all(options.only, options.sets)
    print("all outcomes are the same" if wrong == 0 else f"{wrong} runs differ")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
