"""What section 5.1 says of Figures 3 and 4, and whether it holds for others. Its equation (2).

The text tells these numbers only (8 nodes, SCI, MPICH 1.2.0's trees). Where it names a size that was not
measured here, the largest one that was stands for it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from unisono.core.catalogue import format_size

from experiments.harness import Check, above, below, every, some
from experiments.pipelines.measuring import Point, Ratio

GENERIC = {"bcast": "binomial", "reduce": "binomial", "scan": "linear", "allreduce": "reduce_bcast"}
PIPELINED = dict.fromkeys(GENERIC, "chain")
RABENSEIFNER = "rabenseifner"
MOST = 8  # processes of the paper's cluster
SHORT = 32 << 10  # the paper's pipelines begin here
LONG = 256 << 10  # from here the pipelines beat Rabenseifner's algorithm ("MB" in the text)


class Curves:
    """The points of one test bed."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.of = {(p.collective, p.ranks, p.bytes): p for p in points}

    def ranks(self, collective: str, least: int = 2, most: int = MOST) -> list[int]:
        return sorted({p for name, p, _ in self.of if name == collective and least <= p <= most})

    def sizes(self, collective: str, *ranks: int) -> list[int]:
        """Measured on each of these numbers of ranks."""
        own = [{size for name, p, size in self.of if name == collective and p == one} for one in ranks]
        return sorted(set.intersection(*own)) if own else []

    def between(self, collective: str, arm: str, ranks: tuple[int, int]) -> list[tuple[str, Ratio]]:
        """Times on the second number of ranks over those on the first, at the largest size of both."""
        sizes = self.sizes(collective, *ranks)
        if not sizes:
            return []
        before, after = (self.of[collective, p, sizes[-1]] for p in ranks)
        ratio = after.over(arm, before, arm)
        return [(f"{ranks[0]} to {ranks[1]}, {format_size(sizes[-1])}", ratio)] if ratio else []

    def beside(
        self, collective: str, slow: str, fast: str, ranks: Iterable[int], sizes: Callable[[int], bool]
    ) -> list[tuple[str, Ratio]]:
        """slow / fast at all of these."""
        found = []
        for p in ranks:
            for size in filter(sizes, self.sizes(collective, p)):
                ratio = self.of[collective, p, size].ratio(slow, fast)
                if ratio:
                    found.append((f"{p} ranks, {format_size(size)}", ratio))
        return found

    def largest(self, collective: str, ranks: int) -> list[Point]:
        sizes = self.sizes(collective, ranks)
        return [self.of[collective, ranks, sizes[-1]]] if sizes else []


def any_size(size: int) -> bool:
    return True


Found = Sequence[tuple[str, Ratio]]


def check(
    claim: str,
    found: Found,
    judge: Callable[[float, float], bool | None],
    telling: Callable[[Found], tuple[str, Ratio]] | None = None,
    joined: Callable[[Iterable[bool | None]], bool | None] = every,
) -> list[Check]:
    """One claim about several ratios; the numbers are those of the telling one, otherwise the least."""
    if not found:
        return []
    where, ratio = (telling or least)(found)
    return [Check(claim, joined(judge(r.low, r.high) for _, r in found), f"{ratio.text()} ({where})")]


def least(found: Found) -> tuple[str, Ratio]:
    return min(found, key=lambda one: one[1].value)


def most(found: Found) -> tuple[str, Ratio]:
    return max(found, key=lambda one: one[1].value)


def farthest(limit: float) -> Callable[[Found], tuple[str, Ratio]]:
    return lambda found: max(found, key=lambda one: abs(math.log(one[1].value / limit)))


def more(limit: float) -> Callable[[float, float], bool | None]:
    return lambda low, high: above(low, high, limit)


def less(limit: float) -> Callable[[float, float], bool | None]:
    return lambda low, high: below(low, high, limit)


def near(limit: float, tolerance: float) -> Callable[[float, float], bool | None]:
    return lambda low, high: every(
        (above(low, high, limit / (1 + tolerance)), below(low, high, limit * (1 + tolerance)))
    )


