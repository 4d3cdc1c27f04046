"""UNISONO_ONLINE in real jobs: right results, the same decisions on all ranks (the program compares them),
the report, and what is saved."""

from __future__ import annotations

import json
import re
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar

from environment_test import NATIVE, Case
from launch import BUILD, EXEC, PROGRAMS, mpiexec

STAR = "star:calls=4"
RULES = (STAR, "auto")
JOBS = (("mpich", 2, 60), ("openmpi", 2, 100), ("openmpi", 5, 100))  # flavour, ranks, rounds


class OnlineCase(Case):
    ROUNDS = 60_000  # the ways take turns for a share of a job's time
    # What a job said that knew nothing, and what it kept: several tests have the same one, as it takes long.
    first: ClassVar[tuple[tuple[int, int, list[str]], str, str] | None] = None

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "learned.json"

    def learn(
        self, flavour: str, ranks: int, rounds: int, *options: str, **variables: str
    ) -> tuple[int, int, list[str]]:
        program = PROGRAMS / f"online_{flavour}"
        done = mpiexec(flavour, ranks, EXEC, program, str(rounds), *options, timeout=120, **variables)
        return self.result(done.returncode, done.stdout, done.stderr)

    def first_job(self) -> tuple[int, int, list[str]]:
        """Within a node, with nothing set and nothing remembered. What it kept is in our cache then."""
        folder = self.file.parent / "unisono"
        if OnlineCase.first is None:
            home = {"XDG_CACHE_HOME": str(self.file.parent), "UNISONO_LOG": "decision"}
            said = self.learn("openmpi", 3, self.ROUNDS, "same", **home)
            [file] = folder.glob("*.json")
            OnlineCase.first = (said, file.name, file.read_text())
        said, name, kept = OnlineCase.first
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / name).write_text(kept)
        return said


class Learns(OnlineCase):
    def test_all_ranks_decide_alike_and_results_are_right(self) -> None:
        for flavour, ranks, rounds in JOBS:
            for rule in RULES:
                with self.subTest(flavour=flavour, ranks=ranks, rule=rule):
                    own, native, lines = self.learn(flavour, ranks, rounds, UNISONO_ONLINE=rule)
                    self.assertEqual(lines, [])
                    if rule == STAR:  # otherwise one way may be the best of all calls
                        self.assertGreater(own, 0)
                        self.assertGreater(native, 0)

    def test_two_threads_with_a_communicator_each(self) -> None:
        for flavour, ranks, rounds in JOBS:
            with self.subTest(flavour=flavour, ranks=ranks):
                own, _, lines = self.learn(flavour, ranks, rounds, "threads", UNISONO_ONLINE=STAR)
                self.assertEqual(lines, [])
                self.assertGreater(own, 0)
                _, _, lines = self.learn(flavour, ranks, rounds, "threads")
                self.assertEqual(lines, [])

    def test_within_a_node_native_and_its_kernels_take_turns(self) -> None:
        """With nothing set, where the table of defaults says nothing. Who wins is a matter of time."""
        own, native, lines = self.first_job()
        self.assertGreater(own, 0)
        self.assertGreater(native, 0)
        said = "\n".join(lines)
        for arm in ("native", "shm"):
            self.assertRegex(said, rf"alltoall of \S+ on 3 ranks: {arm} \(online: taking turns\)")
        # Where others use the processors, not every kind is decided by the end of the job.
        self.assertRegex(
            said, r"\w+ of \S+ on 3 ranks: \S+ \(online: kernels took [\d.]+ us, native [\d.]+ us; from"
        )
        _, _, lines = self.learn("openmpi", 3, 300, "same", UNISONO_LOG="decision", UNISONO="fixed")
        self.assertNotIn("online", "\n".join(lines))

    def test_ranks_may_wait_in_different_ways(self) -> None:
        program = [str(EXEC), str(PROGRAMS / "online_openmpi"), "10000", "same"]
        spins = ["env", "UNISONO_WAIT=spin", *program, ":", "-n", "2", *program]
        done = mpiexec("openmpi", 1, *spins, timeout=120)
        self.result(done.returncode, done.stdout, done.stderr)

    def test_it_is_reported(self) -> None:
        _, _, lines = self.learn("openmpi", 2, 100, UNISONO_ONLINE=STAR, UNISONO_LOG="decision")
        said = "\n".join(lines)
        self.assertRegex(
            said, r"online: allreduce of \S+ to \S+ on 2 ranks: .*; \d+ calls, .* lost to exploring"
        )
        self.assertRegex(said, r"alltoall of 2400B on 2 ranks: \S+ \(online[^)]*\)")
        # Of the collectives' calls, those that the program made.
        calls = re.search(r"online: alltoall of .*; (\d+) calls", said)
        assert calls, said
        self.assertLessEqual(int(calls[1]), 100)

    def test_who_is_late_is_predicted(self) -> None:
        said = []
        for _ in range(3):  # a machine that is busy elsewhere may make others late
            _, _, lines = self.learn("openmpi", 3, 120, "late", UNISONO_ONLINE=STAR, UNISONO_LOG="decision")
            said += [line for line in lines if "straggler" in line and "late=1 " in line]
            if said:
                return
        self.fail("no straggler with late=1")

    def test_reductions_keep_their_order_if_asked_to(self) -> None:
        _, _, lines = self.learn(
            "openmpi",
            3,
            60,
            UNISONO_ONLINE=STAR,
            UNISONO_REPRODUCIBLE="1",
            UNISONO_ALLTOALL="native",
            UNISONO_LOG="decision",
        )
        online = [line for line in lines if "online" in line]
        self.assertTrue(any("allgather" in line for line in online), lines)
        self.assertFalse(any("reduce" in line for line in online), online)

    def test_what_is_forced_comes_first(self) -> None:
        own, _, lines = self.learn("openmpi", 2, 50, UNISONO_ONLINE=STAR, **NATIVE)
        self.assertEqual((own, lines), (0, []))


