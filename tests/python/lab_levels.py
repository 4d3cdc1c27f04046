"""What test_lab_levels.py runs on the hosts: collectives of Unisono beside the MPI library's own, on
MPI_COMM_WORLD, on its ranks in another order, and on a part that leaves a rank of a node out. Each rank
prints one line of JSON."""

import json
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD


def results(comm: MPI.Comm) -> list[np.ndarray]:
    """Of bcast, allreduce, allgather, reduce; with numbers whose sum in another order is another."""
    own = np.arange(8, dtype=np.int64) + 1000 * comm.rank
    root = comm.size - 1
    sent = own.copy()
    comm.Bcast(sent, root)
    total = np.empty_like(own)
    comm.Allreduce(own, total, MPI.SUM)
    gathered = np.empty(8 * comm.size, np.int64)
    comm.Allgather(own, gathered)
    reduced = np.zeros_like(own)
    comm.Reduce(own, reduced, MPI.MAX, root)
    return [sent, total, gathered, reduced]


def expected(comm: MPI.Comm) -> list[np.ndarray]:
    ranks = [np.arange(8, dtype=np.int64) + 1000 * rank for rank in range(comm.size)]
    last = comm.rank == comm.size - 1
    return [
        ranks[-1],
        sum(ranks[1:], ranks[0]),
        np.concatenate(ranks),
        ranks[-1] if last else np.zeros(8, np.int64),
    ]


def is_right(comm: MPI.Comm) -> bool:
    return all((got == want).all() for got, want in zip(results(comm), expected(comm), strict=True))


reordered = world.Split(0, (world.rank % 2) * world.size + world.rank)
part = world.Split(0 if world.rank != 1 else 1, world.rank)
line = {
    "rank": world.rank,
    "name": MPI.Get_processor_name(),
    "right": [is_right(comm) for comm in (world, reordered, part)],
}
sys.stdout.write(json.dumps(line) + "\n")
