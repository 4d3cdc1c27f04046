"""The command `unisono schedule`: orders of the messages of an MPI_Alltoallv, in files; trees on a torus."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from unisono.core import answers, catalogue, documents, files, options
from unisono.core.console import output
from unisono.core.errors import UnisonoError
from unisono.core.options import group
from unisono.drawing import gantt
from unisono.drawing import torus as torus_drawing

app = group("Orders of the messages of MPI_Alltoallv, made before a program runs; trees on a torus.")

OrderFile = Annotated[Path, typer.Argument(metavar="FILE", help="Of unisono schedule make.")]


@app.command()
def make(
    matrix: Annotated[
        Path, typer.Argument(metavar="COUNTS", help="p rows of p counts in bytes: CSV or JSON.")
    ],
    to: options.OutputFile,
    rule: Annotated[
        str, typer.Option(help="token_list, greedy, all_to_all_based or edge_colouring.")
    ] = "token_list",
    threshold: Annotated[
        str, typer.Option(help="Messages shorter than that may share a phase (greedy, all_to_all_based).")
    ] = "0",
) -> None:
    """Make an order from counts: [bold]unisono schedule make counts.csv -o order.json[/bold]"""
    arguments = ("--matrix", str(matrix), "--rule", rule, "--threshold", threshold)
    files.write_text(catalogue.ask("order", "make", *arguments), to)
    print(catalogue.ask("order", "check", "--file", str(to)), end="")


@app.command()
def show(
    file: OrderFile,
    rank: Annotated[int | None, typer.Option(min=0, help="Only this rank (text).")] = None,
    json: options.Json = None,
) -> None:
    """Show what each rank sends and receives, in which phase."""
    only = () if rank is None else ("--rank", str(rank))
    if json:
        documents.write(order_document(file), json)
        return
    print(catalogue.ask("order", "show", "--file", str(file), *only), end="")


@app.command()
def check(
    file: OrderFile,
    ranks: Annotated[
        int | None, typer.Option("-n", min=1, help="Number of ranks: also check that the file is for it.")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option(metavar="COUNTS", help="It must hold every message of these counts.")
    ] = None,
    json: options.Json = None,
) -> None:
    """Check that an order is whole: every message once, no port twice in a phase."""
    arguments = [] if ranks is None else ["--ranks", str(ranks)]
    if matrix is not None:
        arguments += ["--matrix", str(matrix)]
    output(json).print(Text(catalogue.ask("order", "check", "--file", str(file), *arguments)), end="")
    if json:
        documents.write(order_document(file), json)


def order_document(file: Path) -> answers.Order:
    summary = catalogue.ask("order", "check", "--file", str(file)).strip()
    return answers.Order(summary=summary, order=documents.load(file))


@app.command()
def draw(
    file: OrderFile,
    to: options.OutputFile,
) -> None:
    """Draw when each rank sends and receives, if only bytes took time."""
    files.write_text(gantt.draw(files.decoded(catalogue.ask("order", "times", "--file", str(file)))), to)
    print(f"wrote {to}")


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
    json: options.Json = None,
    drawing: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw them into this file.")
    ] = None,
) -> None:
    """Show the trees of a collective: [bold]unisono schedule trees --torus 4x4 --svg trees.svg[/bold]"""
    if json and drawing:
        raise UnisonoError("--json and --svg: give one of them")
    arguments = ["--torus", torus, "--members", members, "--trees", kind, "--for", use, "--routing", routing]
    arguments += [] if root is None else ["--root", str(root)]
    arguments += [] if wrap is None else ["--wrap", wrap]
    if drawing:
        print(torus_drawing.write(arguments, drawing))
        return
    if json:
        told = files.decoded(catalogue.ask("trees", *arguments, "--json"))
        documents.write(msgspec.convert(told, answers.Trees), json)
        return
    print(catalogue.ask("trees", *arguments), end="")
