"""Wrong, contradictory and harmless UNISONO_* variables: one line per job that names what is valid,
results that stay right, no hang."""

from __future__ import annotations

import re
import shutil
import tempfile
import unittest
from collections.abc import Sequence

from launch import BUILD, EXEC, FLAVOURS, NICE_TIMEOUT, PROGRAMS, RANK, mpiexec, ours

# So that only what a test forces runs in Unisono, whatever the table of defaults says.
COLLECTIVES = (
    "barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw "
    "reduce allreduce reduce_scatter_block reduce_scatter scan exscan"
)
NATIVE = {f"UNISONO_{name.upper()}": "native" for name in COLLECTIVES.split()}


class Case(unittest.TestCase):
    def run_program(self, flavour: str, ranks: int, **variables: str) -> tuple[int, int, list[str]]:
        """Collectives of rank 0 in Unisono and in the MPI library, and what Unisono said."""
        program = PROGRAMS / f"environment_{flavour}"
        done = mpiexec(flavour, ranks, EXEC, program, timeout=NICE_TIMEOUT, **(NATIVE | variables))
        return self.result(done.returncode, done.stdout, done.stderr)

    def run_apart(self, flavour: str, ranks: int, script: str) -> tuple[int, int, list[str]]:
        """`script` is what the shell of every rank does before."""
        program = PROGRAMS / f"environment_{flavour}"
        command = f"rank={RANK}; {script}; exec {EXEC} {program}"
        done = mpiexec(flavour, ranks, "sh", "-c", command, timeout=NICE_TIMEOUT, **NATIVE)
        return self.result(done.returncode, done.stdout, done.stderr)

    def result(self, status: int, out: str, err: str) -> tuple[int, int, list[str]]:
        self.assertEqual(status, 0, out + err)
        counts = re.search(r"all right, own (\d+) native (\d+)", out)
        assert counts, out + err
        return int(counts[1]), int(counts[2]), ours(out + err)

    def one_line(self, lines: list[str], *patterns: str) -> None:
        self.assertEqual(len(lines), 1, lines)
        for pattern in patterns:
            self.assertRegex(lines[0], pattern)


class Threads(Case):
    def test_a_progress_thread_that_does_not_start_on_one_rank_is_said(self) -> None:
        library = BUILD / "tests/conformance/libno_thread.so"
        for flavour in FLAVOURS:
            preload = f"[ $rank = 0 ] || export LD_PRELOAD={library}; export UNISONO_PROGRESS=thread"
            _, _, lines = self.run_apart(flavour, 2, preload)
            self.one_line(lines, "UNISONO_PROGRESS=thread: the system has no thread for rank 1")


