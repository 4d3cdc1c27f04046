"""The command `unisono whatif`."""

import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from unisono.core import console, documents, machine, options
from unisono.core.amounts import parse_time
from unisono.core.errors import UnisonoError
from unisono.profile import document
from unisono.sim import platforms, smpi
from unisono.sim.platforms import Ethernet, Platform
from unisono.trace import reader
from unisono.trace.metrics import OneWay
from unisono.trace.reader import Trace
from unisono.whatif import calls, choices, results, study, terminal
from unisono.whatif.calls import Calls
from unisono.whatif.replay import Program
from unisono.whatif.scaling import SCALINGS, WEAK, Target

NICE = 19  # whoever works on this machine comes first
SELECTORS = {"Open MPI": "ompi", "MPICH": "mpich", "MVAPICH": "mvapich2", "Intel": "impi"}

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


@dataclass(frozen=True)
class Where:
    """What the user says of the new scale."""

    hosts: int | None
    ranks: int | None
    per_host: int | None
    platform: str | None
    scaling: str
    grid: str | None


def whatif(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A trace, as unisono trace makes it.")],
    hosts: Annotated[int | None, typer.Option(min=2, help="How many; otherwise all of --platform.")] = None,
    ranks: Annotated[int | None, typer.Option("-n", min=2, help="Ranks, in place of --hosts.")] = None,
    per_host: Annotated[
        int | None, typer.Option("--ppn", min=1, help="Ranks on a host.", show_default="as traced")
    ] = None,
    platform: Network = None,
    scaling: Annotated[str, typer.Option(help="What stays: weak, strong, same.")] = WEAK,
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
    smpi.smpirun()
    seconds = parse_time(budget)
    options.demand_folder(json)
    traced = reader.read(folder)
    found = calls.read(traced)
    if profile:
        choices.flavour_of(found.mpi)
    where = Where(hosts, ranks, per_host, platform, scaling, grid)
    target, network = place(traced, found, where)
    program = Program(found, target, network, selector_of(selector, found.mpi), sample)
    assert program.cells  # says what cannot be scaled before anything runs
    os.nice(NICE - os.nice(0))
    # A kill asks for the same as Ctrl-C: end the simulations.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with console.errors.status("") as status:
        done = study.study(program, seconds, finalists, online, status.update)
    done.notes = [*guesses(traced, where), *done.notes]
    out = console.output(json)
    terminal.show(done, out)
    documents.write(results.document_of(done), json)
    if profile:
        document.save(choices.profile_of(done, cores or machine.cores().usable), profile)
        out.print(f"wrote {profile}: unisono profile show {profile}", soft_wrap=True)


def place(traced: Trace, found: Calls, where: Where) -> tuple[Target, Platform]:
    if where.scaling not in SCALINGS:
        raise UnisonoError(f"--scaling {where.scaling}: valid are {', '.join(SCALINGS)}")
    if where.hosts and where.ranks and where.per_host:
        raise UnisonoError("-n, --hosts and --ppn: two of these say the third; leave one out")
    several = len({rank.host for rank in traced.ranks.values()}) > 1
    per_host = where.per_host or (found.per_host if several else 1)
    hosts = where.hosts
    if where.ranks:
        if hosts:
            per_host = -(-where.ranks // hosts)
        hosts = hosts or -(-where.ranks // per_host)
    network = platform_of(traced, where.platform, hosts)
    hosts = hosts or network.hosts
    if hosts > network.hosts:
        raise UnisonoError(f"{hosts} hosts are wanted, and {network.spec} has {network.hosts}")
    if network.only_flows:
        raise UnisonoError(f"--platform {network.spec}: {network.only_flows} cannot be replayed")
    ranks = where.ranks or hosts * per_host
    return Target(ranks, per_host, where.scaling, grid_of(where.grid, ranks)), network


def platform_of(traced: Trace, given: str | None, hosts: int | None) -> Platform:
    if given:
        head, comma, rest = given.partition(",")
        if head == Ethernet.kind and hosts:
            head = f"{head}:{hosts}"
        return platforms.parse(head + comma + rest)
    if hosts is None:
        raise UnisonoError("say where: --hosts 256, or --platform ethernet:256,bw=10Gbps")
    measured = OneWay(traced.one_way)
    if is_guessed(traced):
        return platforms.parse(f"{Ethernet.kind}:{hosts}")
    # A path is two links, and each adds its latency.
    bits, latency = 8 / measured.beta / 1e6, 1e6 * measured.alpha / 2
    return platforms.parse(f"{Ethernet.kind}:{hosts},bw={bits:.4g}Mbps,lat={latency:.4g}us")


def is_guessed(traced: Trace) -> bool:
    """The trace has nothing to say of a network."""
    measured = OneWay(traced.one_way)
    several = len({rank.host for rank in traced.ranks.values()}) > 1
    return not (several and measured.alpha > 0 and measured.beta > 0)


def guesses(traced: Trace, where: Where) -> list[str]:
    """What was assumed because nobody said it."""
    found = list(traced.notes)
    if not where.platform and is_guessed(traced):
        found.append("The trace is of one host and knows no network: it is 1 Gb/s; --platform says more.")
    return found


def grid_of(text: str | None, ranks: int) -> tuple[int, int] | None:
    if text is None:
        return None
    said = re.fullmatch(r"(\d+)x(\d+)", text)
    if not said or int(said[1]) * int(said[2]) != ranks:
        raise UnisonoError(f"--grid {text}: write rows x columns of {ranks} ranks, as in 16x{ranks // 16}")
    return int(said[1]), int(said[2])


def selector_of(given: str | None, mpi: str) -> str:
    if given is None:
        return next((name for words, name in SELECTORS.items() if words in mpi), smpi.SELECTORS[0])
    if given not in smpi.SELECTORS:
        raise UnisonoError(f"--selector {given}: valid are {', '.join(smpi.SELECTORS)}")
    return given
