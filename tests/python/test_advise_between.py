"""What lies between two calls: computing, other collectives, and what these use up."""

import json
from pathlib import Path

import numpy as np
import pytest
from traces import Writer
from unisono.advise import meanwhile, predict
from unisono.core import cost_model
from unisono.trace import reader
from unisono.trace.groups import Group, groups

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


ROOTED = 0.3


def gather_and_scatter(folder: Path, middle: str = "scatter") -> list[Group]:
    """The root is long in MPI_Gather, all others wait for it in MPI_Scatter; then all compute."""
    writer, now = Writer(folder, RANKS), 1.0
    others = RANKS - 1
    for _ in range(3):
        left = [now + ROOTED] + [now + 0.001] * others
        writer.call("gather", [now] * RANKS, left, SIZE, site=0x2000, root=0)
        now += ROOTED + 0.002
        writer.call(middle, left, [now] * RANKS, SIZE, site=0x3000, root=0 if middle == "scatter" else -1)
        now += COMPUTES
    return sorted(groups(reader.read(writer.write())), key=lambda group: group.kind.collective != "gather")


def test_whoever_waited_in_another_collective_leaves_it_sooner(tmp_path: Path) -> None:
    """Without the root's time in MPI_Gather nothing keeps the others but MPI_Scatter and computing."""
    gather, scatter = gather_and_scatter(tmp_path / "trace")
    done = meanwhile.after_call(gather, [gather, scatter], 0)
    last = 0.002 + COMPUTES
    assert done.after[0] == pytest.approx([last] * RANKS, abs=1e-6), "all wait for the root"
    assert done.after[1, 1] < 0.001 + last < ROOTED
    assert np.isneginf(done.after[1, 2:]).all(), "nobody waits for a leaf"
    assert done.computing == pytest.approx([0.0] * RANKS, abs=1e-6), "MPI_Scatter comes at once"
    back = meanwhile.after_call(scatter, [gather, scatter], 0)
    assert back.computing == pytest.approx([COMPUTES] * RANKS, abs=1e-6)
    assert back.after[3, 0] == pytest.approx(COMPUTES + ROOTED, abs=1e-6), "the root needs all"
    moved = {rank: (out, come) for rank, out, come, _ in back.traffic}
    assert moved[0] == (0, (RANKS - 1) * SIZE) and moved[1] == (SIZE, 0)
    ago = {rank: seconds for rank, _, _, seconds in back.traffic}
    assert ago[0] == pytest.approx(ROOTED, abs=1e-6), "all is there when MPI_Gather begins"
    assert ago[1] == pytest.approx(0.001, abs=1e-6), "and a leaf is in MPI_Scatter soon after"


def test_in_an_alltoall_everybody_waits_for_everybody(tmp_path: Path) -> None:
    gather, alltoall = gather_and_scatter(tmp_path / "trace", "alltoall")
    done = meanwhile.after_call(gather, [gather, alltoall], 0)
    assert np.isfinite(done.after).all()
    asked = predict.question(gather, ["flat"], [gather, alltoall])
    assert len(asked.waits[1]) == RANKS * (RANKS - 1)
    assert {tuple(moved[1:3]) for moved in asked.traffic[1]} == {((RANKS - 1) * SIZE, (RANKS - 1) * SIZE)}


def test_calls_between_come_in_the_order_of_each_rank(tmp_path: Path) -> None:
    """Rank 0 is late in the first: no clock tells their order, but rank 1's program does."""

    def between(ranks: list[int], begin: list[float]) -> meanwhile.Other:
        at = np.array(begin)
        return meanwhile.Other("barrier", np.array(ranks), -1, at, at + 1, 0.0 * at, ())

    first, second = between([0, 1], [9.0, 2.0]), between([1, 2], [4.0, 0.0])
    assert meanwhile.in_order(3, [second, first]) == [first, second]
    contrary = between([0, 1], [1.0, 5.0])  # before the first on rank 0, after it on rank 1
    assert meanwhile.in_order(3, [second, first, contrary]) == []
