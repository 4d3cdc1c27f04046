"""What is said of each collective that a loop repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unisono.restructure.check import Accepted, Refused


def lines(path: str, decisions: Sequence[Accepted | Refused], explain: bool) -> Iterator[str]:
    """Refusals always, the rest if it is asked for."""
    for decision in decisions:
        found = decision.found
        where = f"{path}:{found.call.line}: {found.name}"
        if isinstance(decision, Refused):
            yield f"{where}: left as it is: {decision.reason}"
        elif explain:
            yield f"{where}: {placed(decision)}"
    accepted = sum(isinstance(d, Accepted) for d in decisions)
    yield f"{path}: {accepted} of {len(decisions)} collectives in loops rewritten"


def placed(decision: Accepted) -> str:
    loop = f"the loop at line {decision.loop.line}"
    if decision.late:
        return f"its request is made where it first runs in {loop}, not before: {decision.late}"
    text = f"its request is made before {loop}"
    if decision.guard:
        text += f", if that runs ({decision.guard})"
    if decision.moved:
        text += (
            f", with line{'s' * (len(decision.moved) > 1)} {', '.join(str(m.line) for m in decision.moved)}"
        )
    return text
