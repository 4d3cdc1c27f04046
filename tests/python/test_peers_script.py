"""scripts/peers.py: which peer is the best, and what a job that failed does to the figures."""

from pathlib import Path

import pytest

from scripts import kinds_in_lab, peers
from scripts.kinds_in_lab import Cell, Hosts, Round

CELL = Cell("all", Hosts(3), "100mbit", 10, 10)


def a_round(number: int, seconds: dict[str, float], failed: dict[str, str] | None = None) -> Round:
    arms = {arm: {"bcast": {"seconds": took, "calls": 10}} for arm, took in seconds.items()}
    return {"number": number, "failed": failed or {}, **arms}


def test_the_best_peer_is_the_one_with_the_least_median() -> None:
    rounds = [
        a_round(0, {"MPICH": 1, "Open MPI": 4, "Unisono, MPICH": 1}),
        a_round(1, {"MPICH": 9, "Open MPI": 4, "Unisono, MPICH": 2}),
        a_round(2, {"MPICH": 9, "Open MPI": 4, "Unisono, MPICH": 3}),
    ]
    (row,) = peers.rows_of(CELL, rounds)
    assert row.best_peer == "Open MPI"
    assert row.over_best("Unisono, MPICH") == pytest.approx(2)


def test_what_failed_is_no_time(tmp_path: Path) -> None:
    rounds = [a_round(0, {"Unisono, MPICH": 1}, {"MPICH": "it did"}), a_round(1, {"MPICH": 2})]
    (row,) = peers.rows_of(CELL, rounds)
    assert row.seconds == {"MPICH": pytest.approx(0.2), "Unisono, MPICH": pytest.approx(0.1)}
    assert peers.rows_of(CELL, rounds[:1]) == []
    kinds_in_lab.write(kinds_in_lab.file_of(CELL, tmp_path), CELL, rounds)
    assert "Unisono, MPICH: 2.00 times as fast" in "\n".join(peers.report(tmp_path))
