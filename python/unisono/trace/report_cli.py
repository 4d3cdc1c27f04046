"""The command `unisono report`."""

from pathlib import Path
from typing import Annotated

import typer

from unisono.core import documents, options
from unisono.core.console import errors, output


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What unisono trace wrote.")],
    json: options.Json = None,
    page: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="As one HTML page.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Call sites that are shown.")] = 10,
) -> None:
    """Say where the time in collectives goes: [bold]unisono report DIR --html report.html[/bold]"""
    # NumPy takes a moment to load, and most commands do without; charts, which only a page has, take longer.
    from unisono.trace import document, terminal  # noqa: PLC0415
    from unisono.trace.analysis import analyse  # noqa: PLC0415
    from unisono.trace.reader import read  # noqa: PLC0415
    from unisono.trace.summary import summarise  # noqa: PLC0415

    summary = summarise(analyse(read(folder)))
    terminal.show(summary, output(json), top)
    if json:
        documents.write(document.document_of(summary), json)
    if page:
        from unisono.trace import html  # noqa: PLC0415

        html.write(summary, page, top)
        errors.print(f"wrote {page}", soft_wrap=True)