def trees(curves: Curves) -> list[Check]:
    steps = [
        one
        for ranks in ((2, 3), (4, 5))
        if set(ranks) <= set(curves.ranks("bcast"))
        for one in curves.between("bcast", GENERIC["bcast"], ranks)
    ]
    made = check("Bcast, generic: slower with every level of the tree (3 and 5 processes)", steps, more(1.0))
    twice = curves.between("bcast", GENERIC["bcast"], (2, 3))
    made += check(
        "Bcast, generic: 2 processes have twice the bandwidth of 3 (within 15 %)", twice, near(2, 0.15)
    )
    pairs = []
    for p in curves.ranks("bcast"):
        for point in curves.largest("bcast", p):
            other = curves.of.get(("reduce", p, point.bytes))
            ratio = other.over("binomial", point, "binomial") if other else None
            pairs += [(f"{p} ranks, {format_size(point.bytes)}", ratio)] if ratio else []
    claim = "Reduce, generic: half of the bandwidth of Bcast (within 25 %)"
    return made + check(claim, pairs, near(2, 0.25), farthest(2))


def bcast(curves: Curves) -> list[Check]:
    generic, pipelined = GENERIC["bcast"], PIPELINED["bcast"]
    everywhere = curves.beside("bcast", generic, pipelined, curves.ranks("bcast"), any_size)
    made = check("Bcast: pipelined faster than generic everywhere", everywhere, more(1.0))
    three = [one for one in everywhere if not one[0].startswith("2 ranks")]
    made += check("Bcast: by more than 100 % somewhere", three, more(2.0), most, some)
    two = curves.beside("bcast", generic, pipelined, [2], any_size)[-1:]
    made += check("Bcast, 2 processes: pipelined 10 % faster", two, more(1.10))
    slope = curves.between("bcast", pipelined, (3, MOST))
    made += check("Bcast, pipelined: 8 processes keep 90 % of the bandwidth of 3", slope, less(103.9 / 93.7))
    first = curves.between("bcast", pipelined, (2, 3))
    made += check("Bcast, pipelined: 3 processes have 25 % less than 2", first, more(1 / 0.75))
    growing = []
    sizes = curves.sizes("bcast", MOST)
    for small, large in pairwise(sizes):
        few, many = (curves.of["bcast", MOST, size] for size in (small, large))
        ratio = many.over(pipelined, few, pipelined)
        if ratio:
            part = small / large
            scaled = Ratio(*(value * part for value in (ratio.value, ratio.low, ratio.high)))
            growing.append((f"{format_size(small)} to {format_size(large)}", scaled))
    claim = "Bcast, pipelined, 8 processes: bandwidth grows with the length"
    return made + check(claim, growing, less(1.0), most)


def reductions(curves: Curves) -> list[Check]:
    made = []
    for name, limit, said in (("reduce", 4.0, "up to 4 times"), ("scan", 4.0, "more than 4 times")):
        found = curves.beside(name, GENERIC[name], PIPELINED[name], [MOST], any_size)
        claim = f"{name.capitalize()}, 8 processes: pipelined {said} as fast as generic"
        made += check(claim, found, more(limit), most, some)
        everywhere = curves.beside(
            name, GENERIC[name], PIPELINED[name], curves.ranks(name), lambda size: size >= SHORT
        )
        claim = f"{name.capitalize()}: pipelined faster than generic from 32K on"
        made += check(claim, everywhere, more(1.0))
    slower = []
    for p in curves.ranks("scan"):
        for point in curves.largest("scan", p):
            other = curves.of.get(("reduce", p, point.bytes))
            ratio = point.over(PIPELINED["scan"], other, PIPELINED["reduce"]) if other else None
            slower += [(f"{p} ranks, {format_size(point.bytes)}", ratio)] if ratio else []
    claim = "Scan, pipelined: at least 25 % less bandwidth than Reduce"
    return made + check(claim, slower, more(1 / 0.75))


