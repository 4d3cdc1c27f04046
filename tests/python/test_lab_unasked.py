"""A program on a network that nobody has measured, with nothing set: what is chosen is counted by the log,
not timed. On 5 hosts native takes more than twice what a pipeline takes."""

import re
import sys
from pathlib import Path

import pytest
from conftest import Run
from test_lab import own_lab, pytestmark, up  # noqa: F401  (the fixture and the marks)

CALLS = 30
PROGRAM = [sys.executable, str(Path(__file__).with_name("lab_unasked.py")), str(CALLS)]


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
    done = unisono("lab", "run", "--mpi", "openmpi", "-n", "5", "--log", *PROGRAM, UNISONO_ONLINE="off")
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    assert "online" not in done.stderr
    assert "bcast of 512KB on 5 ranks: native (no better one known)" in done.stderr


def test_what_the_table_covers_stays_with_it(unisono: Run) -> None:
    """16 hosts at 100 Mb/s are the measured ones."""
    up(hosts=16)
    done = unisono("lab", "run", "--mpi", "openmpi", "-n", "16", "--log", *PROGRAM)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    assert re.search(r"bcast of 512KB on 16 ranks: \S+ \(docs/results/defaults.md\)", done.stderr), (
        done.stderr
    )
