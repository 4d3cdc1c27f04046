"""The command `unisono advise`."""

from pathlib import Path
from typing import Annotated

import typer

from unisono.core import console, documents, options
from unisono.core.errors import UnisonoError


def advise(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="What unisono trace wrote: one for each job."),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a profile of what gains.")
    ] = None,
    json: options.Json = None,
    machine: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What messages cost there; else what jobs remembered."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Call sites that are shown.")] = 10,
) -> None:
    """Say what other algorithms would gain: [bold]unisono advise DIR -o mine.json[/bold]"""
    # NumPy takes a moment to load, and most commands do without.
    from unisono.advise import document, result, several, terminal  # noqa: PLC0415
    from unisono.profile import document as profile_document  # noqa: PLC0415

    found = several.of_folders(folders, machine)
    refusal = None
    if output:
        try:
            profile_document.save(result.profile_of(found), output)
        except UnisonoError as error:  # said last: the advice holds all the same
            refusal = error
    terminal.show(found, console.output(json), top, None if refusal else output)
    documents.write(document.document_of(found), json)
    if refusal:
        raise refusal
