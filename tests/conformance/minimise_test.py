"""scripts/random_programs.py --minimise finds which calls of a random program a defect needs."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "random_programs.py"


def smallest(spoils: str) -> str:
    """Of a program in which the last of these calls comes out wrong, if the others were made before."""
    command = [sys.executable, str(SCRIPT), "--mpi", "openmpi", "--mixed", "--minimise"]
    command += ["--programs", "1", "--calls", "8", "--seed", "3"]
    done = subprocess.run(
        command,
        env=os.environ | {"RANDOM_PROGRAM_SPOILS": spoils},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


class Minimise(unittest.TestCase):
    def test_two_calls(self) -> None:
        told = smallest("3+7")
        self.assertIn("smallest program that fails (wrong)", told)
        self.assertRegex(told, r"--only 3,7 --simplify .*types")


if __name__ == "__main__":
    unittest.main()
