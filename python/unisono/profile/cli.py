"""The commands `unisono profile` and `unisono explain`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from unisono.compare.matrix import parse_collectives, parse_size
from unisono.compare.terminal import wide_console
from unisono.errors import UnisonoError
from unisono.profile import check as check_module
from unisono.profile import document, terminal
from unisono.profile.document import Profile

app = typer.Typer(
    help="Look at profiles that [bold]unisono tune[/bold] made, and check them.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
File = Annotated[Path, typer.Argument(metavar="PROFILE")]


@app.command()
def show(profile: File) -> None:
    """Show what was chosen for which sizes."""
    terminal.show(check_module.load(profile), wide_console())


@app.command()
def diff(former: File, latter: File) -> None:
    """Show where two profiles choose differently."""
    terminal.show_changes(check_module.load(former), check_module.load(latter), wide_console())


@app.command()
def check(profile: File) -> None:
    """Look for mistakes: against the schema, overlapping sizes, algorithms that do not exist."""
    found = list(check_module.problems(check_module.read(profile)))
    for problem in found:
        wide_console().print(Text(f"{profile}: {problem}", style="red"), soft_wrap=True)
    if found:
        raise typer.Exit(1)
    wide_console().print(f"{profile}: good", soft_wrap=True)


@app.command()
def merge(
    profiles: Annotated[list[Path], typer.Argument(metavar="PROFILE...")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The profile of all.")],
) -> None:
    """Make one profile of several; what two have tuned is taken from the later."""
    merged = Profile(())
    for profile in profiles:
        merged = document.merge(merged, check_module.load(profile))
    document.save(merged, output)
    cells = sum(len(environment.cells) for environment in merged.environments)
    wide_console().print(
        f"wrote {output}: {len(merged.environments)} environments, {cells} cells", soft_wrap=True
    )


def explain(
    profile: File,
    collective: Annotated[str, typer.Argument(help="bcast, allreduce, ...")],
    size: Annotated[str, typer.Argument(help="Bytes: 8, 64K, 1M")] = "0",
    mpi: Annotated[
        str | None, typer.Option(help="mpich, openmpi or intel, if the profile has several.")
    ] = None,
    ranks: Annotated[int | None, typer.Option("-n", help="Ranks, if the profile has several.")] = None,
) -> None:
    """Say why a profile chooses what it does: [bold]unisono explain profile.json bcast 64K[/bold]"""
    loaded = check_module.load(profile)
    environment = check_module.environment_of(loaded, profile, mpi, ranks)
    [name] = parse_collectives(collective)[:1]
    bytes_ = parse_size(size, "size")
    cell = environment.cell(name, bytes_)
    if cell is None:
        held = [f"{c.least} to {c.most}" for c in environment.cells if c.collective == name]
        raise UnisonoError(
            f"{profile}: nothing for {name} of {bytes_} bytes, so that the table of defaults holds; "
            f"it has {name} for {', '.join(held) if held else 'no size'}"
        )
    terminal.explain(environment, cell, bytes_, wide_console())
