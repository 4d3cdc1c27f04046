"""unisono trace: the launch line, what it hands on, and what it says in the end."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import launch, launchers, places
from unisono.core.errors import UnisonoError
from unisono.trace import reader

PROGRAM = """
from mpi4py import MPI
for step in range(3):
    MPI.COMM_WORLD.Barrier()
raise SystemExit(5 if MPI.COMM_WORLD.rank == 0 else 0)
"""


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_a_whole_launch_line(unisono: Run, tmp_path: Path, flavour: str) -> None:
    mpi = places.find_mpi(flavour)
    folder = tmp_path / "made" / "trace"
    line = [str(mpi.mpiexec), "-n", "2", sys.executable, "-c", PROGRAM]
    done = unisono(
        "trace", "--output", str(folder), "--", *line, **mpi.environment(), UNISONO_BARRIER="dissemination"
    )
    assert done.returncode == 5, done.stderr  # mpi4py finalizes all the same
    assert f"unisono: 2 of 2 ranks wrote 6 events to {folder}\n" in done.stderr
    trace = reader.read(folder)
    assert [list(rank.algorithms.values()) for rank in trace.ranks.values()] == [["dissemination"]] * 2


@pytest.mark.mpi
def test_natively(unisono: Run, tmp_path: Path) -> None:
    mpi = places.find_mpi("mpich")
    line = [str(mpi.mpiexec), "-n", "2", sys.executable, "-c", PROGRAM]
    folder = tmp_path / "trace"
    variables = mpi.environment() | {"UNISONO_BARRIER": "dissemination"}
    done = unisono("trace", "--native", "-o", str(folder), "--", *line, **variables)
    assert done.returncode == 5, done.stderr
    trace = reader.read(folder)
    assert trace.events == 6
    assert [rank.algorithms for rank in trace.ranks.values()] == [{}, {}]


@pytest.mark.mpi
def test_under_unisono_exec_calls_are_traced_once(unisono: Run, tmp_path: Path) -> None:
    mpi = places.find_mpi("mpich")
    line = [
        *(str(mpi.mpiexec), "-n", "2", str(places.program("unisono-exec"))),
        *(sys.executable, "-c", PROGRAM),
    ]
    done = unisono("trace", "-o", str(tmp_path / "trace"), "--", *line, **mpi.environment())
    assert "2 of 2 ranks wrote 6 events" in done.stderr


def test_the_status_is_the_commands(unisono: Run, tmp_path: Path) -> None:
    for script, status in (("exit 7", 7), ("kill -9 $$", 137), ("true", 0)):
        done = unisono("trace", "-o", str(tmp_path), "--", "sh", "-c", script)
        assert done.returncode == status
        assert done.stderr.startswith("unisono: no rank wrote a trace: ")
        assert done.stderr.count("\n") == 1


def test_a_launcher_that_fails_is_named(unisono: Run, tmp_path: Path) -> None:
    done = unisono("trace", "-o", str(tmp_path / "trace"), "--", "sh", "-c", "exit 3")
    assert done.returncode == 3
    assert done.stderr == "unisono: no rank wrote a trace: sh failed with status 3, as it says above\n"


def test_ctrl_c_is_the_commands_affair(tmp_path: Path) -> None:
    script = 'trap "exit 9" INT; touch ready; while :; do sleep 0.05; done'
    traced = subprocess.Popen(
        [sys.executable, "-m", "unisono.cli", "trace", "-o", "trace", "--", "sh", "-c", script],
        cwd=tmp_path,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "ready").exists() and traced.poll() is None:
        time.sleep(0.02)
    os.killpg(traced.pid, 2)
    _, said = traced.communicate(timeout=30)
    assert traced.returncode == 9
    assert said.startswith("unisono: no rank wrote a trace: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "used", "--", "true"], "used: it holds a trace already"),
        (["-o", "file", "--", "true"], "file: File exists"),
        (["-o", "new", "--", "no-such-program"], "no-such-program: no such program"),
    ],
)
def test_what_cannot_be_is_one_line(
    unisono: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("used").mkdir()
    Path("used/rank-00000.events").write_text("")
    Path("file").write_text("")
    done = unisono("trace", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_open_mpi_is_told_what_to_hand_on() -> None:
    added = {"LD_PRELOAD": "/x.so", "UNISONO_TRACE": "/t"}
    mpi = places.find_mpi("openmpi")
    names = launchers.handed_on(added | {"HOME": "/"})
    line = launchers.with_variables([str(mpi.mpiexec), "-n", "2", "a"], names)
    assert line == [str(mpi.mpiexec), "-x", "LD_PRELOAD", "-x", "UNISONO_TRACE", "-n", "2", "a"]
    line = launchers.with_variables(["env", "A=b", str(mpi.mpiexec), "a"], names)
    assert line == ["env", "A=b", str(mpi.mpiexec), "-x", "LD_PRELOAD", "-x", "UNISONO_TRACE", "a"]
    mpich = str(places.find_mpi("mpich").mpiexec)
    for other in ([mpich, "-n", "2", "a"], ["sh", "-c", "a"]):
        assert launchers.with_variables(other, names) == other


def test_what_is_preloaded_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = places.preload_library().resolve()
    monkeypatch.setenv("LD_PRELOAD", "/tool.so")
    assert launch.preloaded() == f"{stub}:/tool.so"
    monkeypatch.setenv("UNISONO_BUILD", "/nowhere")
    with pytest.raises(UnisonoError, match="is not built: run make"):
        launch.preloaded()
