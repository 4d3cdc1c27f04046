"""No bound is above what some algorithm reaches; the parts of a call's time add up to it."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from traces import COLLECTIVES
from unisono.trace.bounds import Network, Split, network, split

Float = NDArray[np.float64]
ALPHA, BETA = 10e-6, 1e-8
SIZE = 4096.0


def spread(ranks: int) -> Network:
    return network([f"host{rank}" for rank in range(ranks)], ranks, ALPHA, BETA)


def least(collective: str, arrivals: Float, exits: Float, root: int, size: float) -> float:
    """The bound of the mean time in the call; exits late enough do not cap it."""
    got = split(
        collective, arrivals[None], exits[None], np.array([root]), np.array([size]), spread(len(arrivals))
    )
    return float(got.waiting[0] + got.transfer[0])


# Simulations: a port sends one message after the other, which arrives alpha + beta m after its start; the
# network stages what comes before the receiver. All have the times at which ranks may leave.


def flat_bcast(a: Float, m: float) -> Float:
    sent = a[0] + ALPHA + m * BETA * np.arange(1, len(a))
    return np.concatenate([[a[0]], np.maximum(a[1:], sent)])


def direct_scatter(a: Float, b: float) -> Float:
    """Who comes first is served first."""
    leave = a.copy()
    for slot, rank in enumerate(1 + np.argsort(a[1:]), start=1):
        leave[rank] = max(a[rank], a[0] + ALPHA + slot * b * BETA)
    return leave


def flat_reduce(a: Float, m: float) -> Float:
    """One message after the other into the root's port, in the order of arrival."""
    leave, port = a.copy(), -math.inf
    for arrival in np.sort(a[1:]):
        port = max(port, arrival + ALPHA) + m * BETA
    leave[0] = max(a[0], port)
    return leave


def direct_alltoall(a: Float, b: float) -> Float:
    """Everyone sends at once, to its right-hand neighbours one after the other."""
    p = len(a)
    leave = a.copy()
    for source in range(p):
        for step in range(1, p):
            to = (source + step) % p
            leave[to] = max(leave[to], a[source] + ALPHA + step * b * BETA)
    return leave


def ring_allgather(a: Float, b: float) -> Float:
    p = len(a)
    now = a.copy()
    for _ in range(p - 1):
        now = np.maximum(now, np.roll(now, 1) + ALPHA) + b * BETA
    return now


def ring_allreduce(a: Float, m: float) -> Float:
    return ring_allgather(ring_allgather(a, m / len(a)), m / len(a))


def ring_reduce_scatter(a: Float, m: float) -> Float:
    return ring_allgather(a, m / len(a))


def staged_allreduce(a: Float, m: float) -> Float:
    """Two ranks, the early one's vector waits at the late one, which returns the sum."""
    early, late = int(a.argmin()), int(a.argmax())
    leave = a.copy()
    leave[late] = max(a[late], a[early] + ALPHA + m * BETA)
    leave[early] = leave[late] + ALPHA + m * BETA
    return leave


def dissemination(a: Float, _: float) -> Float:
    now, distance = a.copy(), 1
    while distance < len(a):
        now = np.maximum(now, np.roll(now, distance) + ALPHA)
        distance *= 2
    return now


def chain_scan(a: Float, m: float) -> Float:
    leave = a.copy()
    for rank in range(1, len(a)):
        leave[rank] = max(a[rank], leave[rank - 1] + ALPHA + m * BETA)
    return leave


ALGORITHMS: dict[str, Callable[[Float, float], Float]] = {
    "barrier": dissemination,
    "bcast": flat_bcast,
    "scatter": direct_scatter,
    "gather": flat_reduce,
    "reduce": flat_reduce,
    "alltoall": direct_alltoall,
    "allgather": ring_allgather,
    "allreduce": ring_allreduce,
    "reduce_scatter": ring_reduce_scatter,
    "scan": chain_scan,
}


