"""The command `unisono run`."""

from pathlib import Path
from typing import Annotated

import typer

from unisono.core import launch, options
from unisono.core.options import Library


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM...", help="Program and its arguments, or a launcher's whole line."),
    ],
    ranks: Annotated[
        int | None, typer.Option("-n", min=1, help="Number of ranks.", show_default=str(launch.RANKS))
    ] = None,
    mpi: Annotated[
        Library,
        typer.Option(metavar="LIBRARY", help=f"{options.LIBRARIES}: what the program is linked to."),
    ] = Library.AUTO,
    force: options.Force = None,
    profile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Choose as in this file, which unisono tune has written."),
    ] = None,
    log: options.Log = False,
) -> None:
    """Run a program under Unisono: [bold]unisono run -n 4 -- ./app input[/bold], or
    [bold]unisono run -- mpiexec -n 4 ./app input[/bold]"""
    launch.run(command, ranks, mpi.chosen, force or [], profile, log)
