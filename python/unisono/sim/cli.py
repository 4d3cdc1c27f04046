"""The command `unisono sim`."""

import shlex
import signal
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from unisono.core import amounts, completion, documents, launch, options
from unisono.core.arguments import names, parse_collective, split_specs
from unisono.core.console import errors, output, progress
from unisono.core.errors import FAILED, UnisonoError
from unisono.core.limits import Sized, size_kind
from unisono.sim import platforms, program, runner, smpi, terminal
from unisono.sim.arms import parse_algorithms
from unisono.sim.ranks import hosts_of_ranks
from unisono.sim.table import ENGINES, FLOWS, SMPI, Question, Table

COLLECTIVE, PROGRAM = "One collective", "A program"

Placed = Annotated[
    str | None,
    typer.Option(
        "--ranks",
        metavar="WHERE",
        help="Hosts with ranks: a file of them, random:31:seed=1, or without:5,17-19.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="smpi: runs Unisono in SimGrid's SMPI; flows: times of the schedules, without it.",
        rich_help_panel=COLLECTIVE,
    ),
]
Arms = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="As in chain:segment=32K; all; native: what the selectors choose.",
        rich_help_panel=COLLECTIVE,
        show_default="all,native; of flows all",
        autocompletion=completion.algorithms,
    ),
]
Memory = Annotated[
    str,
    typer.Option(help="Buffers of all ranks, at most, in a process.", rich_help_panel=COLLECTIVE),
]
Share = Annotated[
    bool,
    typer.Option(
        "--share",
        help="Buffers of all ranks are the same memory; results are not verified.",
        rich_help_panel=COLLECTIVE,
    ),
]
Force = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLLECTIVE=ALGORITHM",
        help="Also run the program with this of Unisono; may be repeated.",
        rich_help_panel=PROGRAM,
        autocompletion=completion.force,
    ),
]

Online = Annotated[
    bool,
    typer.Option(
        "--online",
        help="Also run the program as Unisono would with nothing set.",
        rich_help_panel=PROGRAM,
    ),
]
Configure = Annotated[
    list[str] | None,
    typer.Option("--cfg", metavar="KEY:VALUE", help="Of SimGrid.", rich_help_panel=PROGRAM),
]

# Without it a simulation runs what is forced, and nothing else of ours.
ONLINE = {"UNISONO_ONLINE": "auto"}


def sim(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- SOURCE [ARGS]", help="A C or C++ file, and the program's arguments."),
    ] = None,
    platform: Annotated[
        str, typer.Option(metavar="NETWORK", help="torus:8x8x8, fattree:16x4:8, ethernet:64[,bw=..,lat=..]")
    ] = "ethernet:16",
    ranks: Annotated[
        int | None, typer.Option("-n", min=2, help="Number of ranks; otherwise one on each host.")
    ] = None,
    placed: Placed = None,
    selectors: Annotated[
        str, typer.Option(metavar="A,B", help="SMPI's imitations of MPI libraries, or none.")
    ] = ",".join(smpi.SELECTORS),
    collective: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="bcast, allreduce, ...",
            rich_help_panel=COLLECTIVE,
            autocompletion=completion.collectives,
        ),
    ] = None,
    arms: Arms = None,
    sizes: Annotated[
        str,
        typer.Option(
            metavar="S,S", help="Bytes: 64K,1M; 8:1M doubles, 8:1M:4 quadruples.", rich_help_panel=COLLECTIVE
        ),
    ] = "64K",
    engine: Engine = SMPI,
    root: Annotated[int, typer.Option(min=0, help="Of the collective.", rich_help_panel=COLLECTIVE)] = 0,
    memory: Memory = "4G",
    share: Share = False,
    force: Force = None,
    online: Online = False,
    flags: Annotated[
        str, typer.Option(metavar="FLAGS", help="For the compiler.", rich_help_panel=PROGRAM)
    ] = "-O2",
    configure: Configure = None,
    json: options.Json = None,
) -> None:
    """Algorithms and programs on a simulated network:
    [bold]unisono sim --platform torus:4x4x4 --collective bcast --sizes 64K,1M[/bold]"""
    if bool(command) == bool(collective):
        raise UnisonoError("give either --collective, or -- and the source of a program")
    network = platforms.parse(platform)
    where = placement(placed, ranks, network)
    count = len(where) or ranks or network.hosts
    if count > network.hosts and not where:
        raise UnisonoError(f"-n {count}: {network.spec} has {network.hosts} hosts, for a rank each")
    check_engine(engine, network, bool(command))
    if collective:
        check_of_program({"--force": force, "--online": online, "--cfg": configure})
    peers = parse_selectors(selectors)
    # A kill asks for the same as Ctrl-C: end the simulations.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    out = output(json)
    if command:
        for argument in command:
            if len(argument.split()) != 1:
                raise UnisonoError(
                    f"'{argument}': smpirun cannot pass on an empty argument or one with spaces"
                )
        plan = program.Plan(
            network,
            count,
            Path(command[0]),
            command[1:],
            words(flags),
            peers,
            launch.forced(force or []) | (ONLINE if online else {}),
            where,
        )
        runs = program.simulate(plan, configuration(configure or []), errors)
        program.show(plan, runs, out)
        documents.write(program.document_of(plan, runs), json)
        if program.failed(runs):
            raise typer.Exit(FAILED)
        return
    assert collective
    question = question_of(network, count, collective, root, sizes)
    question = replace(question, placed=where, engine=engine, shares=share)
    table = simulate(question, arms, peers, memory)
    terminal.show(table, out)
    documents.write(table.document(), json)
    if table.wrong() or table.failed():
        raise typer.Exit(FAILED)


