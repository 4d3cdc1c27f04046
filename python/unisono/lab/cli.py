"""`unisono lab`: an Ethernet cluster on one machine."""

import os
import signal
import sys
import time
from typing import Annotated

import typer
from rich.text import Text

from unisono.core import documents, launch, launchers, options, places
from unisono.core.amounts import parse_time
from unisono.core.console import output, table
from unisono.core.errors import FAILED, RunError, UnisonoError
from unisono.core.options import group
from unisono.lab import answers, cluster, layout, network, owner
from unisono.lab import check as check_module

app = group("An Ethernet cluster on one machine, made of network namespaces (Linux, as root).")

Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Which lab; UNISONO_LAB, or lab, otherwise.")
]
PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def per_host_values(option: str, settings: list[str]) -> dict[str, str]:
    values = {}
    for setting in settings:
        host, separator, value = setting.partition("=")
        if not (host and separator and value):
            raise UnisonoError(f"{option} {setting}: write HOST=VALUE, as in h3=...")
        values[host] = value
    return values


def factor_of(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UnisonoError(f"--speed {text}: write HOST=FACTOR, as in h3=0.5") from None


def end_cleanly_when_asked() -> None:
    """SIGTERM as an exception, so that what was begun is taken back."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))


@app.command()
def up(
    hosts: Annotated[int, typer.Option(help="Number of hosts.")] = 16,
    rate: Annotated[str, typer.Option(help="Rate of a host's port, each way.")] = "100mbit",
    switches: Annotated[int, typer.Option(help="Number of switches that the hosts are spread over.")] = 1,
    uplink: Annotated[
        str | None, typer.Option(help="Rate between two switches; as --rate otherwise.")
    ] = None,
    loss: Annotated[str, typer.Option(help="Share of the frames lost on their way to a host.")] = "0%",
    loss_on: Annotated[
        list[str] | None, typer.Option(metavar="HOST=SHARE", help="Loss at one host; may be repeated.")
    ] = None,
    speed: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST=FACTOR", help="Share of the rate at one host; may be repeated."),
    ] = None,
    host_queue: Annotated[
        int, typer.Option(metavar="FRAMES", help="How many a host queues before it drops more.")
    ] = layout.HOST_QUEUE,
    name: Name = None,
) -> None:
    """Make the cluster: [bold]sudo unisono lab up --hosts 16 --rate 100mbit[/bold]"""
    plan = layout.Plan(
        hosts=hosts,
        rate=layout.rate_of(rate),
        switches=switches,
        uplink=layout.rate_of(uplink) if uplink else None,
        loss=layout.share_of(loss),
        loss_on={h: layout.share_of(v) for h, v in per_host_values("--loss-on", loss_on or []).items()},
        speed={h: factor_of(v) for h, v in per_host_values("--speed", speed or []).items()},
        host_queue=host_queue,
    )
    name = cluster.chosen_name(name)
    end_cleanly_when_asked()
    start = time.monotonic()
    if network.up(name, plan):
        output().print(f"lab {name} is up: {plan.describe()}; made in {time.monotonic() - start:.1f} s")
    else:
        output().print(f"lab {name} is up already: {plan.describe()}")


@app.command()
def down(
    name: Name = None,
    force: Annotated[
        bool, typer.Option("--any-owner", help="Take down a lab that somebody else has made, too.")
    ] = False,
) -> None:
    """Remove the cluster, and end what runs in it."""
    name = cluster.chosen_name(name)
    if network.down(name, force):
        output().print(f"lab {name} is down")
    else:
        output().print(f"lab {name} was not up: nothing to do")


@app.command()
def status(name: Name = None, json: options.Json = None) -> None:
    """Show the hosts of the lab, and which other labs there are."""
    name = cluster.chosen_name(name)
    others = sorted(set(cluster.all_names()) - {name})
    console = output(json)
    if others:
        console.print(f"other labs: {', '.join(others)}")
    lab = cluster.current(name)
    console.print(f"lab {lab.name} is up: {lab.plan.describe()}; {owner.text_of(lab.folder)}", soft_wrap=True)
    made = table("host", "address", "switch", "rate", "loss", "processes", left=6)
    rows = []
    for host in lab.hosts:
        # Only root may see whose they are.
        running = len(network.processes_in(lab.folder, host.name)) if os.geteuid() == 0 else None
        rows.append(answers.LabHost(host.name, host.address, host.switch, host.rate, host.loss, running))
        made.add_row(
            host.name,
            host.address,
            f"s{host.switch}",
            layout.rate_text(host.rate),
            f"{host.loss:.4g}" if host.loss else "-",
            "?" if running is None else str(running),
        )
    console.print(made)
    told = answers.LabStatus(
        name=lab.name, plan=lab.plan.describe(), made=owner.text_of(lab.folder), hosts=rows, other_labs=others
    )
    documents.write(told, json)


@app.command()
def check(
    budget: Annotated[str, typer.Option(metavar="TIME", help="How long the flows are measured.")] = "3s",
    name: Name = None,
    json: options.Json = None,
) -> None:
    """Test the lab itself: names, reach, multicast, and a TCP flow from every host to the next."""
    lab = cluster.own(name)
    network.demand_root_and_tools()
    console, tests = output(json), []
    try:
        for result in check_module.check(lab, max(0.5, parse_time(budget))):
            mark = Text("    ok  ", style="green") if result.good else Text("FAILED  ", style="bold red")
            console.print(mark + Text(f"{result.what:<11}{result.seen}"), soft_wrap=True)
            tests.append(answers.LabTest(result.what, result.good, result.seen))
    except OSError as error:
        raise RunError(f"lab {lab.name}: the check could not go on: {error}") from None
    failed = sum(not test.good for test in tests)
    documents.write(answers.LabCheck(name=lab.name, failed=failed, tests=tests), json)
    if failed:
        console.print(f"{failed} failed: times measured in this lab now would not be those of a network")
        raise typer.Exit(FAILED)


@app.command(context_settings=PASSED_ON)
def run(
    command: Annotated[list[str], typer.Argument(metavar="PROGRAM...", help="Program and its arguments.")],
    ranks: Annotated[int, typer.Option("-n", min=1, help="Number of ranks.")] = 2,
    mpi: Annotated[
        options.Library,
        typer.Option(metavar="LIBRARY", help=f"{options.LIBRARIES}: what the program is linked to."),
    ] = options.Library.AUTO,
    ppn: Annotated[
        int | None, typer.Option(min=1, help="Ranks per host; otherwise as few as possible.")
    ] = None,
    in_turn: Annotated[
        bool, typer.Option("--in-turn", help="Rank 0 on h0, rank 1 on h1, ... (round-robin).")
    ] = False,
    force: options.Force = None,
    native: Annotated[bool, typer.Option("--native", help="Without Unisono.")] = False,
    log: options.Log = False,
    name: Name = None,
) -> None:
    """Run a program on the hosts: [bold]unisono lab run --mpi mpich -n 16 -- ./app input[/bold]"""
    if native and (force or log):
        raise UnisonoError("--native runs without Unisono: --force and --log have no meaning then")
    instead = "give the program alone, which unisono lab run starts on the hosts"
    launchers.refuse_two_launchers(command, ranks, "unisono lab run", instead)
    lab = cluster.own(name)
    network.demand_root_and_tools()
    library = launch.choose_mpi(mpi.chosen, command[0])
    environment = {key: value for key, value in os.environ.items() if places.is_ours(key)}
    environment |= launch.forced(force or [])
    if log:
        environment["UNISONO_LOG"] = "decision"
    per_host = layout.ranks_per_host(ranks, len(lab.hosts), ppn)
    prefix = [] if native else [str(places.program("unisono-exec"))]
    line, variables = lab.command(library, ranks, per_host, [*prefix, *command], environment, in_turn)
    os.execve(line[0], line, variables)


@app.command(context_settings=PASSED_ON)
def shell(
    host: Annotated[str, typer.Argument(help="h0, h1, ..., or switch")],
    command: Annotated[list[str] | None, typer.Argument(help="Otherwise a shell.")] = None,
    name: Name = None,
) -> None:
    """A shell, or one command, on a host: [bold]sudo unisono lab shell h3 ip address[/bold]"""
    lab = cluster.own(name)
    network.demand_root_and_tools()
    if host not in {network.SWITCH, *(known.name for known in lab.hosts)}:
        raise UnisonoError(f"{host}: hosts are h0 to h{len(lab.hosts) - 1}, and there is switch")
    # As with ssh, the words are joined and read by the shell over there.
    words = command or []
    line = [str(lab.enter), host, *(words[1:] if words[:1] == ["--"] else words)]
    os.execv(line[0], line)
