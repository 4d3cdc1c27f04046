"""Figures 9, 10, 12 and 13: machines that are no Ethernet cluster, and three dimensions on them.

The paper's machines are gone; tori of the simulator stand for the SCI cluster (32 processors) and the Cray
T3E-1200, and SMPI's selectors for ScaMPI and Cray-MPI, whose algorithms the paper does not tell. Links:
SCI 200 MB/s; T3E 340 MB/s, what a program got of its 600.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.harness import Check, above, every, some
from experiments.orthogonal.grids import PAPER
from experiments.orthogonal.improvement import Improvement, additional, best, percent

SCI = "sim:torus:4x8,bw=200MBps,lat=2us,speed=500Mf"
T3E = "sim:torus:4x4x3,bw=340MBps,lat=1us,speed=1200Mf"  # the paper's 48; its 96 take too long here
ETHERNET_32 = "sim:ethernet:32,bw=100Mbps"
THREE_OF_32 = "2x8x2,4x4x2,8x2x2"  # the paper's 2x8x4 has 64
FIVE_OF_48 = "3x4x4,4x3x4,4x4x3,2x4x6,2x3x8"
SUITABLE = 20  # percent: "for suitable grid layouts average improvements of more than 20 %"
TWICE = 60  # percent: "additional improvements of over 60 %"

Judge = Callable[[Sequence[Improvement]], list[Check]]


@dataclass(frozen=True)
class Figure:
    """The options of `layouts` that make it, and what the paper says of it."""

    options: tuple[str, ...]
    judge: Judge


def flat(found: Sequence[Improvement]) -> list[Improvement]:
    return [one for one in found if one.layout.dimensions == 2]


def deep(found: Sequence[Improvement]) -> list[Improvement]:
    return [one for one in found if one.layout.dimensions == 3]


def some_gain(found: Sequence[Improvement], at_least: float = 0) -> Check:
    top = best(found)
    more = f" {at_least:g} %" if at_least else ""
    claim = f"{top.collective}: some layout gains{more} on average"
    return Check(
        claim, some(above(one.low, one.high, at_least) for one in found), f"{top.text()} ({top.layout})"
    )


def all_gain(found: Sequence[Improvement]) -> Check:
    worst = min(found, key=lambda one: one.average)
    claim = f"{worst.collective}: every layout gains on average"
    answer = every(above(one.low, one.high, 0) for one in found)
    return Check(claim, answer, f"at least {worst.text()} ({worst.layout})")


def third_gains(found: Sequence[Improvement], at_least: float = 0) -> Check:
    """Some layout with three dimensions over the best with two."""
    two = best(flat(found))
    gains = {one.layout: additional(one, two) for one in deep(found)}
    layout = max(gains, key=lambda one: gains[one][0])
    gain, low, high = gains[layout]
    span = f" ({percent(low)} to {percent(high)})" if high > low else ""
    more = f" {at_least:g} %" if at_least else ""
    claim = f"{two.collective}: some layout with three dimensions gains{more} more than two"
    answer = some(above(low, high, at_least) for _, low, high in gains.values())
    return Check(claim, answer, f"{percent(gain)}{span} % ({layout} over {two.layout})")


def smaller_messages(found: Sequence[Improvement]) -> list[Check]:
    return [some_gain(found)]


def persistent(found: Sequence[Improvement]) -> list[Check]:
    return [all_gain(found), some_gain(found, SUITABLE)]


def hierarchical(found: Sequence[Improvement]) -> list[Check]:
    if found[0].collective == "gather":
        return [third_gains(found, TWICE)]
    return [all_gain(deep(found)), some_gain(deep(found), SUITABLE), third_gains(found)]


def three_phases(found: Sequence[Improvement]) -> list[Check]:
    return [third_gains(found)]


def options(
    bed: str, collectives: str, sizes: str, more: Sequence[str] = (), selectors: str = "ompi,mpich"
) -> tuple[str, ...]:
    wanted = ("--collectives", collectives, "--sizes", sizes, "--selectors", selectors)
    return ("--bed", bed, *wanted, *more)


def with_three(shapes: str, *deep_operations: str) -> tuple[str, ...]:
    return ("--dims", "2,3", "--shapes", shapes, *deep_operations)


FIGURES = {
    "9-gather": Figure(options(SCI, "gather", "560,4K,64K"), smaller_messages),
    "9-allgather": Figure(options(SCI, "allgather", "100K,500K"), smaller_messages),
    "10": Figure(options(T3E, "bcast,allgather", "10K,50K,100K"), persistent),
    "12": Figure(options(T3E, "bcast,gather", "10K,100K,500K", with_three(FIVE_OF_48)), hierarchical),
    "13-lam": Figure(
        options(
            ETHERNET_32,
            "bcast,allgather",
            "10K,100K",
            with_three(THREE_OF_32, "--deep", "bcast,allgather"),
            "lam",
        ),
        three_phases,
    ),
    "13-scampi": Figure(
        options(SCI, "gather,scatter", "560,4K,64K", with_three(THREE_OF_32, "--deep", "gather,scatter")),
        three_phases,
    ),
}


def checks(name: str, found: Sequence[Improvement]) -> list[Check]:
    own = [one for one in found if one.family == PAPER]
    collectives = dict.fromkeys(one.collective for one in own)
    judge = FIGURES[name].judge
    return [
        check for collective in collectives for check in judge([o for o in own if o.collective == collective])
    ]
