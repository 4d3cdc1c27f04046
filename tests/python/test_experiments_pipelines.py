"""Pipelining and overlapping: the paper's own numbers hold, each statement can fail, and so can each goal."""

import json
import math
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import harness
from experiments.pipelines import blocks, copies, figures, goals, measuring, paper, ports, stream, wire
from experiments.pipelines.blocks import Comparison, Curve
from experiments.pipelines.goals import GOALS, Goal
from experiments.pipelines.measuring import DEFAULT, LEFT, NATIVE, SUM, Point, in_rounds, points

KIB, MIB = 1 << 10, 1 << 20
BED = "lab, mpich"
NOISE = (0.999, 1.0, 1.001)  # of three rounds

Bandwidth = Callable[[str, str, int, int], float]


def times(seconds: float, spread: float = 1.0) -> dict[str, float]:
    return {f"figures {turn}": seconds * factor**spread for turn, factor in enumerate(NOISE)}


def as_the_paper_says(collective: str, arm: str, ranks: int, size: int) -> float:
    """MB/s, as section 5.1 describes the curves."""
    levels = math.ceil(math.log2(ranks))
    tree = 43.7 * 3 / levels
    pipeline = (150.0 if ranks == 2 else 103.9 - 2 * (ranks - 3)) * (1 - 2 * KIB / size)
    power = ranks & (ranks - 1) == 0
    if collective == "reduce":
        tree /= 2
    if collective == "scan":
        tree, pipeline = tree / 3, pipeline * 0.7
    if collective == "allreduce":
        tree, pipeline = tree / 3, pipeline / 2
        if arm == "rabenseifner":
            return 1.65 * tree if power and size >= 256 * KIB else pipeline * 1.2 if power else tree * 1.1
    return pipeline if arm == "chain" else tree


def made(bandwidth: Bandwidth = as_the_paper_says) -> list[Point]:
    found = []
    for collective, generic in paper.GENERIC.items():
        arms = [generic, "chain", *(["rabenseifner"] if collective == "allreduce" else [])]
        for ranks in range(2, 9):
            for size in (64 * KIB, 256 * KIB, MIB):
                own = {arm: times(size / bandwidth(collective, arm, ranks, size) / 1e6) for arm in arms}
                found.append(Point(BED, ranks, collective, size, SUM, own))
    return found


def answers(found: list[Point]) -> dict[str, bool | None]:
    return {check.claim: check.holds for check in paper.checks(found)}


def test_the_paper_s_own_curves_bear_out_what_it_says() -> None:
    found = answers(made())
    assert len(found) == 22
    assert [claim for claim, holds in found.items() if holds is not True] == []


CHANGES: dict[str, Callable[[float, str, str, int, int], float]] = {
    "slower with every level": lambda v, c, a, p, s: 50.0 if a == "binomial" and c == "bcast" else v,
    "twice the bandwidth of 3": lambda v, c, a, p, s: v * 2 if a == "binomial" and p == 2 else v,
    "half of the bandwidth of Bcast": lambda v, c, a, p, s: v * 2 if c == "reduce" else v,
    "Bcast: pipelined faster": lambda v, c, a, p, s: v / 9 if c == "bcast" and a == "chain" and p == 5 else v,
    "by more than 100 %": lambda v, c, a, p, s: v / 2 if c == "bcast" and a == "chain" else v,
    "2 processes: pipelined 10 %": lambda v, c, a, p, s: v / 1.05 if a == "chain" and p == 2 else v,
    "keep 90 %": lambda v, c, a, p, s: v / 2 if a == "chain" and p == 8 else v,
    "25 % less than 2": lambda v, c, a, p, s: v * 1.3 if a == "chain" and p > 2 else v,
    "grows with the length": lambda v, c, a, p, s: v / 2 if a == "chain" and s == MIB else v,
    "Reduce, 8 processes": lambda v, c, a, p, s: v / 2 if c == "reduce" and a == "chain" else v,
    "Scan, 8 processes": lambda v, c, a, p, s: v / 2 if c == "scan" and a == "chain" else v,
    "Reduce: pipelined faster": lambda v, c, a, p, s: v / 9 if c == "reduce" and a == "chain" else v,
    "Scan: pipelined faster": lambda v, c, a, p, s: v / 9 if c == "scan" and a == "chain" else v,
    "less bandwidth than Reduce": lambda v, c, a, p, s: v * 1.3 if c == "scan" and a == "chain" else v,
    "generic: takes as long": lambda v, c, a, p, s: v * 2 if a == "reduce_bcast" else v,
    "pipelined: takes as long": lambda v, c, a, p, s: v * 2 if c == "allreduce" and a == "chain" else v,
    "2^n processes: twice": lambda v, c, a, p, s: v / 2 if a == "rabenseifner" else v,
    "at most 30 % faster": lambda v, c, a, p, s: v * 2 if a == "rabenseifner" else v,
    "from 256K on: pipelined faster": lambda v, c, a, p, s: v * 9 if a == "rabenseifner" else v,
    "shorter: Rabenseifner faster": lambda v, c, a, p, s: v / 9 if a == "rabenseifner" else v,
    "pipelined always faster": lambda v, c, a, p, s: v * 9 if a == "rabenseifner" else v,
    "up to twice as fast": lambda v, c, a, p, s: v * 9 if a == "rabenseifner" else v,
}


