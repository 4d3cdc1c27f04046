"""A simulated table in the terminal."""

from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from unisono.core import console as console_module
from unisono.core.catalogue import format_size
from unisono.core.limits import Sized, size_kind
from unisono.core.words import number
from unisono.sim.table import FLOWS, Row, Table

LEGEND = (
    "us: simulated, the same in every run. limit: share of the network's limit, bytes over the narrowest\n"
    "cut (100 %: nothing can be faster)."
)
RATIO = " ratio: time / best selector's time, below 1 is faster."
ROUTES = "routes: the same, of what the torus' own routes let through."
SHARED = "The ranks' buffers were the same memory: no result was verified."
FLOWS_LEGEND = "Flows of the schedules, without SMPI: results are not computed, there are no selectors."


def title(table: Table) -> str:
    question = table.question
    rooted = f", root {question.root}" if question.root else ""
    hosts = f" on {len(set(question.placed))} hosts" if question.placed else ""
    return f"{question.collective} on {question.ranks} ranks{hosts}{rooted}, {question.platform.spec}"


def show(table: Table, console: Console) -> None:
    console.print(Text(title(table), style="bold"), soft_wrap=True)
    for row, size in table.wrong():
        console.print(Text(f"WRONG RESULT: {row.label}, {format_size(size)}B", style="bold red"))
    for sizes in side_by_side(table, console):
        console.print(draw(table, sizes))
    for reason in sorted(reasons(table)):
        console.print(Text(reason, style="yellow"), soft_wrap=True)
    legend = [LEGEND + (RATIO if has_ratios(table) else ""), *([ROUTES] if has_routes(table) else [])]
    legend += [SHARED] if table.question.shares else []
    legend += [FLOWS_LEGEND] if table.question.engine == FLOWS else []
    console.print(Text("\n".join(legend), style="dim"))


def side_by_side(table: Table, console: Console) -> list[tuple[int, ...]]:
    """The sizes, as many in a row as the console is wide."""
    sizes = table.question.sizes
    unbounded = console.options.update_width(1 << 20)
    for count in range(len(sizes), 1, -1):
        rows = [sizes[first : first + count] for first in range(0, len(sizes), count)]
        widths = [console.measure(draw(table, row), options=unbounded).maximum for row in rows]
        if max(widths) <= console.width:
            return rows
    return [(size,) for size in sizes]


def draw(table: Table, sizes: tuple[int, ...]) -> Drawn:
    columns = ["algorithm"]
    for size in sizes:
        sized = size_kind(table.question.collective)
        columns += headings(table, "us" if sized is Sized.NOTHING else f"{format_size(size)} {sized}: us")
    drawn = console_module.table(*columns)
    for row in table.by_time():
        cells = [cell for size in sizes for cell in texts(table, row, size)]
        drawn.add_row(Text(row.label, style="cyan" if row.selector else ""), *cells)
    return drawn


def has_ratios(table: Table) -> bool:
    return any(row.selector for row in table.rows)


def has_routes(table: Table) -> bool:
    return any(table.question.routing_limit(size) for size in table.question.sizes)


def headings(table: Table, name: str) -> list[str]:
    routes = ["routes"] if has_routes(table) else []
    return [name, "limit", *routes, *(["ratio"] if has_ratios(table) else [])]


def texts(table: Table, row: Row, size: int) -> list[Text | str]:
    cell = row.cells[size]
    shares = [percent(table.share_of_limit(row, size))]
    if has_routes(table):
        shares.append(percent(table.share_of_routing_limit(row, size)))
    if not cell.correct or cell.seconds is None:
        missing = "n/a" if cell.correct else Text("WRONG", style="bold red")
        return [missing, *("" for _ in headings(table, "")[1:])]
    if not has_ratios(table):
        return [microseconds(cell.seconds), *shares]
    ratio = table.ratio_to_best(row, size)
    style = "" if ratio is None or row.selector else "green" if ratio < 1 else "red" if ratio > 1 else ""
    return [microseconds(cell.seconds), *shares, Text(number(ratio), style=style)]


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


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
