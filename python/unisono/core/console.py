"""What all commands write to: standard output for results, standard error for the rest, and their tables."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import Segment
from rich.style import StyleType
from rich.table import Column, Table
from rich.text import Text

from unisono.core.shown import shown

WIDE = 150  # columns of a file or a pipe, for which nobody has said how wide they are
GAP = "   "  # between two columns
INDENT = 2  # of what stands below names


@dataclass(frozen=True)
class Shown:
    """What is printed, without control characters that a name brought along."""

    printed: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self.printed, options):
            yield Segment(text if control else "\n".join(map(shown, text.split("\n"))), style, control)


class ShowAll(RenderHook):
    """Names come from files, from the environment and from other programs: who prints one need not care."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [Shown(each) for each in renderables]


def console_of(**options: Any) -> Console:
    """What is printed is text, whatever it holds: a name may look like markup."""
    console = Console(highlight=False, markup=False, emoji=False, **options)
    console.push_render_hook(ShowAll())
    return console


errors = console_of(stderr=True)


def output(json: Path | None = None) -> Console:
    """Standard output: as wide as the terminal or COLUMNS. Nothing is shown where JSON goes there."""
    out = console_of(quiet=json is not None and str(json) == "-")
    if not out.is_terminal and not os.environ.get("COLUMNS"):
        out.width = WIDE
    return out


def open_closed_streams() -> None:
    """A file that is opened would get the number of a standard stream that is closed, and output with it."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the least number that is free
            setattr(sys, name, open(number, mode))  # noqa: PTH123, SIM115


def drop_output() -> None:
    """What cannot be written is not tried again when Python ends."""
    with Path(os.devnull).open("w") as nowhere, contextlib.suppress(OSError):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def without_colours() -> None:
    """For every console that is there, or is yet made; rich's own NO_COLOR."""
    os.environ["NO_COLOR"] = "1"
    errors.no_color = True


class WholeWords(Table):
    """Cells go on in the next line between words, and numbers stay with their units. Where they do not fit
    side by side like that, the columns of names that it begins with stand on a line of their own, above the
    others."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = len(list(takewhile(lambda column: column.justify == "left", self.columns)))
        room = options.max_width - 2 * self.show_edge - 3 * (len(self.columns) - 1)
        sizes = [size_of(column, console, options) for column in self.columns]
        if sum(size.whole for size in sizes) > room and names and len(self.columns) > 1:
            yield from self.stacked(names if names < len(self.columns) else 1, console, options)
            return
        for column, width in zip(self.columns, fitted(sizes, room), strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def stacked(self, names: int, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        named, others = self.columns[:names], self.columns[names:]
        sizes = [size_of(column, console, options) for column in others]
        widths = fitted(sizes, options.max_width - INDENT - 3 * (len(others) - 1))
        yield Text()
        yield side_by_side([column.header for column in named], "bold", console)
        yield indented(part(others, widths, show_header=True))
        for words, numbers, row in zip(rows_of(named), rows_of(others), self.rows, strict=True):
            below = part(others, widths, show_header=False)
            below.add_row(*numbers, style=row.style)
            yield side_by_side(words, row.style or "", console)
            yield indented(below)
        yield Text()


@dataclass(frozen=True)
class Size:
    """Of a column, in letters."""

    most: int  # all of a cell in one line
    whole: int  # its words, and numbers with their units
    least: int  # its words


def size_of(column: Column, console: Console, options: ConsoleOptions) -> Size:
    wide = options.update_width(10_000)
    header, *cells = (Measurement.get(console, wide, cell) for cell in [column.header, *column.cells])
    most = max(1, header.maximum, *(cell.maximum for cell in cells))
    if column.no_wrap:
        return Size(most, most, most)
    least = max(1, header.minimum, *(cell.minimum for cell in cells))
    numbers = (cell.maximum for cell in cells if column.justify == "right")
    return Size(most, max(least, *numbers, 0), least)


def fitted(sizes: Sequence[Size], room: int) -> list[int]:
    """What is too much is taken from whatever is widest, and no more of it than must be."""
    widths = [size.most for size in sizes]
    for floor in ([size.whole for size in sizes], [size.least for size in sizes], [1] * len(sizes)):
        while sum(widths) > room and widths != floor:
            widest = max((at for at in range(len(widths)) if widths[at] > floor[at]), key=widths.__getitem__)
            widths[widest] -= 1
    return widths


def part(columns: Sequence[Column], widths: Sequence[int], *, show_header: bool) -> Table:
    made = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=show_header, header_style="bold"
    )
    for column, width in zip(columns, widths, strict=True):
        made.add_column(
            column.header, justify=column.justify, style=column.style, width=width, overflow="fold"
        )
    return made


def indented(lower: Table) -> Padding:
    return Padding(lower, (0, 0, 0, INDENT), expand=False)


def rows_of(columns: Sequence[Column]) -> Iterator[tuple[RenderableType, ...]]:
    return zip(*(column.cells for column in columns), strict=True)


def side_by_side(words: Sequence[RenderableType], style: StyleType, console: Console) -> Text:
    line = Text(GAP).join(
        word if isinstance(word, Text) else console.render_str(str(word), highlight=False) for word in words
    )
    line.stylize(style)
    return line


def table(*columns: str, left: int = 1) -> Table:
    """The first `left` columns hold names, the others numbers. No name is cut, nor folded where it fits a
    line."""
    made = WholeWords(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for at, column in enumerate(columns):
        made.add_column(column, justify="left" if at < left else "right", overflow="fold")
    return made


def progress(*more: ProgressColumn, disable: bool = False) -> Progress:
    """A bar that goes away at the end, drawn once a second: the cores are for the ranks."""
    return Progress(
        TextColumn("{task.description:46.46}", markup=False),
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
