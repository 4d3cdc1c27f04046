"""`python -m unisono.tune.native`; as `unisono tune --native-only` the same."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from unisono.compare import matrix
from unisono.errors import UnisonoError
from unisono.tune.native import terminal
from unisono.tune.native.rules import COLLECTIVES
from unisono.tune.native.run import Options, run

app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command()
def tune(
    export: Annotated[str, typer.Option(help="ompi: a rules file; mpich: selection files.")],
    file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="What is written.")
    ] = None,
    ranks: Annotated[str, typer.Option("-n", metavar="N,N", help="Rank counts; otherwise what fits.")] = "",
    lab: Annotated[
        bool, typer.Option("--lab/--node", help="Where: the lab that is up, or this node.")
    ] = False,
    ppn: Annotated[int | None, typer.Option(min=1, help="Ranks on a host of the lab.")] = None,
    collectives: Annotated[str, typer.Option(metavar="A,B", help="Which.")] = ",".join(COLLECTIVES),
    sizes: Annotated[str, typer.Option(metavar="S,S", help="Bytes of vectors.")] = "8,1K,16K,64K,1M",
    block_sizes: Annotated[str, typer.Option(metavar="S,S", help="Bytes of blocks.")] = "8,1K,16K,64K",
    budget: Annotated[float, typer.Option(min=1, metavar="SEC", help="Seconds, all in all.")] = 1200,
    cell_seconds: Annotated[
        float, typer.Option("--time-budget", min=0.001, metavar="SEC", help="Seconds for a cell in a job.")
    ] = 0.1,
    work: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Keeps the measurements; a second call goes on there.")
    ] = Path("unisono-native-tuning"),
) -> None:
    """Find the best of the MPI library's own algorithms and write the library's own configuration file."""
    options = Options(
        export=export,
        file=file,
        ranks=ranks_of(ranks),
        lab=lab,
        per_host=ppn,
        collectives=matrix.names(collectives),
        sizes=matrix.parse_sizes(sizes),
        block_sizes=matrix.parse_sizes(block_sizes, "--block-sizes"),
        budget=budget,
        cell_seconds=cell_seconds,
        work=work,
    )
    tune_and_show(options)


def ranks_of(text: str) -> list[int]:
    names = matrix.names(text)
    if not all(name.isdigit() for name in names):
        raise UnisonoError(f"-n {text}: write numbers of ranks, as in 2,4")
    return [int(name) for name in names]


def tune_and_show(options: Options) -> None:
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    try:
        with errors.status("starting") as status:
            result = run(options, status.update)
    except KeyboardInterrupt:
        errors.print(
            f"interrupted: what was measured is in {options.work}; the same command goes on from there"
        )
        raise typer.Exit(130) from None
    terminal.show(result, console)


def main() -> None:
    try:
        app()
    except UnisonoError as error:
        Console(stderr=True, highlight=False).print(Text(f"unisono: {error}"), soft_wrap=True)
        sys.exit(2)
