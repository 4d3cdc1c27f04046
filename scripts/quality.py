#!/usr/bin/env python3
"""What the compiler of every day does not find: sanitizers, and a second compiler.

quality.py sanitize [asan|tsan]    builds build-asan and build-tsan, and runs what they can run
quality.py clang                   builds build-clang with clang 15 or newer, and runs its tests
quality.py compiler                names that clang

What is built stays: a run that was interrupted goes on with the next file. Units run as they are, the insides
of the runtime under mpiexec. The MPI libraries are not instrumented: the thread sanitizer would take their
locks for none, so that it has the units only, and the memory that they keep until the end is no leak of ours.
The walks through the catalogue would take an hour: they are a sample.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLANGS = [f"clang++-{version}" for version in range(21, 14, -1)]  # 14 cannot read GCC 12's ranges
# Every walk through the catalogue is one test for each of its rows: one row in so many.
SAMPLE = {"GTEST_TOTAL_SHARDS": "12", "GTEST_SHARD_INDEX": "5"}
# What is built, and the labels of the tests that are run.
WHAT = {"asan": ("quality_programs", "unit|mpi"), "tsan": ("quality_units", "unit")}


def run(*command: str, **environment: str) -> int:
    print("+", " ".join(command), flush=True)
    return subprocess.run(command, cwd=ROOT, check=False, env=os.environ | environment).returncode


def build(preset: str, target: str, *options: str) -> bool:
    return (
        run("cmake", "--preset", preset, "--log-level=WARNING", *options) == 0
        and run("cmake", "--build", "--preset", preset, "--target", target) == 0
    )


def test(preset: str, labels: str, leave_out: str) -> bool:
    """ctest in build-<preset>, one test after the other: sanitizers need memory."""
    command = ["ctest", "--test-dir", f"build-{preset}", "--output-on-failure", "--no-tests=error"]
    return run(*command, "-L", "quality", "-L", labels, *(["-E", leave_out] if leave_out else [])) == 0


def walks(preset: str) -> bool:
    return run(f"build-{preset}/bin/algorithms_tests", "--gtest_brief=1", **SAMPLE) == 0


def sanitize(presets: list[str]) -> bool:
    good = True
    for preset in presets or ["asan", "tsan"]:
        target, labels = WHAT[preset]
        good = build(preset, target) and test(preset, labels, "^algorithms") and walks(preset) and good
    return good


def version_of(compiler: str) -> int:
    done = subprocess.run([compiler, "--version"], check=False, capture_output=True, text=True)
    found = re.search(r"clang version (\d+)", done.stdout)
    return int(found[1]) if found else 0


def compiler() -> str:
    """Clang 15 or newer, or nothing."""
    found = next(filter(shutil.which, CLANGS), "")
    if not found and shutil.which("clang++") and version_of("clang++") >= 15:
        found = "clang++"
    if not found:
        print("quality.py: no clang 15 or newer: apt-get install clang-16", file=sys.stderr)
    return found


def clang() -> bool:
    found = compiler()
    if not found:
        return False
    compilers = [f"-DCMAKE_CXX_COMPILER={found}", f"-DCMAKE_C_COMPILER={found.replace('++', '')}"]
    return build("clang", "quality_programs", *compilers) and test("clang", "unit|mpi", "")


def main() -> int:
    command, *presets = sys.argv[1:] or [""]
    if command == "sanitize" and set(presets) <= {"asan", "tsan"}:
        return 0 if sanitize(presets) else 1
    if command == "clang" and not presets:
        return 0 if clang() else 1
    if command == "compiler" and not presets:
        found = compiler()
        print(found)
        return 0 if found else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
