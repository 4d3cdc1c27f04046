"""The script.py of the pages."""

from mpi4py import MPI

world = MPI.COMM_WORLD
assert world.allreduce(world.rank) == world.size * (world.size - 1) // 2
