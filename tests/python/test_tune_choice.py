"""Which arm is chosen, of whom more jobs are wanted, and for which sizes a choice holds."""

from collections.abc import Sequence
from dataclasses import replace

from arms import NATIVE, arm
from unisono.core.estimates import Estimate, outliers
from unisono.profile import choice
from unisono.profile.document import Arm, Measured


def test_only_what_is_worth_it_and_surely_not_slower_is_chosen() -> None:
    assert choice.choose([NATIVE, arm("a", 0.9), arm("b", 0.8)]) == "b"
    assert choice.choose([NATIVE, arm("a", 0.9), arm("b", 0.8, spread=0.3)]) == "a"
    assert choice.choose([NATIVE, arm("a", 0.9, spread=0.12)]) == "a", "1.02 does not count as slower"
    assert choice.choose([NATIVE, arm("a", 0.9, spread=0.14)]) == "native", "1.04 does"
    assert choice.choose([NATIVE, arm("b", 0.5, coverage=0.9)]) == "native", "too few blocks"
    assert choice.choose([NATIVE, arm("a", 0.955)]) == "native", "sure, and not worth it"
    assert choice.choose([NATIVE]) == "native"
    assert choice.choose([NATIVE, arm("a", 0.5, spread=0.3), arm("b", 0.6)]) == "b", "0.61 is below 0.8"


def test_native_is_no_choice_where_another_may_be_faster() -> None:
    assert choice.leaves_open([NATIVE, arm("a", 0.2, spread=0.9)])
    assert choice.leaves_open([NATIVE, arm("a", 0.2, coverage=0.7)])
    assert not choice.leaves_open([NATIVE, arm("a", 0.2, spread=0.9), arm("b", 0.9)]), "b is sure"
    assert not choice.leaves_open([NATIVE, arm("a", 0.97, spread=0.3)]), "not worth it either way"
    assert not choice.leaves_open([NATIVE])


def test_finalists_are_the_three_fastest_that_may_win() -> None:
    arms = [NATIVE, arm("a", 0.7, spread=0.4), arm("b", 0.5), arm("c", 0.6), arm("d", 1.2)]
    assert choice.finalists(arms) == ["b", "c", "a"]
    assert choice.finalists([NATIVE, arm("a", 1.09), arm("b", 1.11)]) == ["a"], "jobs differ"
    left = arm("left", 0.2, coverage=0.75)
    assert choice.finalists([NATIVE, left, arm("b", 0.9)]) == ["b", "left"]


def job(native_blocks: int = 12, **ratios: float) -> list[Arm]:
    return [replace(NATIVE, blocks=native_blocks), *(arm(spec, ratio) for spec, ratio in ratios.items())]


def pooled_ratio(jobs: Sequence[choice.Job], spec: str) -> Estimate | None:
    return next(arm for arm in choice.pooled(jobs) if arm.spec == spec).ratio_to_native


def test_of_two_jobs_that_disagree_native_is_the_choice() -> None:
    jobs = [job(a=0.9, b=0.91), job(a=1.1, b=0.92)]
    assert pooled_ratio(jobs, "a") == Estimate(1.0, 0.89, 1.11, 0.97), "the interval holds both jobs"
    assert choice.choose(choice.pooled(jobs)) == "b", "in both"
    assert choice.choose(choice.pooled([job(a=0.9), job(a=1.1)])) == "native"
    assert choice.choose(choice.pooled([job(a=0.9)])) == "a", "one job speaks for itself"


def test_the_majority_of_jobs_decides() -> None:
    fast, slow = job(a=0.8), job(a=1.1)
    assert choice.choose(choice.pooled([slow, fast, slow])) == "native"
    assert choice.choose(choice.pooled([fast, slow, fast])) == "a"
    assert choice.choose(choice.pooled([fast, slow, slow, fast])) == "native", "half is no majority"
    pooled = choice.pooled([fast, slow, fast])
    assert [(arm.spec, arm.blocks) for arm in pooled] == [("native", 36), ("a", 36)]
    unsure = [NATIVE, arm("a", 0.2, coverage=0.75)]
    assert choice.choose(choice.pooled([fast, unsure])) == "native", "left early in one of two"
    assert choice.choose(choice.pooled([fast, unsure, fast])) == "a"


def test_six_jobs_tell_by_their_medians() -> None:
    """In each the blocks differ so much that it says nothing by itself."""
    jobs = [[NATIVE, arm("a", ratio, spread=0.3)] for ratio in (0.7, 0.9, 0.8, 0.85, 0.75, 0.9)]
    assert choice.choose(choice.pooled(jobs[:5])) == "native"
    assert pooled_ratio(jobs, "a") == Estimate(0.825, 0.7, 0.9, 1 - 1 / 32)
    assert choice.choose(choice.pooled(jobs)) == "a"
    jobs[3] = [NATIVE, arm("a", 1.2)]
    assert choice.choose(choice.pooled(jobs)) == "native", "one job in which it is slower"


def test_of_nine_jobs_one_at_each_end_may_be_left_out() -> None:
    ratios = (0.7, 0.9, 0.8, 0.85, 0.75, 0.9, 0.8, 0.8, 1.5)
    jobs = [[NATIVE, arm("a", ratio, spread=0.3)] for ratio in ratios]
    assert pooled_ratio(jobs, "a") == Estimate(0.8, 0.75, 0.9, 1 - 2 * (1 + 9) / 2**9)
    assert choice.choose(choice.pooled(jobs)) == "a", "one job in which it is slower"
    assert [outliers(count) for count in (1, 6, 8, 9, 11, 12)] == [0, 0, 0, 1, 1, 2]


def test_unsettled_is_what_jobs_disagree_about() -> None:
    assert not choice.unsettled([job(a=0.8, b=0.9), job(a=0.7, b=0.9)] * 2)
    assert choice.unsettled([job(a=0.8, b=0.9)] * 3), "few for leaving native"
    assert not choice.unsettled([job(a=0.8, b=0.81), job(a=0.81, b=0.8)] * 2), "alike within the margin"
    assert choice.unsettled([job(a=0.8, b=0.9), job(a=0.9, b=0.85)] * 2), "who is best"
    assert choice.unsettled([job(a=0.8), job(a=0.8), job(a=1.1)]), "whether it beats native"
    assert choice.unsettled([job(a=1.1), job(a=0.9), job(a=1.1)])
    assert not choice.unsettled([job(a=1.1), job(a=0.99)])
    assert choice.unsettled([job(a=0.8)]), "one job"


def test_a_job_tells_something_if_it_had_time_or_needed_none() -> None:
    assert choice.tells(job(6, a=0.9))
    assert not choice.tells(job(5, a=0.9, b=1.5))
    assert choice.tells(job(3, a=1.3, b=1.5)), "all left because they are clearly slower"
    assert not choice.tells([]), "it failed"


def test_intervals_meet_at_the_geometric_mean_and_neighbours_join() -> None:
    choices = {64: "native", 256: "ring", 1024: "ring", 4096: "native"}
    measured = {size: Measured(size, (NATIVE,)) for size in choices}
    cells = choice.intervals("allgather", choices, measured)
    assert [(c.least, c.most, c.choice) for c in cells] == [
        (32, 128, "native"),
        (129, 2048, "ring"),
        (2049, 8192, "native"),
    ]
    assert [m.bytes for m in cells[1].measured] == [256, 1024]
    assert choice.intervals("bcast", {8: "native"}, {})[0].least == 0
    [barrier] = choice.intervals("barrier", {0: "tree"}, {})
    assert (barrier.least, barrier.most) == (0, 0)
