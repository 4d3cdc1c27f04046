"""Data-parallel stochastic gradient descent of a network with one hidden layer: each step adds up a gradient
of 4 * 1025 * HIDDEN bytes by one Allreduce. descent.py HIDDEN STEPS"""

import sys

import numpy as np
from mpi4py import MPI

HIDDEN, STEPS = int(sys.argv[1]), int(sys.argv[2])
INPUTS, BATCH, RATE = 1024, 32, 0.05
world = MPI.COMM_WORLD
random = np.random.default_rng(7)
weights = (random.normal(size=INPUTS * HIDDEN + HIDDEN) / 32).astype(np.float32)
world.Bcast(weights)
random = np.random.default_rng(world.rank)
begin = MPI.Wtime()
for _ in range(STEPS):
    first, second = weights[: INPUTS * HIDDEN].reshape(INPUTS, HIDDEN), weights[INPUTS * HIDDEN :]
    inputs = random.normal(size=(BATCH, INPUTS)).astype(np.float32)
    wanted = np.sin(inputs[:, 0])
    hidden = np.tanh(inputs @ first)
    error = hidden @ second - wanted
    slope = (error[:, None] * second) * (1 - hidden**2)
    gradient = np.concatenate([(inputs.T @ slope).ravel(), hidden.T @ error])
    world.Allreduce(MPI.IN_PLACE, gradient)
    weights -= RATE / (BATCH * world.size) * gradient
    loss = world.allreduce(float((error**2).sum()))
    if world.rank == 0:
        print(f"loss {loss:.9g}")
seconds = world.allreduce(MPI.Wtime() - begin, MPI.MAX)
if world.rank == 0:
    print(f"descent: {seconds:.6f} s, weights {float(np.abs(weights).sum()):.9g}")
