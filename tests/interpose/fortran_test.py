"""Fortran programs through mpif.h, `use mpi` and `use mpi_f08`: right results, Unisono runs what it is to
run, and no call is intercepted twice, in Fortran and in C."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path

from preload_test import BUILD, DEPS, EXEC, LOOPBACK, PROGRAMS, events_in, run

INTERFACES = ("77", "90", "2008")


@dataclass(frozen=True)
class Library:
    fortran: str  # whose Fortran library it is
    launcher: str
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    # Whether Unisono can run nonblocking and persistent collectives in it.
    has_turns: bool = True


def launcher_of(name: str) -> str:
    launcher = os.environ.get(f"UNISONO_MPIEXEC_{name}", "")
    if not (PROGRAMS / f"fortran_{name}_77").exists() or not Path(launcher).exists():
        raise unittest.SkipTest(f"no {name} with Fortran")
    return launcher


def algorithms(wanted: str = "") -> dict[str, str]:
    """One for each collective: the wanted one if it has that, else its first one, which sends messages."""
    tool = BUILD / "bin/unisono-schedule"
    listed = json.loads(subprocess.run([tool, "list", "--json"], capture_output=True, check=True).stdout)
    chosen: dict[str, str] = {}
    for row in listed["algorithms"]:
        for variable in (f"UNISONO_{collective.upper()}" for collective in row["collectives"]):
            if variable not in chosen or row["name"] == wanted:
                chosen[variable] = row["name"]
    return chosen


class Fortran(unittest.TestCase):
    def start(
        self,
        mpi: Library,
        ranks: int,
        name: str,
        *arguments: str,
        variables: dict[str, str] | None = None,
        prefix: Path = EXEC,
    ) -> str:
        program = PROGRAMS / f"fortran_{mpi.fortran}_{name}"
        command = (mpi.launcher, *mpi.options, "-n", str(ranks))
        done = run(*command, prefix, program, *arguments, **mpi.environment, **(variables or {}))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("passed", done.stdout)
        return done.stdout + done.stderr

    def calls(self, output: str) -> tuple[int, int, int]:
        """Of rank 0: blocking ones, all, and those that Unisono has run. Each is counted once."""
        said = re.search(
            r"calls: (\d+) bl\w+, (\d+) nonbl\w+, (\d+) pers\w+; (\d+) in Unisono, (\d+) not", output
        )
        self.assertIsNotNone(said, output)
        assert said
        blocking, nonblocking, persistent, own, native = map(int, said.groups())
        self.assertEqual(own + native, blocking + nonblocking + persistent, output)
        return blocking, own + native, own

    def runs_messages(self, mpi: Library) -> None:
        for interface, ranks in (("77", 2), ("90", 3), ("2008", 2), ("2008", 3)):
            arguments = ["persistent"] if mpi.has_turns else []
            output = self.start(mpi, ranks, interface, *arguments, variables=algorithms())
            blocking, every, own = self.calls(output)
            # Two are wrong, and the first nonblocking one on a new communicator finds nothing made.
            self.assertEqual(own, every - 3 if mpi.has_turns else blocking - 2, output)

    def hands_over_everything(self, mpi: Library) -> None:
        for interface in INTERFACES:
            output = self.start(mpi, 2, interface, prefix=LOOPBACK)
            said = re.findall(r"loopback: (\d+) calls, 1 operations freed", output)
            made = re.search(r"calls: (\d+)", output)
            self.assertTrue(made and said == [str(int(made[1]) + 1)] * 2, output)  # the last tells who failed

    def runs_in_shared_memory_and_traces(self, mpi: Library) -> None:
        for interface in INTERFACES:
            with tempfile.TemporaryDirectory() as folder:
                output = self.start(
                    mpi, 3, interface, variables=algorithms("shm") | {"UNISONO_TRACE": folder}
                )
                blocking, _, own = self.calls(output)
                self.assertGreater(own, 0.9 * blocking, output)
                self.assertEqual(events_in(folder), [blocking + 1] * 3)

    def frees_a_communicator(self, mpi: Library) -> None:
        self.start(mpi, 2, "freed", variables={"UNISONO_ALLREDUCE": "shm"})

    def test_open_mpi(self) -> None:
        mpi = Library("openmpi", launcher_of("openmpi"), options=("--oversubscribe",))
        self.runs_messages(mpi)
        self.hands_over_everything(mpi)
        self.runs_in_shared_memory_and_traces(mpi)
        self.frees_a_communicator(mpi)

    def test_mpich(self) -> None:
        mpi = Library("mpich", launcher_of("mpich"), has_turns=False)
        self.runs_messages(mpi)
        self.hands_over_everything(mpi)
        self.runs_in_shared_memory_and_traces(mpi)
        self.frees_a_communicator(mpi)

    def test_a_newer_mpich_below_its_fortran_library(self) -> None:
        """Fortran's library of Debian's MPICH 4.0 calls functions that later ones have as well."""
        home = DEPS / "mpich"
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "libmpich.so.12").symlink_to(home / "lib/libmpi.so.12")
            paths = {"LD_LIBRARY_PATH": f"{folder}:{home}/lib/mpich"}
            launcher_of("mpich")
            self.runs_messages(Library("mpich", str(home / "bin/mpiexec"), environment=paths))


if __name__ == "__main__":
    unittest.main(verbosity=2)
