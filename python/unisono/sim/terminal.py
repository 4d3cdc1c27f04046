"""A simulated table in the terminal."""

from rich import box
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from unisono.catalogue import format_size
from unisono.compare.limits import Sized, size_kind
from unisono.compare.words import number
from unisono.sim.table import Row, Table

LEGEND = (
    "us: simulated, the same in every run. limit: share of the network's limit, bytes over the narrowest\n"
    "cut (100 %: nothing can be faster). ratio: time / best selector's time, below 1 is faster."
)


def title(table: Table) -> str:
    question = table.question
    rooted = f", root {question.root}" if question.root else ""
    return f"{question.collective} on {question.ranks} ranks{rooted}, {question.platform.spec}"


def show(table: Table, console: Console) -> None:
    console.print(Text(title(table), style="bold"), soft_wrap=True)
    for row, size in table.wrong():
        console.print(Text(f"WRONG RESULT: {row.label}, {format_size(size)}B", style="bold red"))
    drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    drawn.add_column("algorithm", no_wrap=True)
    for size in table.question.sizes:
        sized = size_kind(table.question.collective)
        name = "us" if sized is Sized.NOTHING else f"{format_size(size)} {sized}: us"
        for heading in (name, "limit", "ratio"):
            drawn.add_column(heading, justify="right", no_wrap=heading != name)
    for row in table.by_time():
        cells = [cell for size in table.question.sizes for cell in texts(table, row, size)]
        drawn.add_row(Text(row.label, style="cyan" if row.selector else ""), *cells)
    console.print(drawn)
    for reason in sorted(reasons(table)):
        console.print(Text(reason, style="yellow"), soft_wrap=True)
    console.print(Text(LEGEND, style="dim"))


def texts(table: Table, row: Row, size: int) -> tuple[Text | str, Text | str, Text | str]:
    cell = row.cells[size]
    if not cell.correct:
        return Text("WRONG", style="bold red"), "", ""
    if cell.seconds is None:
        return "n/a", "", ""
    share, ratio = table.share_of_limit(row, size), table.ratio_to_best(row, size)
    style = "" if ratio is None or row.selector else "green" if ratio < 1 else "red" if ratio > 1 else ""
    return (
        microseconds(cell.seconds),
        "" if share is None else f"{100 * share:.1f} %",
        Text(number(ratio), style=style),
    )


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"


def reasons(table: Table) -> set[str]:
    """Why there are no times, each reason once."""
    found = set()
    for row in table.rows:
        missing = {size: cell.left_out for size, cell in row.cells.items() if cell.left_out}
        for size, reason in missing.items():
            where = "" if len(missing) == len(row.cells) else f" at {format_size(size)}B"
            found.add(f"{row.label}{where}: {reason}")
    return found