@pytest.mark.parametrize("claim", CHANGES)
def test_each_statement_can_fail(claim: str) -> None:
    change = CHANGES[claim]
    found = answers(made(lambda c, a, p, s: change(as_the_paper_says(c, a, p, s), c, a, p, s)))
    (holds,) = [answer for text, answer in found.items() if claim in text]
    assert holds is False


def test_two_rounds_that_differ_decide_nothing_and_nothing_is_said_of_nothing() -> None:
    draw = random.Random(4)
    wide = made()
    for point in wide:
        for own in point.times.values():
            del own["figures 2"]
            own["figures 1"] *= draw.uniform(0.2, 5)
    assert set(answers(wide).values()) == {None}
    assert paper.checks([]) == []


def goal(op: str = SUM, most: float = 1.08, native: float = 0) -> Goal:
    return Goal("bcast", MIB, most, ("chain", "circulant"), op, native)


def at(over_wire: float, spread: float = 1.0, arm: str = "circulant") -> Point:
    seconds = over_wire * wire.seconds("bcast", MIB, 16, 1e8)
    return Point(BED, 16, "bcast", MIB, SUM, {"chain": times(9 * seconds), arm: times(seconds, spread)})


def test_a_goal_is_judged_by_the_fastest_arm_and_its_interval() -> None:
    assert [c.holds for c in goals.judged(goal(), at(1.06), 1e8)] == [True]
    assert [c.holds for c in goals.judged(goal(), at(1.10), 1e8)] == [False]
    assert [c.holds for c in goals.judged(goal(), at(1.075, 9.0), 1e8)] == [None]
    assert "circulant 1.060" in goals.judged(goal(), at(1.06), 1e8)[0].numbers
    assert [c.holds for c in goals.judged(goal(), at(0.5, arm="another"), 1e8)] == [False]  # chain's 4.5


def test_a_goal_over_the_library_s_own() -> None:
    point = at(1.0)
    assert goals.judged(goal(native=5), point, 1e8) == []
    point.times[NATIVE] = times(6 * wire.seconds("bcast", MIB, 16, 1e8))
    assert [c.holds for c in goals.judged(goal(native=5), point, 1e8)] == [True]
    assert [c.holds for c in goals.judged(goal(native=7), point, 1e8)] == [False]


def test_every_goal_has_its_arms_in_a_job() -> None:
    plans = {plan.name: plan for plan in goals.plans(16)}
    assert set(plans) == {"goals sum", "goals sum long", "goals left", "goals left long"}
    for one in GOALS:
        plan = plans[f"goals {one.op}{' long' if one.bytes > MIB else ''}"]
        (arms,) = [a for name, size, a in plan.cells if name == one.collective and size == str(one.bytes)]
        assert set(one.arms) <= set(arms)
        assert not one.times_native or arms[0] == NATIVE
        assert plan.op == one.op
    assert plans["goals left"].arguments()[-3:-1] == ["--op", LEFT]


def copied(allreduce: float, spread: float = 1.0) -> list[Point]:
    """On a node: Bcast takes 1, and Allreduce so much."""
    seconds = {"bcast": times(1.0), "allreduce": times(allreduce, spread)}
    return [Point("node", 2, name, MIB, SUM, {DEFAULT: own}) for name, own in seconds.items()]


