"""System calls and mappings that Unisono adds to MPI_Init and MPI_Finalize on one node, counted by strace in
pairs of jobs. Calls whose number depends on how long somebody waits are not looked at: yields, sleeps,
futexes, polls, and reads and writes of the launcher's sockets."""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path

from launch import EXEC, FLAVOURS, PROGRAMS, RANK, mpiexec

# At most so many more than natively, unisono-exec and what the dynamic linker does included. On a node with
# two levels of caches that are shared, openat is called 35 to 45 times more, newfstatat 14 to 24, mmap 23,
# mprotect 6, readlink 5, socket 4 times.
MOST = {
    "openat": 52,
    "newfstatat": 30,
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
MOST_MAPPINGS = 20  # of which there are 18


def counted(flavour: str, *above: Path) -> tuple[dict[str, int], int]:
    """System calls of rank 0 by name, and its mappings."""
    with tempfile.TemporaryDirectory() as folder:
        program = " ".join(map(str, [*above, PROGRAMS / f"start_calls_{flavour}"]))
        command = f"exec strace -f -c -o {folder}/{RANK} {program}"
        done = mpiexec(flavour, 2, "sh", "-c", command, XDG_CACHE_HOME="/dev/null")
        assert done.returncode == 0, done.stdout + done.stderr
        table = Path(folder, "0").read_text()
    rows = re.findall(r"^ +[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? +(\w+)$", table, re.MULTILINE)
    calls = {name: int(count) for count, name in rows if name != "total"}
    assert calls.get("mmap"), table
    mappings = re.search(r"mappings (\d+)", done.stdout)
    assert mappings, done.stdout
    return calls, int(mappings[1])


class StartCalls(unittest.TestCase):
    def test_more_than_natively(self) -> None:
        for flavour in FLAVOURS:
            native, native_mappings = counted(flavour)
            ours, mappings = counted(flavour, EXEC)
            more = {name: ours.get(name, 0) - native.get(name, 0) for name in MOST}
            print(flavour, more, mappings - native_mappings)
            with self.subTest(flavour):
                self.assertGreater(more["mmap"], 0, "nothing was preloaded")
                self.assertEqual({}, {name: n for name, n in more.items() if n > MOST[name]})
                self.assertLessEqual(mappings - native_mappings, MOST_MAPPINGS)


if __name__ == "__main__":
    unittest.main()
