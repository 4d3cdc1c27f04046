"""Conjugate gradients for a Laplacian on a square, rows by ranks: gradients.py SIDE ITERATIONS"""

import sys

import numpy as np
from mpi4py import MPI

SIDE, ITERATIONS = int(sys.argv[1]), int(sys.argv[2])
world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
first, last = SIDE * rank // ranks, SIDE * (rank + 1) // ranks
above, below = (rank - 1 if rank else MPI.PROC_NULL), (rank + 1 if rank + 1 < ranks else MPI.PROC_NULL)


def product(field: np.ndarray) -> np.ndarray:
    top, bottom = np.zeros(SIDE), np.zeros(SIDE)
    world.Sendrecv(field[0], above, recvbuf=bottom, source=below)
    world.Sendrecv(field[-1], below, recvbuf=top, source=above)
    tall = np.vstack([top, field, bottom])
    wide = np.pad(field, ((0, 0), (1, 1)))
    image: np.ndarray = 4 * field - tall[:-2] - tall[2:] - wide[:, :-2] - wide[:, 2:]
    return image


def dot(a: np.ndarray, b: np.ndarray) -> float:
    return float(world.allreduce(float((a * b).sum())))


begin = MPI.Wtime()
right = np.sin(np.arange(first * SIDE, last * SIDE)).reshape(-1, SIDE)
solution = np.zeros_like(right)
residual, direction = right.copy(), right.copy()
norm = dot(residual, residual)
for iteration in range(ITERATIONS):
    image = product(direction)
    step = norm / dot(direction, image)
    solution += step * direction
    residual -= step * image
    following = dot(residual, residual)
    direction = residual + following / norm * direction
    norm = following
    if rank == 0 and iteration % 10 == 0:
        print(f"residual {norm:.17g}")
total = dot(solution, right)
seconds = world.allreduce(MPI.Wtime() - begin, MPI.MAX)
if rank == 0:
    print(f"gradients: {seconds:.6f} s, product {total:.17g}")
