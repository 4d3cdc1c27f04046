"""The pages that hold predictions to what was run: what they count, on cases that are known by hand."""

from dataclasses import replace

from experiments.advice import page as advice
from experiments.whatif import page as whatif

CELL = advice.Cell("mpich", "is", "bcast", 8, (1.0, 2.0, 3.0), "ring", 0.5, -0.1, 1.0, (0.4, 0.5, 0.6), 0.5)


def rows(lines: list[str]) -> dict[str, list[str]]:
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    return {name: others for name, *others in cells}


def test_without_the_first_round_another_sign_is_measurable() -> None:
    """All but the first round gain, and the advice was sure of a loss."""
    cell = replace(CELL, predicted=-0.5, low=-1.0, high=-0.1, measured=(-0.1, 0.2, 0.3))
    assert not cell.is_sure
    (without,) = advice.later([cell])
    assert (without.is_sure, without.is_right, without.verdict) == (True, False, "wrong")
    found = rows(advice.verdict([CELL, cell]))
    assert found["sign right in 95 % of what is measurable"] == ["1 of 1 (100 %)", "yes"]
    assert found["sign right in 95 % of what is measurable, without the first round"] == [
        "1 of 2 (50 %)",
        "**no**",
    ]
    assert found["the same where the advice decides"] == ["0 of 0", "**no**"], "nothing was shown"
    assert found["the measured gain is one that was thought possible"] == ["1 of 2 (50 %)", ""]


def test_few_that_are_right_show_little() -> None:
    decided = replace(CELL, low=0.1)
    said = advice.how_much_it_shows([decided, decided, CELL, replace(CELL, measured=(-0.1, -0.2))])
    assert "by 2 algorithms for 1 collectives. With 2 of them right a share of 22 % is still" in said
    assert "3 of 4 (75 %) are gains" in said


def test_two_algorithms_of_one_collective_are_in_order_where_all_rounds_say_so() -> None:
    slower = replace(CELL, algorithm="chain", predicted=0.3, measured=(0.1, 0.2, 0.3))
    mixed = replace(CELL, algorithm="flat", predicted=0.1, measured=(0.5, 0.1, 0.7))
    elsewhere = replace(slower, application="ft", predicted=0.9)
    assert advice.in_order([CELL, slower, mixed, elsewhere]) == "1 of 1 (100 %)"
    assert advice.in_order([CELL, replace(slower, predicted=0.9)]) == "0 of 1 (0 %)"


def test_the_round_in_which_native_was_fastest() -> None:
    late = replace(CELL, collective="reduce", natives=(2.0, 1.0, 3.0))
    assert advice.first_was_fastest([CELL, replace(CELL, algorithm="chain"), late]) == "1 of 2 (50 %)"


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