class Values(Case):
    """UNISONO_BCAST stands for all collectives. What a value means is read before any MPI library is asked,
    so one kind of mistake is made on both libraries, and the others on that which starts faster."""

    def refused(
        self, variables: dict[str, str], *patterns: str, flavours: Sequence[str] = ("mpich",)
    ) -> None:
        for flavour in flavours:
            with self.subTest(flavour=flavour, **variables):
                own, _, lines = self.run_program(flavour, 2, **variables)
                self.one_line(lines, *patterns)
                self.assertEqual(own, 0)

    def test_nothing_set_says_nothing(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                _, _, lines = self.run_program(flavour, 2)
                self.assertEqual(lines, [])

    def test_good_values_say_nothing_and_run(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(
                    flavour,
                    2,
                    UNISONO_BCAST="chain:segment=4K",
                    UNISONO_ALLREDUCE="recursive_doubling",
                    UNISONO_BARRIER="dissemination",
                )
                self.assertEqual(lines, [])
                # Four on all ranks (MPI_Allreduce with two operations); a half is one rank, whose
                # collectives are left to the MPI library.
                self.assertEqual(own, 4 + 8 + 4)

    def test_a_segment_that_the_model_finds(self) -> None:
        """On one node nobody knows what the library's messages cost."""
        segment = {"UNISONO_BCAST": "chain:segment=auto", "UNISONO_LOG": "decision"}
        in_memory = {**segment, "UNISONO_BCAST": "chain:segment=auto,transport=shm"}
        for probe, expected in (
            ("auto", r"chain:segment=\d+[KM]?,transport=shm \(forced; segment=auto by the model\)"),
            (
                "0",
                r"chain:segment=16K,transport=shm \(forced; segment=auto without a model: the standard one\)",
            ),
        ):
            with self.subTest(probe=probe):
                own, _, lines = self.run_program("openmpi", 3, UNISONO_SHM_PROBE=probe, **in_memory)
                self.assertGreater(own, 0)
                self.assertRegex("\n".join(lines), expected)
        own, _, lines = self.run_program("openmpi", 3, **segment)
        self.assertGreater(own, 0)
        said = [line for line in lines if " bcast of " in line and "on 3 ranks" in line]
        self.assertTrue(said, lines)
        for line in said:
            self.assertRegex(
                line, r"chain:segment=16K \(forced; segment=auto without a model: the standard one\)"
            )

    def test_unknown_algorithm(self) -> None:
        self.refused(
            {"UNISONO_BCAST": "bionmial"},
            "UNISONO_BCAST",
            "bionmial",
            "valid.*native.*binomial",
            flavours=FLAVOURS,
        )

    def test_unknown_parameter(self) -> None:
        self.refused({"UNISONO_BCAST": "chain:segmant=4K"}, "segmant", "valid.*segment")

    def test_parameter_of_an_algorithm_without_any(self) -> None:
        self.refused({"UNISONO_BCAST": "shm:segment=4K"}, "shm", "none")

    def test_values_out_of_limits(self) -> None:
        for value in ("0", "-1", "1000G", "many", "", "4X"):
            self.refused({"UNISONO_BCAST": f"chain:segment={value}"}, "segment", r"1 to 1G")

    def test_malformed(self) -> None:
        for value in (":", "chain:", "chain:segment", "chain:,", "native:segment=1", "chain=4K"):
            self.refused({"UNISONO_BCAST": value}, "UNISONO_BCAST")

    def test_an_algorithm_of_another_collective(self) -> None:
        self.refused({"UNISONO_BARRIER": "binomial"}, "UNISONO_BARRIER", "valid.*dissemination")

    def test_two_wrong_variables_are_two_lines(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(
                    flavour, 2, UNISONO_BCAST="nonsense", UNISONO_SCAN="nonsense"
                )
                self.assertEqual(len(lines), 2, lines)
                self.assertEqual(own, 0)

    def test_other_variables(self) -> None:
        for variables, valid in (
            ({"UNISONO_LOG": "loudly"}, "decision"),
            ({"UNISONO_WAIT": "never"}, "spin"),
            ({"UNISONO_PLAN_CACHE": "much"}, "64K"),
            ({"UNISONO_SHM": "plenty"}, "1M to 32G"),
            ({"UNISONO_SHM": "1000T"}, "1M to 32G"),
            ({"UNISONO_SHM_RING": "1K"}, "16K to 4M"),
            ({"UNISONO_SHM_STORE": "fast"}, "nontemporal"),
            ({"UNISONO_SHM_PROBE": "often"}, "64K"),
            ({"UNISONO_SINGLE_COPY": "off"}, "0 and 1"),
            ({"UNISONO_REPRODUCIBLE": "always"}, "off, runs and placement; runs holds"),
        ):
            self.refused(variables, next(iter(variables)), valid)

    def test_misspelt_names(self) -> None:
        for name, patterns in (
            ("UNISONO_ONLIN", ["did you mean UNISONO_ONLINE"]),
            ("UNISONO_BCATS", ["did you mean UNISONO_BCAST"]),
            ("UNISONO_ALL_REDUCE", ["did you mean UNISONO_ALLREDUCE"]),
        ):
            self.refused({name: "ring"}, f"^unisono: {name}: ", *patterns)
        _, _, lines = self.run_program("mpich", 2, UNISONO_FAVOURITE_COLOUR="blue", UNISONO_LAB="mine")
        self.assertEqual(lines, [])

    def test_shared_memory(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 2, UNISONO_BCAST="shm")
                self.assertEqual((own > 0, lines), (True, []))
                own, _, lines = self.run_program(flavour, 2, UNISONO_BCAST="shm", UNISONO_SHM="0")
                self.one_line(lines, "bcast", "shm", "room in its shared memory")
                self.assertEqual(own, 0)

    def test_messages_over_shared_memory(self) -> None:
        chain = {"UNISONO_BCAST": "chain:transport=shm"}
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 2, **chain)
                self.assertEqual((own > 0, lines), (True, []))
                own, _, lines = self.run_program(flavour, 2, **chain, UNISONO_SHM="0")
                self.one_line(lines, "bcast", "chain needs all ranks on one node", "messages over")
                self.assertEqual(own, 0)

    def test_requests_in_flight_over_shared_memory(self) -> None:
        for flavour in FLAVOURS:
            for spec in "ring:transport=shm", "shm":
                with self.subTest(flavour=flavour, spec=spec):
                    settings = {"UNISONO_ALLREDUCE": spec, "UNISONO_LOG": "decision"}
                    program = PROGRAMS / f"nonblocking_{flavour}"
                    done = mpiexec(
                        flavour, 2, EXEC, program, "alone", timeout=NICE_TIMEOUT, **(NATIVE | settings)
                    )
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    name = spec.split(":")[0]
                    wanted = rf"nonblocking allreduce .*: {name}:.*transport=shm \(forced\)"
                    self.assertRegex("\n".join(ours(done.stdout + done.stderr)), wanted)

    @unittest.skipIf(shutil.disk_usage("/dev/shm").free > 32 << 30, "there is more than may be asked for")
    def test_more_shared_memory_than_there_is(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 2, UNISONO_BCAST="shm", UNISONO_SHM="32G")
                self.assertEqual((own, len(lines)), (0, 2), lines)
                self.assertRegex(lines[0], "/dev/shm.*--shm-size")

    def test_disabled(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 2, UNISONO_DISABLE="1", UNISONO_BCAST="binomial")
                self.assertEqual((own, lines), (0, []))

    def test_off(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 2, UNISONO="off", UNISONO_BCAST="binomial")
                self.assertEqual((own, lines), (0, []))

    def test_no_such_mode(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 2, UNISONO="Off", UNISONO_BCAST="binomial")
                self.one_line(lines, "UNISONO=Off", "auto, measure, fixed, off", "auto holds")
                self.assertGreater(own, 0)

    def test_fixed_learns_nothing_and_runs_what_is_forced(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(
                    flavour, 2, UNISONO="fixed", UNISONO_BCAST="binomial", UNISONO_ONLINE="star"
                )
                self.assertGreater(own, 0)
                self.one_line(lines, "UNISONO_ONLINE=star", "UNISONO=fixed", "nothing is learned")


class Restrictions(Case):
    def test_a_commutative_only_algorithm_with_another_operation(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 2, UNISONO_ALLREDUCE="ring")
                self.one_line(lines, "allreduce", "ring", "commutative")
                self.assertEqual(own, 4)  # those with MPI_SUM

    def test_even_number_of_ranks(self) -> None:
        # On three ranks one half has two of them: there it runs.
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_program(flavour, 3, UNISONO_ALLGATHER="neighbour_exchange")
                self.one_line(lines, "allgather", "neighbour_exchange", "even", "3 ranks")
                self.assertEqual(own, 2)

    def test_on_both_halves_it_is_one_line_of_the_job(self) -> None:
        # Four ranks: the world is even; the halves have two each; a job says a thing once.
        own, _, lines = self.run_program("openmpi", 4, UNISONO_ALLREDUCE="ring")
        self.assertEqual(own, 6)
        self.assertEqual(len(lines), len(set(lines)), lines)


class Topology(Case):
    """UNISONO_TOPOLOGY: ranks 0 and 2 are said to be on one node, rank 1 on another."""

    PLACED = "NodeName=a Ranks=0,2\nNodeName=b Ranks=1\n"

    def run_with(self, text: str, spec: str, collective: str = "BCAST") -> tuple[int, list[str]]:
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(text)
            file.flush()
            variables = {f"UNISONO_{collective}": spec, "UNISONO_TOPOLOGY": file.name}
            own, _, lines = self.run_program("openmpi", 3, **variables)
        return own, lines

    def test_grids_by_its_nodes(self) -> None:
        own, lines = self.run_with(self.PLACED, "grid:shape=nodes,rows=native")
        self.assertEqual((own > 0, lines), (True, []))

    def test_a_scan_wants_adjacent_ranks(self) -> None:
        _, lines = self.run_with(self.PLACED, "grid:shape=nodes", "SCAN")
        self.one_line(lines, "scan on 3 ranks: grid needs rows of adjacent ranks")

    def test_a_level_that_is_not_known(self) -> None:
        _, lines = self.run_with(self.PLACED, "grid:shape=switches")
        # Of the world, and of the half with two ranks.
        self.assertEqual(len(lines), 2, lines)
        for line, ranks in zip(lines, (3, 2), strict=True):
            self.assertIn(f"bcast on {ranks} ranks: grid needs a level of the topology", line)

    def test_a_wrong_file_is_one_line_and_everything_runs(self) -> None:
        for text, pattern in (
            ("SwitchName=s Nodes=a[1-\n", "line 1: Nodes=a"),
            ("NodeName=a Ranks=0-1\n", "rank 2 on no node"),
            ("SwitchName=s Nodes=nobody\n", "host .* of rank 0 is under no switch"),
            ("", "nothing of any node"),
        ):
            with self.subTest(text=text):
                own, lines = self.run_with(text, "grid:shape=nodes")
                self.one_line(lines, "UNISONO_TOPOLOGY=", pattern, "as without a file")
                self.assertGreater(own, 0)

    def test_no_such_file(self) -> None:
        own, _, lines = self.run_program(
            "mpich", 2, UNISONO_BCAST="chain", UNISONO_TOPOLOGY="/nowhere/topology.conf"
        )
        self.one_line(lines, "UNISONO_TOPOLOGY=/nowhere/topology.conf", "as without a file")
        self.assertGreater(own, 0)

    def test_another_file_on_one_rank(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = f"file={folder}/$rank; echo NodeName=$rank Ranks=0-7 > $file; "
            own, _, lines = self.run_apart("openmpi", 2, script + "export UNISONO_TOPOLOGY=$file")
        self.one_line(lines, "UNISONO_TOPOLOGY", "not the same on all ranks")
        self.assertEqual(own, 0)


class Ranks(Case):
    """Variables that are not the same on all ranks."""

    def test_different_algorithms(self) -> None:
        for flavour in FLAVOURS:
            for ranks in (2, 3):
                with self.subTest(flavour=flavour, ranks=ranks):
                    own, _, lines = self.run_apart(
                        flavour,
                        ranks,
                        "if [ $rank = 0 ]; then export UNISONO_BCAST=chain; "
                        "else export UNISONO_BCAST=binomial; fi",
                    )
                    self.one_line(lines, "not the same on all ranks")
                    self.assertEqual(own, 0)

    def test_set_on_one_rank_only(self) -> None:
        for flavour in FLAVOURS:
            for variable, said in (
                ("UNISONO_ALLREDUCE=ring", "not the same on all ranks"),
                ("UNISONO=fixed", "not the same on all ranks"),
                ("UNISONO_DISABLE=1", "1 of the job's 2 ranks run without Unisono.*UNISONO_DISABLE on all"),
                ("UNISONO=off", "1 of the job's 2 ranks run without Unisono"),
            ):
                with self.subTest(flavour=flavour, variable=variable):
                    own, _, lines = self.run_apart(
                        flavour, 2, f"if [ $rank = 1 ]; then export {variable}; fi"
                    )
                    self.one_line(lines, said)
                    self.assertEqual(own, 0)

    def test_wrong_on_one_rank_only(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_apart(
                    flavour, 2, "if [ $rank = 1 ]; then export UNISONO_BCAST=nonsense; fi"
                )
                self.one_line(lines, "not the same on all ranks")
                self.assertEqual(own, 0)

    def test_a_rank_that_does_not_know_its_number_on_the_node(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                unset = "[ $rank = 0 ] || unset OMPI_COMM_WORLD_LOCAL_SIZE MPI_LOCALNRANKS"
                own, _, lines = self.run_apart(flavour, 3, f"{unset}; export UNISONO_BCAST=binomial")
                self.assertGreater(own, 0)
                self.assertEqual(lines, [])

    def test_another_version_on_one_rank_only(self) -> None:
        library = BUILD / "tests/conformance/libanother_version.so"
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                preload = f"[ $rank = 0 ] || export LD_PRELOAD={library}; export UNISONO_BCAST=binomial"
                own, _, lines = self.run_apart(flavour, 2, preload)
                self.one_line(lines, "two versions of Unisono")
                self.assertEqual(own, 0)

    def test_a_profiler_in_one_program_of_a_job(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_apart(
                    flavour, 2, f"[ $rank = 0 ] || exec {EXEC} {PROGRAMS}/environment_wrapped_{flavour}"
                )
                self.one_line(lines, "profiler's collectives")
                self.assertEqual(own, 0)

    def test_a_limit_of_file_sizes(self) -> None:
        """Beyond it the kernel ends a process; shared memory is a file. In units of 512 bytes: 16 MiB."""
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, _ = self.run_apart(flavour, 2, "ulimit -f 32768; export UNISONO_BCAST=binomial")
                self.assertEqual(own, 4)

    def test_what_is_a_ranks_own_affair(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                own, _, lines = self.run_apart(
                    flavour,
                    2,
                    "export UNISONO_BCAST=binomial; if [ $rank = 1 ]; then export UNISONO_WAIT=sleep; fi",
                )
                self.assertEqual((own, lines), (4, []))


if __name__ == "__main__":
    unittest.main()
