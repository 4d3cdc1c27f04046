"""The command `unisono report`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from unisono.compare.terminal import wide_console


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What unisono trace wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    page: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="As one HTML page.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Call sites that are shown.")] = 10,
) -> None:
    """Say where the time in collectives goes: [bold]unisono report DIR --html report.html[/bold]"""
    # NumPy takes a moment to load, and most commands do without.
    from unisono.trace import document, html, terminal  # noqa: PLC0415
    from unisono.trace.analysis import analyse  # noqa: PLC0415
    from unisono.trace.reader import read  # noqa: PLC0415
    from unisono.trace.summary import summarise  # noqa: PLC0415

    summary = summarise(analyse(read(folder)))
    if as_json:
        print(json.dumps(document.to_json(summary), indent=1, allow_nan=False))
    else:
        terminal.show(summary, wide_console(), top)
    if page:
        html.write(summary, page, top)
        Console(stderr=True, highlight=False).print(f"wrote {page}", soft_wrap=True)