def test_reductions_beside_the_copies_that_they_cannot_do_without() -> None:
    assert [check.holds for check in copies.checks(copied(2.9))] == [True]
    assert [check.holds for check in copies.checks(copied(3.1))] == [False]
    assert [check.holds for check in copies.checks(copied(3.0, 9.0))] == [None]
    assert any("| allreduce | 1M | 2.90" in line for line in copies.copy_table(copied(2.9)))
    assert copies.checks(copied(2.9)[1:]) == []  # no Bcast beside it


def test_on_a_node_messages_go_through_its_memory() -> None:
    arms = figures.arms_of("bcast", False)
    assert set(arms) == {NATIVE, DEFAULT, *(f"{a}:transport=shm" for a in ("binomial", "chain", "circulant"))}
    (point,) = figures.by_algorithm([Point("node", 2, "bcast", MIB, SUM, {arm: times(1.0) for arm in arms})])
    assert set(point.times) == set(figures.ARMS["bcast"])


def test_what_ports_carry_beside_the_time() -> None:
    shaper = "qdisc tbf 1: root refcnt 3 rate 100Mbit\n Sent 1497702785 bytes 1170645 pkt (dropped 0)\n"
    assert ports.SENT.findall("qdisc noqueue 0: root\n Sent 7 bytes 1 pkt\n" + shaper) == ["1497702785"]
    one = {"bed": BED, "ranks": 16, "collective": "bcast", "bytes": MIB, "arm": "chain"}
    one |= {"seconds": [9.0, 1.06 * MIB * 8 / 1e8, 0.001], "port_bytes": [10.0, 1.05 * MIB + 7]}
    one |= {"drain_bytes": [10.0, 7.0]}
    page = ports.page([one], {BED: {"bits_per_second": 1e8}})
    assert "| mpich | bcast | chain | 1.050 | 0.525 | 1.060 | 1.010 |" in page


def job(turn: int, **arms: list[float]) -> dict[str, Any]:
    cell = {"collective": "bcast", "bytes": MIB, "arms": arms}
    return {
        "bed": BED, "ranks": 16, "name": "figures", "round": turn, "op": SUM, "nodes": 16, "cores": 2,
        "cells": [cell],
    }  # fmt: skip


def test_ratios_are_of_the_same_jobs() -> None:
    (point,) = points([job(0, chain=[1.0, 2.0, 9.0], binomial=[4.0]), job(1, chain=[20.0])])
    assert point.times["chain"] == {"figures 0": 2.0, "figures 1": 20.0}
    ratio = point.ratio("binomial", "chain")
    assert ratio and ratio.value == pytest.approx(2.0)
    assert ratio.text() == "2.00"  # of one round there is no interval
    assert point.ratio("binomial", "native") is None
    assert point.best(["chain", "binomial"]) == "binomial"
    assert figures.crowded([job(0)]) == set()
    assert figures.crowded([{**job(0), "nodes": 1}]) == {16}


def test_no_round_begins_that_would_end_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def one(turn: int) -> Any:
        clock[0] += 60
        yield {"round": turn}

    assert len(list(in_rounds(one, 9, 3.5))) == 3
    assert len(list(in_rounds(one, 9, 0.1))) == 2
    assert len(list(in_rounds(one, 4, 99))) == 4


def test_the_wire() -> None:
    assert wire.seconds("bcast", MIB, 16, 1e8) == pytest.approx(0.0839, rel=1e-3)
    assert wire.seconds("allreduce", MIB, 16, 1e8) == pytest.approx(0.1573, rel=1e-3)
    assert wire.seconds("reduce_scatter", 16 * KIB, 16, 8.0) == 15 * KIB


LEVELS = ("one_way", "gap", "exchange")


def machine() -> dict[str, Any]:
    lines = [
        {"from_bytes": 0, "alpha_s": 1e-5, "beta_s_per_byte": 1e-9},
        {"from_bytes": 2048, "alpha_s": -1e-4, "beta_s_per_byte": 9e-8},
    ]
    return {"levels": {"between_nodes": {name: [dict(line) for line in lines] for name in LEVELS}}}


def test_a_machine_at_the_line_is_never_faster_than_it() -> None:
    changed = blocks.at_the_line(machine(), 1e8)["levels"]["between_nodes"]["gap"]
    assert [line["alpha_s"] for line in changed] == [1e-5, 1e-5]
    assert [line["beta_s_per_byte"] for line in changed] == pytest.approx([8e-8 * wire.TCP, 9e-8])
    assert blocks.at_the_line(machine(), None) == machine()
    later = blocks.delayed(machine(), 1e-6)["levels"]["between_nodes"]["one_way"]
    assert [line["alpha_s"] for line in later] == pytest.approx([1.1e-5, -9.9e-5])


