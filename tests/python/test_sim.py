"""Simulations: every algorithm is right in SMPI, programs keep their globals, nothing is left behind."""

import ctypes
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from unisono.core import catalogue
from unisono.sim import platforms, smpi

PROGRAM = str(Path(__file__).with_name("sim_program.cpp"))
REPEATED = str(Path(__file__).parents[2] / "experiments" / "inputs" / "repeated.c")

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed"),
]


def simulated(unisono: Run, *arguments: str) -> dict[str, Any]:
    done = unisono("sim", "--json", "-", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("collective", catalogue.collectives())
def test_every_algorithm_is_right(collective: str) -> None:
    network = platforms.parse("torus:2x4")
    own = [row for row in catalogue.algorithms() if collective in row.collectives]
    elsewhere = {"one_node", "multicast"}
    names = [row.name for row in own if not elsewhere & set(row.restrictions)]
    line = [str(smpi.built("unisono-sim")), "--collective", collective, "--memory", "1G"]
    line += ["--arms", ",".join([*names, "native"]), "--sizes", "8,20K"]
    run = smpi.run(network, range(8), line, {}, {}, lambda: True)
    assert not run.problem, run.output
    cells = [json.loads(text) for text in run.output.splitlines()]
    sizes = 1 if collective == "barrier" else 2
    left_out = [cell for cell in cells if "left_out" in cell]
    assert len(cells) == (len(names) + 1) * sizes
    assert all(cell["left_out"] == "less than one element a rank" for cell in left_out), left_out
    assert all(cell["correct"] and cell["seconds"] > 0 for cell in cells if cell not in left_out)


def test_a_table(unisono: Run) -> None:
    options = ["--platform", "ethernet:6", "--collective", "bcast", "--sizes", "1K,64K", "--root", "2"]
    table = simulated(unisono, *options, "--arms", "flat,chain:segment=4K,native")
    assert table["limit_seconds"] == {"1024": pytest.approx(8.192e-6), "65536": pytest.approx(524.288e-6)}
    labels = [(row["algorithm"], row.get("selector")) for row in table["rows"]]
    assert labels == [("flat", None), ("chain:segment=4K", None)] + [
        ("native", name) for name in smpi.SELECTORS
    ]
    for column in range(2):
        cells = [row["cells"][column] for row in table["rows"]]
        best = min(cell["seconds"] for cell in cells[2:])
        for cell in cells:
            assert 0 < cell["share_of_limit"] < 1
            assert cell["ratio_to_best_selector"] == pytest.approx(cell["seconds"] / best)


def test_a_window_of_sends_makes_a_pipeline_of_a_chain(unisono: Run) -> None:
    # All segments sent at once would arrive together at each host: 15 times the wire time.
    options = ["--platform", "ethernet:16", "--collective", "bcast", "--sizes", "1M"]
    table = simulated(unisono, *options, "--arms", "chain:segment=8K")
    assert table["rows"][0]["cells"][0]["share_of_limit"] > 0.5


def test_what_cannot_serve_has_no_time(unisono: Run) -> None:
    options = ["--platform", "ethernet:6", "--collective", "alltoall", "--arms", "ring,pair"]
    done = unisono("sim", *options)
    assert done.returncode == 0, done.stderr
    assert "pair: needs a power of two of ranks" in done.stdout
    options = ["--platform", "ethernet:6", "--collective", "bcast", "--arms", "shm"]
    done = unisono("sim", *options)
    assert "shm: runs through the shared memory of a node, which is not simulated" in done.stdout


def test_more_memory_than_there_is(unisono: Run) -> None:
    options = ["--collective", "alltoall", "--arms", "ring", "--sizes", "1M", "--memory", "16M"]
    assert "needs 32 MiB on a rank" in unisono("sim", *options).stdout


def test_a_program_with_globals(unisono: Run) -> None:
    options = ["--platform", "torus:2x4", "--selectors", "ompi"]
    force = ["--force", "allreduce=ring", "--force", "allgather=bruck"]
    found = [simulated(unisono, *options, *force, "--", PROGRAM, "hello") for _ in range(2)]
    native, own = found[0]["runs"]
    assert native["output"] == "wrong 0, run by unisono 0, hello"
    assert own["output"] == "wrong 0, run by unisono 5, hello"
    assert native["seconds"] > 0
    assert own["seconds"] > 0
    assert found[0] == found[1], "the same digits in every run"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("if (rank == 0) MPI_Recv(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "deadlock"),
        ("if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);", "the program called MPI_Abort"),
        ("MPI_Finalize(); return rank == 1 ? 7 : 0;", "exit status 7"),
    ],
)
def test_a_program_that_fails(unisono: Run, tmp_path: Path, body: str, problem: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "#include <mpi.h>\nint main(int argc, char** argv) {\n int rank;\n MPI_Init(&argc, &argv);\n"
        f" MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n {body}\n MPI_Finalize();\n return 0;\n}}\n"
    )
    done = unisono("sim", "-n", "4", "--selectors", "ompi", "--", str(source))
    assert done.returncode == 1
    assert f"ompi: {problem}" in done.stdout
    assert "Execution failed" not in done.stdout