@pytest.mark.parametrize("collective", ALGORITHMS)
def test_no_bound_is_above_what_an_algorithm_reaches(collective: str) -> None:
    random = np.random.default_rng(1)
    tightest = 0.0
    for _ in range(300):
        ranks = int(random.integers(2, 12))
        size = 0.0 if collective == "barrier" else float(random.integers(1, 100_000))
        apart = float(random.choice([0.0, 1e-5, 1e-3, 1e-1]))
        arrivals = random.uniform(0, apart, ranks)
        exits = ALGORITHMS[collective](arrivals, size)
        measured = float((exits - arrivals).mean())
        bound = least(collective, arrivals, exits + 1e3, 0, size)
        assert bound <= measured * (1 + 1e-9)
        if apart <= 1e-5 and measured > 0:  # where waiting is not all of it
            tightest = max(tightest, bound / measured)
    assert tightest > 0.9  # and it is not trivially small


def test_what_waits_at_a_late_rank_s_port_is_allowed_for() -> None:
    for apart in (0.0, 1e-4, 1.0):
        arrivals = np.array([0.0, apart])
        exits = staged_allreduce(arrivals, SIZE)
        assert least("allreduce", arrivals, exits + 1e3, -1, SIZE) <= (exits - arrivals).mean() * (1 + 1e-9)


def test_ranks_that_arrive_together_need_the_balanced_bound() -> None:
    """2 (p - 1) / p beta m for allreduce, (p - 1) beta b for alltoall and allgather."""
    together, late = np.zeros(8), np.full(8, 1e3)
    assert least("allreduce", together, late, -1, 1e6) == pytest.approx(2 * 7 / 8 * BETA * 1e6)
    for collective in ("alltoall", "allgather"):
        assert least(collective, together, late, -1, 1e6) == pytest.approx(7 * BETA * 1e6)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_parts_add_up_and_none_is_negative(collective: str) -> None:
    """Whatever was measured: exits before the last arrival, several ranks on a host, no root known."""
    random = np.random.default_rng(2)
    for hosts in ([0, 1, 2, 3, 4], [0, 0, 0, 0, 0], [0, 0, 1, 1, 2], [1, 0, 1, 0, 1]):
        for traced_hosts in {len(set(hosts)), 7}:
            net = network([str(host) for host in hosts], traced_hosts, ALPHA, BETA)
            begin = random.exponential(1e-3, (200, 5))
            end = begin + random.exponential(1e-3, (200, 5)) * random.integers(0, 2, (200, 5))
            root, size = random.integers(-1, 5, 200), random.exponential(1e5, 200)
            parts = split(collective, begin, end, root, size, net)
            check(parts, (end - begin).mean(axis=1))


def check(parts: Split, measured: Float) -> None:
    for part in (parts.waiting, parts.transfer, parts.inefficiency):
        assert part.min() >= 0
    assert parts.waiting + parts.transfer + parts.inefficiency == pytest.approx(measured, abs=1e-15)


def test_within_a_host_a_message_may_be_free() -> None:
    """The job has two hosts, so that its one-way times say nothing of ranks on the same."""
    arrivals, exits = np.array([[0.0, 1.0]]), np.array([[9.0, 9.0]])
    for hosts, transfer in ((["a", "a"], 0.0), (["a", "b"], (ALPHA + BETA * SIZE) / 2)):
        got = split(
            "allreduce", arrivals, exits, np.array([-1]), np.array([SIZE]), network(hosts, 2, ALPHA, BETA)
        )
        assert got.waiting[0] == pytest.approx(0.5)
        assert got.transfer[0] == pytest.approx(transfer)


def test_of_neighbours_nobody_knows_who_waits_for_whom() -> None:
    arrivals, exits = np.array([[0.0, 0.0, 1.0]]), np.array([[0.5, 9.0, 9.0]])
    got = split("neighbor_allgather", arrivals, exits, np.array([-1]), np.array([SIZE]), spread(3))
    assert got.waiting[0] == got.transfer[0] == 0
    check(got, (exits - arrivals).mean(axis=1))
