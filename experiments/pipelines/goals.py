"""The goals of Unisono for long messages in the lab, drained, on 16 and 13 hosts: times the wire, or native.

Of the arms that are tried for a goal the fastest counts, by name: what Unisono chooses by itself on several
nodes it learns from more calls than are made here; `unisono compare --lab` and scripts/unasked.py measure it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from unisono.core.catalogue import format_size

from experiments.harness import Check, above, below
from experiments.pipelines import wire
from experiments.pipelines.measuring import LEFT, NATIVE, SUM, Plan, Point

HOSTS = (13, 16)
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Goal:
    collective: str
    bytes: int
    most: float  # times the wire
    arms: tuple[str, ...]
    op: str = SUM
    times_native: float = 0  # instead: so many times as fast as the library's own

    @property
    def title(self) -> str:
        return f"{self.collective}{', not commutative' if self.op == LEFT else ''}, {format_size(self.bytes)}"


# Those of which the rounds alone, by TCP, take less than the goal on both numbers of hosts; of 8 MiB
# the fastest that were found.
SCAN = ("chain:segment=2K", "chain:segment=4K")
ORDERED = ("rabenseifner", "pipeline:segment=2K", "pipeline:segment=4K")
GOALS = (
    Goal("bcast", 64 * KIB, 1.35, ("two_tree:segment=2K", "circulant:segment=2K", "chain:segment=1K")),
    Goal("reduce", 64 * KIB, 1.35, ("two_tree:segment=2K", "circulant:segment=1K", "chain:segment=1K")),
    Goal("bcast", MIB, 1.08, ("two_tree:segment=4K", "chain:segment=4K", "chain:segment=2K")),
    Goal("reduce", MIB, 1.08, ("two_tree:segment=2K", "two_tree:segment=4K", "chain:segment=2K")),
    Goal("allreduce", MIB, 1.07, ("ring:segment=16K", "ring:segment=8K")),
    Goal("scan", MIB, 1.13, SCAN),
    Goal("exscan", MIB, 1.13, SCAN),
    Goal("bcast", 8 * MIB, 1.06, ("two_tree:segment=8K,window=16", "chain:segment=8K", "chain:segment=16K")),
    Goal("reduce", 8 * MIB, 1.06, ("two_tree:segment=8K", "two_tree:segment=4K")),
    Goal("allreduce", 8 * MIB, 1.06, ("ring:segment=16K", "chain:segment=16K")),
    Goal("scan", 8 * MIB, 1.06, ("chain:segment=8K", "chain:segment=16K")),
    Goal("allreduce", MIB, 1.22, ORDERED, LEFT),
    Goal("allreduce", 8 * MIB, 1.14, ("pipeline:segment=4K",), LEFT),
    Goal("allreduce", MIB, 0, ORDERED, LEFT, 5),
    Goal("reduce_scatter", MIB, 0, ("pairwise",), LEFT, 5),
)


def plans(ranks: int) -> list[Plan]:
    """For sums and for the operation that does not commute a job, and one for what takes a second a call."""
    made = []
    for op in (SUM, LEFT):
        for is_long in (False, True):
            cells: dict[tuple[str, str], dict[str, None]] = {}
            for goal in (one for one in GOALS if one.op == op and (one.bytes > MIB) == is_long):
                arms = cells.setdefault((goal.collective, str(goal.bytes)), {})
                arms |= dict.fromkeys(([NATIVE] if goal.times_native else []) + list(goal.arms))
            wanted = [(name, sizes, native_first(list(arms))) for (name, sizes), arms in cells.items()]
            title = f"goals {op}{' long' if is_long else ''}"
            made.append(Plan(title, ranks, wanted, 1 if is_long else 3, 0.5, op, calls=1))
    return made


def native_first(arms: list[str]) -> list[str]:
    return sorted(arms, key=lambda arm: arm != NATIVE)


def checks(points: Sequence[Point], bits: float) -> list[Check]:
    of = {(p.collective, p.bytes, p.op, p.ranks): p for p in points}
    made = []
    for goal in GOALS:
        for ranks in HOSTS:
            point = of.get((goal.collective, goal.bytes, goal.op, ranks))
            if point:
                made += judged(goal, point, bits)
    return made


def judged(goal: Goal, point: Point, bits: float) -> list[Check]:
    best = point.best(goal.arms)
    if not best:
        return []
    where = f"{goal.title}, {point.ranks} hosts"
    if goal.times_native:
        ratio = point.ratio(NATIVE, best)
        if not ratio:
            return []
        claim = f"{where}: {goal.times_native:g} times as fast as the library's own"
        answer = above(ratio.low, ratio.high, goal.times_native)
        return [Check(claim, answer, f"{best} {ratio.text(1)}")]
    unit = wire.seconds(goal.collective, goal.bytes, point.ranks, bits)
    own = point.time(best, unit)
    if not own:
        return []
    answer = below(own.low, own.high, goal.most)
    return [Check(f"{where}: at most {goal.most:g} of the wire", answer, f"{best} {own.text(3)}")]
