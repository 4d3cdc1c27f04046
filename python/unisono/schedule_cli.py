"""The command `unisono schedule`: orders of the messages of an MPI_Alltoallv, in files; trees on a torus."""

import json
from pathlib import Path
from typing import Annotated

import typer

from unisono import catalogue, files, gantt, torus_drawing
from unisono.errors import UnisonoError

app = typer.Typer(
    help="Orders of the messages of MPI_Alltoallv, made before a program runs; trees on a torus.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

OrderFile = Annotated[Path, typer.Argument(metavar="FILE", help="Of unisono schedule make.")]


@app.command()
def make(
    matrix: Annotated[
        Path, typer.Argument(metavar="COUNTS", help="p rows of p counts in bytes: CSV or JSON.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")],
    rule: Annotated[
        str, typer.Option(help="token_list, greedy, all_to_all_based or edge_colouring.")
    ] = "token_list",
    threshold: Annotated[
        str, typer.Option(help="Messages shorter than that may share a phase (greedy, all_to_all_based).")
    ] = "0",
) -> None:
    """Make an order from counts: [bold]unisono schedule make counts.csv -o order.json[/bold]"""
    arguments = ("--matrix", str(matrix), "--rule", rule, "--threshold", threshold)
    files.write_text(catalogue.ask("order", "make", *arguments), output)
    print(catalogue.ask("order", "check", "--file", str(output)), end="")


@app.command()
def show(
    file: OrderFile,
    rank: Annotated[int | None, typer.Option(min=0, help="Only this rank.")] = None,
) -> None:
    """Show what each rank sends and receives, in which phase."""
    only = () if rank is None else ("--rank", str(rank))
    print(catalogue.ask("order", "show", "--file", str(file), *only), end="")


@app.command()
def check(
    file: OrderFile,
    ranks: Annotated[int | None, typer.Option("-n", min=1, help="It must be for so many ranks.")] = None,
    matrix: Annotated[
        Path | None, typer.Option(metavar="COUNTS", help="It must hold every message of these counts.")
    ] = None,
) -> None:
    """Check that an order is whole: every message once, no port twice in a phase."""
    arguments = [] if ranks is None else ["--ranks", str(ranks)]
    if matrix is not None:
        arguments += ["--matrix", str(matrix)]
    print(catalogue.ask("order", "check", "--file", str(file), *arguments), end="")


@app.command()
def draw(
    file: OrderFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="SVG file to write.")],
) -> None:
    """Draw when each rank sends and receives, if only bytes took time."""
    files.write_text(gantt.draw(json.loads(catalogue.ask("order", "times", "--file", str(file)))), output)
    print(f"wrote {output}")


@app.command()
def trees(
    torus: Annotated[str, typer.Option(help="Sizes, as in 8x8x16.")],
    members: Annotated[str, typer.Option(help="Hosts x + y X + z X Y: all, 0-30,45 or without:5,17")] = "all",
    root: Annotated[int | None, typer.Option(min=0, help="A member; otherwise the first.")] = None,
    kind: Annotated[str, typer.Option("--trees", help="auto, 2k, box, raster, snake or greedy.")] = "auto",
    use: Annotated[str, typer.Option("--for", help="broadcast, reduction or both.")] = "broadcast",
    routing: Annotated[str, typer.Option(help="minimal, directed, source or adaptive.")] = "minimal",
    wrap: Annotated[
        str | None, typer.Option(help="Whether dimensions are rings: yes,no,... Otherwise all are.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Parents and routes as JSON.")] = False,
    drawing: Annotated[Path | None, typer.Option("--svg", help="Draw them into this file.")] = None,
) -> None:
    """Show the trees of a collective: [bold]unisono schedule trees --torus 4x4 --svg trees.svg[/bold]"""
    if as_json and drawing:
        raise UnisonoError("--json and --svg: give one of them")
    arguments = ["--torus", torus, "--members", members, "--trees", kind, "--for", use, "--routing", routing]
    arguments += [] if root is None else ["--root", str(root)]
    arguments += [] if wrap is None else ["--wrap", wrap]
    if drawing:
        print(torus_drawing.write(arguments, drawing))
        return
    print(catalogue.ask("trees", *arguments, *(("--json",) if as_json else ())), end="")
