"""The commands `unisono profile` and `unisono explain`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from unisono.core import catalogue, completion, documents, machine, options
from unisono.core.amounts import parse_size
from unisono.core.arguments import parse_collective
from unisono.core.console import output
from unisono.core.errors import FAILED, RunError, UnisonoError
from unisono.core.options import group
from unisono.profile import answers, document, running, terminal
from unisono.profile import check as check_module
from unisono.profile.document import Profile

app = group("Look at profiles that [bold]unisono tune[/bold] made, and check them.")
File = Annotated[Path, typer.Argument(metavar="PROFILE", help="Of unisono tune.")]


@app.command()
def show(profile: File, json: options.Json = None) -> None:
    """Show what was chosen for which sizes."""
    loaded = check_module.load(profile)
    terminal.show(loaded, output(json))
    shown = answers.ProfileShown(created=loaded.created, environments=list(loaded.environments))
    documents.write(shown, json)


@app.command()
def diff(former: File, latter: File, json: options.Json = None) -> None:
    """Show where two profiles choose differently."""
    both = check_module.load(former), check_module.load(latter)
    terminal.show_changes(*both, output(json))
    difference = answers.ProfileDifference(
        only_in_first=[one.key for one in terminal.only_in(both[0], both[1])],
        only_in_second=[one.key for one in terminal.only_in(both[1], both[0])],
        differences=[answers.Difference(one[0].key, *one[1:]) for one in terminal.changes(*both)],
    )
    documents.write(difference, json)


@app.command()
def check(profile: File, json: options.Json = None) -> None:
    """Look for mistakes: against the schema, overlapping sizes, algorithms that do not exist."""
    found = list(check_module.problems(documents.load(profile)))
    out = output(json)
    for problem in found:
        out.print(Text(f"{profile}: {problem}", style="red"), soft_wrap=True)
    documents.write(answers.ProfileCheck(profile=str(profile), problems=found), json)
    if found:
        raise typer.Exit(FAILED)
    out.print(f"{profile}: good", soft_wrap=True)


@app.command()
def merge(
    profiles: Annotated[list[Path], typer.Argument(metavar="PROFILE...")],
    to: options.OutputFile,
) -> None:
    """Make one profile of several; what two have tuned is taken from the later."""
    merged = Profile(())
    for profile in profiles:
        merged = document.merge(merged, check_module.load(profile))
    document.save(merged, to)
    environments = len(merged.environments)
    cells = sum(len(environment.cells) for environment in merged.environments)
    output().print(
        f"wrote {to}: {environments} environment{'s' * (environments != 1)}, "
        f"{cells} cell{'s' * (cells != 1)}",
        soft_wrap=True,
    )


def explain(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROFILE] COLLECTIVE [BYTES]",
            help="A profile; bcast, allreduce, ...; 8, 64K, 1M",
            autocompletion=completion.collectives,
        ),
    ] = None,
    mpi: Annotated[
        options.Library,
        typer.Option(metavar="LIBRARY", help=f"{options.LIBRARIES}: whichever there is."),
    ] = options.Library.AUTO,
    ranks: Annotated[int | None, typer.Option("-n", min=1, help="Ranks, if there are several.")] = None,
    here: Annotated[
        bool,
        typer.Option("--here", help="Which rule would decide for a job of this shell, and what would run."),
    ] = False,
    hosts: Annotated[int | None, typer.Option(min=1, help="With --here: hosts of the ranks (1).")] = None,
    said: Annotated[
        Path | None,
        typer.Option(
            "--from-log",
            metavar="FILE",
            help="Standard error of a job with --log or UNISONO_LOG=decision; -: standard input.",
        ),
    ] = None,
    json: options.Json = None,
) -> None:
    """Say why a call runs as it does: by a profile, by what earlier jobs have found out, or as a job would
    decide here and now.

    [bold]unisono explain profile.json bcast 64K[/bold], [bold]unisono explain bcast 64K[/bold],
    [bold]unisono explain bcast 64K -n 16 --here[/bold]"""
    if said:
        if what or here or hosts or ranks or mpi.chosen:
            raise UnisonoError("--from-log tells of every call that the log names: nothing else goes with it")
        documents.write(answers.Decisions(calls=running.explain_log(said, output(json))), json)
        return
    if not what:
        raise UnisonoError("explain: say which collective, as in bcast 64K")
    if hosts and not here:
        raise UnisonoError("--hosts is for --here")
    if here:
        explain_here(what, mpi.chosen, ranks, hosts, json)
        return
    explain_named(what, mpi.chosen, ranks, json)


def explain_named(what: list[str], mpi: str | None, ranks: int | None, json: Path | None) -> None:
    """A collective, by what is remembered; or by the profile that stands before it."""
    catalogue.refuse_neighbours(what[0])
    name = catalogue.collective_named(what[0])
    if name in catalogue.collectives() and not Path(what[0]).is_file():
        size = parse_size(" ".join(what[1:]), "size") if len(what) > 1 else None
        found = terminal.explain_remembered(name, size, mpi, ranks, output(json))
        told = answers.Explanation(collective=name, bytes=size, remembered=found)
        documents.write(told, json)
        return
    if not Path(what[0]).exists():
        raise UnisonoError(
            f"{what[0]}: neither a collective nor a profile that exists; valid collectives: "
            f"{', '.join(catalogue.collectives())}"
        )
    if len(what) == 1:
        raise UnisonoError(f"{what[0]}: say which collective; valid: {', '.join(catalogue.collectives())}")
    explain_profile(Path(what[0]), what[1], " ".join(what[2:]) or "0", mpi, ranks, json)


def explain_here(
    what: list[str], mpi: str | None, ranks: int | None, hosts: int | None, json: Path | None
) -> None:
    if len(what) > 1 and catalogue.collective_named(what[1]) in catalogue.all_collectives():
        raise UnisonoError(f"{' '.join(what)}: with --here the profile is that of UNISONO_PROFILE")
    name = parse_collective(what[0])
    size = parse_size(" ".join(what[1:]), "size") if len(what) > 1 else 0
    own_hosts = hosts or 1
    count = ranks or max(2, own_hosts, machine.cores().usable if own_hosts == 1 else 0)
    if count < own_hosts:
        raise UnisonoError(f"--hosts {own_hosts}: there are only {count} ranks; give -n")
    decision = running.explain_here(running.Asked(name, size, count, own_hosts), mpi, output(json))
    documents.write(answers.Explanation(collective=name, bytes=size, decision=decision), json)


def explain_profile(
    profile: Path, collective: str, size: str, mpi: str | None, ranks: int | None, json: Path | None
) -> None:
    loaded = check_module.load(profile)
    environment = check_module.environment_of(loaded, profile, mpi, ranks)
    name = parse_collective(collective)
    bytes_ = parse_size(size, "size")
    cell = environment.cell(name, bytes_)
    if cell is None:
        held = [f"{c.least} to {c.most}" for c in environment.cells if c.collective == name]
        raise RunError(
            f"{profile}: nothing for {name} of {bytes_} bytes, so that the table of defaults holds; "
            f"it has {name} for {', '.join(held) if held else 'no size'}"
        )
    terminal.explain(environment, cell, bytes_, output(json))
    told = answers.Explanation(
        collective=name, bytes=bytes_, profile=str(profile), where=environment.key, cell=cell
    )
    documents.write(told, json)
