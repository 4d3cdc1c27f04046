"""A program on a network that nobody has measured, with nothing set: what is chosen is counted by the log,
not timed. On 5 hosts native takes more than twice what a pipeline takes."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from test_lab import NAME, lab_marks, own_lab, up  # noqa: F401  (the fixture)
from unisono.core import places
from unisono.lab import network

# What the library measures of the network decides here.
pytestmark = [*lab_marks, pytest.mark.quiet]

CALLS = 30
TRIES = 6  # A job on a busy machine may measure badly, and then it rightly keeps nothing.
PROGRAM = [sys.executable, str(Path(__file__).with_name("lab_unasked.py")), str(CALLS)]
FEW_CALLS = [*PROGRAM[:-1], "4"]  # where the first decision is what counts


def report(log: str) -> tuple[str, int]:
    """Of the broadcasts: the last choice, and how many calls were learned from."""
    found = re.search(r"online: bcast of 512KB to \S+ on 5 ranks: (\S+); (\d+) calls", log)
    assert found, log
    return found[1], int(found[2])


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_long_broadcasts_end_on_a_better_algorithm(unisono: Run, mpi: str) -> None:
    up(hosts=5)
    done = unisono("lab", "run", "--mpi", mpi, "-n", "5", "--log", *PROGRAM)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    spec, calls = report(done.stderr)
    assert calls == CALLS
    assert spec != "native", done.stderr
    native = re.findall(r"bcast of 512KB on 5 ranks: native \((.*?)\)", done.stderr)
    assert native[0] == "online: native is timed"
    said = re.findall(
        r"bcast of 512KB on 5 ranks: (\S+) \(online: predicted \S+ \S+, native took", done.stderr
    )
    assert said, "the first arm was run because of its prediction"


def test_off_is_off(unisono: Run) -> None:
    up(hosts=5)
    done = unisono("lab", "run", "--mpi", "openmpi", "-n", "5", "--log", *FEW_CALLS, UNISONO_ONLINE="off")
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    assert "online" not in done.stderr
    assert "no better choices are known here" in done.stderr, done.stderr


@pytest.mark.parametrize("who", ["1", "14"])
def test_a_session_that_only_some_ranks_make(unisono: Run, who: str) -> None:
    """Every second job hung in MPI_Finalize, where the others waited for times that it no longer sent."""
    up(hosts=4)
    program = str(places.program("session_of_some_mpich"))
    for _ in range(3):
        done = unisono("lab", "run", "--mpi", "mpich", "-n", "4", "--", "timeout", "30", program, who)
        assert (done.returncode, done.stdout.strip()) == (0, "session_of_some: passed"), done.stderr


def decisions(log: str) -> list[str]:
    """Why the broadcasts ran as they did, in their order."""
    return re.findall(r"bcast of 512KB on 5 ranks: \S+ \((.*)\)", log)


def kept_by(unisono: Run, run: tuple[str, ...], folder: Path, part: str) -> Path:
    """The file of jobs that kept this part of what they found."""
    for _ in range(TRIES):
        done = unisono(*run)
        assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
        for file in (folder / "unisono").glob("*.json"):
            if json.loads(file.read_text()).get(part):
                return file
    pytest.fail(f"{TRIES} jobs kept no {part}")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_the_next_job_begins_with_what_the_last_one_found(unisono: Run, tmp_path: Path, mpi: str) -> None:
    up(hosts=5)
    run = ("lab", "run", "--mpi", mpi, "-n", "5", "--log", *PROGRAM)
    file = kept_by(unisono, run, tmp_path, "choices")
    good = file.read_text()
    [choice] = [one["choice"] for one in json.loads(good)["choices"]]

    fixed = unisono(*run, UNISONO="fixed")
    assert (fixed.returncode, fixed.stdout.strip()) == (0, "0"), fixed.stderr
    assert f"bcast of 512KB on 5 ranks: {choice} (remembered)" in fixed.stderr
    assert len(decisions(fixed.stderr)) == 1, "equal from call to call"
    assert "online" not in fixed.stderr

    off = unisono("lab", "run", "--mpi", mpi, "-n", "5", "--log", *FEW_CALLS, UNISONO="off")
    assert (off.returncode, off.stdout.strip()) == (0, "0"), off.stderr
    assert "unisono:" not in off.stderr
    assert file.read_text() == good

    for _ in range(TRIES):
        file.write_text(good)
        second = unisono(*run)
        assert (second.returncode, second.stdout.strip()) == (0, "0"), second.stderr
        if "the network was another" not in second.stderr:
            break
    assert decisions(second.stderr)[0].startswith("online: remembered, took"), second.stderr
    assert f"bcast of 512KB on 5 ranks: {choice} (online: remembered" in second.stderr


def spoil_by_link(file: Path) -> None:
    file.rename(file.with_suffix(".kept"))
    file.symlink_to(file.with_suffix(".kept"))


def spoil_by_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def test_a_spoiled_memory_is_measured_anew(unisono: Run, tmp_path: Path) -> None:
    up(hosts=5)
    run = ("lab", "run", "--mpi", "openmpi", "-n", "5", "--log", *PROGRAM)
    file = kept_by(unisono, run, tmp_path, "choices")
    good = file.read_text()
    ways: list[Callable[[Path], object]] = [
        lambda path: path.write_text(good[: len(good) // 2]),
        lambda path: path.write_text(re.sub(r'"native_seconds": \S+', '"native_seconds": -1e999,', good)),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.chmod(0o666),
        spoil_by_link,
        spoil_by_pipe,
    ]
    for spoil in ways:
        file.unlink(missing_ok=True)
        file.write_text(good)
        file.chmod(0o600)
        spoil(file)
        done = unisono("lab", "run", "--mpi", "openmpi", "-n", "5", "--log", *FEW_CALLS)
        assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
        assert done.stderr.count("all is measured anew") == 1, done.stderr
        assert decisions(done.stderr)[0] == "online: native is timed"
        # Good again, or gone where this job kept nothing.
        assert not file.exists() or json.loads(file.read_text())["format"] == "unisono-memory"


def test_another_network_is_noticed(unisono: Run, tmp_path: Path) -> None:
    """At a fifth of the rate; nothing that the key is made of has changed."""
    up(hosts=5)
    run = ("lab", "run", "--mpi", "openmpi", "-n", "5", "--log", *PROGRAM)
    kept_by(unisono, run, tmp_path, "machine")
    network.down(NAME)
    up(hosts=5, rate=20_000_000)
    done = unisono(*run)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    # By the greeting; where a busy machine measured a slow network before, by the times of the calls.
    assert not decisions(done.stderr)[-1].startswith("online: remembered"), done.stderr
