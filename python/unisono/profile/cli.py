"""The commands `unisono profile` and `unisono explain`."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from unisono import beds
from unisono.compare.matrix import parse_collectives, parse_size
from unisono.errors import UnisonoError
from unisono.files import write_json
from unisono.profile import check as check_module
from unisono.profile import document, terminal
from unisono.profile.document import Environment, Profile
from unisono.profile.verify import JOBS, Verification, exit_status, to_json
from unisono.tune.bench import Bench
from unisono.tune.cli import parse_time

app = typer.Typer(
    help="Look at profiles that [bold]unisono tune[/bold] made, and check them.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
File = Annotated[Path, typer.Argument(metavar="PROFILE")]


def console() -> Console:
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=150)


@app.command()
def show(profile: File) -> None:
    """Show what was chosen for which sizes."""
    terminal.show(check_module.load(profile), console())


@app.command()
def diff(former: File, latter: File) -> None:
    """Show where two profiles choose differently."""
    terminal.show_changes(check_module.load(former), check_module.load(latter), console())


@app.command()
def check(profile: File) -> None:
    """Look for mistakes: against the schema, overlapping sizes, algorithms that do not exist."""
    found = list(check_module.problems(check_module.read(profile)))
    for problem in found:
        console().print(Text(f"{profile}: {problem}", style="red"), soft_wrap=True)
    if found:
        raise typer.Exit(1)
    console().print(f"{profile}: good", soft_wrap=True)


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
    console().print(f"wrote {output}: {len(merged.environments)} environments, {cells} cells", soft_wrap=True)


@app.command()
def verify(
    profile: File,
    mpi: Annotated[str, typer.Option(help="mpich, openmpi, or on a node intel.")] = "mpich",
    lab: Annotated[bool, typer.Option("--lab/--node", help="Where it was tuned.")] = False,
    launch: Annotated[str | None, typer.Option(metavar="COMMAND", help="As for unisono tune.")] = None,
    ranks: Annotated[int | None, typer.Option("-n", min=2, help="Of the cells that are measured.")] = None,
    ppn: Annotated[int | None, typer.Option(min=1, help="Ranks on a host of the lab.")] = None,
    budget: Annotated[str, typer.Option(metavar="TIME", help="For all cells.")] = "20m",
    jobs: Annotated[int, typer.Option(min=1, help="Of each cell, spread over the run.")] = JOBS,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write as JSON.")] = None,
) -> None:
    """Measure every cell anew, and sizes between; say whether the choices are right."""
    loaded = check_module.load(profile)
    bed: beds.Bed = beds.Launcher(launch) if launch else beds.current_lab() if lab else beds.Node()
    library = beds.find_mpi(bed, mpi)
    ranks = ranks or bed.fitting_ranks()
    environment = environment_of(loaded, profile, mpi, ranks)
    deadline = time.monotonic() + parse_time(budget)
    errors, out = Console(stderr=True, highlight=False), console()
    with errors.status("") as status:
        verification = Verification(
            environment,
            Bench(bed, library, ranks, ppn),
            lambda: deadline - time.monotonic(),
            jobs,
            lambda number, look: status.update(f"job {number + 1}: {look.point.text()}"),
        )
        try:
            verification.run()
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
    verdicts = verification.verdicts()
    if interrupted:
        out.print("interrupted")
    terminal.show_verdicts(verdicts, out)
    if json_file:
        write_json(to_json(environment, verdicts), json_file)
        out.print(f"wrote {json_file}", soft_wrap=True)
    if status_code := 130 if interrupted else exit_status(verdicts):
        raise typer.Exit(status_code)


def environment_of(profile: Profile, path: Path, mpi: str | None, ranks: int | None) -> Environment:
    """The only one that fits."""
    fitting = [
        environment
        for environment in profile.environments
        if mpi in {None, environment.key.flavour} and ranks in {None, environment.key.ranks}
    ]
    if len(fitting) == 1:
        return fitting[0]
    held = "; ".join(environment.key.text() for environment in profile.environments) or "nothing"
    if not fitting:
        raise UnisonoError(f"{path}: nothing for --mpi {mpi or 'any'} -n {ranks or 'any'}; it holds {held}")
    raise UnisonoError(f"{path}: which of these? say --mpi and -n: {held}")


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
    environment = environment_of(loaded, profile, mpi, ranks)
    [name] = parse_collectives(collective)[:1]
    bytes_ = parse_size(size, "size")
    cell = environment.cell(name, bytes_)
    if cell is None:
        held = [f"{c.least} to {c.most}" for c in environment.cells if c.collective == name]
        raise UnisonoError(
            f"{profile}: nothing for {name} of {bytes_} bytes, so that the table of defaults holds; "
            f"it has {name} for {', '.join(held) if held else 'no size'}"
        )
    terminal.explain(environment, cell, bytes_, console())
