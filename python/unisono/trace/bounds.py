"""When ranks can leave a call at the earliest, whatever the algorithm, given when they arrive.

Two statements about each call, both after the arrival vector a: a rank cannot have data of a rank that
has not arrived, nor earlier than one message time alpha + beta m after it; and a port passes one byte in
beta. docs/reference/report.md writes them down for each collective.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unisono.core import catalogue
from unisono.core.limits import plain_form
from unisono.trace.metrics import message_bytes

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """A message of m bytes between hosts takes alpha + beta m at least; within a host it may be free."""

    alpha: float
    beta: float
    host: Int  # of each column
    single: bool  # each rank is on a host of its own: ports can be counted


def network(hosts: list[str], traced_hosts: int, alpha: float, beta: float) -> Network:
    """`hosts` of a communicator's ranks. If all of the job is on one host, the one-way times were
    measured between its ranks and hold between any two; else nothing is known within a host."""
    _, number = np.unique(hosts, return_inverse=True)
    if traced_hosts == 1:
        number = np.arange(len(hosts))
    return Network(alpha, beta, number.astype(np.int64), len(set(number.tolist())) == len(hosts))


@dataclass(frozen=True)
class Split:
    """Mean over ranks, seconds, a value per call; together the mean time in the call."""

    waiting: Float  # for arrivals: no algorithm and no network avoids it
    transfer: Float  # for the bytes that must still move then: no algorithm avoids it
    inefficiency: Float  # the rest: what another algorithm could win at most


def split(collective: str, begin: Float, end: Float, root: Int, size: Float, net: Network) -> Split:
    """`size` as the trace counts it. Where nothing bounds a call, all is inefficiency."""
    elapsed = end - begin
    kind = plain_form(collective)
    message = message_bytes(collective, size, begin.shape[1])
    free = earliest(kind, begin, root, 0.0 * message, Network(0.0, 0.0, net.host, net.single))
    bound = earliest(kind, begin, root, message, net)
    waiting = np.minimum(elapsed, free - begin).mean(axis=1)
    least = np.minimum(elapsed, bound - begin).mean(axis=1)
    measured = elapsed.mean(axis=1)
    if net.single:
        by_ports = port_bound(kind, begin, root, message, net) - begin.mean(axis=1)
        least = np.maximum(least, np.minimum(by_ports, measured))
    return Split(waiting, least - waiting, measured - least)


def earliest(kind: str, begin: Float, root: Int, message: Float, net: Network) -> Float:
    """Exit times: a row per call, a column per rank; never before the rank's own arrival."""
    if catalogue.collective(kind).peers != "all":
        return begin.copy()  # who is whose neighbour the trace does not say
    cost = (net.alpha + net.beta * message)[:, None]
    rows, ranks = np.arange(len(begin)), np.arange(begin.shape[1])
    if catalogue.collective(kind).rooted:
        rooted = root >= 0
        at = np.where(rooted, root, 0)
        if kind in {"bcast", "scatter"}:
            remote = net.host[None, :] != net.host[at][:, None]
            leave = np.maximum(begin, begin[rows, at][:, None] + remote * cost)
        else:
            leave = begin.copy()
            leave[rows, at] = after_all(begin, cost, net.host)[rows, at]
        return np.asarray(np.where(rooted[:, None], leave, begin))
    if kind == "scan":  # of the ranks before one's own
        before = np.full_like(begin, -np.inf)
        before[:, 1:] = np.maximum.accumulate(begin, axis=1)[:, :-1]
        remote = net.host != net.host[np.maximum(ranks - 1, 0)] if not net.single else ranks > 0
        # With several ranks on a host only the neighbour is looked at: a weaker bound, still one.
        source = before if net.single else begin[:, np.maximum(ranks - 1, 0)]
        return np.maximum(np.maximum(begin, before), source + remote * cost)
    return after_all(begin, cost, net.host)


def after_all(begin: Float, cost: Float, host: Int) -> Float:
    """Everyone needs data of everyone: after the last arrival, and `cost` after the last on another host."""
    last = begin.max(axis=1, keepdims=True)
    hosts = int(host.max()) + 1
    latest = np.full((len(begin), hosts), -np.inf)
    for one in range(hosts):
        latest[:, one] = begin[:, host == one].max(axis=1)
    if hosts == 1:
        return np.broadcast_to(last, begin.shape).copy()
    top = latest.argmax(axis=1)
    second = np.partition(latest, -2, axis=1)[:, -2]
    elsewhere = np.where(host[None, :] == top[:, None], second[:, None], last)
    return np.asarray(np.maximum(last, elsewhere + cost))


def port_bound(kind: str, begin: Float, root: Int, message: Float, net: Network) -> Float:
    """Mean exit time, from what the ports of the ranks must pass; -inf where nothing is known."""
    ranks = begin.shape[1]
    byte_times = net.beta * message
    slots = net.alpha + byte_times * ranks / 2  # mean over the receivers of one sender's blocks
    if kind == "allreduce":
        return after_late(begin, byte_times / ranks, ranks - 1)
    if kind == "allgather":
        return after_late(begin, byte_times, 0)
    if kind in {"alltoall", "reduce_scatter_block"}:
        sent = begin.max(axis=1) + (ranks - 1) / ranks * slots
        return np.asarray(np.maximum(sent, after_late(begin, byte_times, 0)))
    if kind not in {"scatter", "gather"}:
        return np.full(len(begin), -np.inf)
    at = np.where(root >= 0, root, 0)
    rows = np.arange(len(begin))
    if kind == "scatter":
        bound = begin[rows, at] + (ranks - 1) / ranks * slots
    else:
        others = begin.copy()
        others[rows, at] = -np.inf
        ordered = -np.sort(-others, axis=1)
        received = (ordered + byte_times[:, None] * np.arange(1, ranks + 1)).max(axis=1)
        bound = begin.mean(axis=1) + np.maximum(received - begin[rows, at], 0.0) / ranks
    return np.where(root >= 0, bound, -np.inf)


def after_late(begin: Float, block: Float, spread: int) -> Float:
    """Let k ranks arrive at or after t. Each rank then still takes in k - 1 blocks or more: in allgather and
    alltoall those of the late ones, in reductions the late contributions to its block (what early ranks
    have may wait at a late rank's port), and in allreduce `spread` finished blocks. `block` in seconds."""
    ordered = -np.sort(-begin, axis=1)
    taken = np.arange(begin.shape[1]) + spread
    return np.asarray((ordered + block[:, None] * taken[None, :]).max(axis=1))
