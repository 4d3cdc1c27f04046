"""UNISONO_LOG=decision on one rank, between hosts, where a job remembers that the MPI library's own is
faster: the rank that logs sees shorter calls, which the others leave beforehand, and must not count them."""

from __future__ import annotations

import json
import re
import tempfile
import unittest
from pathlib import Path

from launch import BUILD, PROGRAMS, mpiexec

NODES = 3  # of one rank each
LONG = 22 << 10


class OneRankLogs(unittest.TestCase):
    TRIES = 5  # a busy machine may be no network that can be measured

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)

    def job(self, **variables: str) -> str:
        surroundings = {
            "LD_PRELOAD": str(BUILD / "lib/libmade_up_nodes_openmpi.so"),
            "MADE_UP_NODES": str(NODES),
            "XDG_CACHE_HOME": str(self.home),
            "OMPI_MCA_btl": "^ofi",
        }
        below = ["env", *(f"{name}={value}" for name, value in (surroundings | variables).items())]
        done = mpiexec(
            "openmpi", NODES, *below, PROGRAMS / "one_rank_logs_openmpi", "0", "classes", timeout=40
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("one_rank_logs: passed", done.stdout)
        return done.stdout + done.stderr

    def measured(self) -> tuple[Path, str]:
        """The file of a job that has measured the made-up network, and the arm that it ran."""
        for _ in range(self.TRIES):
            said = self.job(UNISONO="measure")
            found = re.search(rf"bcast of 22KB on {NODES} ranks: (\S+) \(online: safe\)", said)
            assert found, said
            if files := list((self.home / "unisono").glob("*.json")):
                return files[0], found[1]
        raise AssertionError(f"no job of {self.TRIES} has measured the network")

    def test_where_native_is_remembered(self) -> None:
        file, arm = self.measured()
        memory = json.loads(file.read_text())
        times = ("seconds", "from_call_to_call", "native_seconds", "native_from_call_to_call")
        verdict = {
            "collective": "bcast",
            "class": 29,  # from 16 KiB to 24 KiB
            "ranks": NODES,
            "nodes": NODES,
            "bytes": LONG,
            "choice": "native",
            "other": arm,
            "when": memory["measured"],
        } | {name: 0.001 if "native" in name else 0.002 for name in times}
        # On fewer cores than ranks, or on as many.
        verdicts = [verdict | {"ranks_per_core": number} for number in (0, 1)]
        file.write_text(json.dumps(memory | {"verdicts": verdicts}))
        said = self.job()
        self.assertIn("1 kind of calls is known here", said)
        self.assertRegex(said, rf"bcast of 22KB on {NODES} ranks: native \(online: native first\)")


if __name__ == "__main__":
    unittest.main()
