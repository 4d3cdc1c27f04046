"""run, trace and lab run take the same two forms: -n and a program, or a launcher's whole line."""

import sys
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import launchers, places

# Counts the jobs and the ranks that were started.
PROGRAM = """
import os
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
os.write(1, f"rank of {MPI.COMM_WORLD.size}\\n".encode())
"""
OURS = {"UNISONO_BARRIER": "dissemination", "UNISONO_LOG": "decision"}


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("mpiexec -n 2 ./a", 0),
        ("/opt/mpi/bin/mpirun --map-by core ./a", 0),
        ("mpiexec.hydra ./a", 0),
        ("srun -n 4 ./a", 0),
        ("env A=1 nice -n 5 mpiexec ./a", 5),
        ("timeout -k 5 60s mpirun ./a", 4),
        ("unisono lab run -n 4 -- ./a", 0),
        ("./a mpiexec", None),
        ("env A=1 ./a mpiexec", None),
        ("python mpiexec.py", None),
        ("./mpirun-of-mine", None),
        ("mpirun-openmpi ./a", 0),
        ("./mpiexec_of_mine", None),
        ("nice", None),
    ],
)
def test_which_word_starts_ranks(line: str, at: int | None) -> None:
    assert launchers.launcher_at(line.split()) == at


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (["run", "-n", "2", "--", "mpiexec", "-n", "2", "./a b"], "unisono run -- mpiexec -n 2 './a b'"),
        (["run", "-n", "2", "env", "A=1", "srun", "./a"], "unisono run -- env A=1 srun ./a"),
        (["trace", "-n", "2", "-o", "D", "--", "mpirun", "./a"], "unisono trace -o DIR -- mpirun ./a"),
        (["lab", "run", "-n", "2", "--", "mpirun", "./a"], "unisono lab run starts on the hosts"),
    ],
)
def test_two_launchers_are_refused(
    unisono: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], advice: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = unisono(*line)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "starts ranks itself" in done.stderr and advice in done.stderr
    assert list(tmp_path.iterdir()) == [], "no folder is made for a trace that cannot be"


@pytest.mark.parametrize("command", [["run", "--", "true"], ["trace", "-o", "D", "--", "true"]])
@pytest.mark.parametrize("variable", launchers.RANKS_AROUND)
def test_a_rank_starts_no_job(
    unisono: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], variable: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = unisono(*command, **{variable: "2"})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert (
        "this is one of 2 ranks" in done.stderr
        and "write unisono exec true after the launcher" in done.stderr
    )


def test_a_rank_of_one_is_no_job_around(unisono: Run) -> None:
    assert "this is one of" not in unisono("run", "--", "no-such-program", PMI_SIZE="1").stderr


def test_a_program_alone_is_not_traced_as_one_rank(unisono: Run, tmp_path: Path) -> None:
    program = str(places.program("unisono-bench-mpich"))
    done = unisono("trace", "-o", str(tmp_path / "D"), "--", program)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"unisono trace -n 4 -o DIR -- {program}" in done.stderr
    assert not (tmp_path / "D").exists()


def test_options_of_the_other_form_are_refused(unisono: Run, tmp_path: Path) -> None:
    for line in (
        ["run", "--mpi", "mpich", "--", "mpiexec", "true"],
        ["trace", "-o", str(tmp_path / "D"), "--mpi", "mpich", "--", "true"],
    ):
        done = unisono(*line)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "--mpi mpich: " in done.stderr


def test_files_of_others_stay_where_a_trace_is_written(unisono: Run, tmp_path: Path) -> None:
    for name in ("mine.txt", "rank.jsonl", "rank-of-mine.csv"):
        (tmp_path / name).write_text("mine")
    done = unisono("trace", "-o", str(tmp_path), "--", "true")
    assert done.returncode in {0, 2}, done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ("mine.txt", "rank.jsonl", "rank-of-mine.csv"), "mine"
    )


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_run_takes_a_whole_line(unisono: Run, flavour: str) -> None:
    mpi = places.find_mpi(flavour)
    line = [*mpi.launcher(2), sys.executable, "-c", PROGRAM]
    done = unisono("run", "--", *line, **mpi.environment(), **OURS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["rank of 2"] * 2 + [""]
    assert "barrier of 0B on 2 ranks: dissemination" in done.stderr


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_trace_takes_a_number_of_ranks(unisono: Run, tmp_path: Path, flavour: str) -> None:
    line = ["trace", "-n", "2", "--mpi", flavour, "-o", str(tmp_path), "--", sys.executable, "-c", PROGRAM]
    done = unisono(*line)
    assert done.returncode == 0, done.stderr
    assert f"2 of 2 ranks wrote 2 events to {tmp_path}" in done.stderr


@pytest.mark.mpi
def test_a_trace_of_one_rank_says_why(unisono: Run, tmp_path: Path) -> None:
    variables = places.find_mpi("mpich").environment()
    done = unisono("trace", "-o", str(tmp_path), "--", sys.executable, "-c", PROGRAM, **variables)
    assert "1 of 1 ranks wrote 1 events" in done.stderr
    assert "the line has no launcher, so that this is one rank: unisono trace -n 4 starts four" in done.stderr
