"""A program between hosts with nothing set: what runs is read in the log, not timed."""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from test_lab import NAME, lab_marks, own_lab, up  # noqa: F401  (the fixture)
from unisono.core import places
from unisono.lab import network

pytestmark = lab_marks

CALLS = 10
PROGRAM = [sys.executable, str(Path(__file__).with_name("lab_unasked.py")), str(CALLS)]


def decisions(log: str) -> list[str]:
    """What ran the broadcasts, and why, in their order; a line for each that differs from the one before."""
    return re.findall(r"bcast of 512KB on 5 ranks: (\S+ \(.*\))", log)


def job(unisono: Run, mpi: str, **variables: str) -> str:
    done = unisono("lab", "run", "--mpi", mpi, "-n", "5", "--log", *PROGRAM, **variables)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    return done.stderr


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_long_broadcasts_are_safe_from_the_first_call_on(unisono: Run, mpi: str) -> None:
    up(hosts=5)
    [said] = decisions(job(unisono, mpi))
    assert re.fullmatch(r"chain:segment=\w+ \(online: safe\)", said)
    for variables in ({"UNISONO_ONLINE": "off"}, {"UNISONO": "fixed"}):
        assert decisions(job(unisono, mpi, **variables)) == [said.replace("online: ", "")]
    assert "unisono:" not in job(unisono, mpi, UNISONO="off")


@pytest.mark.parametrize("who", ["1", "14"])
def test_a_session_that_only_some_ranks_make(unisono: Run, who: str) -> None:
    """Every second job hung in MPI_Finalize, where the others waited for times that it no longer sent."""
    up(hosts=4)
    program = str(places.program("session_of_some_mpich"))
    for _ in range(3):
        done = unisono("lab", "run", "--mpi", "mpich", "-n", "4", "--", "timeout", "30", program, who)
        assert (done.returncode, done.stdout.strip()) == (0, "session_of_some: passed"), done.stderr


def kept_by(unisono: Run, mpi: str, folder: Path) -> Path:
    """The file of a job that was asked to measure what the network costs.

    Beside other work a job may find no answer, and then keeps none.
    """
    logs: list[str] = []
    for _ in range(4):
        logs.append(job(unisono, mpi, UNISONO="measure"))
        files = list((folder / "unisono").glob("*.json"))
        if files:
            [file] = files
            return file
    raise AssertionError("\n".join(["no job has kept anything", *logs]))


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_what_an_earlier_job_was_sure_of_leads(unisono: Run, tmp_path: Path, mpi: str) -> None:
    """To be sure of it takes some thousand calls: here it is written by hand."""
    up(hosts=5)
    [said] = decisions(job(unisono, mpi))
    arm = said.split()[0]
    file = kept_by(unisono, mpi, tmp_path)
    found = json.loads(file.read_text())
    call = {"collective": "bcast", "class": 39, "bytes": 512 << 10, "ranks": 5, "nodes": 5}
    times = dict.fromkeys(("seconds", "from_call_to_call"), 0.2)
    times |= dict.fromkeys(("native_seconds", "native_from_call_to_call"), 0.1)

    def remember(choice: str, other: str) -> None:
        verdict = {**call, **times, "choice": choice, "other": other, "when": int(time.time()) - 60}
        # Hosts of the lab share cores, unless there is one for each.
        verdicts = [verdict | {"ranks_per_core": shared} for shared in (0, 1)]
        file.write_text(json.dumps(found | {"verdicts": verdicts}))

    for choice in ("native", arm):
        remember(choice, arm)
        assert decisions(job(unisono, mpi))[0].startswith(f"{choice} (online: "), choice
    remember("native", arm)
    assert decisions(job(unisono, mpi, UNISONO="fixed")) == ["native (remembered)"]
    remember("native", "flat")
    assert decisions(job(unisono, mpi)) == [said], "the rule names another arm now"


def spoil_by_link(file: Path) -> None:
    file.rename(file.with_suffix(".kept"))
    file.symlink_to(file.with_suffix(".kept"))


def spoil_by_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def is_gone_or_good(file: Path) -> bool:
    """A pipe of before stays where a job could not measure, and keeps nothing."""
    try:
        return not file.is_file() or json.loads(file.read_text())["format"] == "unisono-memory"
    except (ValueError, RecursionError):
        return False


def test_a_spoiled_memory_is_measured_anew(unisono: Run, tmp_path: Path) -> None:
    up(hosts=5)
    file = kept_by(unisono, "openmpi", tmp_path)
    good = file.read_text()
    ways: list[Callable[[Path], object]] = [
        lambda path: path.write_text(good[: len(good) // 2]),
        lambda path: path.write_text(re.sub(r'"measured": \S+', '"measured": -1e999,', good)),
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
        logs: list[str] = []  # of more than one where a job could not measure on a busy machine
        while len(logs) < 4 and not (logs and is_gone_or_good(file)):
            logs.append(job(unisono, "openmpi", UNISONO_BCAST="chain:segment=auto"))
            assert logs[-1].count("all is measured anew") == 1, logs[-1]
        assert is_gone_or_good(file), logs


def test_another_network_is_noticed(unisono: Run, tmp_path: Path) -> None:
    """At a fiftieth of the rate; nothing that the key is made of has changed."""
    up(hosts=5)
    kept_by(unisono, "openmpi", tmp_path)
    network.down(NAME)
    up(hosts=5, rate=2_000_000)
    few = [*PROGRAM[:-1], "1"]
    for _ in range(4):
        done = unisono(
            *("lab", "run", "--mpi", "openmpi", "-n", "5", "--log", *few), UNISONO_BCAST="chain:segment=auto"
        )
        assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
        if "network: not measured" not in done.stderr:
            break
    assert "the network was another" in done.stderr, done.stderr
