"""Tables for docs/results."""

from collections.abc import Collection, Sequence

from experiments.harness import Check


def row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[int]) -> list[str]:
    """All columns but `words` hold numbers."""
    alignment = ["---" if position in words else "---:" for position in range(len(head))]
    return [row(head), row(alignment), *(row(values) for values in rows), ""]


def verdicts(checks: Sequence[Check]) -> list[str]:
    rows = [(c.claim, c.word, c.numbers) for c in checks]
    return table(("the paper", "here", "numbers"), rows, range(3)) if rows else []


def met(is_met: bool) -> str:
    """Of a goal, in a cell."""
    return "yes" if is_met else "**no**"