def placement(text: str | None, ranks: int | None, network: platforms.Platform) -> tuple[int, ...]:
    """The host of each rank; empty: rank i on host i."""
    if text is None:
        return ()
    if ranks is not None:
        raise UnisonoError("--ranks says how many ranks there are: leave out -n")
    return hosts_of_ranks(text, network)


def check_engine(engine: str, network: platforms.Platform, is_program: bool) -> None:
    if engine not in ENGINES:
        raise UnisonoError(f"--engine {engine}: valid are {', '.join(ENGINES)}")
    if engine == FLOWS and is_program:
        raise UnisonoError("--engine flows: it times collectives; programs run in smpi")
    if engine == SMPI and network.only_flows:
        raise UnisonoError(f"--platform {network.spec}: {network.only_flows} is for --engine flows, not smpi")


def check_of_program(given: dict[str, object]) -> None:
    for option, value in given.items():
        if value:
            raise UnisonoError(f"{option} is for programs, as in: unisono sim {option} ... -- program.c")


def words(flags: str) -> list[str]:
    try:
        return shlex.split(flags)
    except ValueError as error:
        raise UnisonoError(f"--flags {flags}: {error}") from None


def parse_selectors(text: str) -> list[str]:
    chosen = [] if text == "none" else list(dict.fromkeys(names(text)))
    for name in chosen:
        if name not in smpi.SELECTORS:
            raise UnisonoError(f"--selectors {name}: valid are none, {', '.join(smpi.SELECTORS)}")
    return chosen


def configuration(settings: list[str]) -> dict[str, str]:
    pairs = [setting.partition(":") for setting in settings]
    for key, colon, value in pairs:
        if not (colon and value):
            raise UnisonoError(f"--cfg {key}: write KEY:VALUE, as in smpi/simulate-computation:yes")
    return {key: value for key, _, value in pairs}


def question_of(network: platforms.Platform, ranks: int, collective: str, root: int, sizes: str) -> Question:
    collective = parse_collective(collective, "--collective")
    if root >= ranks:
        raise UnisonoError(f"--root {root}: the ranks are 0 to {ranks - 1}")
    sized = size_kind(collective) is not Sized.NOTHING
    chosen = amounts.parse_sizes(sizes) if sized else (0,)
    return Question(network, ranks, collective, root, chosen)


def simulate(question: Question, given: str | None, selectors: list[str], memory: str) -> Table:
    algorithms = given or ("all" if question.engine == FLOWS else "all,native")
    if question.engine == FLOWS and "native" in split_specs(algorithms):
        raise UnisonoError("--arms native: only SMPI has selectors that choose, not --engine flows")
    own = parse_algorithms(algorithms, question.collective)
    amounts.parse_size(memory, "--memory")
    peers = selectors if "native" in split_specs(algorithms) else []
    if not own and not peers:
        raise UnisonoError("--arms: nothing to simulate")
    with progress(disable=not errors.is_terminal) as bar:
        total = (len(own) + len(peers)) * len(question.sizes)
        task = bar.add_task(question.collective, total=total)

        def done(algorithm: str) -> None:
            bar.update(task, advance=1, description=f"{question.collective}: {algorithm}")

        return runner.simulate(question, own, peers, memory, done)
