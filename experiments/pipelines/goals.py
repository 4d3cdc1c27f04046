"""The goals of Unisono for long messages in the lab, drained, on 16 and 13 hosts: times the wire, or native.

Of the arms that are tried for a goal the fastest counts; what Unisono chooses by its table stands beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from unisono.catalogue import format_size

from experiments.harness import Check, above, below
from experiments.pipelines import wire
from experiments.pipelines.measuring import DEFAULT, LEFT, NATIVE, SUM, Plan, Point

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


def trees(segment: str) -> tuple[str, ...]:
    return (f"circulant:segment={segment}", f"two_tree:segment={segment}")


SCAN = ("chain:segment=4K", "chain:segment=2K")
RING = ("ring:segment=16K", "ring:segment=4K", "circulant")
ORDERED = ("rabenseifner", "pipeline:segment=4K", "chain:segment=4K")
GOALS = (
    Goal("bcast", 64 * KIB, 1.35, ("chain:segment=1K", *trees("4K"))),
    Goal("reduce", 64 * KIB, 1.35, ("chain:segment=1K", *trees("4K"))),
    Goal("bcast", MIB, 1.08, ("chain:segment=4K", *trees("8K"))),
    Goal("reduce", MIB, 1.08, ("chain:segment=4K", *trees("8K"))),
    Goal("allreduce", MIB, 1.07, RING),
    Goal("scan", MIB, 1.13, SCAN),
    Goal("exscan", MIB, 1.13, SCAN),
    Goal("bcast", 8 * MIB, 1.06, ("circulant:segment=16K",)),
    Goal("reduce", 8 * MIB, 1.06, ("circulant:segment=16K",)),
    Goal("allreduce", 8 * MIB, 1.06, ("ring:segment=16K",)),
    Goal("scan", 8 * MIB, 1.06, ("chain:segment=8K",)),
    Goal("allreduce", MIB, 1.22, ORDERED, LEFT),
    Goal("allreduce", 8 * MIB, 1.14, ("rabenseifner", "pipeline:segment=8K"), LEFT),
    Goal("allreduce", MIB, 0, ORDERED, LEFT, 5),
    Goal("reduce_scatter", MIB, 0, ("pairwise",), LEFT, 5),
)


def plans(ranks: int, blocks: int) -> list[Plan]:
    """One job for sums, one for the operation that does not commute; native where it is asked for."""
    made = []
    for op in (SUM, LEFT):
        cells: dict[tuple[str, str], dict[str, None]] = {}
        for goal in (one for one in GOALS if one.op == op):
            arms = cells.setdefault((goal.collective, str(goal.bytes)), {})
            arms |= dict.fromkeys(([NATIVE] if goal.times_native else []) + [DEFAULT, *goal.arms])
        wanted = [
            (collective, sizes, native_first(list(arms))) for (collective, sizes), arms in cells.items()
        ]
        made.append(Plan(f"goals {op}", ranks, wanted, blocks, budget=0.6, op=op))
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
    best = point.best([*goal.arms, DEFAULT])
    if not best:
        return []
    where = f"{goal.title}, {point.ranks} hosts"
    if goal.times_native:
        ratio, table = point.ratio(NATIVE, best), point.ratio(NATIVE, DEFAULT)
        if not ratio:
            return []
        claim = f"{where}: {goal.times_native:g} times as fast as the library's own"
        answer = above(ratio.low, ratio.high, goal.times_native)
        beside = f", default {table.text(1)}" if table else ""
        return [Check(claim, answer, f"{best} {ratio.text(1)}{beside}")]
    unit = wire.seconds(goal.collective, goal.bytes, point.ranks, bits)
    own, table = point.time(best, unit), point.time(DEFAULT, unit)
    if not own:
        return []
    beside = f", default {table.text(3)}" if table else ""
    answer = below(own.low, own.high, goal.most)
    return [Check(f"{where}: at most {goal.most:g} of the wire", answer, f"{best} {own.text(3)}{beside}")]
