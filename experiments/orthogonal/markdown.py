"""Tables for docs/results/orthogonal.md."""

from collections.abc import Sequence

from unisono.catalogue import format_size

from experiments.harness import Check
from experiments.orthogonal.improvement import Improvement

HEAD = ("operation", "form", "layout", "least", "at", "average", "most", "at")
ALIGNMENT = ("---", "---", "---", "---:", "---:", "---:", "---:", "---:")


def cells(one: Improvement) -> tuple[str, ...]:
    least, most = one.least, one.most
    return (
        one.collective,
        one.family,
        str(one.layout),
        f"{least.improvement:.1f}",
        format_size(least.bytes),
        f"{one.average:.1f}",
        f"{most.improvement:.1f}",
        format_size(most.bytes),
    )


def row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def section(title: str, found: Sequence[Improvement], checks: Sequence[Check]) -> str:
    lines = [f"### {title}", "", row(HEAD), row(ALIGNMENT), *(row(cells(one)) for one in found), ""]
    if checks:
        lines += ["| the paper | here | numbers |", "| --- | --- | --- |"]
        lines += [row((c.claim, "holds" if c.holds else "does not hold", c.numbers)) for c in checks]
        lines.append("")
    return "\n".join(lines)
