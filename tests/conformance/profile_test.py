"""UNISONO_PROFILE in real jobs: a profile that holds, one that does not, and files that are none. The
surroundings come from unisono-bench, as they do in the tuner."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from functools import cache
from pathlib import Path
from typing import Any

from environment_test import Case
from launch import FLAVOURS, PROGRAMS, mpiexec

# Bcasts of the program on all ranks: of 4, 40, 12000 and 4 bytes; on the halves 4 and 40.
SMALL = {"collective": "bcast", "bytes": [4, 40], "choice": "chain"}


@cache
def surroundings(flavour: str, ranks: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.json"
        bench = PROGRAMS / f"unisono-bench-{flavour}"
        options = ("--collectives", "barrier", "--arms", "native", "--budget", "0.01", "--json")
        done = mpiexec(flavour, ranks, bench, *options, file)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.dumps(json.loads(file.read_text())["environment"])


def environment(flavour: str, ranks: int, *cells: dict[str, Any]) -> dict[str, Any]:
    return {**json.loads(surroundings(flavour, ranks)), "cells": list(cells)}


def document(*environments: dict[str, Any]) -> dict[str, Any]:
    return {"format": "unisono-profile", "version": 1, "environments": list(environments)}


class ProfileCase(Case):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "mine.json"

    def write(self, data: dict[str, Any]) -> None:
        self.file.write_text(json.dumps(data))

    def run_with(self, flavour: str, ranks: int, **variables: str) -> tuple[int, int, list[str]]:
        # Without shared memory, by which the table of defaults serves what the profile does not.
        given = {"UNISONO_BCAST": "default", "UNISONO_PROFILE": str(self.file), "UNISONO_SHM": "0"}
        return self.run_program(flavour, ranks, **(given | variables))


class Holds(ProfileCase):
    def test_its_cells_run(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                self.write(document(environment(flavour, 2, SMALL)))
                own, _, lines = self.run_with(flavour, 2, UNISONO_LOG="decision")
                self.assertEqual(own, 3)
                said = "\n".join(lines)
                self.assertIn("profile mine.json: 1 cell holds here, for 2 ranks on 1 node", said)
                self.assertRegex(said, r"bcast of 40B on 2 ranks: chain\S* \(profile mine.json\)")
                self.assertNotRegex(said, r"bcast of 12000B .*profile")

    def test_a_segment_may_be_left_to_the_model(self) -> None:
        self.write(document(environment("openmpi", 2, {**SMALL, "choice": "chain:segment=auto"})))
        own, _, lines = self.run_with("openmpi", 2, UNISONO_LOG="decision")
        self.assertEqual(own, 3)
        words = r"chain:segment=16K \(profile mine.json; segment=auto without a model: the standard one\)"
        self.assertRegex("\n".join(lines), rf"bcast of 40B on 2 ranks: {words}")

    def test_it_says_nothing_by_itself(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                self.write(document(environment(flavour, 2, SMALL)))
                own, _, lines = self.run_with(flavour, 2)
                self.assertEqual((own, lines), (3, []))

    def test_native_is_a_choice(self) -> None:
        large = {**SMALL, "bytes": [12000, 12000]}
        self.write(document(environment("openmpi", 2, {**SMALL, "choice": "native"}, large)))
        own, _, lines = self.run_with("openmpi", 2, UNISONO_LOG="decision")
        self.assertEqual(own, 1)
        self.assertRegex("\n".join(lines), r"bcast of 40B on 2 ranks: native \(profile mine.json\)")

    def test_what_is_forced_comes_first(self) -> None:
        self.write(document(environment("openmpi", 2, SMALL)))
        own, _, lines = self.run_with("openmpi", 2, UNISONO_BCAST="native")
        self.assertEqual((own, lines), (0, []))

    def test_communicators_of_its_shape_only(self) -> None:
        # Four ranks, of which the halves have two each.
        where = environment("openmpi", 4, SMALL)
        where["shape"]["ranks"] = 2
        self.write(document(where))
        own, _, lines = self.run_with("openmpi", 4)
        self.assertEqual(own, 2)
        self.one_line(
            lines,
            f"UNISONO_PROFILE={self.file}: it has nothing for 4 ranks on 1 node, only for 2 ranks on 1 node",
            "unisono tune -n 4 makes one",
        )

    def test_equal_files_in_different_places(self) -> None:
        self.write(document(environment("openmpi", 2, SMALL)))
        copy = self.file.with_name("copy.json")
        copy.write_text(self.file.read_text())
        script = (
            f"export UNISONO_BCAST=default UNISONO_SHM=0 UNISONO_PROFILE={self.file}; "
            f"if [ $rank = 1 ]; then export UNISONO_PROFILE={copy}; fi"
        )
        own, _, lines = self.run_apart("openmpi", 2, script)
        self.assertEqual((own, lines), (3, []))


class DoesNotHold(ProfileCase):
    """One line, and what else is set goes on: UNISONO_BCAST=binomial runs its four."""

    def refused(self, flavour: str, *patterns: str) -> None:
        with self.subTest(flavour=flavour, patterns=patterns):
            own, _, lines = self.run_with(flavour, 2, UNISONO_BCAST="binomial")
            self.one_line(lines, f"UNISONO_PROFILE={self.file}: ", *patterns)
            self.assertEqual(own, 4)

    def test_made_elsewhere(self) -> None:
        for flavour in FLAVOURS:
            for block, field, other in (
                ("mpi", "library", "MPICH Version: 1.0"),
                ("mpi", "flavour", "abi"),
                ("machine", "place", "ethernet"),
                ("machine", "cores", 77),
            ):
                where = environment(flavour, 2, SMALL)
                where[block][field] = other
                self.write(document(where))
                self.refused(flavour, "made elsewhere", str(other), "here")

    def test_newer(self) -> None:
        for flavour in FLAVOURS:
            self.write(document() | {"version": 2})
            self.refused(flavour, "newer Unisono")

    def test_cut_off(self) -> None:
        for flavour in FLAVOURS:
            self.write(document(environment(flavour, 2, SMALL)))
            self.file.write_text(self.file.read_text()[:-20])
            self.refused(flavour, "no JSON at line 1, column")

    def test_an_algorithm_that_does_not_exist(self) -> None:
        for flavour in FLAVOURS:
            self.write(document(environment(flavour, 2, {**SMALL, "choice": "bionmial"})))
            self.refused(flavour, r"environments\[0\]: cells\[0\]", "bionmial", "valid.*binomial")

    def test_no_file(self) -> None:
        for flavour in FLAVOURS:
            self.refused(flavour, "No such file")

    def test_no_plain_file(self) -> None:
        os.mkfifo(self.file)  # whoever reads from it waits for ever
        for flavour in FLAVOURS:
            self.refused(flavour, "no plain file")


class Ranks(ProfileCase):
    """Profiles that are not the same on all ranks: nothing of Unisono runs, whatever is forced."""

    def differ(self, flavour: str, first: str, second: str) -> None:
        script = (
            "export UNISONO_BCAST=binomial; "
            f"if [ $rank = 0 ]; then export UNISONO_PROFILE={first}; else export UNISONO_PROFILE={second}; fi"
        )
        with self.subTest(flavour=flavour, first=first, second=second):
            own, _, lines = self.run_apart(flavour, 2, script)
            self.one_line(lines, "profile is not the same on all ranks")
            self.assertEqual(own, 0)

    def test_different_files(self) -> None:
        for flavour in FLAVOURS:
            self.write(document(environment(flavour, 2, SMALL)))
            other = self.file.with_name("other.json")
            other.write_text(json.dumps(document(environment(flavour, 2, {**SMALL, "choice": "flat"}))))
            self.differ(flavour, str(self.file), str(other))

    def test_on_one_rank_only(self) -> None:
        for flavour in FLAVOURS:
            self.write(document(environment(flavour, 2, SMALL)))
            missing = self.file.with_name("missing.json")
            for nothing in (str(missing), ""):
                self.differ(flavour, str(self.file), nothing)
                self.differ(flavour, nothing, str(self.file))


if __name__ == "__main__":
    unittest.main()
