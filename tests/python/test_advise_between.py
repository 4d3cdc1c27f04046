"""What lies between two calls: computing, other collectives, and what these use up."""

import json
from pathlib import Path

import numpy as np
import pytest
from traces import Writer
from unisono.advise import meanwhile
from unisono.core import cost_model
from unisono.trace import reader
from unisono.trace.groups import groups

RANKS, COMPUTES = 8, 0.01
SIZE, ALPHA, BETA = 100_000, 1e-5, 1e-7


def test_a_rank_computes_until_its_first_other_call_and_waits_for_that_calls_root(tmp_path: Path) -> None:
    writer, now = Writer(tmp_path / "trace", RANKS), 1.0
    for _ in range(3):
        writer.call("allreduce", [now] * RANKS, [now + 0.1] * RANKS, 8, site=0x2000)
        now += 0.1
        for number in (1, 2):
            now += number * COMPUTES
            writer.call("bcast", [now] * RANKS, [now + 0.001] * RANKS, 8, site=0x3000, root=2)
            now += 0.001
    found = sorted(groups(reader.read(writer.write())), key=lambda group: group.kind.collective)
    done = meanwhile.after_call(found[0], found, 0)
    assert done.computing == pytest.approx([COMPUTES] * RANKS, abs=1e-6)
    assert done.after[2] == pytest.approx([3 * COMPUTES + 0.002] * RANKS, abs=1e-6)
    assert np.isneginf(done.after[0, 1:]).all(), "nobody waits for rank 0"


def test_nobody_begins_later_than_its_call_ends() -> None:
    """By the clocks rank 1 left the barrier before rank 0 was there."""
    at, left = np.array([1.0, 0.0]), np.array([1.1, 0.9])
    barrier = meanwhile.Other("barrier", np.array([0, 1]), -1, at, left, np.zeros(2), ())
    assert barrier.began == pytest.approx([1.0, 0.9])


def test_what_has_just_passed_a_port_has_used_up_its_credit(tmp_path: Path) -> None:
    credit = 1.5 * SIZE
    line = [{"from_bytes": 0, "alpha_s": ALPHA, "beta_s_per_byte": BETA}]
    level = {"one_way": line, "gap": line, "exchange": [], "active": 1}
    body = {
        **{"format": "unisono-machine", "version": 1, "mpi": {"flavour": "mpich", "library": "by hand"}},
        **{"levels": {"between_nodes": level}, "reduce_s_per_byte": 0.0, "copy_s_per_byte": 0.0},
        "credit_bytes": credit,
    }
    costs = tmp_path / "machine.json"
    costs.write_text(json.dumps(body))

    def seconds(*traffic: tuple[int, int, int, float]) -> float:
        job = cost_model.Job("bcast", 2, 2, SIZE, ["flat"], delays=[[1.0, 1.0]], traffic=[list(traffic)])
        [[told]] = cost_model.predict(costs, [job])
        return told.exits[0][1] - told.arrivals[0][1]

    both = 2 * (ALPHA + BETA * SIZE)
    assert seconds() == pytest.approx(ALPHA)
    assert seconds((0, SIZE, 0, 0.0)) == pytest.approx(both - BETA * credit)
    assert seconds((1, 0, SIZE, 0.0)) == pytest.approx(both - BETA * credit)
    assert seconds((0, 0, SIZE, 0.0)) == pytest.approx(ALPHA), "the other way"
    assert seconds((0, SIZE, 0, 0.5)) == pytest.approx(ALPHA), "long ago"
