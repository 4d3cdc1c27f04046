"""Process arrival patterns, the choice at run time: statistics on made-up times."""

from collections.abc import Mapping

import pytest

from experiments.arrival import robust
from experiments.arrival.measuring import NATIVE
from experiments.arrival.robust import Phase, Result, Scenario
from experiments.harness import Check


def job(first: int, before: float, settled: float) -> tuple[float, ...]:
    return (before,) * first + (settled,) * 120


def fixed(*settled: float) -> Phase:
    """A job for each."""
    return Phase(tuple(job(robust.WARM, time, time) for time in settled), online=False)


def chosen(*settled: float, search: float = 1.0) -> Phase:
    return Phase(tuple(job(robust.ADAPTED, search, time) for time in settled), online=True)


def result(*, maxima: tuple[int, ...] = (1,), **arms: Phase) -> Result:
    """Beside native calls of a second, and ring's of 0.8."""
    every = {NATIVE: fixed(1, 1, 1), "ring": fixed(0.8, 0.8, 0.8), **arms}
    return Result(
        Scenario("made up", maxima), {name: (phase,) * len(maxima) for name, phase in every.items()}
    )


def words(found: Result) -> dict[str, str]:
    return {check.claim: check.word for check in found.checks()}


def test_a_choice_that_settles_on_the_best_holds() -> None:
    found = result(star=chosen(0.81, 0.82, 0.82, search=2), bandit=chosen(0.8, 0.8, 0.8))
    assert found.best(0) == "ring"
    assert set(words(found).values()) == {"holds"}, "STAR-MPI's search is not judged"
    assert len(words(found)) == 9, "two arms by the best and by native, medians and means; the budget"
    ((_, _, best, _, _, _, _, whole, *_),) = found.rows()
    assert best == "ring"
    assert whole.startswith(f"{(200 * 2 + 0.8167 * 120) / 320:.2f} ")


def test_rounds_of_jobs_are_compared_each_with_itself() -> None:
    ratio = chosen(2.2, 1.1, 3.3).against(fixed(2, 1, 3), "median")
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([1.1] * 3), (
        "the jobs differ, the ratio does not"
    )


def test_times_are_not_divided_by_native_calls_beside_them() -> None:
    """Native calls beside a slow algorithm took 3.4 ms, beside a fast one 1.9: by them, both looked alike."""
    kept = {"max_if": [50], "computation_ms": 0, "natives": {"ring": [[[9.0] * 40]], NATIVE: [[[1.0] * 40]]}}
    kept["arms"] = {NATIVE: [[[1.0] * 130] * 3], "ring": [[[1.1] * 130] * 3]}
    (found,) = robust.read({"programs": [kept]})
    ratio = found.arms["ring"][0].against(found.arms[NATIVE][0], "median")
    assert ratio.value == pytest.approx(1.1)
    assert found.title(0) == "MAX_IF 50"


def test_a_lost_packet_shows_in_the_mean_and_not_in_the_median() -> None:
    held_up = Phase(((*job(robust.ADAPTED, 1, 0.8)[:-1], 200.0),) * 3, online=True)
    checks = words(result(bandit=held_up))
    assert checks["made up, bandit: settled within 5 % of ring, median"] == "holds"
    assert checks["made up, bandit: settled within 5 % of ring, mean"] == "does not hold"


def test_an_interval_that_holds_both_answers_decides_nothing() -> None:
    checks = words(result(star=chosen(0.7, 0.8, 0.95), bandit=chosen(1.2, 0.8, 0.9)))
    assert checks["made up, star: settled within 5 % of ring, median"] == "undecided"
    assert checks["made up, bandit: settled within 5 % of native, median"] == "undecided"
    once = chosen(0.8).against(fixed(1), "median")
    assert (once.low, once.text()) == (0, "0.80 (one round)")


def test_each_check_of_the_choice_can_fail() -> None:
    checks = words(result(star=chosen(0.9, 0.9, 0.91), bandit=chosen(1.1, 1.1, 1.11)))
    assert [claim for claim, word in checks.items() if word == "does not hold"] == [
        f"made up, {arm}: settled within 5 % of {other}, {statistic}"
        for arm, others in (("star", ("ring",)), ("bandit", ("ring", NATIVE)))
        for statistic in robust.STATISTICS
        for other in others
    ]
    spent = result(bandit=chosen(0.8, 0.8, 0.8, search=1.5)).budget_checks()
    assert [(one.word, one.numbers) for one in spent] == [
        ("does not hold", "76 (76 to 76) native calls of 36 allowed in the 320 of a job")
    ]
    held_up = result(bandit=chosen(0.8, 0.8, 0.8, search=1.0))
    calls = held_up.arms["bandit"][0].jobs[0]
    slow = Phase((calls, calls, (90.0, *calls[1:])), online=True)
    (check,) = result(bandit=slow).budget_checks()
    assert check.word == "undecided", "a call that took 90 counts, whoever ran it"


def test_whether_the_best_algorithm_changes_with_the_pattern() -> None:
    def found(first: Mapping[str, Phase], second: Mapping[str, Phase]) -> Check:
        arms = {name: (first[name], second[name]) for name in first}
        (check,) = Result(Scenario("changing", (1, 50)), arms).change_checks()
        return check

    one, two = fixed(1, 1.01, 1), fixed(2, 2.02, 2.01)
    assert found({NATIVE: one, "flat": two}, {NATIVE: two, "flat": one}).word == "holds"
    assert found({NATIVE: one, "flat": two}, {NATIVE: one, "flat": two}).word == "does not hold"
    vague = fixed(0.5, 2, 1.1)
    assert found({NATIVE: one, "flat": vague}, {NATIVE: vague, "flat": one}).word == "undecided"
    assert found({NATIVE: one, "flat": vague}, {NATIVE: one, "flat": vague}).word == "undecided"


def test_no_round_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(1000))

    class Nowhere:
        ranks = 3

        def message_seconds(self, size: int) -> float:
            return 1e-3

    monkeypatch.setattr(robust, "run_arm", lambda *_: [(1.0 + next(calls) % 3,) * 30])
    monkeypatch.setattr("experiments.arrival.robust.time.monotonic", lambda: float(next(calls)))
    own = robust.Settings("bcast", 64, 30, 30, 5)
    rounds = list(robust.measured(Nowhere(), own, robust.scenarios((1,), (1,), ()), end=12))  # type: ignore[arg-type]
    assert 1 < len(rounds) < 5
    for number, (result_,) in enumerate(rounds, 1):
        assert {len(phases[0].jobs) for phases in result_.arms.values()} == {number}


def test_programs_of_the_study() -> None:
    titles = [one.title for one in robust.scenarios((1, 10), (1, 50, 1), (50,))]
    assert titles == ["MAX_IF 1", "MAX_IF 10", "changing", "computing 50 ms"]
    assert [one.title for one in robust.scenarios((1,), (1,), ())] == ["MAX_IF 1"]
    assert "pair" not in robust.fixed_for("alltoall", 6)
    assert {"pair", "ring", "simple"} <= set(robust.fixed_for("alltoall", 8))
