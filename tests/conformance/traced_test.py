"""Traces of whole jobs: every call of every rank is in them once, however the job ends; a folder that
cannot be used is one line and no trace, and the program runs on."""

from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from launch import DEPS, EXEC, FLAVOURS, NICE_TIMEOUT, PROGRAMS, mpiexec, ours, surroundings
from unisono.trace import reader
from unisono.trace.schema import IN_PLACE, INTER

# See collectives() in traced.cpp.
CALLS_OF_ALL = 5 * 13 + 6


class Case(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def run_program(
        self, flavour: str, ranks: int, way: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        program = PROGRAMS / f"traced_{flavour}"
        settings = {"UNISONO_TRACE": str(self.folder)} | variables
        return mpiexec(flavour, ranks, EXEC, program, way, timeout=NICE_TIMEOUT, **settings)

    def trace(self, flavour: str, ranks: int, way: str, **variables: str) -> reader.Trace:
        """Of a job that ends well, with as many events as calls were made."""
        for old in self.folder.iterdir():
            old.unlink()
        done = self.run_program(flavour, ranks, way, **variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(ours(done.stdout + done.stderr), [])
        trace = reader.read(self.folder)
        said = {int(r): int(n) for r, n in re.findall(r"rank (\d+) made (\d+) calls", done.stdout)}
        self.assertEqual({r: len(rank.events) for r, rank in trace.ranks.items()}, said)
        return trace


class Complete(Case):
    def test_every_call_once(self) -> None:
        for flavour, ranks in (("mpich", 2), ("openmpi", 3)):
            for variables in ({}, {"UNISONO_DISABLE": "1"}):
                with self.subTest(flavour=flavour, **variables):
                    trace = self.trace(flavour, ranks, "all", **variables)
                    self.assertEqual(trace.size, ranks)
                    for rank in trace.ranks.values():
                        self.assertEqual(len(rank.events), CALLS_OF_ALL)
                        self.check_events(rank)
                        self.check_communicators(rank)
                    self.assertTrue(trace.one_way)

    def check_events(self, rank: reader.Rank) -> None:
        events = rank.events
        self.assertTrue((events["end_ns"] >= events["begin_ns"]).all())
        self.assertTrue((events["begin_ns"][1:] >= events["end_ns"][:-1]).all())
        in_program = [
            sum(m.start <= int(site) < m.end for m in rank.modules if "/traced_" in m.path)
            for site in events["site"]
        ]
        self.assertEqual(in_program, [1] * len(events))
        self.assertEqual(int((events["flags"] & IN_PLACE != 0).sum()), 5)
        self.assertEqual(int((events["flags"] & INTER != 0).sum()), 6)
        # 13 lines of source in one function, whatever the communicator.
        self.assertEqual(len(np.unique(events["site"])), 13)
        self.assertEqual(len(rank.readings), 2)

    def check_communicators(self, rank: reader.Rank) -> None:
        names = {number: c.name for number, c in rank.communicators.items()}
        self.assertEqual(list(names), [0, 1, 2, 3, 4])
        self.assertEqual(names[1], 'even "half"' if rank.rank % 2 == 0 else "odd half")
        world, half, copy, inter, self_ = rank.communicators.values()
        everyone = tuple(range(rank.size))
        self.assertEqual((world.ranks, world.occurrence), (everyone, 0))
        self.assertEqual((copy.ranks, copy.occurrence), (everyone, 1))
        self.assertEqual(half.ranks, everyone[rank.rank % 2 :: 2])
        self.assertEqual(inter.ranks, everyone[::2] + everyone[1::2])
        self.assertEqual(self_.ranks, (rank.rank,))
        for number in rank.communicators:
            sequence = rank.events["sequence"][rank.events["communicator"] == number]
            self.assertEqual(list(sequence), list(range(len(sequence))))

    def test_what_ran(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                trace = self.trace(flavour, 2, "all", UNISONO_ALLREDUCE="recursive_doubling")
                for rank in trace.ranks.values():
                    allreduce = trace.collectives.index("allreduce")
                    numbers = rank.events["algorithm"][rank.events["collective"] == allreduce]
                    specs = [rank.algorithms.get(int(n), "native") for n in numbers]
                    # Not on one rank alone, nor between two groups.
                    several = [c for c in (0, 1, 2) if len(rank.communicators[c].ranks) > 1]
                    wanted = 2 * len(several) + 2  # the copy is used twice
                    self.assertEqual(specs.count("recursive_doubling"), wanted, specs)

    def test_neighbours(self) -> None:
        """Passed on to the MPI library with equal results, and recorded with the bytes of a block."""
        names = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"]
        for flavour, ranks in (("mpich", 2), ("openmpi", 4)):
            with self.subTest(flavour=flavour):
                trace = self.trace(flavour, ranks, "neighbours")
                for number, rank in trace.ranks.items():
                    called = [trace.collectives[c] for c in rank.events["collective"]]
                    self.assertEqual(called, 2 * [f"neighbor_{name}" for name in names])
                    # In the star rank 0 alone receives, and allgatherv tells receivers the lengths.
                    lengths = 8 if number == 0 else 0
                    self.assertEqual(list(rank.events["bytes"]), 5 * [8] + [8, lengths, 8, 8, 8])
                    self.assertEqual(set(rank.events["algorithm"]), {0})

    def test_two_thousand_communicators(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                trace = self.trace(flavour, 2, "many")
                for rank in trace.ranks.values():
                    occurrences = [c.occurrence for c in rank.communicators.values()]
                    self.assertEqual(occurrences, list(range(2000)))

    def test_threads(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                trace = self.trace(flavour, 2, "threads")
                for rank in trace.ranks.values():
                    for number in rank.communicators:
                        mine = rank.events[rank.events["communicator"] == number]
                        self.assertEqual(sorted(mine["sequence"]), list(range(300)))
                        self.assertEqual(len(np.unique(mine["thread"])), 1)
                    self.assertTrue((rank.events["end_ns"] >= rank.events["begin_ns"]).all())

    def test_a_forked_child_writes_nothing(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                trace = self.trace(flavour, 2, "fork")
                self.assertEqual(trace.events, 2 * 13)


class CutShort(Case):
    def test_what_came_before_can_be_read(self) -> None:
        for flavour in FLAVOURS:
            for way, ends in (("abort", False), ("kill", False), ("exit", True)):
                with self.subTest(flavour=flavour, way=way):
                    for old in self.folder.iterdir():
                        old.unlink()
                    self.run_program(flavour, 2, way)
                    trace = reader.read(self.folder)
                    self.assertEqual(sorted(trace.ranks), [0, 1])
                    for rank in trace.ranks.values():
                        unfinished = rank.events[rank.events["end_ns"] == 0]
                        waits = 0 if ends or rank.rank == 0 else 1  # in the last barrier
                        self.assertEqual(len(rank.events), CALLS_OF_ALL + waits)
                        self.assertEqual(len(unfinished), waits)
                        self.assertIsNone(rank.ended_ns)


class Refused(Case):
    def refused(self, folder: Path, reason: str) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                done = self.run_program(flavour, 2, "all", UNISONO_TRACE=str(folder))
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = ours(done.stdout + done.stderr)
                self.assertEqual(len(lines), 1, lines)
                self.assertIn(f"UNISONO_TRACE={folder}: {reason}", lines[0])

    def test_a_folder_that_is_not_there(self) -> None:
        self.refused(self.folder / "none", "no such folder")

    def test_a_file(self) -> None:
        (self.folder / "file").write_text("")
        self.refused(self.folder / "file", "it is no folder")

    def test_an_older_trace_is_left_alone(self) -> None:
        old = self.folder / "rank-00007.jsonl"
        old.write_text("older")
        self.refused(self.folder, "it holds a trace already")
        self.assertEqual([p.read_text() for p in self.folder.iterdir()], ["older"])

    def test_where_nobody_may_write(self) -> None:
        self.refused(Path("/proc/self"), "")  # root may write everywhere else


class FullDisk(Case):
    """On a file system of some MB that only the job sees."""

    def run_on_disk(self, flavour: str, kib: int, way: str) -> tuple[list[str], list[int]]:
        """What Unisono said, and the sizes of the files of events."""
        script = (
            f"mount -t tmpfs -o size={kib}k none {self.folder} && "
            f"{DEPS / flavour / 'bin/mpiexec'} -n 2 {EXEC} {PROGRAMS / f'traced_{flavour}'} {way} && "
            f"find {self.folder} -name '*.events' -printf 'bytes %s\\n'"
        )
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script],
            env=surroundings(UNISONO_TRACE=str(self.folder)),
            capture_output=True,
            text=True,
            timeout=NICE_TIMEOUT,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        sizes = [int(size) for size in re.findall(r"^bytes (\d+)$", done.stdout, re.MULTILINE)]
        return ours(done.stdout + done.stderr), sizes

    def setUp(self) -> None:
        super().setUp()
        if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
            self.skipTest("no file system can be mounted here")

    def test_no_room_for_one_ranks_file(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                lines, sizes = self.run_on_disk(flavour, 1536, "all")
                self.assertEqual(len(lines), 1, lines)
                self.assertIn("No space left on device; nothing is traced", lines[0])
                self.assertEqual(sizes, [])

    def test_it_fills_up(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                lines, sizes = self.run_on_disk(flavour, 2560, "long")
                self.assertEqual(len(lines), 2, lines)  # ranks that reach the end of their window
                for line in lines:
                    self.assertIn("No space left on device; the trace is cut short", line)
                self.assertEqual(sizes, [1 << 20] * 2)


if __name__ == "__main__":
    unittest.main()
