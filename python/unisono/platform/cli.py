"""The command `unisono platform`: what jobs keep for each other (docs/reference/memory.md)."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from unisono.core import amounts, answers, documents, memory, options, shown
from unisono.core.arguments import parse_collectives
from unisono.core.console import output, table
from unisono.core.errors import RunError, UnisonoError
from unisono.core.memory import Learned
from unisono.core.options import group
from unisono.core.words import number
from unisono.platform import measure as platform_measure
from unisono.testbeds import beds, library, where

app = group("Look at what jobs have found out about hosts and networks here, measure it now, or forget it.")


def network_text(document: dict[str, Any]) -> str:
    if not document["machine"]:
        return "what messages cost between the hosts was not measured: unisono platform measure does that"
    piece = document["machine"]["levels"]["between_nodes"]["one_way"][0]
    age = max(0.0, time.time() - document["measured"]) / memory.DAY
    rate = 8e-6 / piece["beta_s_per_byte"]
    return f"between nodes {piece['alpha_s'] * 1e6:.1f} us, {rate:.0f} Mb/s; measured {age:.0f} days ago"


def microseconds(seconds: float) -> str:
    return number(seconds * 1e6)


def show_learned(learned: list[Learned], console: Console) -> None:
    columns = ("collective", "choice", "the other way", "bytes", "ranks", "nodes", "per core")
    times = ("its us", "native us", "from call to call", "native")
    made = table(*columns, *times, "calls", left=3)
    made.columns[-1].justify = "left"
    for one in learned:
        made.add_row(
            one.collective,
            one.choice,
            one.other,
            str(one.bytes),
            str(one.ranks),
            str(one.nodes),
            str(one.ranks_per_core or ""),
            microseconds(one.seconds),
            microseconds(one.native),
            microseconds(one.all_seconds),
            microseconds(one.all_native),
            one.program if one.nodes == 1 else "",
        )
    console.print(made)


def show_one(path: Path, document: dict[str, Any], console: Console) -> None:
    where = document["where"]
    host = where["host"]
    console.print(Text(where["mpi"]["library"], style="bold"), soft_wrap=True)
    console.print(
        Text(f"{host['processor']}, {host['cores']} cores; {where['network']}", style="dim"), soft_wrap=True
    )
    found = memory.learned(path, document)
    if document["machine"] or any(one.nodes > 1 for one in found):
        console.print(network_text(document), soft_wrap=True)
    if found:
        console.print(
            "times of both ways, whichever was chosen, in calls and from call to call:",
            soft_wrap=True,
        )
        show_learned(found, console)


def show_all(paths: list[Path], console: Console) -> None:
    for path in paths:
        document = memory.read(path)
        console.print(str(path), soft_wrap=True)
        if not memory.is_current(document):
            console.print("of another version of Unisono: the next job here begins anew, and replaces it")
            continue
        try:
            show_one(path, document, console)
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError) as error:
            raise memory.broken(path) from error


def document_of(paths: list[Path]) -> answers.Memory:
    files = []
    for path in paths:
        document = memory.read(path)
        if not memory.is_current(document):
            continue
        learned = memory.learned(path, document)
        files.append(answers.MemoryFile(str(path), document["where"], learned, document["machine"] or None))
    return answers.Memory(folder=str(memory.folder()), files=files)


@app.command()
def show(json: options.Json = None) -> None:
    """Show what is known of networks, and which way was faster in which calls: times of both."""
    found = memory.files()
    out = output(json)
    if not found:
        out.print(f"{memory.folder()}: nothing is remembered yet", soft_wrap=True)
    show_all(found, out)
    documents.write(document_of(found), json)


@app.command()
def measure(
    ranks: where.Ranks = None,
    mpi: where.Library = options.Library.AUTO,
    lab: where.Lab = False,
    launch: where.Launch = None,
    ppn: where.RanksPerHost = None,
    collectives: Annotated[
        str, options.collectives(platform_measure.STANDARD_COLLECTIVES)
    ] = platform_measure.STANDARD_COLLECTIVES,
    sizes: options.Sizes = platform_measure.STANDARD_SIZES,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="For a collective of one size: 0.4s, 2s.")
    ] = "0.4s",
    json: options.Json = None,
) -> None:
    """Measure now what jobs would measure, and keep it for them: [bold]unisono platform measure -n 4[/bold]

    What is remembered already is not used; what is measured takes its place."""
    bed: beds.Bed = beds.Launcher(launch) if launch else beds.current_lab() if lab else beds.Node()
    chosen = platform_measure.Options(
        bed=bed,
        mpi=beds.find_mpi(bed, mpi),
        # A launcher knows by itself how many it starts.
        ranks=ranks or (0 if launch else bed.fitting_ranks()),
        per_host=ppn,
        collectives=parse_collectives(collectives),
        sizes=amounts.parse_sizes(sizes),
        seconds=amounts.parse_time(budget),
    )
    console = output(json)
    console.print(
        f"measuring on {bed.title()}, about {platform_measure.seconds_needed(chosen):.0f} s", soft_wrap=True
    )
    per_host = chosen.bed.per_host(chosen.ranks, chosen.per_host)
    library.say(chosen.bed, chosen.mpi, chosen.ranks, per_host, console)
    found = platform_measure.measure(chosen)
    show_all(found, console)
    documents.write(document_of(found), json)


@app.command()
def forget(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="Only this one, as show names it.")
    ] = None,
) -> None:
    """Remove what jobs have found out: the next ones begin anew. Files of other names stay."""
    chosen = [path.name for path in memory.files() if file is None or Path(file).name == path.name]
    if file is not None and not chosen:
        raise UnisonoError(f"{file}: nothing of this name that Unisono wrote is in {memory.folder()}")
    parts = [path.name for path in memory.entries() if file is None and memory.PART.fullmatch(path.name)]
    try:
        if chosen or parts:
            memory.remove(chosen + parts)
    except OSError as error:
        raise RunError(f"{memory.folder()}: {error.strerror}") from error
    print(f"forgot {len(chosen)} file{'' if len(chosen) == 1 else 's'} in {memory.folder()}")
    left = memory.not_ours()
    if left:
        names = ", ".join(shown.shown(path.name) for path in left[:3]) + (", ..." if len(left) > 3 else "")
        print(f"left alone: {len(left)} that Unisono did not write ({names})")
