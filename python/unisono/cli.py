"""The `unisono` command."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unisono import __version__, catalogue, files, launch, on_torus, places, svg
from unisono import doctor as doctor_module
from unisono.advise.cli import advise
from unisono.compare.cli import compare
from unisono.errors import UnisonoError
from unisono.lab.cli import app as lab_app
from unisono.model_cli import app as model_app
from unisono.platform_cli import app as platform_app
from unisono.profile.cli import app as profile_app
from unisono.profile.cli import explain
from unisono.restructure.cli import restructure
from unisono.schedule_cli import app as schedule_app
from unisono.sim.cli import sim
from unisono.trace.cli import app as trace_app
from unisono.trace.report_cli import report
from unisono.tune.cli import tune
from unisono.tune.verify_cli import verify

app = typer.Typer(
    help="Makes the MPI collectives of unmodified programs faster, and shows why they were slow.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(lab_app, name="lab")
app.command()(compare)
app.command()(tune)
profile_app.command()(verify)
app.add_typer(profile_app, name="profile")
app.add_typer(platform_app, name="platform")
app.add_typer(model_app, name="model")
app.add_typer(schedule_app, name="schedule")
app.add_typer(trace_app, name="trace")
app.command()(explain)
app.command()(report)
app.command()(advise)
app.command()(restructure)
app.command(context_settings={"allow_interspersed_args": False})(sim)
console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def table(*columns: str) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column)
    return made


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    command: Annotated[list[str], typer.Argument(help="Program and its arguments.")],
    ranks: Annotated[int, typer.Option("-n", min=1, help="Number of ranks.")] = 2,
    mpi: Annotated[
        str | None, typer.Option(help="mpich or openmpi; otherwise what the program is linked to.")
    ] = None,
    force: Annotated[
        list[str] | None,
        typer.Option(metavar="COLLECTIVE=ALGORITHM", help="Force an algorithm; may be repeated."),
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="Choose as in this file, which unisono tune has written.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Say what was chosen for each call.")] = False,
) -> None:
    """Run a program under Unisono: [bold]unisono run -n 4 -- ./app input[/bold]"""
    if mpi not in {None, "mpich", "openmpi"}:
        raise UnisonoError(f"--mpi {mpi}: valid are mpich and openmpi")
    launch.run(command, ranks, mpi, force or [], profile, log)


@app.command("list")
def list_command(
    collective: Annotated[str | None, typer.Argument(help="Only this collective.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The catalogue as JSON.")] = False,
) -> None:
    """List the algorithms: what they need, what they cost, where they come from."""
    if as_json:
        print(catalogue.ask("list", "--json"), end="")
        return
    rows = catalogue.algorithms()
    if collective:
        rows = [row for row in rows if collective in row.collectives]
        if not rows:
            catalogue.complete_spec(collective, "native")  # says which names are valid
    # v-forms and the like share a row; the group's name is the list of collectives it serves.
    groups: dict[tuple[str, ...], list[catalogue.Algorithm]] = {}
    for row in rows:
        groups.setdefault((collective,) if collective else row.collectives, []).append(row)
    for names, members in groups.items():
        made = table("algorithm", "parameters", "needs", "cost", "source")
        made.columns[0].style = "cyan"
        for column in made.columns:
            column.overflow = "fold"  # on a narrow terminal nothing is cut
        made.columns[0].no_wrap = True
        for row in members:
            parameters = "\n".join(f"{p.name}={p.value_text(p.default)} ({p.limits})" for p in row.parameters)
            if row.predicts:
                parameters = "\n".join([*filter(None, [parameters]), "late=p-1 (a list: 5.7)"])
            if row.composed:
                parameters = "shape, form, rows, columns, planes"
            made.add_row(row.name, parameters, row.needs, row.cost, row.source)
        console.print(Text(", ".join(names), style="bold"))
        console.print(made)
    console.print(
        "[dim]Beside these, everywhere: native (the MPI library's own) and default. Those that send\n"
        "messages take transport=shm: then these go through the memory of the node.[/dim]"
    )


@app.command()
def show(
    collective: Annotated[str, typer.Argument(help="bcast, allreduce, ...")],
    algorithm: Annotated[str, typer.Argument(help="As in chain:segment=4K")],
    ranks: Annotated[int | None, typer.Option("-n", min=1, help="Number of ranks.", show_default="8")] = None,
    rank: Annotated[int | None, typer.Option(min=0, help="Only this rank (text, JSON).")] = None,
    root: Annotated[int, typer.Option(min=0, help="Root of the collective.")] = 0,
    count: Annotated[str, typer.Option(help="Units of the vector, or of a block.")] = "1K",
    unit_bytes: Annotated[int, typer.Option(min=1, help="Bytes of a unit.")] = 1,
    in_place: Annotated[bool, typer.Option("--in-place", help="With MPI_IN_PLACE.")] = False,
    topology: Annotated[
        Path | None, typer.Option(help="File that places the ranks: NodeName=a Ranks=0-3")
    ] = None,
    torus: Annotated[
        str | None,
        typer.Option(metavar="SIZES", help="In place of -n: a rank on each host; --svg draws the trees."),
    ] = None,
    neighbours: Annotated[
        str, typer.Option(help="Topology of a neighbor_ collective: torus:N, stencil:N")
    ] = "stencil:2",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    dot: Annotated[bool, typer.Option("--dot", help="As a graph for Graphviz.")] = False,
    drawing: Annotated[
        Path | None, typer.Option("--svg", help="Draw all ranks over time into this file.")
    ] = None,
) -> None:
    """Show what every rank does: [bold]unisono show bcast chain:segment=256 -n 4[/bold]"""
    if torus and (ranks or topology):
        raise UnisonoError("--torus has a rank on each host: leave out -n and --topology")
    if torus and drawing:
        print(on_torus.draw(collective, algorithm, torus, root, drawing))
        return
    ranks = on_torus.hosts(torus) if torus else ranks or 8
    arguments = ["--collective", collective, "--algorithm", algorithm, "--ranks", str(ranks)]
    arguments += ["--root", str(root), "--count", count, "--unit-bytes", str(unit_bytes)]
    arguments += ["--neighbours", neighbours]
    if in_place:
        arguments.append("--in-place")
    if topology:
        arguments += ["--topology", str(topology)]
    if drawing:
        files.write_text(svg.draw(catalogue.schedule(arguments)), drawing)
        console.print(f"wrote {drawing}")
        return
    if rank is not None:
        arguments += ["--rank", str(rank)]
    kind = "json" if as_json else "dot" if dot else "text"
    with tempfile.NamedTemporaryFile("w", prefix="unisono-topology-") as file:
        if torus:
            file.write(on_torus.topology(torus))
            file.flush()
            arguments += ["--topology", file.name]
        print(catalogue.ask("show", *arguments, "--format", kind), end="")


@app.command()
def info() -> None:
    """Show the version, where things are, and every environment variable."""
    console.print(f"[bold]Unisono {__version__}[/bold]")
    console.print(f"build  {places.build_directory()}", soft_wrap=True)
    for mpi in places.all_mpis():
        console.print(f"MPI    {mpi.flavour}, {mpi.home}", soft_wrap=True)
    made = table("variable", "default", "now", "meaning")
    made.columns[0].no_wrap = True
    for variable in catalogue.variables():
        present = os.environ.get(variable.name)
        made.add_row(
            variable.name,
            variable.default,
            Text(present, style="yellow") if present is not None else Text("-", style="dim"),
            variable.meaning,
        )
    console.print(made)


MARKS = {
    doctor_module.Level.OK: ("ok", "green"),
    doctor_module.Level.NOTE: ("note", "yellow"),
    doctor_module.Level.PROBLEM: ("PROBLEM", "bold red"),
}


@app.command()
def doctor(
    program: Annotated[str | None, typer.Argument(help="Also look at this program.")] = None,
) -> None:
    """Look for what would keep Unisono from working, and say what to do."""
    problems = 0
    for finding in doctor_module.examine(program):
        word, style = MARKS[finding.level]
        problems += finding.level is doctor_module.Level.PROBLEM
        console.print(Text(f"{word:>7}  ", style=style) + Text(finding.what), soft_wrap=True)
        if finding.advice:
            console.print(Text(f"{'':9}{finding.advice}", style="dim"), soft_wrap=True)
    if problems:
        console.print(f"\n{problems} problem{'s' if problems > 1 else ''}")
        raise typer.Exit(1)


def main() -> None:
    try:
        app()
    except UnisonoError as error:
        errors.print(Text("unisono: ", style="bold red") + Text(str(error)), soft_wrap=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
