"""k-means over MPI: an ordinary mpi4py program that knows nothing of Unisono.

mpiexec -n 4 python examples/kmeans.py
mpiexec -n 4 build/bin/unisono-exec python examples/kmeans.py

Rank 0 writes one line of JSON: seconds per iteration, and a checksum of the result.
"""

import argparse
import json

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def iterate(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Every rank sums its points by their nearest centre; all ranks get the new centres."""
    k, dimensions = centres.shape
    distance = (centres**2).sum(axis=1) - 2 * points @ centres.T
    nearest = distance.argmin(axis=1)
    sums = np.zeros((k, dimensions + 1))
    np.add.at(sums[:, :dimensions], nearest, points)
    sums[:, dimensions] = np.bincount(nearest, minlength=k)
    comm.Allreduce(MPI.IN_PLACE, sums)
    members = sums[:, dimensions:]
    return np.where(members > 0, sums[:, :dimensions] / np.maximum(members, 1), centres)


def main() -> None:
    parser = argparse.ArgumentParser(description="k-means over MPI")
    parser.add_argument("--points", type=int, default=200, help="per rank")
    parser.add_argument("--centres", type=int, default=64)
    parser.add_argument("--dimensions", type=int, default=32)
    parser.add_argument("--iterations", type=int, default=60)
    chosen = parser.parse_args()
    if chosen.points < chosen.centres:
        parser.error("--points: the first centres are points of rank 0; it has too few")

    # Whole numbers add up to the same whatever the order, so every run has the same checksum.
    generator = np.random.default_rng(comm.rank)
    points = generator.integers(0, 1000, (chosen.points, chosen.dimensions)).astype(float)
    start = np.empty((chosen.centres, chosen.dimensions))
    if comm.rank == 0:
        start = points[: chosen.centres].copy()
    comm.Bcast(start)

    iterate(points, start)  # the first one connects the ranks
    comm.Barrier()
    began = MPI.Wtime()
    centres = start
    for _ in range(chosen.iterations):
        centres = iterate(points, centres)
    seconds = comm.reduce(MPI.Wtime() - began, MPI.MAX)
    if comm.rank == 0:
        result = {
            "ranks": comm.size,
            "seconds": seconds / chosen.iterations,
            "checksum": float(centres.sum()),
            "library": MPI.Get_library_version().split("\n")[0].strip("\0"),
        }
        print(json.dumps(result))


if __name__ == "__main__":
    main()
