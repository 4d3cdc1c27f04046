"""scripts/kinds_simulated.py: what is compared with what."""

import json

import pytest

from scripts import kinds_simulated


def a_run(name: str, seconds: float, is_peer: bool = True, problem: str = "") -> dict[str, object]:
    output = json.dumps({"collective": "bcast", "seconds": seconds})
    return {"run": name, "is_peer": is_peer, "problem": problem, "output": f"said before\n{output}\n"}


def test_the_best_imitation_is_what_is_compared_with() -> None:
    runs = [a_run("ompi", 0.8), a_run("mpich", 0.4), a_run("impi", 0.1, problem="it failed")]
    document = {"ranks": 32, "rate": "100mbit", "calls": 2, "runs": [*runs, a_run("unisono", 0.2, False)]}
    (row,) = kinds_simulated.rows_of(document)
    assert row.best_peer == "mpich"
    assert row.seconds == pytest.approx({"ompi": 0.4, "mpich": 0.2, "unisono": 0.1})
    assert row.over_best("unisono") == pytest.approx(2)
    assert kinds_simulated.over_wire(row) == pytest.approx(0.1 / ((512 << 10) * 8 / (100e6 * 1448 / 1514)))


def test_without_a_run_of_unisono_there_is_no_row() -> None:
    document = {"ranks": 32, "rate": "100mbit", "calls": 2, "runs": [a_run("ompi", 0.8)]}
    assert kinds_simulated.rows_of(document) == []
