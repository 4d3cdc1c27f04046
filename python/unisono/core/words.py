"""Numbers and choices as people read them, alike in the terminal and on pages."""

from rich.text import Text

from unisono.core.catalogue import NATIVE
from unisono.core.estimates import Estimate


def number(value: float | None) -> str:
    """Three digits, no exponent."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def microseconds(estimate: Estimate | None) -> str:
    return "" if estimate is None else number(estimate.median)


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f"{number(estimate.low)} - {number(estimate.high)}{'' if estimate.is_sure else ' ?'}"


def choice_text(spec: str) -> Text:
    return Text(spec, style="dim" if spec == NATIVE else "green")
