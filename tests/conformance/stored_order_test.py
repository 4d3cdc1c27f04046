"""Orders of messages in files: which job exchanges no counts, and what is said where one does all the same.

stored_order_test.py -v
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from launch import FLAVOURS, NICE_TIMEOUT, PROGRAMS, RANK, mpiexec, ours


class Stored(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "order.json"

    def make(self, ranks: int, rule: str = "token_list") -> None:
        counts = self.folder / "counts.csv"
        counts.write_text("".join(",".join(str(i + j) for j in range(ranks)) + "\n" for i in range(ranks)))
        command: list[str | Path] = [
            PROGRAMS / "unisono-schedule",
            "order",
            "make",
            "--matrix",
            counts,
            "--rule",
            rule,
        ]
        self.file.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def messages(
        self, flavour: str, ranks: int, before: str = "", **variables: str
    ) -> tuple[list[int], list[str]]:
        """Of three equal calls, and what Unisono said; `before`: what the shell of every rank does."""
        program = PROGRAMS / f"planned_alltoallv_{flavour}"
        given = {"UNISONO_ALLTOALLV": f"stored:file={self.file}", **variables}
        script = f"rank={RANK}; {before} exec {program} count"
        done = mpiexec(flavour, ranks, "sh", "-c", script, timeout=NICE_TIMEOUT, **given)
        found = re.search(r"messages (\d+) (\d+) (\d+)", done.stdout)
        self.assertTrue(done.returncode == 0 and found, done.stdout + done.stderr)
        assert found
        return [int(found[i]) for i in (1, 2, 3)], ours(done.stdout + done.stderr)

    def test_no_counts_are_exchanged_from_the_first_call_on(self) -> None:
        for flavour in FLAVOURS:
            for ranks, rule in ((2, "token_list"), (3, "greedy")):
                with self.subTest(flavour=flavour, ranks=ranks):
                    self.make(ranks, rule)
                    first, second, third = self.messages(flavour, ranks)[0]
                    self.assertEqual((first, second), (third, third))
                    self.assertEqual(self.messages(flavour, ranks)[1], [])

    def says(self, ranks: int, pattern: str, before: str = "") -> None:
        """One line; and the counts are exchanged until they repeat."""
        (first, second, third), lines = self.messages("openmpi", ranks, before)
        self.assertEqual(first, second)
        self.assertGreater(first, third)
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], pattern)

    def test_counts_that_repeat_are_planned_unless_that_is_off(self) -> None:
        wanted = {"UNISONO_ALLTOALLV": "greedy", "UNISONO_LOG": "decision"}
        (first, second, third), lines = self.messages("mpich", 3, **wanted)
        self.assertEqual(first, second)
        self.assertGreater(second, third)
        self.assertEqual(sum("greedy: the counts of calls repeat: planned" in line for line in lines), 1)
        counts, lines = self.messages("mpich", 3, UNISONO_REPEATS="0", **wanted)
        self.assertEqual(counts, [first] * 3)
        self.assertFalse([line for line in lines if "planned" in line])

    def test_a_file_for_other_ranks(self) -> None:
        self.make(3)
        self.says(2, "alltoallv on 2 ranks: .*order.json holds an order for 3; counts are exchanged")

    def test_a_file_that_is_not_there(self) -> None:
        self.says(2, "UNISONO_ALLTOALLV=stored:file=.*order.json: .*; counts are exchanged")

    def test_a_damaged_file(self) -> None:
        self.make(2)
        self.file.write_text(self.file.read_text()[:-20])
        self.says(2, "order.json: it is no JSON at line 11, column 10; counts are exchanged")

    def test_a_file_of_a_later_version(self) -> None:
        self.make(2)
        self.file.write_text(self.file.read_text().replace('"version": 1', '"version": 7'))
        self.says(2, "version is 7, not within 1 to 1; counts are exchanged")

    def test_files_that_differ(self) -> None:
        self.make(2)
        other = self.folder / "other"
        other.mkdir()
        (other / "order.json").write_text(self.file.read_text() + " ")
        # The same name on every rank, in folders of their own.
        self.file = Path("order.json")
        self.folder.joinpath("first").mkdir()
        (self.folder / "first" / "order.json").write_text((other / "order.json").read_text()[:-1])
        self.says(2, "not the same on all ranks", f"cd {self.folder}; [ $rank = 0 ] && cd first || cd other;")


if __name__ == "__main__":
    unittest.main()
