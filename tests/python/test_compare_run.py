"""unisono compare as a user starts it, on two ranks of this node."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import COMMAND, Run
from unisono.compare import results
from unisono.core import errors

SMALL = ["--node", "-n", "2", "--passes", "1", "--budget", "0.02"]


@pytest.mark.mpi
def test_both_mpi_libraries(unisono: Run, tmp_path: Path) -> None:
    file, html = tmp_path / "c.json", tmp_path / "c.html"
    matrix = ["--collectives", "bcast,reduce_scatter_block", "--sizes", "8,4K", "--arms", "default,chain"]
    done = unisono("compare", *SMALL, *matrix, "--json", str(file), "--html", str(html))
    assert done.returncode == 0, done.stderr + done.stdout
    comparison = results.load(file)
    assert len(comparison.cells) == comparison.planned == 8
    assert not comparison.failures
    assert {cell.point.setting.mpi for cell in comparison.cells} == {"mpich", "openmpi"}
    for cell in comparison.cells:
        expected = {"bcast": ["native", "default", "chain"], "reduce_scatter_block": ["native", "default"]}
        assert [arm.name for arm in cell.arms] == expected[cell.point.collective]
        assert cell.limit_us is not None
        for arm in cell.arms:
            assert arm.correct
            assert arm.time_us is not None
            assert len(arm.quantiles_us) == 5
    assert {machine["ranks"] for machine in comparison.machines} == {2}
    assert html.read_text().count("<svg") == 4

    again = unisono("compare", "--from", str(file), "--against", str(file))
    assert again.returncode == 0, again.stderr
    assert "12 cells in both, 0 surely changed" in again.stdout
    assert again.stdout.startswith(done.stdout[: done.stdout.index("\n")])


@pytest.mark.mpi
def test_all_patterns(unisono: Run, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    matrix = ["--mpi", "mpich", "--collectives", "bcast,allreduce", "--sizes", "8"]
    done = unisono("compare", *SMALL, *matrix, "--pattern", "all", "--json", str(file))
    assert done.returncode == 0, done.stderr + done.stdout
    comparison = results.load(file)
    assert len(comparison.cells) == comparison.planned == 8
    assert comparison.patterns() == ["barrier", "loop", "sleep", "compute"]
    assert "surely slower than native in at least one of 4 patterns" in done.stdout
    wrong = unisono("compare", *SMALL, *matrix, "--pattern", "nap")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "--pattern nap: valid are all, barrier, loop, sleep, compute" in wrong.stderr


@pytest.mark.mpi
def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    command = [
        *COMMAND,
        "compare",
        *SMALL[:-2],
        "--mpi",
        "mpich",
        "--json",
        str(file),
    ]
    command += ["--collectives", "barrier,bcast", "--sizes", "8", "--budget", "4"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:  # written when the first job is done
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "interrupted: 1 of 2 cells were measured" in output
    body = json.loads(file.read_text())
    assert body["interrupted"]
    assert [cell["collective"] for cell in body["cells"]] == ["barrier"]
    assert not Path(f"{file}.part").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mpi", "lam"], "--mpi lam: valid are mpich, openmpi, intel, "),
        (["-n", "2,x"], "-n 2,x: write numbers of ranks"),
        (["--collectives", "bcats"], "--collectives bcats: no such collective; valid: all, barrier"),
        (["--sizes", "many"], "--sizes many: no size"),
        (["--block-sizes", "8:"], "--block-sizes 8:: write FIRST:LAST"),
        (["--arms", "chian"], "--arms chian: no algorithm of bcast"),
        (["--arms", "native"], "--arms: nothing to compare with native"),
        (["--ppn", "1", "-n", "4"], "--ppn is for --lab"),
        (["--json", "/no/such/place/x.json"], "/no/such/place/x.json: there is no such directory"),
        (["--html", "/proc/x.html"], "/proc/x.html: cannot be written: "),
        (["--html", "/proc"], "/proc: is a folder: name a file in it"),
        (["--from", "x", "-n", "4"], "-n is for measuring: --from shows all that its file holds"),
        (["--from", "/no/such/file"], "/no/such/file: No such file or directory"),
    ],
)
def test_mistakes_end_in_one_clear_line(unisono: Run, arguments: list[str], message: str) -> None:
    done = unisono("compare", *arguments)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_without_a_lab_it_says_so(unisono: Run) -> None:
    done = unisono("compare", "--lab", UNISONO_LAB="none-of-that-name")
    assert done.returncode == errors.SETUP
    assert "no lab is up" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.mpi
def test_settings_of_unisono_are_named(unisono: Run, tmp_path: Path) -> None:
    arguments = [*SMALL, "--mpi", "mpich", "--collectives", "barrier", "--json", str(tmp_path / "c.json")]
    done = unisono(
        "compare", *arguments, UNISONO_WAIT="yield", UNISONO_LAB=os.environ.get("UNISONO_LAB", "x")
    )
    assert "with UNISONO_WAIT=yield" in done.stdout
    assert "UNISONO_LAB" not in done.stdout
