"""The commands `unisono profile` and `unisono explain`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from unisono import catalogue, machine
from unisono.compare.matrix import parse_collectives, parse_size
from unisono.compare.terminal import wide_console
from unisono.errors import UnisonoError
from unisono.profile import check as check_module
from unisono.profile import document, running, terminal
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
    environments = len(merged.environments)
    cells = sum(len(environment.cells) for environment in merged.environments)
    wide_console().print(
        f"wrote {output}: {environments} environment{'s' * (environments != 1)}, "
        f"{cells} cell{'s' * (cells != 1)}",
        soft_wrap=True,
    )


def explain(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROFILE] COLLECTIVE [BYTES]", help="A profile; bcast, allreduce, ...; 8, 64K, 1M"
        ),
    ] = None,
    mpi: Annotated[str | None, typer.Option(help="mpich, openmpi or intel, if there are several.")] = None,
    ranks: Annotated[int | None, typer.Option("-n", help="Ranks, if there are several.")] = None,
    here: Annotated[
        bool, typer.Option("--here", help="Which rule decides as this environment is set, and what runs.")
    ] = False,
    hosts: Annotated[int | None, typer.Option(min=1, help="With --here: of the ranks; else this.")] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What a job said with UNISONO_LOG=decision; -: input.")
    ] = None,
) -> None:
    """Say why a call runs as it does: by a profile, by what earlier jobs have found out, or as a job would
    decide here and now.

    [bold]unisono explain profile.json bcast 64K[/bold], [bold]unisono explain bcast 64K[/bold],
    [bold]unisono explain bcast 64K -n 16 --here[/bold]"""
    if log:
        running.explain_log(log, wide_console())
        return
    if not what:
        raise UnisonoError("explain: say which collective, as in bcast 64K")
    if hosts and not here:
        raise UnisonoError("--hosts is for --here")
    if here:
        explain_here(what, mpi, ranks, hosts)
        return
    if len(what) > 3:
        raise UnisonoError(f"{' '.join(what)}: valid are a profile, a collective and a size")
    catalogue.refuse_neighbours(what[0])
    if what[0] in catalogue.collectives() and not Path(what[0]).is_file():
        if len(what) > 2:
            raise UnisonoError(f"{' '.join(what)}: valid are a collective and a size")
        size = parse_size(what[1], "size") if len(what) == 2 else None
        terminal.explain_remembered(what[0], size, mpi, ranks, wide_console())
        return
    if not Path(what[0]).exists():
        raise UnisonoError(
            f"{what[0]}: neither a collective nor a profile that exists; valid collectives: "
            f"{', '.join(catalogue.collectives())}"
        )
    if len(what) == 1:
        raise UnisonoError(f"{what[0]}: say which collective; valid: {', '.join(catalogue.collectives())}")
    explain_profile(Path(what[0]), what[1], what[2] if len(what) == 3 else "0", mpi, ranks)


def explain_here(what: list[str], mpi: str | None, ranks: int | None, hosts: int | None) -> None:
    if len(what) > 2:
        raise UnisonoError(f"{' '.join(what)}: with --here the profile is that of UNISONO_PROFILE")
    [name] = parse_collectives(what[0])[:1]
    size = parse_size(what[1], "size") if len(what) == 2 else 0
    own_hosts = hosts or 1
    count = ranks or max(2, own_hosts, machine.cores().usable if own_hosts == 1 else 0)
    if count < own_hosts:
        raise UnisonoError(f"--hosts {own_hosts}: there are only {count} ranks; give -n")
    running.explain_here(running.Asked(name, size, count, own_hosts), mpi, wide_console())


def explain_profile(profile: Path, collective: str, size: str, mpi: str | None, ranks: int | None) -> None:
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