class Saves(OnlineCase):
    def test_a_profile_that_the_next_job_uses(self) -> None:
        for flavour in ("mpich", "openmpi"):
            with self.subTest(flavour=flavour):
                ours = {"UNISONO_ONLINE": STAR, "UNISONO_ONLINE_SAVE": str(self.file)}
                _, _, lines = self.learn(flavour, 2, 600, **ours)
                self.assertEqual(lines, [])
                cells = json.loads(self.file.read_text())["environments"][0]["cells"]
                learned = {cell["collective"] for cell in cells}
                self.assertEqual(
                    learned, {"allreduce", "alltoall", "allgather"}
                )  # STAR-MPI tunes no short ones
                self.assertEqual([path.name for path in self.file.parent.iterdir()], ["learned.json"])
                using = {"UNISONO_PROFILE": str(self.file), "UNISONO_LOG": "decision"}
                _, _, lines = self.learn(flavour, 2, 10, **using)
                self.assertRegex("\n".join(lines), rf"{len(cells)} cells hold here, for 2 ranks on 1 node")

    def test_where_it_cannot(self) -> None:
        where = str(self.file.parent / "missing" / "learned.json")
        _, _, lines = self.learn("openmpi", 2, 100, UNISONO_ONLINE=STAR, UNISONO_ONLINE_SAVE=where)
        self.one_line(lines, "UNISONO_ONLINE_SAVE", "No such file", "not saved")

    def test_nothing_to_save(self) -> None:
        few = {"UNISONO_ONLINE": STAR, "UNISONO_ONLINE_SAVE": str(self.file)}
        _, _, lines = self.learn("openmpi", 2, 5, **few)
        self.one_line(lines, "UNISONO_ONLINE_SAVE", "nothing was learned: too few calls")
        self.assertFalse(self.file.exists())
        off = {"UNISONO_ONLINE": "off", "UNISONO_ONLINE_SAVE": str(self.file)}
        _, _, lines = self.learn("openmpi", 2, 5, **off)
        self.one_line(lines, "UNISONO_ONLINE_SAVE", "nothing is selected online")
        self.assertFalse(self.file.exists())


