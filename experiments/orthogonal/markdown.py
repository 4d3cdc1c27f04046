"""Tables for docs/results/orthogonal.md."""

from collections.abc import Sequence

from unisono.catalogue import format_size

from experiments.harness import Check
from experiments.orthogonal.improvement import Improvement

HEAD = ("operation", "form", "layout", "least", "at", "average", "most", "at")


def percent(value: float) -> str:
    return f"{round(value, 1) + 0:.1f}"  # no -0.0


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
    )


def row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> list[str]:
    """The first columns hold `words`, the others numbers."""
    alignment = ["---"] * words + ["---:"] * (len(head) - words)
    return [row(head), row(alignment), *(row(values) for values in rows), ""]


def verdicts(checks: Sequence[Check]) -> list[str]:
    rows = [(c.claim, "holds" if c.holds else "does not hold", c.numbers) for c in checks]
    return table(("the paper", "here", "numbers"), rows, 3) if rows else []


def section(title: str, found: Sequence[Improvement], checks: Sequence[Check]) -> str:
    body = table(HEAD, [cells(one) for one in found], 3)
    return "\n".join([f"### {title}", "", *body, *verdicts(checks)])
