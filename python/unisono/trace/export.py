"""The command `unisono trace export`."""

from pathlib import Path
from typing import Annotated

import typer

from unisono.core.console import output as stdout


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What unisono trace wrote.")],
    form: Annotated[str, typer.Option("--to", metavar="FORM", help="parquet, csv, perfetto or otf2.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")],
) -> None:
    """Write a trace for other tools: [bold]unisono trace export DIR --to perfetto -o trace.json[/bold]"""
    from unisono.trace import formats  # noqa: PLC0415 - NumPy takes a moment to load

    events = formats.write(folder, form, output)
    stdout().print(f"wrote {output}: {events} events", soft_wrap=True)
