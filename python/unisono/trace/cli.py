"""The commands `unisono trace`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from unisono.core.console import errors
from unisono.core.options import LIBRARIES, Library, group
from unisono.trace import record
from unisono.trace.export import export


class RecordUnlessNamed(TyperGroup):
    """`unisono trace --output DIR -- CMD`: what is no other command is recorded."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["record", *args]
        return super().parse_args(ctx, args)


app = group(
    "Trace the collectives of a program: [bold]unisono trace --output DIR -- mpiexec -n 4 ./app[/bold], or "
    "[bold]unisono trace --output DIR -n 4 -- ./app[/bold]. Its options, such as -o, -n and --mpi: "
    "[bold]unisono trace record --help[/bold].",
    cls=RecordUnlessNamed,
)
app.command()(export)


@app.command("record", context_settings={"allow_interspersed_args": False})
def record_command(
    command: Annotated[
        list[str],
        typer.Argument(metavar="CMD...", help="A launcher's whole line, or with -n a program."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Made; or one without a trace in it.")
    ],
    ranks: Annotated[
        int | None, typer.Option("-n", min=1, help="Number of ranks of the program to start.")
    ] = None,
    mpi: Annotated[
        Library,
        typer.Option(metavar="LIBRARY", help=f"With -n: {LIBRARIES}: what the program is linked to."),
    ] = Library.AUTO,
    native: Annotated[
        bool, typer.Option("--native", help="Trace the MPI library's own collectives only.")
    ] = False,
) -> None:
    """Run a launch line, or with -n a program, and trace every rank: what `unisono trace` does
    without a name."""
    line, environment = record.line_of(command, ranks, mpi.chosen)
    folder = record.make_folder(output)
    status = record.run(line, environment | record.variables(folder, native))
    text, good = record.outcome(folder, line, status)
    errors.print(Text("unisono: ", style="" if good else "bold red") + Text(text), soft_wrap=True)
    sys.exit(status)
