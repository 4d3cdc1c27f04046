"""The bits of sums, and of maxima, are the same in every call and every run on one node, and in every run
between nodes; with UNISONO_REPRODUCIBLE=placement under every MPI library, and wherever the ranks are."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from launch import EXEC, FLAVOURS, PROGRAMS, mpiexec

RANKS = 4
SIZES = 3


def printed(flavour: str, *command: str | Path, **variables: str) -> set[str]:
    done = mpiexec(flavour, RANKS, *command, timeout=60, **variables)
    assert done.returncode == 0, done.stderr
    return {line for line in done.stdout.splitlines() if line}


def sums(flavour: str, *command: str | Path, **variables: str) -> set[str]:
    return {line for line in printed(flavour, *command, **variables) if line.startswith("sums")}


class Reproducible(unittest.TestCase):
    # So many calls that without it something would be learned.
    ROUNDS = "40"

    def test_one_order_in_all_runs(self) -> None:
        """Whoever comes late, whatever an earlier job has learned, and in first calls, too."""
        for flavour in FLAVOURS:
            with self.subTest(flavour), tempfile.TemporaryDirectory() as cache:
                program = PROGRAMS / f"reproducible_{flavour}"
                found: set[str] = set()
                for seed in range(1, 6):
                    found |= printed(flavour, EXEC, program, "10", str(seed), XDG_CACHE_HOME=cache)
                self.assertEqual(len(found), 2 * SIZES, sorted(found))

    def test_one_order_in_all_runs_between_nodes(self) -> None:
        """There short sums are the MPI library's own, and those of a communicator's first calls."""
        program = PROGRAMS / "reproducible_placed_openmpi"
        found: set[str] = set()
        with tempfile.TemporaryDirectory() as cache:
            for seed in range(1, 5):
                kept = {"XDG_CACHE_HOME": cache, "UNISONO_LOG": "decision"}
                done = mpiexec("openmpi", RANKS, program, "6", str(seed), timeout=60, **kept)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, r"allreduce of \S+ on 4 ranks: grid:\S+ \(safe\)")
                found.add(done.stdout)
        self.assertEqual(len(found), 1, sorted(found))

    def test_one_order_everywhere(self) -> None:
        fixed = {"UNISONO_REPRODUCIBLE": "placement"}
        here = sums("openmpi", EXEC, PROGRAMS / "reproducible_openmpi", self.ROUNDS, **fixed)
        self.assertEqual(len(here), SIZES, here)
        self.assertEqual(sums("mpich", EXEC, PROGRAMS / "reproducible_mpich", "5", **fixed), here)
        self.assertEqual(sums("openmpi", PROGRAMS / "reproducible_placed_openmpi", "3", **fixed), here)

    def test_the_user_comes_first(self) -> None:
        done = mpiexec(
            "openmpi",
            2,
            EXEC,
            PROGRAMS / "reproducible_openmpi",
            UNISONO_REPRODUCIBLE="1",  # as placement
            UNISONO_ALLREDUCE="reduce_bcast",
            UNISONO_LOG="decision",
        )
        self.assertIn("reduce_bcast (forced)", done.stderr)
        self.assertIn("binomial (reproducible)", done.stderr)


if __name__ == "__main__":
    unittest.main()
