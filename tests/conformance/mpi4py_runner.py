"""Runs mpi4py's own tests on the ranks of a job, and writes down what became of each.

    mpiexec -n P python mpi4py_runner.py TESTS OUTPUT [OPTION...]

TESTS is the folder test/ of mpi4py's source package; the options are those of its main.py: -i and -e choose
modules, -x leaves out tests. Rank r writes OUTPUT/r.json when done, and OUTPUT/r.running before each test, so
that a job that hangs tells where.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any

TESTS, OUTPUT, OPTIONS = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
RANK = os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or "0"


def calls_in_unisono() -> int:
    """Of this process; 0 when Unisono is not there."""
    own, native = ctypes.c_ulonglong(), ctypes.c_ulonglong()
    try:
        ctypes.CDLL(None).unisono_counts(ctypes.byref(own), ctypes.byref(native))
    except AttributeError:
        return 0
    return own.value


class Recorder(unittest.TextTestResult):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.outcomes: dict[str, str] = {}

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcomes[test.id()] = "passed"
        (OUTPUT / f"{RANK}.running").write_text(test.id())

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.outcomes[test.id()] = "skipped"

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self.outcomes[test.id()] = "expected failure"

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self.outcomes[test.id()] = f"failed: {err[1]}"

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self.outcomes[test.id()] = f"failed: {err[0].__name__}: {err[1]}"

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.outcomes[test.id()] = f"failed: {err[1]}"

    def stopTestRun(self) -> None:
        super().stopTestRun()
        record = {"outcomes": self.outcomes, "own": calls_in_unisono()}
        (OUTPUT / f"{RANK}.json").write_text(json.dumps(record))


def run() -> None:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(TESTS))
    import main  # type: ignore[import-not-found]

    runner = unittest.TextTestRunner(resultclass=Recorder, verbosity=0)
    main.main(module=None, argv=["mpi4py", "--quiet", *OPTIONS], testRunner=runner)


if __name__ == "__main__":
    run()
