"""Programs that abort, exit inside a collective or never finalize: the job ends as it does without
Unisono, with the same status."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import unittest
from pathlib import Path

from launch import EXEC, FLAVOURS, NICE_TIMEOUT, PROGRAMS, mpiexec

HERE = Path(__file__).parent
DEAD = tuple(f"{how}-in-{what}" for how in ("exit", "kill") for what in ("collective", "flight"))


def ended(
    flavour: str, ranks: int, *command: str | Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """On a busy machine MPICH's launcher (5.0.2) does not always see that a rank is gone, without Unisono
    either (one job of twenty), and the others wait for ever: such a job is started again, three times."""
    for _ in range(3 if flavour == "mpich" and command[-1] in DEAD else 0):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return mpiexec(flavour, ranks, *command, timeout=15, **variables)
    return mpiexec(flavour, ranks, *command, timeout=NICE_TIMEOUT, **variables)


class Endings(unittest.TestCase):
    def ends_alike(self, way: str, ranks: int = 2, exactly: bool = True, **variables: str) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour, way=way):
                program = PROGRAMS / f"endings_{flavour}"
                native = ended(flavour, ranks, program, way, CONFORMANCE_NATIVE="1")
                ours = ended(flavour, ranks, EXEC, program, way, **variables)
                statuses = [native.returncode, ours.returncode]
                if not exactly:
                    statuses = [min(abs(status), 1) for status in statuses]
                self.assertEqual(statuses[0], statuses[1], ours.stdout + ours.stderr)
                if native.returncode == 0:  # else the launcher may lose what was written
                    self.assertEqual("passed" in native.stdout, "passed" in ours.stdout)

    def test_without_finalize(self) -> None:
        self.ends_alike("exit")

    def test_without_a_collective(self) -> None:
        self.ends_alike("finalize-only")

    def test_with_communicators_never_freed(self) -> None:
        self.ends_alike("unfreed")

    def test_with_collectives_in_the_delete_function_of_an_attribute(self) -> None:
        self.ends_alike("attribute", ranks=3)

    def test_by_pmpi_finalize_on_some_ranks(self) -> None:
        """They stop with the others: the traces of all have an end, and nothing is left behind."""
        for way in ("pmpi-first", "pmpi-others"):
            self.ends_alike(way, ranks=3)
            self.ends_alike(way, ranks=3, CONFORMANCE_ALGORITHM="shm")
            self.ends_alike(way + "-attribute", ranks=3)
            for flavour in FLAVOURS:
                with tempfile.TemporaryDirectory() as folder:
                    program = PROGRAMS / f"endings_{flavour}"
                    mpiexec(flavour, 3, EXEC, program, way, timeout=NICE_TIMEOUT, UNISONO_TRACE=folder)
                    traces = [path.read_text() for path in Path(folder).glob("*.jsonl")]
                    self.assertEqual([text.count('"kind":"end"') for text in traces], [1, 1, 1])
        self.assertEqual(list(Path("/dev/shm").glob("unisono-*")), [])

    def test_abort(self) -> None:
        self.ends_alike("abort")

    def test_abort_while_others_wait_in_a_collective(self) -> None:
        self.ends_alike("abort-in-collective", ranks=3)

    def test_exit_while_others_wait_in_a_collective(self) -> None:
        # MPICH's launcher gives the status of the rank that exits, or that of those it kills.
        self.ends_alike("exit-in-collective", ranks=3, exactly=False)

    def test_while_others_wait_for_requests_in_flight(self) -> None:
        self.ends_alike("abort-in-flight", ranks=3)
        for way in ("exit-in-flight", "kill-in-flight"):
            self.ends_alike(way, ranks=3, exactly=False)

    def test_in_shared_memory(self) -> None:
        """With ranks that sleep, and with ranks that spin; and nothing is left behind."""
        for wait, way in (("sleep", "kill-in-collective"), ("spin", "exit-in-collective")):
            self.ends_alike(way, ranks=3, exactly=False, CONFORMANCE_ALGORITHM="shm", UNISONO_WAIT=wait)
            self.ends_alike(way, ranks=3, exactly=False, CONFORMANCE_TRANSPORT="shm", UNISONO_WAIT=wait)
        self.assertEqual(list(Path("/dev/shm").glob("unisono-*")), [])

    def test_inside_mpi_init(self) -> None:
        """A rank that is killed in one of the collectives there leaves no shared memory behind."""
        with tempfile.TemporaryDirectory() as folder:
            dies = Path(folder) / "dies.so"
            subprocess.run(["cc", "-shared", "-fPIC", HERE / "dies_in_init.c", "-o", dies], check=True)
            program = PROGRAMS / "endings_openmpi"  # MPICH leaves files of its own then, natively as well
            for rank in (0, 1):
                for at in range(1, 20):
                    command = ("env", f"LD_PRELOAD={dies}", f"DIES_AT={at}", f"DIES_RANK={rank}")
                    done = ended("openmpi", 2, *command, EXEC, program, "finalize-only")
                    if done.returncode == 0:  # there is no such call
                        break
                    self.assertEqual(
                        list(Path("/dev/shm").glob("unisono-*")), [], f"call {at} of rank {rank}"
                    )
                self.assertIn(at, range(3, 15), "number of calls made, and one more")


if __name__ == "__main__":
    unittest.main()
