"""K-means of points that the ranks draw for themselves, with two Allreduces an iteration.
kmeans.py POINTS ITERATIONS"""

import sys

import numpy as np
from mpi4py import MPI

POINTS, ITERATIONS = int(sys.argv[1]), int(sys.argv[2])
CLUSTERS, DIMENSIONS = 16, 8
world = MPI.COMM_WORLD
random = np.random.default_rng(world.rank)
points = random.normal(size=(POINTS, DIMENSIONS)) + random.integers(0, 8, size=(POINTS, 1))
centres = world.bcast(points[:CLUSTERS].copy() if world.rank == 0 else None)
begin = MPI.Wtime()
for _ in range(ITERATIONS):
    nearest = np.argmin(((points[:, None, :] - centres) ** 2).sum(axis=2), axis=1)
    sums = np.zeros((CLUSTERS, DIMENSIONS))
    counts = np.zeros(CLUSTERS, dtype=np.int64)
    np.add.at(sums, nearest, points)
    np.add.at(counts, nearest, 1)
    world.Allreduce(MPI.IN_PLACE, sums)
    world.Allreduce(MPI.IN_PLACE, counts)
    centres = sums / np.maximum(counts, 1)[:, None]
seconds = world.allreduce(MPI.Wtime() - begin, MPI.MAX)
if world.rank == 0:
    print(f"kmeans: {seconds:.6f} s, counts {' '.join(map(str, counts))}")
    print("centres", *(f"{value:.17g}" for value in centres.sum(axis=1)))
