"""Collectives of mpi4py, with buffers and with objects."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size

total = np.zeros(5, dtype="i")
comm.Allreduce(np.arange(5, dtype="i") + rank, total)
assert list(total) == [size * i + size * (size - 1) // 2 for i in range(5)]

assert comm.bcast({"from": rank}, root=size - 1) == {"from": size - 1}
assert comm.allgather(rank) == list(range(size))

ranks = np.zeros(size, dtype="i")
comm.Allgatherv(np.array([rank], dtype="i"), [ranks, [1] * size, list(range(size)), MPI.INT])
assert list(ranks) == list(range(size))

comm.Barrier()
if rank == 0:
    print("passed")
