"""The commands `unisono list` and `unisono show`: the algorithms, and what they do."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from unisono.core import answers, catalogue, completion, documents, files, options
from unisono.core.catalogue import Algorithm
from unisono.core.console import output, table
from unisono.core.errors import UnisonoError
from unisono.drawing import on_torus, svg

EVERYWHERE = Text(
    "Beside these, everywhere: native (the MPI library's own) and default. Those that send\n"
    "messages take transport=shm: then these go through the memory of the node.",
    style="dim",
)


def list_command(
    collective: Annotated[
        str | None, typer.Argument(help="Only this collective.", autocompletion=completion.collectives)
    ] = None,
    json: options.Json = None,
) -> None:
    """List the algorithms: what they need, what they cost, where they come from."""
    known = catalogue.load()
    collective = catalogue.collective_named(collective) if collective else None
    rows = [row for row in known.algorithms if collective in {None, *row.collectives}]
    if collective and not rows:
        catalogue.complete_spec(collective, "native")  # says which names are valid
    out = output(json)
    # v-forms and the like share a row; the group's name is the list of collectives it serves.
    groups: dict[tuple[str, ...], list[Algorithm]] = {}
    for row in rows:
        groups.setdefault((collective,) if collective else row.collectives, []).append(row)
    for names, members in groups.items():
        orders = ["order"] if any(row.order for row in members) else []
        made = table("algorithm", "parameters", "needs", *orders, "cost", "source", left=5 + len(orders))
        made.columns[0].style = "cyan"
        made.columns[0].no_wrap = True
        for row in members:
            order = [row.order_text] if orders else []
            made.add_row(row.name, parameters_of(row), row.needs, *order, row.cost, row.source)
        out.print(Text(", ".join(names), style="bold"))
        out.print(made)
    out.print(EVERYWHERE)
    listing = answers.Listing(
        collectives=[row for row in known.collectives if collective in {None, row.name}],
        algorithms=rows,
        grid_dimensions=list(known.grid_dimensions),
        grid_forms=[form for form in known.grid_forms if collective in {None, form.collective}],
    )
    documents.write(listing, json)


def parameters_of(row: Algorithm) -> str:
    if row.composed:
        return "shape, form, rows, columns, planes"
    lines = [f"{p.name}={p.value_text(p.default)} ({p.limits})" for p in row.parameters]
    return "\n".join([*lines, *(["late=p-1 (a list: 5.7)"] if row.predicts else [])])


def show(
    collective: Annotated[
        str, typer.Argument(help="bcast, allreduce, ...", autocompletion=completion.collectives)
    ],
    algorithm: Annotated[
        str, typer.Argument(help="As in chain:segment=4K", autocompletion=completion.algorithms)
    ],
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
    json: options.Json = None,
    dot: Annotated[bool, typer.Option("--dot", help="As a graph for Graphviz.")] = False,
    drawing: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw all ranks over time into this file.")
    ] = None,
) -> None:
    """Show what every rank does: [bold]unisono show bcast chain:segment=256 -n 4[/bold]"""
    collective = catalogue.collective_named(collective)
    if torus and (ranks or topology):
        raise UnisonoError("--torus has a rank on each host: leave out -n and --topology")
    if sum(map(bool, (json, dot, drawing))) > 1:
        raise UnisonoError("--json, --dot and --svg: give one of them")
    if torus and drawing:
        print(on_torus.draw(collective, algorithm, torus, root, drawing))
        return
    ranks = on_torus.hosts(torus) if torus else ranks or 8
    arguments = ["--collective", collective, "--algorithm", algorithm, "--ranks", str(ranks)]
    arguments += ["--root", str(root), "--count", count, "--unit-bytes", str(unit_bytes)]
    arguments += ["--neighbours", neighbours, *(["--in-place"] if in_place else [])]
    if topology:
        arguments += ["--topology", str(topology)]
    if drawing:
        files.write_text(svg.draw(catalogue.schedule(arguments)), drawing)
        output().print(f"wrote {drawing}")
        return
    if rank is not None:
        arguments += ["--rank", str(rank)]
    with tempfile.NamedTemporaryFile("w", prefix="unisono-topology-") as file:
        if torus:
            file.write(on_torus.topology(torus))
            file.flush()
            arguments += ["--topology", file.name]
        if json:
            documents.write(schedule_document(catalogue.schedule(arguments)), json)
        else:
            print(catalogue.ask("show", *arguments, "--format", "dot" if dot else "text"), end="")


def schedule_document(told: dict[str, Any]) -> answers.Schedule:
    return msgspec.convert(told, answers.Schedule)
