"""What test_lab.py runs on the hosts: each rank prints one line of JSON, and a megabyte is sent."""

import json
import os
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
node = world.Split_type(MPI.COMM_TYPE_SHARED)
data = np.arange(1 << 17, dtype=np.float64) if world.rank == 0 else np.empty(1 << 17)
world.Bcast(data)
line = {
    "rank": world.rank,
    "ranks": world.size,
    "name": MPI.Get_processor_name(),
    "on_node": node.size,
    "right": bool((data == np.arange(1 << 17)).all()),
    "forced": os.environ.get("UNISONO_BCAST"),
    "preloaded": "libunisono.so" in os.environ.get("LD_PRELOAD", ""),
}
sys.stdout.write(json.dumps(line) + "\n")
sys.stdout.flush()
if "--wait" in sys.argv:
    world.recv(source=(world.rank + 1) % world.size)  # nobody sends it
