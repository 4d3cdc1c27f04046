"""What all commands write to: standard output for results, standard error for the rest, and their tables."""

import os
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

WIDE = 150  # columns of a file or a pipe, for which nobody has said how wide they are

errors = Console(stderr=True, highlight=False)


def output(json: Path | None = None) -> Console:
    """Standard output: as wide as the terminal or COLUMNS. Nothing is shown where JSON goes there."""
    out = Console(highlight=False, quiet=json is not None and str(json) == "-")
    if not out.is_terminal and not os.environ.get("COLUMNS"):
        out.width = WIDE
    return out


def without_colours() -> None:
    """For every console that is there, or is yet made; rich's own NO_COLOR."""
    os.environ["NO_COLOR"] = "1"
    errors.no_color = True


def table(*columns: str, left: int = 1, title: str | None = None) -> Table:
    """The first `left` columns hold words, the others numbers. Where the terminal is narrow, the widest
    columns go on in the next line: nothing is cut."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    for at, column in enumerate(columns):
        made.add_column(column, justify="left" if at < left else "right", overflow="fold")
    return made


def progress(*more: ProgressColumn, disable: bool = False) -> Progress:
    """A bar that goes away at the end, drawn once a second: the cores are for the ranks."""
    return Progress(
        TextColumn("{task.description:46.46}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *more,
        console=errors,
        refresh_per_second=1,
        speed_estimate_period=3600,
        transient=True,
        disable=disable,
    )
