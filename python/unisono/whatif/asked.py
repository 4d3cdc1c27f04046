"""The new scale and its network, as a user has asked for them."""

import re
from dataclasses import dataclass

from unisono.core.errors import UnisonoError
from unisono.sim import platforms, smpi
from unisono.sim.platforms import Ethernet, Platform
from unisono.trace.metrics import OneWay
from unisono.trace.reader import Trace
from unisono.whatif.calls import Calls
from unisono.whatif.scaling import SCALINGS, Target

SELECTORS = {"Open MPI": "ompi", "MPICH": "mpich", "MVAPICH": "mvapich2", "Intel": "impi"}


@dataclass(frozen=True)
class Where:
    """What the user says of the new scale."""

    hosts: int | None
    ranks: int | None
    per_host: int | None
    platform: str | None
    scaling: str
    grid: str | None


def place(traced: Trace, found: Calls, where: Where) -> tuple[Target, Platform]:
    if where.scaling not in SCALINGS:
        raise UnisonoError(f"--scaling {where.scaling}: valid are {', '.join(SCALINGS)}")
    if where.hosts and where.ranks and where.per_host:
        raise UnisonoError("-n, --hosts and --ppn: two of these say the third; leave one out")
    several = len({rank.host for rank in traced.ranks.values()}) > 1
    per_host = where.per_host or (found.per_host if several else 1)
    hosts = where.hosts
    if where.ranks:
        if hosts:
            per_host = -(-where.ranks // hosts)
        hosts = hosts or -(-where.ranks // per_host)
    network = platform_of(traced, where.platform, hosts)
    hosts = hosts or network.hosts
    if hosts > network.hosts:
        raise UnisonoError(f"{hosts} hosts are wanted, and {network.spec} has {network.hosts}")
    if network.only_flows:
        raise UnisonoError(f"--platform {network.spec}: {network.only_flows} cannot be replayed")
    ranks = where.ranks or hosts * per_host
    return Target(ranks, per_host, where.scaling, grid_of(where.grid, ranks)), network


def platform_of(traced: Trace, given: str | None, hosts: int | None) -> Platform:
    if given:
        head, comma, rest = given.partition(",")
        if head == Ethernet.kind and hosts:
            head = f"{head}:{hosts}"
        return platforms.parse(head + comma + rest)
    if hosts is None:
        raise UnisonoError("say where: --hosts 256, or --platform ethernet:256,bw=10Gbps")
    measured = OneWay(traced.one_way)
    if is_guessed(traced):
        return platforms.parse(f"{Ethernet.kind}:{hosts}")
    # A path is two links, and each adds its latency.
    bits, latency = 8 / measured.beta / 1e6, 1e6 * measured.alpha / 2
    return platforms.parse(f"{Ethernet.kind}:{hosts},bw={bits:.4g}Mbps,lat={latency:.4g}us")


def is_guessed(traced: Trace) -> bool:
    """The trace has nothing to say of a network."""
    measured = OneWay(traced.one_way)
    several = len({rank.host for rank in traced.ranks.values()}) > 1
    return not (several and measured.alpha > 0 and measured.beta > 0)


def guesses(traced: Trace, where: Where) -> list[str]:
    """What was assumed because nobody said it."""
    found = list(traced.notes)
    if not where.platform and is_guessed(traced):
        found.append("The trace is of one host and knows no network: it is 1 Gb/s; --platform says more.")
    return found


def grid_of(text: str | None, ranks: int) -> tuple[int, int] | None:
    if text is None:
        return None
    said = re.fullmatch(r"(\d+)x(\d+)", text)
    if not said or int(said[1]) * int(said[2]) != ranks:
        raise UnisonoError(f"--grid {text}: write rows x columns of {ranks} ranks, as in 16x{ranks // 16}")
    return int(said[1]), int(said[2])


def selector_of(given: str | None, mpi: str) -> str:
    if given is None:
        return next((name for words, name in SELECTORS.items() if words in mpi), smpi.SELECTORS[0])
    if given not in smpi.SELECTORS:
        raise UnisonoError(f"--selector {given}: valid are {', '.join(smpi.SELECTORS)}")
    return given
