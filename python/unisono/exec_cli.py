"""unisono exec: unisono-exec for whoever has only the `unisono` command on PATH."""

import os
from typing import Annotated

import typer

from unisono.core import places


def exec_command(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="Program and its arguments; without: where unisono-exec is."),
    ] = None,
) -> None:
    """Put Unisono under a program, after the launcher: [bold]mpiexec -n 4 unisono exec ./app[/bold]

    unisono-exec does the same and starts faster: it does not wait for Python, on any rank."""
    path = str(places.program("unisono-exec"))
    if not command:
        print(path)
        return
    os.execv(path, [path, "--", *command])
