"""Ranks write slices of datasets into one HDF5 file by h5py, read others' back, and add them up.
slices.py N"""

import sys

import h5py
import numpy as np
from mpi4py import MPI

N = int(sys.argv[1])
world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
total = 0
with h5py.File("slices.h5", "w", driver="mpio", comm=world) as file:
    for step in range(4):
        data = file.create_dataset(f"step{step}", (ranks, N), dtype="i8")
        data.attrs["step"] = step
        with data.collective:
            data[rank, :] = np.arange(N) * (rank + 1) + step
        file.flush()
        world.Barrier()
        with data.collective:
            total += int((data[(rank + 1) % ranks, :] * np.arange(N)).sum())
total = world.allreduce(total)
if rank == 0:
    print(f"sum {total}")
