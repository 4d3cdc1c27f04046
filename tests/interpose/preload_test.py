"""What happens around a program that is preloaded: which library is chosen, what is said when
something is missing, and that tools and Python find what they expect. Fortran: fortran_test.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ["UNISONO_BUILD"])
DEPS = Path(os.environ["UNISONO_DEPS"])
EXEC = BUILD / "bin/unisono-exec"
LOOPBACK = BUILD / "loopback/bin/unisono-exec"
PROGRAMS = Path(os.environ["UNISONO_PROGRAMS"])
FLAVOURS = {"mpich": "mpich", "openmpi": "openmpi", "abi": "mpich"}  # and whose launcher
WITH_REQUESTS = ("mpich", "openmpi")  # where nonblocking and persistent collectives are Unisono's


# This test's own; to Unisono they would be misspelt ones.
OURS = {name for name in os.environ if name.startswith("UNISONO_")}


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(c) for c in command],
        env={name: value for name, value in os.environ.items() if name not in OURS} | environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def mpiexec(flavour: str, ranks: int, *command: str | Path, **environment: str) -> str:
    """Standard output and error of a run that must succeed."""
    launcher = DEPS / FLAVOURS[flavour] / "bin/mpiexec"
    done = run(launcher, "-n", str(ranks), *command, **environment)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Exec(unittest.TestCase):
    def test_help_and_version(self) -> None:
        self.assertIn("usage:", run(EXEC, "--help").stdout)
        self.assertRegex(run(EXEC, "--version").stdout, r"^unisono-exec \d+\.\d+\.\d+\n$")

    def test_what_it_cannot_run_is_one_line(self) -> None:
        for command, status, message in [
            ([], 2, "which program"),
            (["--nonsense", "true"], 2, "unknown option --nonsense"),
            (["./no-such-program"], 127, "./no-such-program: No such file"),
            ([str(HERE)], 126, "Permission denied"),
        ]:
            done = run(EXEC, *command)
            self.assertEqual(done.returncode, status)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_it_goes_before_what_is_preloaded_already(self) -> None:
        libc = "libc.so.6"
        done = run(EXEC, "--", "printenv", "LD_PRELOAD", LD_PRELOAD=libc)
        self.assertEqual(done.stdout, f"{BUILD}/lib/libunisono.so:{libc}\n")

    def test_programs_without_mpi_run_as_ever(self) -> None:
        done = run(EXEC, "sh", "-c", "echo hello; exit 3")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "hello\n", ""))


class Stub(unittest.TestCase):
    def test_the_flavour_that_the_program_needs_takes_the_calls(self) -> None:
        # Both ways through an entry point: the plain one, and that of a call that is watched.
        for watched in ({}, {"LOOPBACK_WATCHED": "1"}):
            for flavour in FLAVOURS:
                program = PROGRAMS / f"interpose_collectives_{flavour}"
                output = mpiexec(flavour, 2, LOOPBACK, program, **watched)
                self.assertIn("passed", output)
                line = "loopback: 99 calls, 1 operations freed"
                self.assertEqual(output.count(line), 2, output)

    def test_disabled(self) -> None:
        for flavour in FLAVOURS:
            program = PROGRAMS / f"interpose_collectives_{flavour}"
            settings = {"UNISONO_BARRIER": "dissemination", "UNISONO_LOG": "decision"}
            for value, acts in [("0", True), ("1", False)]:
                output = mpiexec(flavour, 2, EXEC, program, UNISONO_DISABLE=value, **settings)
                self.assertIn("passed", output)
                self.assertEqual("dissemination" in output, acts, output)

    def test_off_means_that_no_threads_are_asked_for(self) -> None:
        for flavour in FLAVOURS:
            program = PROGRAMS / f"thread_level_{flavour}"
            for off in ({"UNISONO": "off"}, {"UNISONO_DISABLE": "1"}, {}):
                settings = {"UNISONO_PROGRESS": "thread", **off}
                for asked in ("single", "funneled"):
                    output = mpiexec(flavour, 1, EXEC, program, asked, **settings)
                    self.assertIn(f"thread level {asked if off else 'multiple'}", output)

    def test_what_a_tool_finds_in_the_mpi_library_is_as_without(self) -> None:
        """MPI_T's variables, before MPI_Init and after MPI_Finalize."""
        for flavour in FLAVOURS:
            program = PROGRAMS / f"tool_information_{flavour}"
            native, ours = (
                [
                    line
                    for line in mpiexec(flavour, 1, *with_it, program).splitlines()
                    if "var" in line.split()
                ]
                for with_it in ([], [EXEC])
            )
            self.assertEqual(native, ours)
            self.assertGreater(len(native), 300)

    def test_mpi_in_a_library_that_the_program_opens(self) -> None:
        settings = {"UNISONO_ALLREDUCE": "ring", "UNISONO_LOG": "decision"}
        for flavour in WITH_REQUESTS:
            library = PROGRAMS / f"libopened_plugin_{flavour}.so"
            for scope in ("local", "global"):
                output = mpiexec(flavour, 2, EXEC, PROGRAMS / "opens_mpi", library, scope, **settings)
                self.assertIn("passed", output)
                for form in ("nonblocking", "persistent"):
                    self.assertIn(f"unisono: {form} allreduce of 4B on 2 ranks: ring", output)

    def test_without_its_flavour_library_the_program_runs_natively(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stub = Path(folder) / "libunisono.so"
            shutil.copy(BUILD / "lib/libunisono.so", stub)
            for flavour in FLAVOURS:
                program = PROGRAMS / f"with_tool_{flavour}"
                output = mpiexec(flavour, 1, "env", f"LD_PRELOAD={stub}", program, "0")
                self.assertIn("passed", output)
                self.assertRegex(output, rf"unisono: .*libunisono-{flavour}.so: cannot open")

    def test_ranks_without_unisono_make_the_whole_job_native(self) -> None:
        for flavour in FLAVOURS:
            program = PROGRAMS / f"with_tool_{flavour}"
            for first, second in ([EXEC], []), ([], [EXEC]):
                output = mpiexec(flavour, 1, *first, program, "0", ":", "-n", "1", *second, program, "0")
                self.assertIn("passed", output)
                lines = [line for line in output.splitlines() if "unisono:" in line]
                self.assertEqual(len(lines), 1, output)
                self.assertIn("1 of the job's 2 ranks run without Unisono", lines[0])

    def test_ranks_that_leave_mpi_init_later_count_the_same(self) -> None:
        """One begins to look when another is about to give up."""
        with tempfile.TemporaryDirectory() as folder:
            late = Path(folder) / "late.so"
            run("cc", "-shared", "-fPIC", HERE / "late_init.c", "-o", late)
            for flavour in FLAVOURS:
                program = PROGRAMS / f"with_tool_{flavour}"
                second: list[str | Path] = ["env", f"LD_PRELOAD={late}", EXEC, program, "0"]
                others: list[str | Path] = [":", "-n", "1", *second, ":", "-n", "1", program, "0"]
                output = mpiexec(flavour, 1, EXEC, program, "0", *others)
                lines = [line for line in output.splitlines() if "unisono:" in line]
                self.assertEqual(len(lines), 1, output)
                self.assertIn("1 of the job's 3 ranks run without Unisono", lines[0])

    def test_a_rank_that_has_left_its_launchers_processes_is_seen(self) -> None:
        for flavour in FLAVOURS:
            program = PROGRAMS / f"with_tool_{flavour}"
            left = f"setsid -f {EXEC} {program} 0; sleep 2"
            output = mpiexec(flavour, 1, EXEC, program, "0", ":", "-n", "1", "sh", "-c", left)
            self.assertNotIn("without Unisono", output)

    def test_ranks_of_several_nodes_do_not_wait_for_ever(self) -> None:
        """The first rank is told of a node of two ranks, in a job of three."""
        launcher, program = DEPS / "mpich/bin/mpiexec", PROGRAMS / "with_tool_mpich"
        node: list[str | Path] = ["env", "MPI_LOCALNRANKS=2", EXEC, program, "0"]
        done = run(launcher, "-n", "1", *node, ":", "-n", "2", program, "0")
        self.assertNotEqual(done.returncode, 0)
        lines = [line for line in done.stderr.splitlines() if "unisono:" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("the job is aborted", lines[0])

    def test_a_rank_without_its_flavour_library_makes_the_whole_job_native(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stub = Path(folder) / "libunisono.so"
            shutil.copy(BUILD / "lib/libunisono.so", stub)
            for flavour in FLAVOURS:
                program = PROGRAMS / f"with_tool_{flavour}"
                broken: list[str | Path] = ["env", f"LD_PRELOAD={stub}", program, "0"]
                whole: list[str | Path] = [EXEC, program, "0"]
                for first, second in (whole, broken), (broken, whole):
                    output = mpiexec(flavour, 1, *first, ":", "-n", "1", *second)
                    self.assertIn("passed", output)
                    self.assertRegex(output, rf"unisono: .*libunisono-{flavour}.so: cannot open")

    def test_without_an_mpi_library_a_call_says_what_is_missing(self) -> None:
        script = "import ctypes; ctypes.CDLL(None).MPI_Init(None, None)"
        done = run(EXEC, sys.executable, "-c", script)
        self.assertEqual(done.returncode, -6)
        self.assertRegex(done.stderr, "^unisono: MPI_Init was called, but no library .* defines it")
        self.assertEqual(done.stderr.count("unisono:"), 1)

    def test_the_public_interface_answers_before_mpi_is_there(self) -> None:
        script = "import ctypes; print(ctypes.CDLL(None).unisono_force(b'bcast', b'ring'))"
        self.assertEqual(run(EXEC, sys.executable, "-c", script).stdout, "-1\n")

    def test_a_flavour_library_can_be_preloaded_itself(self) -> None:
        for flavour in FLAVOURS:
            library = BUILD / f"loopback/lib/libunisono-{flavour}.so"
            program = PROGRAMS / f"interpose_collectives_{flavour}"
            output = mpiexec(flavour, 2, "env", f"LD_PRELOAD={library}", program)
            self.assertIn("passed", output)
            self.assertEqual(output.count("loopback: 99 calls"), 2, output)

    def test_stub_and_flavour_library_together(self) -> None:
        for flavour in FLAVOURS:
            libraries = ":".join(
                str(BUILD / f"loopback/lib/libunisono{which}.so") for which in ("", f"-{flavour}")
            )
            program = PROGRAMS / f"interpose_collectives_{flavour}"
            output = mpiexec(flavour, 2, "env", f"LD_PRELOAD={libraries}", program)
            self.assertIn("passed", output)
            self.assertEqual(output.count("loopback: 99 calls"), 2, output)


class Symbols(unittest.TestCase):
    def test_an_entry_point_knows_its_collective(self) -> None:
        """The compiler resolves schedule/semantics.h: Barrier's entry holds nothing of what others need."""
        for flavour in FLAVOURS:
            listed = run("nm", "-CS", BUILD / f"lib/libunisono-{flavour}.so").stdout
            found = re.findall(r"^\w+ (\w+) t look_at_MPI_(Barrier|Allreduce)\(.*\)$", listed, re.MULTILINE)
            size = {name: int(digits, 16) for digits, name in found}
            self.assertLess(size["Barrier"], 0.7 * size["Allreduce"], size)

    def test_nothing_of_other_libraries_is_shown_or_needed(self) -> None:
        for flavour in FLAVOURS:
            library = BUILD / f"lib/libunisono-{flavour}.so"
            shown = run("nm", "-D", library).stdout
            self.assertIn("MPI_Allreduce", shown)
            self.assertNotRegex(shown, "hwloc|udev")
            needed = re.findall(r"NEEDED.*\[(\w+)", run("readelf", "-d", library).stdout)
            self.assertLessEqual(set(needed), {"libm", "libc", "ld"})


class Stacking(unittest.TestCase):
    def test_a_tool_below_sees_what_is_passed_on(self) -> None:
        for flavour in FLAVOURS:
            tool = f"LD_PRELOAD={PROGRAMS / f'libcounting_tool_{flavour}.so'}"
            program = PROGRAMS / f"with_tool_{flavour}"
            output = mpiexec(flavour, 2, "env", tool, EXEC, program, "3", UNISONO_BCAST="native")
            self.assertIn("passed, the tool saw 3", output)

    def test_a_tool_below_does_not_see_what_unisono_runs(self) -> None:
        for flavour in FLAVOURS:
            tool = f"LD_PRELOAD={PROGRAMS / f'libcounting_tool_{flavour}.so'}"
            program = PROGRAMS / f"with_tool_{flavour}"
            output = mpiexec(flavour, 2, "env", tool, LOOPBACK, program, "0")
            self.assertIn("passed, the tool saw 0", output)

    def test_a_tool_that_counts_requests(self) -> None:
        """It sees those of Unisono as those of the MPI library; below, Unisono starts its own another way."""
        stub = BUILD / "lib/libunisono.so"
        for flavour in WITH_REQUESTS:
            tool = PROGRAMS / f"librequest_tool_{flavour}.so"
            program = PROGRAMS / f"with_request_tool_{flavour}"
            for order, algorithm, starts in [
                (f"{tool}:{stub}", "native", 3),
                (f"{tool}:{stub}", "ring", 3),
                (f"{stub}:{tool}", "native", 3),
                (f"{stub}:{tool}", "ring", 0),
            ]:
                settings = {"UNISONO_ALLREDUCE": algorithm, "UNISONO_LOG": "decision"}
                output = mpiexec(
                    flavour, 2, "env", f"LD_PRELOAD={order}", program, str(starts), "6", **settings
                )
                self.assertIn("passed", output)
                for form in ("nonblocking", "persistent"):
                    ran = f"unisono: {form} allreduce of 4B on 2 ranks: ring" in output
                    self.assertEqual(ran, algorithm == "ring", output)

    def test_a_tool_above_sees_everything(self) -> None:
        for flavour in FLAVOURS:
            tool = PROGRAMS / f"libcounting_tool_{flavour}.so"
            both = f"LD_PRELOAD={tool}:{BUILD}/lib/libunisono.so"
            output = mpiexec(flavour, 2, "env", both, PROGRAMS / f"with_tool_{flavour}", "3")
            self.assertIn("passed, the tool saw 3", output)


def events_in(folder: str) -> list[int]:
    """Of each rank; docs/reference/trace.md."""
    return [path.stat().st_size // 64 for path in sorted(Path(folder).glob("*.events"))]


class Languages(unittest.TestCase):
    def smoke(self, flavour: str, launcher: Path, **variables: str) -> str:
        output = mpiexec(
            flavour,
            2,
            launcher,
            sys.executable,
            HERE / "mpi4py_smoke.py",
            MPI4PY_MPIABI=flavour,
            LD_LIBRARY_PATH=str(DEPS / flavour / "lib"),
            **variables,
        )
        self.assertIn("passed", output)
        return output

    def test_mpi4py(self) -> None:
        if not any(Path(sys.prefix).glob("lib/python*/site-packages/mpi4py")):
            self.skipTest("no mpi4py")
        for flavour in ("mpich", "openmpi"):
            for launcher, lines in ((EXEC, 0), (LOOPBACK, 2)):
                output = self.smoke(flavour, launcher)
                self.assertEqual(output.count("loopback"), lines, output)
            with tempfile.TemporaryDirectory() as folder:
                self.smoke(flavour, EXEC, UNISONO_TRACE=folder)
                first, second = events_in(folder)
                self.assertEqual(first, second)
                self.assertGreaterEqual(first, 5)  # objects take more than one


class Cost(unittest.TestCase):
    CALLS = 200_000

    def instructions(self, form: str, barrier: str, trace: str = "") -> int:
        program = PROGRAMS / "pass_on_cost_mpich"
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = run(
            *tool,
            program,
            form,
            str(self.CALLS),
            LD_PRELOAD=f"{BUILD}/lib/libunisono.so",
            UNISONO_BARRIER=barrier,
            UNISONO_TRACE=trace,
        )
        collected = re.search(r"Collected : (\d+)", done.stderr)
        self.assertIsNotNone(collected, done.stderr)
        return int(collected.group(1)) if collected else 0

    def more(self, barrier: str) -> float:
        if not shutil.which("valgrind"):
            self.skipTest("no valgrind")
        calls = [self.instructions(form, barrier) for form in ("MPI", "PMPI")]
        return (calls[0] - calls[1]) / self.CALLS

    def test_a_call_that_is_passed_on_takes_a_few_instructions_more(self) -> None:
        self.assertLess(self.more("native"), 16)

    def test_a_call_that_is_looked_at_and_left_takes_little_more(self) -> None:
        # One rank alone: Unisono has something to do in barriers, but not in this one.
        more = self.more("dissemination")
        self.assertGreater(more, 16)
        self.assertLess(more, 100)

    def test_a_call_that_is_traced_takes_some_hundred(self) -> None:
        if not shutil.which("valgrind"):
            self.skipTest("no valgrind")
        calls = []
        for form in ("MPI", "PMPI"):
            with tempfile.TemporaryDirectory() as folder:
                calls.append(self.instructions(form, "native", folder))
        more = (calls[0] - calls[1]) / self.CALLS
        self.assertGreater(more, 100)
        self.assertLess(more, 500)


if __name__ == "__main__":
    unittest.main(verbosity=2)
