"""The command `unisono whatif`."""

import os
import signal
from pathlib import Path
from typing import Annotated

import typer

from unisono.core import console, documents, machine, options
from unisono.core.amounts import parse_time
from unisono.core.errors import UnisonoError
from unisono.sim import smpi

NICE = 19  # whoever works on this machine comes first

Network = Annotated[
    str | None,
    typer.Option(
        metavar="NETWORK",
        help="torus:8x8x8, fattree:16x4:8, ethernet,bw=10Gbps",
        show_default="an Ethernet as the trace has measured it",
    ),
]
Selector = Annotated[
    str | None,
    typer.Option(help="Imitated as native: ompi, mpich, mvapich2, impi.", show_default="as traced"),
]
PerHost = Annotated[
    int | None,
    typer.Option("--ppn", min=1, help="Ranks on a host.", show_default="as traced; 1 if all were on one"),
]


def whatif(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A trace, as unisono trace makes it.")],
    hosts: Annotated[int | None, typer.Option(min=2, help="How many; otherwise all of --platform.")] = None,
    ranks: Annotated[int | None, typer.Option("-n", min=2, help="Ranks, in place of --hosts.")] = None,
    per_host: PerHost = None,
    platform: Network = None,
    scaling: Annotated[str, typer.Option(help="What stays: weak, strong, same.")] = "weak",
    grid: Annotated[
        str | None, typer.Option(metavar="RxC", help="Of a program with rows and columns.")
    ] = None,
    selector: Selector = None,
    sample: Annotated[int, typer.Option("--calls", min=1, help="Of each kind that are replayed.")] = 3,
    finalists: Annotated[int, typer.Option(min=0, help="Algorithms of a call that run the program.")] = 3,
    budget: options.Budget = "60s",
    online: Annotated[
        bool, typer.Option("--online/--no-online", help="Also as Unisono chooses by itself.")
    ] = True,
    profile: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A profile for that scale.")
    ] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Of a node there, for -o.", show_default="as here")
    ] = None,
    json: options.Json = None,
) -> None:
    """What a traced program would take at another scale, and which algorithms it would need there:
    [bold]unisono whatif trace --hosts 256 --platform ethernet,bw=10Gbps[/bold]"""
    # NumPy takes a moment to load, and most commands do without.
    from unisono.profile import document  # noqa: PLC0415
    from unisono.trace import reader  # noqa: PLC0415
    from unisono.whatif import asked, calls, choices, replay, results, study, terminal  # noqa: PLC0415

    if cores and not profile:
        raise UnisonoError("--cores is for -o")
    smpi.smpirun()
    seconds = parse_time(budget)
    options.demand_folder(json)
    options.demand_folder(profile)
    traced = reader.read(folder)
    found = calls.read(traced)
    if profile:
        choices.flavour_of(found.mpi)
    where = asked.Where(hosts, ranks, per_host, platform, scaling, grid)
    target, network = asked.place(traced, found, where)
    program = replay.Program(found, target, network, asked.selector_of(selector, found.mpi), sample)
    assert program.cells  # says what cannot be scaled before anything runs
    os.nice(NICE - os.nice(0))
    # A kill asks for the same as Ctrl-C: end the simulations.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with console.errors.status("") as status:
        done = study.study(program, seconds, finalists, online, status.update)
    done.notes = [*asked.guesses(traced, where), *done.notes]
    out = console.output(json)
    terminal.show(done, out)
    documents.write(results.document_of(done), json)
    if profile:
        document.save(choices.profile_of(done, cores or machine.cores().usable), profile)
        out.print(f"wrote {profile}: unisono profile show {profile}", soft_wrap=True)
