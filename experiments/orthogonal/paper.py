"""What the paper says of its measurements, and whether it holds for others.

Its figures give no numbers in text; these are the statements of sections 2.2 and 2.3 about LAM-MPI on
100 Mb/s Ethernet (Figures 5, 6, 11), which section 2.2.3 confirms for 16 and 32 processors.
"""

from collections.abc import Sequence
from dataclasses import replace

from experiments.harness import Check, above, below, every, some
from experiments.orthogonal.grids import PAPER, balanced
from experiments.orthogonal.improvement import Improvement, additional, best, percent

# Average improvement in percent: on 48 processors, and on 96. Fewer are compared with 48.
AT_LEAST = {"bcast": (20, 40), "allreduce": (20, 30), "allgather": (60, 70), "gather": (1, 2)}
FOR_SOME_LAYOUT = ("allgather",)  # "for some of the group partitioning"; the others balanced
ALL_LAYOUTS_GAIN = ("bcast", "allreduce", "allgather")
BALANCED_IS_BEST = ("bcast", "gather", "allreduce", "allgather")
LOSES = ("scatter", "reduce")  # "an average performance degradation"
RELIABLE = 10  # points between least and most improvement of Allgather: "extremely small"
LEVEL = 0.5  # points: two averages closer than that are alike
MOST_ADDITIONAL = 15  # percent that a third dimension brought Bcast at most


def checks(found: Sequence[Improvement], ranks: int) -> list[Check]:
    """Of the paper's forms only; nothing is said of what was not measured."""
    own = [one for one in found if one.family == PAPER]
    made: list[Check] = []
    for collective in dict.fromkeys(one.collective for one in own):
        flat = [one for one in own if one.collective == collective and one.layout.dimensions == 2]
        deep = [one for one in own if one.collective == collective and one.layout.dimensions == 3]
        found_here = flat_checks(collective, flat, ranks) if flat else []
        if flat and deep:
            found_here += deep_checks(collective, flat, deep)
        sure = all(one.is_sure for one in flat + deep)
        made += found_here if sure else [replace(check, holds=None) for check in found_here]
    return made


def flat_checks(collective: str, flat: Sequence[Improvement], ranks: int) -> list[Check]:
    top = best(flat)
    even = balanced([one.layout for one in flat])
    square = best([one for one in flat if one.layout in even])
    made = []
    if collective in AT_LEAST:
        wanted = AT_LEAST[collective][ranks >= 96]
        some_layout = collective in FOR_SOME_LAYOUT
        one = top if some_layout else square
        claim = f"{collective}: {'some' if some_layout else 'a balanced'} layout gains {wanted} % on average"
        among = flat if some_layout else [own for own in flat if own.layout in even]
        answer = some(above(own.low, own.high, wanted) for own in among)
        made.append(Check(claim, answer, f"{one.text()} with {one.layout}"))
    if collective in ALL_LAYOUTS_GAIN:
        worst = min(flat, key=lambda one: one.average)
        claim = f"{collective}: every layout gains on average"
        answer = every(above(one.low, one.high, 0) for one in flat)
        made.append(Check(claim, answer, f"at least {worst.text()} ({worst.layout})"))
    if collective in BALANCED_IS_BEST and len(flat) > len(even):
        claim = f"{collective}: balanced layouts are best"
        numbers = f"{square.layout} {square.text()}, best {top.layout} {top.text()}"
        others = [one for one in flat if one.layout not in even]
        answer = every(above(square.low - one.high, square.high - one.low, -LEVEL) for one in others)
        made.append(Check(claim, answer, numbers))
    if collective == "allgather":
        claim = "allgather: gains alike at all sizes"
        numbers = f"{top.layout} {percent(top.least.improvement)} to {percent(top.most.improvement)} %"
        made.append(Check(claim, below(*top.spread, RELIABLE), numbers))
    if collective in LOSES:
        claim = f"{collective}: no layout gains on average"
        answer = every(below(one.low, one.high, LEVEL) for one in flat)
        made.append(Check(claim, answer, f"best {top.layout} {top.text()}"))
    return made


def deep_checks(collective: str, flat: Sequence[Improvement], deep: Sequence[Improvement]) -> list[Check]:
    two, three = best(flat), best(deep)
    gain, low, high = additional(three, two)
    span = f" ({percent(low)} to {percent(high)})" if high > low else ""
    numbers = f"{percent(gain)}{span} % ({three.layout} over {two.layout})"
    if collective == "bcast":
        claim = f"bcast: a third dimension gains more, up to {MOST_ADDITIONAL} %"
        return [Check(claim, every((above(low, high, 0), below(low, high, MOST_ADDITIONAL))), numbers)]
    if collective == "gather":
        return [Check("gather: a third dimension gains nothing more", below(low, high, LEVEL), numbers)]
    return []
