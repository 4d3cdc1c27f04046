"""The result as a table, and how the file is used."""

from rich.console import Console
from rich.text import Text

from unisono.core.console import table
from unisono.tune.native.record import DEFAULT
from unisono.tune.native.rules import size_text
from unisono.tune.native.run import Result, Row


def show(result: Result, console: Console) -> None:
    made = table("collective", "exported", "ranks", "bytes", "default us", "time/default", "95 %", left=2)
    for row in result.rows:
        made.add_row(*texts(row), style="" if row.algorithm != DEFAULT else "dim")
    console.print(made)
    for line in result.notes:
        console.print(Text(line), soft_wrap=True)
    if not result.rules:
        console.print("Nothing was surely faster than the library's own decisions; the file changes nothing.")
    console.print(f"wrote {result.file}; to use it:", soft_wrap=True)
    for name, value in result.variables.items():
        console.print(f"    export {name}={value}", soft_wrap=True)


def texts(row: Row) -> tuple[str, ...]:
    cell, ratio = row.cell, row.ratio
    size = size_text(cell.bytes) if cell.collective != "barrier" else ""
    measured = (f"{ratio.median:.2f}", f"{ratio.low:.2f} - {ratio.high:.2f}") if ratio else ("", "")
    return (cell.collective, row.algorithm, str(cell.ranks), size, microseconds(row.default_us), *measured)


def microseconds(value: float) -> str:
    return f"{value:.4g}" if value < 1000 else f"{value:.0f}"
