"""UNISONO_REPRODUCIBLE=1: the bits of sums are the same in every call, under every MPI library, and wherever
the ranks are."""

from __future__ import annotations

import unittest
from pathlib import Path

from launch import EXEC, PROGRAMS, mpiexec

RANKS = 4
SIZES = 3


def sums(flavour: str, *command: str | Path) -> set[str]:
    done = mpiexec(flavour, RANKS, *command, UNISONO_REPRODUCIBLE="1")
    assert done.returncode == 0, done.stderr
    return {line for line in done.stdout.splitlines() if line}


class Reproducible(unittest.TestCase):
    def test_one_order_everywhere(self) -> None:
        # So many calls that without it something would be learned.
        here = sums("openmpi", EXEC, PROGRAMS / "reproducible_openmpi", "40")
        self.assertEqual(len(here), SIZES, here)
        self.assertEqual(sums("mpich", EXEC, PROGRAMS / "reproducible_mpich", "5"), here)
        self.assertEqual(sums("openmpi", PROGRAMS / "reproducible_placed_openmpi", "3"), here)

    def test_the_user_comes_first(self) -> None:
        done = mpiexec(
            "openmpi",
            2,
            EXEC,
            PROGRAMS / "reproducible_openmpi",
            UNISONO_REPRODUCIBLE="1",
            UNISONO_ALLREDUCE="reduce_bcast",
            UNISONO_LOG="decision",
        )
        self.assertIn("reduce_bcast (forced)", done.stderr)
        self.assertIn("binomial (reproducible)", done.stderr)


if __name__ == "__main__":
    unittest.main()