def test_a_program_that_does_not_compile(unisono: Run, tmp_path: Path) -> None:
    source = tmp_path / "program.cpp"
    source.write_text("int main() { return nothing; }\n")
    done = unisono("sim", "-n", "4", "--", str(source))
    assert done.returncode == 2
    assert "'nothing' was not declared" in done.stderr.replace("\u2018", "'").replace("\u2019", "'")
    assert done.stderr.endswith("does not compile for the simulator: smpicxx says why above\n")


def processes_in(folder: Path) -> list[str]:
    needle, found = str(folder).encode(), []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and needle in (entry / "environ").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool]) -> bool:
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.1)
    return False


def threads_of(process: int) -> list[int]:
    return sorted(int(entry.name) for entry in Path(f"/proc/{process}/task").iterdir())


def begun(tmp_path: Path) -> "subprocess.Popen[bytes]":
    """A long simulation that has begun: its processes are there."""
    line = [sys.executable, "-m", "unisono.cli", "sim", "--platform", "torus:6x6x6"]
    line += ["--collective", "alltoall", "--arms", "simple,ring,native", "--sizes", "8K"]
    # A shell's background job, as this test may be part of, ignores interrupts, and so would ours.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    job = subprocess.Popen(
        line, env={"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}, stderr=subprocess.DEVNULL
    )
    signal.signal(signal.SIGINT, before)
    if not wait_until(lambda: len(processes_in(tmp_path)) > 2 and len(threads_of(job.pid)) > 1):
        job.kill()
        raise AssertionError("no simulation has begun")
    return job


def assert_ended(job: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    assert job.wait(30) != 0
    assert wait_until(lambda: not processes_in(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_after_an_interrupt(tmp_path: Path, number: int) -> None:
    job = begun(tmp_path)
    try:
        job.send_signal(number)
        assert_ended(job, tmp_path)
    finally:
        job.kill()


def test_an_interrupt_that_wakes_nobody_is_answered(tmp_path: Path) -> None:
    # A signal that comes just before the main thread sleeps on a lock is noted and wakes nobody. So does one
    # that another thread is given, and that can be arranged.
    job = begun(tmp_path)
    try:
        time.sleep(1)  # the main thread sleeps
        assert ctypes.CDLL(None).tgkill(job.pid, threads_of(job.pid)[-1], signal.SIGINT) == 0
        assert_ended(job, tmp_path)
    finally:
        job.kill()


def test_a_program_that_asks_for_nothing_gets_a_safe_algorithm(unisono: Run) -> None:
    """From its first call on, which makes what Unisono needs; on a torus, whose links are faster, native."""
    for network, times in (("ethernet:9", 2.5), ("torus:3x3", 0.99)):
        options = ["--platform", network, "--selectors", "ompi", "--online"]
        peer, own = simulated(unisono, *options, "--", REPEATED, "bcast", "262144", "12")["runs"]
        native, ours = ([float(word) for word in run["output"].split()][1:] for run in (peer, own))
        assert min(native) > times * max(ours), network