def in_a_row(curves: Curves, names: dict[str, str]) -> list[tuple[str, Ratio]]:
    """Allreduce's time over those of Reduce and Bcast together."""
    found = []
    for p in curves.ranks("allreduce", most=1 << 30):
        for size in curves.sizes("allreduce", p):
            parts = [curves.of.get((name, p, size)) for name in ("reduce", "bcast")]
            first, second = (part.times.get(names[part.collective], {}) if part else {} for part in parts)
            both = {job: first[job] + second[job] for job in first if job in second}
            own = curves.of["allreduce", p, size]
            ratio = own.over(names["allreduce"], Point(own.bed, p, "both", size, times={"": both}), "")
            found += [(f"{p} ranks, {format_size(size)}", ratio)] if ratio else []
    return found


def allreduce(curves: Curves) -> list[Check]:
    made = []
    ranks = curves.ranks("allreduce", most=1 << 30)
    powers = [p for p in ranks if p & (p - 1) == 0]
    others = [p for p in ranks if p & (p - 1)]
    generic, pipelined = GENERIC["allreduce"], PIPELINED["allreduce"]

    def beside(
        slow: str, fast: str, on: Sequence[int], sizes: Callable[[int], bool]
    ) -> list[tuple[str, Ratio]]:
        return curves.beside("allreduce", slow, fast, on, sizes)

    def long(size: int) -> bool:
        return size >= LONG

    def short(size: int) -> bool:
        return size < LONG

    for title, names in (("generic", GENERIC), ("pipelined", PIPELINED)):
        claim = f"Allreduce, {title}: takes as long as Reduce and Bcast in a row (within 15 %)"
        made += check(claim, in_a_row(curves, names), near(1, 0.15), farthest(1))
    claim = "Allreduce, Rabenseifner, 2^n processes: twice as fast as generic (within 25 %)"
    made += check(claim, beside(generic, RABENSEIFNER, powers, long), near(2, 0.25), farthest(2))
    claim = "Allreduce, Rabenseifner, others: at most 30 % faster than generic"
    made += check(claim, beside(generic, RABENSEIFNER, others, long), less(1.3), most)
    claim = "Allreduce, 2^n processes, from 256K on: pipelined faster than Rabenseifner"
    made += check(claim, beside(RABENSEIFNER, pipelined, powers, long), more(1.0))
    claim = "Allreduce, 2^n processes, shorter: Rabenseifner faster than pipelined"
    made += check(claim, beside(pipelined, RABENSEIFNER, powers, short), more(1.0))
    claim = "Allreduce, others: pipelined always faster than Rabenseifner"
    made += check(claim, beside(RABENSEIFNER, pipelined, others, any_size), more(1.0))
    claim = "Allreduce, others: up to twice as fast (1.8)"
    made += check(claim, beside(RABENSEIFNER, pipelined, others, any_size), more(1.8), most, some)
    return made


def checks(points: Sequence[Point]) -> list[Check]:
    """Nothing is said of what was not measured."""
    curves = Curves(points)
    return [one for judge in (trees, bcast, reductions, allreduce) for one in judge(curves)]


# --- Figure 5: equation (2), with what sections 3, 5.1 and 5.3 tell of its parameters ----------------


@dataclass(frozen=True)
class Sci:
    dma_start: float = 30e-6  # "starts at about 30 us"
    dma_rate: float = 250e6
    message_rate: float = 3 * 43.7e6  # a Bcast of 4 MB on 8, three levels of a tree
    flow: float = 5e-6  # t_fc, in the place of l_PIO(4) + l_sb

    def pcast(self, ranks: int, size: int, block: int) -> float:
        blocks = size / block
        return (ranks + blocks) * (self.dma_start + block / self.dma_rate + self.flow)

    def generic(self, ranks: int, size: int) -> float:
        """A binomial tree."""
        return math.ceil(math.log2(ranks)) * size / self.message_rate

    def best_block(self, ranks: int, size: int) -> float:
        """Where the derivative is zero."""
        return math.sqrt(size * (self.dma_start + self.flow) * self.dma_rate / ranks)


# Section 5.3: the best blocks of 1 MB; where pcast begins to win.
BEST_BLOCK = {8: 20 << 10, 256: 4 << 10}
PCAST_FROM = 64 << 10
