"""The pages that hold predictions to what was run: what they count, on cases that are known by hand."""

import random
from dataclasses import replace

import pytest

from experiments.advice import drift
from experiments.advice import page as advice
from experiments.whatif import page as whatif

CELL = advice.Cell(
    "8 hosts", "mpich", "is", "bcast", 8, (1.0, 2.0, 3.0), "ring", 0.5, -0.1, 1.0, (0.4, 0.5, 0.6), 0.5
)


def rows(lines: list[str]) -> dict[str, list[str]]:
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    return {name: others for name, *others in cells}


def test_what_is_measurable_and_what_is_worth_a_choice() -> None:
    """The advice was sure of a loss; two of three rounds gain. Another gains surely, but little."""
    mixed = replace(CELL, predicted=-0.5, low=-1.0, high=-0.1, measured=(-0.1, 0.2, 0.3))
    assert (mixed.is_sure, mixed.verdict) == (False, "not measurable")
    wrong = replace(mixed, measured=(0.1, 0.2, 0.3))
    assert (wrong.is_sure, wrong.is_right, wrong.verdict) == (True, False, "wrong")
    little = replace(CELL, measured=(0.01, 0.02, 0.03))
    assert (little.is_sure, little.is_large, wrong.is_large) == (True, False, True)
    found = rows(advice.verdict([CELL, mixed, wrong, little]))
    assert found["sign right in 95 % of what is measurable"] == ["2 of 3 (67 %)", "0 of 3 (0 %)", "**no**"]
    assert found["sign right in 95 % of what is measurable and beyond 2% of native"][0] == "1 of 2 (50 %)"
    assert found["the measured gain is one that was thought possible"] == ["2 of 4 (50 %)", "", ""]


def test_whoever_always_says_that_algorithms_lose_stands_beside() -> None:
    loses = replace(CELL, measured=(-0.4, -0.5, -0.6))
    found = rows(advice.verdict([CELL, loses, replace(loses, predicted=-0.5)]))
    assert found["sign right in 95 % of what is measurable"] == ["2 of 3 (67 %)", "2 of 3 (67 %)", "**no**"]
    assert advice.signs("nothing was shown", [])[-1] == "**no**"


def test_few_that_are_right_show_little() -> None:
    decided = replace(CELL, low=0.1)
    said = advice.how_much_it_shows([decided, decided, CELL, replace(CELL, measured=(-0.1, -0.2))])
    assert "by 2 algorithms for 1 collectives. With 2 of them right a share of 22 % is still" in said
    gains = [decided, replace(decided, measured=(-0.1, 0.2)), replace(decided, measured=(-0.1, -0.2))]
    said = advice.how_much_it_shows([*gains, CELL])
    assert "Of 3 algorithms it says that they gain. 1 of them gained in all rounds, 1 lost in all;" in said


def test_two_algorithms_of_one_collective_are_in_order_where_all_rounds_say_so() -> None:
    slower = replace(CELL, algorithm="chain", predicted=0.3, measured=(0.1, 0.2, 0.3))
    mixed = replace(CELL, algorithm="flat", predicted=0.1, measured=(0.5, 0.1, 0.7))
    elsewhere = replace(slower, application="ft", predicted=0.9)
    assert advice.in_order([CELL, slower, mixed, elsewhere]) == "1 of 1 (100 %)"
    assert advice.in_order([CELL, replace(slower, predicted=0.9)]) == "0 of 1 (0 %)"


def test_in_the_lab_all_rounds_must_agree_on_who_is_faster() -> None:
    arm: dict[str, object] = {"algorithm": "ring", "predicted": 0.5, "measured": [0.8, 0.9, 1.1]}
    wrong = {**arm, "algorithm": "chain", "measured": [1.2, 1.1, 1.3]}
    right = {**arm, "algorithm": "flat", "predicted": 1.4, "measured": [1.2, 1.1, 1.3]}
    nothing: dict[str, object] = {**arm, "algorithm": "pair", "predicted": 1.0, "measured": [0.8, 0.9]}
    cell: dict[str, object] = {
        "application": "ft",
        "collective": "bcast",
        "arms": [arm, wrong, right, nothing],
    }
    cell |= {"predicted_native_s": 0.2, "native_s": [0.09, 0.1, 0.11]}
    body = {"mpi": "mpich", "traced_ranks": 4, "ranks": 8, "cells": [cell]}
    text = "\n".join(whatif.in_lab([body]))
    assert "All rounds agree on who is faster for 3; of 1 of these the prediction said so. " in text
    assert "says of all that native is faster is right for 2." in text
    assert "3 of these differ from native by more than 2 %: of 1 it said so, of 1 the opposite," in text
    assert "within 5 % in 0 of 1 cases; they are 2.00 to 2.00 times" in text
    assert [line.rsplit("|")[-2].strip() for line in text.splitlines() if "| `" in line] == [
        "not measurable",
        "wrong",
        "right",
        "wrong",
    ]


def test_ratios_do_not_hide_seconds() -> None:
    case = {"predicted_native_seconds": 1.0, "native_seconds": 1.02, "program": "near", "runs": []}
    run = {"predicted_seconds": 1.0, "measured_seconds": 1.0}
    far = {"predicted_native_seconds": 1.0, "native_seconds": 2.0, "program": "far"}
    (line,) = whatif.seconds_off(
        [{**case, "runs": [run]}, {**far, "runs": [{**run, "measured_seconds": 1.25}]}]
    )
    assert "within 5 % in 1 of 2 cases" in line
    assert "The worst is `far`: -50 %" in line
    assert "up to 20 % off" in line


def test_other_ways_to_count() -> None:
    """Of the algorithms for one collective the worst by the model is left out; gains over native's time."""
    worse = replace(CELL, algorithm="chain", predicted=-0.5)
    alone = replace(CELL, collective="reduce")
    assert advice.without_worst([CELL, worse, alone]) == [CELL]
    relative = advice.over_native(replace(CELL, predicted=1.0, measured=(1.0, 1.0, 1.0)))
    assert relative.predicted == 0.5 and relative.measured == (1.0, 0.5, 1 / 3)
    low, high = advice.drawn([CELL, worse, replace(alone, predicted=0.1, measured=(-0.4, -0.5, -0.6))])
    assert -1 <= low <= high <= 1


@pytest.mark.parametrize(("waits_for_sends", "stay_together"), [(True, True), (False, False)])
def test_ranks_drift_where_sends_complete_at_once(waits_for_sends: bool, stay_together: bool) -> None:
    """A tenth of a call apart, they come together again or get ever further apart (docs/adr/0046)."""
    message = 0.03
    pairs = [[(rank ^ k, rank ^ k, message) for k in range(1, 4)] for rank in range(4)]
    program = drift.Program(4, pairs.__getitem__, 0.008, waits_for_sends)
    figures = program.run(0.01, random.Random(1))
    apart, took = figures[-1]
    assert figures[0][0] > 0.005
    assert (apart < drift.JITTER) == stay_together
    assert (took < 1.01 * 3 * message) == stay_together