def comparison(predicted: dict[int, float], measured: dict[int, float]) -> Comparison:
    own = {blocks.chain(block): times(seconds) for block, seconds in measured.items()}
    return Comparison(Point(BED, 8, "bcast", MIB, SUM, own), predicted, predicted)


def test_the_model_s_best_block_is_judged_by_its_time() -> None:
    measured = {4096: 1.01, 8192: 1.0, 16384: 1.2}
    good = comparison({4096: 0.9, 8192: 1.1, 16384: 1.3}, measured)
    assert (good.best_predicted, good.best_measured) == (4096, 8192)
    assert [check.holds for check in good.check()] == [True]
    assert sorted(good.errors(good.seconds)) == pytest.approx([0.1 / 1.2, 0.1, 0.11 / 1.01], rel=1e-3)
    bad = comparison({4096: 0.9, 8192: 1.1, 16384: 0.8}, measured)
    assert [check.holds for check in bad.check()] == [False]
    curve = Curve("P = 8", {1024: 2.0, 2048: 1.0, 4096: 1.05})
    assert (curve.best, curve.near_best(1.10)) == (2048, [2048, 4096])


def test_equation_2_with_the_paper_s_parameters() -> None:
    assert all(check.holds for check in blocks.paper_checks())
    assert paper.Sci().pcast(8, MIB, 8 << 10) == pytest.approx((8 + 128) * (35e-6 + 8192 / 250e6))


def series(arm: str, turn: int, seconds: float, late: float) -> dict[str, Any]:
    kinds = [
        {"changing": changing, "late": is_late, "seconds": [late if is_late else seconds]}
        for is_late in (False, True)
        for changing in (False, True)
    ]
    return {
        "bed": BED, "arm": arm, "round": turn, "ranks": 16, "bytes": 64 * KIB, "calls": 50, "late_ms": 50,
        "wrong": 0, "kinds": kinds,
    }  # fmt: skip


def streams(over_wire: float, late: float) -> list[bool | None]:
    unit = 50 * wire.seconds("bcast", 64 * KIB, 16, 1e8)
    jobs = [
        series(arm, turn, slow * over_wire * unit * noise, slow * over_wire * unit * noise * late + 0.05)
        for arm, slow in ((NATIVE, 0.5), ("chain", 1.0), ("flat", 3.0))
        for turn, noise in enumerate(NOISE)
    ]
    found = stream.times(jobs, {BED: {"bits_per_second": 1e8}})
    return [check.holds for check in stream.checks(found, BED)]


def test_calls_in_a_row() -> None:
    assert streams(1.0, 1.05) == [True] * 4
    assert streams(1.05, 1.05) == [True, True, False, True]  # of 50 changing roots each takes 47 at least
    assert streams(1.5, 1.05) == [False, True] * 2
    assert streams(1.0, 1.2) == [True, False] * 2
    with pytest.raises(UnisonoError, match="3 wrong bytes"):
        stream.times([{**series("chain", 0, 1.0, 1.0), "wrong": 3}], {BED: {}})


def test_what_was_measured_is_evaluated_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "rounds_of", lambda points: [{"chain": 1.5} for _ in points])
    monkeypatch.setattr(harness, "PICTURES", harness.ROOT / "build" / "tests")
    kept, page = tmp_path / "f.json", tmp_path / "page.md"
    jobs = [job(turn, chain=[0.1], binomial=[0.4], native=[0.3]) for turn in range(3)]
    beds = {BED: {"kind": "lab", "bits_per_second": 1e8}}
    write_json(measuring.document(figures.EXPERIMENT, beds, jobs), kept)
    assert len(json.loads(kept.read_text())["results"]) == 3
    assert figures.main(["--report", str(kept), "--markdown", str(page)]) == 0
    # 1 MiB in 0.1 s, 1.19 times the wire; four times as fast as the tree.
    assert (
        "| 1M | 16 | 3.5 (3.58) | 2.62 (4.77) | 10.5 (1.19) | 4.00 (4.00 to 4.00) |  | 1.50 |"
        in page.read_text()
    )
    with pytest.raises(UnisonoError, match="holds no results of pipelines-stream"):
        stream.main(["--report", str(kept)])
