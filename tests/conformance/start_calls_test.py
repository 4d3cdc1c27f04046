"""System calls and mappings that Unisono adds to MPI_Init and MPI_Finalize on one node, counted by strace in
pairs of jobs. Calls whose number depends on how long somebody waits are not looked at: yields, sleeps,
futexes, polls, and reads and writes of the launcher's sockets."""

from __future__ import annotations

import re
import statistics
import tempfile
import unittest
from pathlib import Path

from launch import EXEC, FLAVOURS, PROGRAMS, RANK, mpiexec

# At most so many more than natively, unisono-exec and what the dynamic linker does included. On a node with
# two levels of caches that are shared, openat is called 38 to 48 times more, newfstatat 21 to 31 (one for
# each network interface), mmap 23, mprotect 6, readlink 5, socket 4 times.
MOST = {
    "openat": 52,
    "newfstatat": 40,
    "mmap": 27,
    "mprotect": 9,
    "readlink": 8,
    "socket": 6,
    "execve": 1,
    "clone": 0,
    "clone3": 0,
    "unlink": 0,
    "mkdir": 0,
}
MOST_MAPPINGS = 20  # 17 to 22 under MPICH 5, 16 to 21 under Open MPI 5, with medians of 20 and 17
# Of mappings the median counts: the kernel joins neighbours, and where they lie is random.
PAIRS = 9
# Counted on both ranks: MPICH removes its segment on the one that is through with it last.
ON_ALL_RANKS = {"unlink", "mkdir"}


def calls_in(table: str) -> dict[str, int]:
    rows = re.findall(r"^ +[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? +(\w+)$", table, re.MULTILINE)
    return {name: int(count) for count, name in rows if name != "total"}


def counted(flavour: str, *above: Path) -> dict[str, int]:
    """System calls of rank 0 by name, some of both ranks."""
    with tempfile.TemporaryDirectory() as folder:
        program = " ".join(map(str, [*above, PROGRAMS / f"start_calls_{flavour}"]))
        command = f"exec strace -f -c -o {folder}/{RANK} {program}"
        done = mpiexec(flavour, 2, "sh", "-c", command, XDG_CACHE_HOME="/dev/null")
        assert done.returncode == 0, done.stdout + done.stderr
        tables = [Path(folder, rank).read_text() for rank in "01"]
    calls, others = (calls_in(table) for table in tables)
    assert calls.get("mmap") and others.get("mmap"), tables
    return calls | {name: calls.get(name, 0) + others.get(name, 0) for name in ON_ALL_RANKS}


def mappings(flavour: str, *above: Path) -> int:
    """Of rank 0."""
    done = mpiexec(flavour, 2, *above, PROGRAMS / f"start_calls_{flavour}", XDG_CACHE_HOME="/dev/null")
    found = re.search(r"mappings (\d+)", done.stdout)
    assert found, done.stdout + done.stderr
    return int(found[1])


class StartCalls(unittest.TestCase):
    def test_more_than_natively(self) -> None:
        for flavour in FLAVOURS:
            native, ours = counted(flavour), counted(flavour, EXEC)
            more = {name: ours.get(name, 0) - native.get(name, 0) for name in MOST}
            pairs = [mappings(flavour, EXEC) - mappings(flavour) for _ in range(PAIRS)]
            print(flavour, more, pairs)
            with self.subTest(flavour):
                self.assertGreater(more["mmap"], 0, "nothing was preloaded")
                self.assertEqual({}, {name: n for name, n in more.items() if n > MOST[name]})
                self.assertLessEqual(statistics.median(pairs), MOST_MAPPINGS)


if __name__ == "__main__":
    unittest.main()
