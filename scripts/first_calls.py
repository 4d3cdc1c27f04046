"""What second_run.py times: calls of 8 bytes in a row, of three collectives. Rank 0 prints milliseconds
of each as JSON; a barrier ends them."""

import json
import sys
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
one, other, many = np.zeros(1), np.zeros(1), np.zeros(world.size)
made: dict[str, Callable[[], None]] = {
    "allreduce": lambda: world.Allreduce(one, other),
    "bcast": lambda: world.Bcast(one),
    "allgather": lambda: world.Allgather(one, many),
}
found = {}
for name, call in made.items():
    world.Barrier()
    begin = MPI.Wtime()
    for _ in range(int(sys.argv[1])):
        call()
    world.Barrier()
    found[name] = (MPI.Wtime() - begin) * 1e3
if world.rank == 0:
    print(json.dumps(found))