class Remembers(OnlineCase):
    """Within a node, with nothing set but where it is kept. Which way wins is a matter of time; what a job
    does with it is not."""

    TRIES = 4  # on a busy machine calls may take twice what they took, and then are rightly asked anew

    def job(self, *options: str, rounds: int = OnlineCase.ROUNDS, **variables: str) -> list[str]:
        kept = {"XDG_CACHE_HOME": str(self.file.parent), "UNISONO_LOG": "decision"}
        _, _, lines = self.learn("openmpi", 3, rounds, *(options or ("same",)), **(kept | variables))
        return lines

    def kept(self) -> list[Path]:
        return list((self.file.parent / "unisono").glob("*.json"))

    def newest(self) -> dict[str, str]:
        """What won in each collective; of two verdicts, of two sorts of programs, the newer one leads."""
        [file] = self.kept()
        found: dict[str, str] = {}
        for one in json.loads(file.read_text())["verdicts"]:
            found.setdefault(one["collective"], one["choice"])
        return found

    @staticmethod
    def decisions(lines: list[str], collective: str) -> list[str]:
        found = (re.search(rf"{collective} of \S+ on 3 ranks: (\S+ \(.*\))", line) for line in lines)
        return [match[1] for match in found if match]

    def test_the_next_job_begins_with_what_won(self) -> None:
        first = self.job()
        self.assertTrue(any("taking turns" in line for line in self.decisions(first, "alltoall")), first)
        found = self.newest()
        for _ in range(self.TRIES):  # undecided, where the ways are close
            if "alltoall" in found:
                break
            self.job()
            found = self.newest()
        self.assertIn("alltoall", found)
        for _ in range(self.TRIES):
            second = self.job()
            for collective, choice in found.items():
                begin = self.decisions(second, collective)[0]
                self.assertRegex(
                    begin, rf"^{re.escape(choice)}\S* \(online: remembered, kernels took [\d.]+ us, native"
                )
            if not any("taking turns" in line for line in second):
                break
            found = self.newest()
        else:
            self.fail(f"in {self.TRIES} jobs something was asked anew")
        self.assertEqual(sum("known here" in line for line in second), 1)

        fixed = self.job(UNISONO="fixed", rounds=300)
        self.assertNotIn("online", "\n".join(fixed))
        for collective, choice in found.items():
            self.assertEqual(self.decisions(fixed, collective), [f"{choice} (remembered)"])
        anew = self.job(UNISONO="measure")
        self.assertNotIn("remembered", "\n".join(anew))
        self.assertTrue(any("taking turns" in line for line in anew), anew)
        for variables in ({"UNISONO_SINGLE_COPY": "0"}, {"UNISONO_ONLINE": "off"}, {"UNISONO": "off"}):
            self.assertNotIn("remembered", "\n".join(self.job(rounds=300, **variables)))

    def test_communicators_of_a_job_share_it(self) -> None:
        for _ in range(self.TRIES):
            lines = self.job("elsewhere", XDG_CACHE_HOME="/dev/null")
            if any("online: as on another communicator, kernels took" in line for line in lines):
                return
        self.fail("\n".join(lines))

    def test_what_is_no_memory_is_one_line_and_measured_anew(self) -> None:
        self.first_job()
        [file] = self.kept()
        good = file.read_text()
        spoilt = json.loads(good)
        spoilt["verdicts"][0]["choice"] = "x\x1b[2J"
        ways = {
            "no JSON": good[: len(good) // 2],
            "another version": re.sub(r'"version": \d+', '"version": 2', good),
            "another place": re.sub(r'"cores": \d+', '"cores": 4711', good),
            "nobody measures": re.sub(r'"native_seconds": [\d.e-]+', '"native_seconds": 1e99', good),
            "no way between so many nodes": good.replace('"nodes": 1', '"nodes": 2'),
            "neither of the two": json.dumps(spoilt),
        }
        for why, text in ways.items():
            with self.subTest(why=why):
                file.write_text(text)
                lines = self.job(rounds=300)
                said = [line for line in lines if "memory " in line]
                self.one_line(said, why, "all is measured anew")
                self.assertNotIn("remembered", "\n".join(lines))
        old = re.sub(r'"when": \d+', '"when": 1000000000', good)
        file.write_text(old)
        self.assertNotIn("memory ", "\n".join(self.job(rounds=300)), "what is old is no defect")

    def test_asking_costs_mpi_init_no_call(self) -> None:
        """What is remembered stands in the memory that all ranks of the node share."""

        def calls(**variables: str) -> int:
            program = BUILD / "tests/interpose/start_counted_openmpi"
            home = {"XDG_CACHE_HOME": str(self.file.parent)} | variables
            done = mpiexec("openmpi", 3, EXEC, program, timeout=60, **home)
            self.assertEqual(done.returncode, 0, done.stderr)
            return int(done.stdout.split()[0])  # beside the messages

        without = calls(UNISONO_ONLINE="off")
        self.assertEqual(calls(), without, "nothing is remembered")
        self.first_job()
        self.assertTrue(self.newest())
        self.assertEqual(calls(), without, "something is")
        self.assertEqual(calls(UNISONO="fixed"), without)

    def test_where_nothing_can_be_kept(self) -> None:
        home = self.file.parent / "home"
        (home / "unisono").mkdir(parents=True)
        (home / "unisono").chmod(0o777)
        lines = self.job(XDG_CACHE_HOME=str(home))
        said = [line for line in lines if "memory " in line]
        self.assertEqual(len(said), 2, said)  # that it was not read, and that it is not written
        self.assertIn("others may write it; all is measured anew", said[0])
        self.assertIn("others may write it; what was learned is not kept", said[1])


class Values(OnlineCase):
    def test_what_is_wrong(self) -> None:
        for value in ("stars", "star:calls=0", "bandit", "model"):
            with self.subTest(value=value):
                own, _, lines = self.learn("openmpi", 2, 20, UNISONO_ONLINE=value, **NATIVE)
                self.one_line(lines, f"UNISONO_ONLINE={value}", "valid: auto, off, star")
                self.assertEqual(own, 0)


if __name__ == "__main__":
    unittest.main()
