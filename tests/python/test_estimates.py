"""Medians of jobs, and samples that are two."""

import math
import random

import pytest
from unisono.core.estimates import Estimate, estimate_median, find_modes, middle_estimate


def sample(rng: random.Random, *medians: float, spread: float, blocks: int = 60) -> list[float]:
    return [rng.choice(medians) * math.exp(rng.gauss(0, spread)) for _ in range(blocks)]


@pytest.mark.parametrize(("low", "high"), [(4.8, 17.2), (7.8, 24.3), (2.9, 5.2)])
def test_two_states_of_a_machine_are_two_modes(low: float, high: float) -> None:
    rng = random.Random(1)
    for _ in range(50):
        modes = find_modes(sample(rng, low, high, spread=0.08))
        assert modes
        assert modes.low == pytest.approx(low, rel=0.1)
        assert modes.high == pytest.approx(high, rel=0.1)
        assert 0.2 < modes.share_high < 0.8


def test_noise_and_tails_are_one_mode() -> None:
    rng = random.Random(1)
    told = 0
    for spread in (0.02, 0.1, 0.3, 1.0):
        told += sum(find_modes(sample(rng, 5.0, spread=spread)) is not None for _ in range(100))
    told += sum(find_modes([1 + rng.expovariate(1) for _ in range(60)]) is not None for _ in range(100))
    assert told <= 5, "of 500"
    lost_packets = [5.0 + rng.random()] * 54 + [200e3] * 6
    assert find_modes(lost_packets) is None, "a tenth is a tail"
    assert find_modes([5.0] * 60) is None
    assert find_modes([5.0] * 5 + [50.0] * 5) is None, "too few blocks"
    assert find_modes([]) is None


def test_a_small_difference_is_no_second_mode() -> None:
    rng = random.Random(1)
    assert find_modes(sample(rng, 5.0, 6.0, spread=0.005)) is None


def test_the_median_s_interval_is_one_of_order_statistics() -> None:
    assert estimate_median([3, 1, 2]) == Estimate(2, 1, 3, 0.75)
    assert estimate_median([1, 2, 3, 4, 5, 6]).is_sure
    assert estimate_median([7]) == Estimate(7, 7, 7, 0)


def test_of_few_jobs_the_ends_of_their_intervals_count() -> None:
    jobs = [Estimate(median, median - 1, median + 1, 0.96) for median in (10, 20, 30)]
    assert middle_estimate(jobs[:1]) == jobs[0]
    assert middle_estimate(jobs) == Estimate(20, 19, 21, 0.96)
    assert middle_estimate(jobs[:2]) == Estimate(15, 9, 21, 0.96), "of two the outer ends"
    assert middle_estimate(jobs * 2) == Estimate(20, 10, 30, 1 - 2 / 64)
