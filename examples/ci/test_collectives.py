"""Tests that are run by all ranks of a job: ordinary mpi4py, which knows nothing of Unisono.

mpiexec -n 16 python3 -m unittest -q examples/ci/test_collectives.py
unisono run -n 16 -- python3 -m unittest -q examples/ci/test_collectives.py
"""

import unittest

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
REPEATS = 50  # where ranks share cores, each of them waits for all others


class Collectives(unittest.TestCase):
    def test_ranks_are_one_job(self) -> None:
        """Started by another MPI library's mpiexec each rank would be alone."""
        self.assertGreater(SIZE, 1)

    def test_allreduce(self) -> None:
        for length in (1, 1000, 100_000):
            total = np.empty(length)
            for _ in range(REPEATS):
                COMM.Allreduce(np.full(length, float(RANK)), total)
            self.assertTrue((total == SIZE * (SIZE - 1) / 2).all())

    def test_alltoall(self) -> None:
        received = np.empty(SIZE, dtype=int)
        for _ in range(REPEATS):
            COMM.Alltoall(RANK * SIZE + np.arange(SIZE), received)
        self.assertEqual(received.tolist(), [rank * SIZE + RANK for rank in range(SIZE)])

    def test_ring(self) -> None:
        """The MPI library's own messages."""
        token = np.array([RANK])
        for _ in range(SIZE):
            COMM.Sendrecv_replace(token, (RANK + 1) % SIZE, source=(RANK - 1) % SIZE)
        self.assertEqual(token[0], RANK)


if __name__ == "__main__":
    unittest.main()
