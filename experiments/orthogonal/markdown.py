"""Tables for docs/results/orthogonal.md."""

from collections.abc import Sequence

from unisono.core.catalogue import format_size

from experiments.harness import Check
from experiments.markdown import table, verdicts
from experiments.orthogonal.improvement import Improvement, percent

HEAD = ("operation", "form", "layout", "least", "at", "average", "most", "at", "blocks")

FEW = 4  # layouts


def cells(one: Improvement) -> tuple[str, ...]:
    least, most = one.least, one.most
    return (
        one.collective,
        one.family,
        str(one.layout),
        percent(least.improvement),
        format_size(least.bytes),
        percent(one.average),
        percent(most.improvement),
        format_size(most.bytes),
        str(one.blocks),
    )


def averages(found: Sequence[Improvement]) -> list[str]:
    """A column for each layout; where a row of its own for each would be a long table."""
    layouts = sorted(dict.fromkeys(one.layout for one in found), key=lambda one: (one.dimensions, one.shape))
    of = {(one.collective, one.family, one.layout): percent(one.average) for one in found}
    kinds = dict.fromkeys((one.collective, one.family) for one in found)
    rows = [(*kind, *(of.get((*kind, layout), "") for layout in layouts)) for kind in kinds]
    return table(("average, %", "form", *map(str, layouts)), rows, range(2))


def section(title: str, found: Sequence[Improvement], checks: Sequence[Check]) -> str:
    few = len({one.layout for one in found}) <= FEW
    body = table(HEAD, [cells(one) for one in found], range(3)) if few else averages(found)
    return "\n".join([f"### {title}", "", *body, *verdicts(checks)])
