"""What test_lab_unasked.py runs on the hosts: broadcasts of 512 KiB, each checked, nothing else. Rank 0
prints how many were wrong on all ranks."""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
data = np.empty(512 * 1024 // 8, np.int64)
wrong = 0
for call in range(int(sys.argv[1])):
    data.fill(call if world.rank == 0 else -1)
    world.Bcast(data, 0)
    wrong += int(not (data == call).all())
total = world.reduce(wrong, MPI.SUM, 0)
if world.rank == 0:
    print(total)
