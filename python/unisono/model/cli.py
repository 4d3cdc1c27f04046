"""The command `unisono model`: what the machine costs, what the model says of calls, and how right it is."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from unisono.core import amounts, completion, cost_model, documents, files, memory, options
from unisono.core.amounts import parse_time
from unisono.core.arguments import parse_collective, split_specs
from unisono.core.catalogue import format_size
from unisono.core.console import errors, output, table
from unisono.core.errors import FAILED, RunError, UnisonoError
from unisono.core.options import group
from unisono.model import check as model_check
from unisono.model.check import Asker, Measures, Report
from unisono.sim import calibrate, platforms
from unisono.sim.bench import Simulator
from unisono.testbeds import beds, library, where
from unisono.testbeds.bench import Bench

app = group("The cost model: what messages cost here, what it says of calls, and how right it is.")

LEVELS = {"within_node": "within a node", "between_nodes": "between nodes"}
QUANTITIES = {"one_way": "a message", "gap": "the next message", "exchange": "all at once"}
STANDARD_SIZES = "16K,96K,384K,1536K"

# What says on which ranks, and for how long: nothing of it is asked of a simulation.
OF_RANKS = {"mpi", "lab", "launch", "ppn", "nodes", "budget"}

MachineFile = Annotated[Path, typer.Option(metavar="FILE", help="Of unisono-model fit.")]
Arms = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Algorithms, as chain:segment=auto; otherwise all that send messages.",
        autocompletion=completion.algorithms,
    ),
]


def read_machine(path: Path) -> dict[str, Any]:
    """Well-formed; whether its numbers are, unisono-model says."""
    document = files.read_json(path)
    if not isinstance(document, dict) or document.get("format") != "unisono-machine":
        raise UnisonoError(f"{path}: no machine file; unisono-model fit writes one")
    return document


def level_rows(name: str, level: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for quantity, words in QUANTITIES.items():
        for piece in level.get(quantity, []):
            beta = float(piece["beta_s_per_byte"])
            rate = f"{8e-6 / beta:.0f}" if beta > 0 else ""
            rows.append(
                (
                    LEVELS.get(name, name),
                    words,
                    format_size(int(piece["from_bytes"])),
                    f"{float(piece['alpha_s']) * 1e6:.2f}",
                    f"{beta * 1e9:.4g}",
                    rate,
                )
            )
    return rows


def seconds_of(pieces: list[dict[str, Any]], size: int) -> float:
    """As the model has them (src/model/machine.cpp)."""
    ascending = sorted(pieces, key=lambda piece: float(piece["from_bytes"]))
    at = [piece for piece in ascending if float(piece["from_bytes"]) <= size] or ascending[:1]
    return max(0.0, float(at[-1]["alpha_s"]) + float(at[-1]["beta_s_per_byte"]) * size) if at else 0.0


def show_memory(block: dict[str, Any], console: Console) -> None:
    """Worringer's parameters, by length."""
    made = table("d", "l_PIO us", "l_DMA us", "faster", "l_cpy us", "l_cmb us", left=0)
    once = block.get("single_copy")
    for size in model_check.CALIBRATED:
        pio = seconds_of(block["stores"]["one_way"], size)
        dma = seconds_of(once["one_way"], size) if once else None
        others = [seconds_of(block[key], size) for key in ("copy", "combine")]
        made.add_row(
            format_size(size),
            f"{pio * 1e6:.2f}",
            "" if dma is None else f"{dma * 1e6:.2f}",
            "DMA" if dma is not None and dma < pio else "PIO",
            *(f"{seconds * 1e6:.3f}" for seconds in others),
        )
    console.print(Text("messages through the memory of a node, by their bytes d"), soft_wrap=True)
    console.print(made)
    text = f"l_sb {float(block['fence_s']) * 1e6:.2f} us"
    console.print(text if once else f"{text}; no single copy (l_DMA) where this was measured", soft_wrap=True)


def show_machine(title: str, machine: dict[str, Any], console: Console) -> None:
    console.print(Text(title, style="bold"), soft_wrap=True)
    made = table("level", "cost of", "from bytes", "alpha us", "beta ns/B", "Mb/s", left=2)
    try:
        for name, level in machine["levels"].items():
            for row in level_rows(name, level):
                made.add_row(*row)
        for words, key in (("reducing", "reduce_s_per_byte"), ("copying", "copy_s_per_byte")):
            if machine.get(key):
                rate = float(machine[key])
                made.add_row("a rank", words, "0", "", f"{rate * 1e9:.4g}", f"{8e-6 / rate:.0f}")
        incast = machine.get("incast")
        console.print(made)
        if incast:
            text = (
                f"a port holds {format_size(int(incast['buffer_bytes']))}B, a timeout takes "
                f"{incast['timeout_s']} s"
            )
            console.print(text, soft_wrap=True)
        if machine.get("node_memory"):
            show_memory(machine["node_memory"], console)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnisonoError(f"{title}: a broken machine: {error}") from error


@app.command()
def show(
    machine: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of unisono-model fit; otherwise what jobs have kept.")
    ] = None,
    json: options.Json = None,
) -> None:
    """Show what messages, reductions and copies cost: seconds = alpha + beta * bytes."""
    console = output(json)
    if machine:
        document = read_machine(machine)
        library = document.get("mpi", {})
        known = [(f"{machine}, {library.get('library', '')}", document)]
    else:
        remembered = [(path, document) for path, document in memory.each() if document.get("machine")]
        known = [(path.name, document["machine"]) for path, document in remembered]
    if not known:
        raise RunError(
            "no network was measured yet: unisono platform measure does that on several hosts; or name a "
            "file by --machine (unisono-calibrate, then unisono-model fit)"
        )
    for title, document in known:
        show_machine(title, document, console)
    documents.write(model_check.Machines(machines=dict(known)), json)


@app.command()
def predict(
    machine: MachineFile,
    collective: options.Collective,
    ranks: Annotated[int, typer.Option("-n", min=1, help="Ranks.")],
    sizes: options.Sizes,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Blocks of ranks; otherwise one rank on each.")
    ] = None,
    root: Annotated[int, typer.Option(min=0, help="Root of the collective.")] = 0,
    arms: Arms = None,
    json: options.Json = None,
) -> None:
    """Say what calls would take, and which segments are best: the fastest first."""
    chosen = parse_collective(collective, "--collective")
    specs = split_specs(arms or "")
    wanted = specs or model_check.standard_specs(chosen)
    bytes_ = amounts.parse_sizes(sizes)
    jobs = [cost_model.Job(chosen, ranks, nodes or ranks, size, wanted, root) for size in bytes_]
    made = table("algorithm", "note", "size", "us", left=2)
    rows: list[model_check.PredictedRow] = []
    for job, told in zip(jobs, cost_model.predict(machine, jobs), strict=True):
        for each in told:
            if each.seconds is None and not specs:
                continue  # nobody asked for it
            note = each.unmet or ("no price" if each.seconds is None else "")
            note = note or ("the model's segment" if each.chosen else "")
            time = "" if each.seconds is None else f"{each.seconds * 1e6:.1f}"
            made.add_row(each.runs, note, format_size(job.bytes), time)
            rows.append(model_check.PredictedRow(each.runs, job.bytes, each.seconds, note))
    output(json).print(made)
    predicted = model_check.Predicted(collective=chosen, ranks=ranks, nodes=nodes or ranks, predictions=rows)
    documents.write(predicted, json)


@dataclass(frozen=True)
class Place:
    """Where a check measures."""

    bench: Measures
    ranks: int
    nodes: int
    title: Text
    network: platforms.Platform | None = None  # simulated


def on_ranks(
    ranks: int | None, mpi: options.Library, lab: bool, launch: str | None, ppn: int | None, nodes: int | None
) -> Place:
    bed: beds.Bed = beds.Launcher(launch) if launch else beds.current_lab() if lab else beds.Node()
    number = ranks or bed.fitting_ranks()
    bench = Bench(bed, beds.find_mpi(bed, mpi), number, ppn)
    library.say(bed, bench.mpi, number, bench.per_host)
    on_nodes = nodes or (number if launch else -(-number // bench.per_host))
    return Place(bench, number, on_nodes, Text.assemble((bed.title(), "bold"), f", {bench.mpi.name}"))


def simulated(platform: str, ranks: int | None, context: typer.Context) -> Place:
    options.refuse_given(context, OF_RANKS, "is for measuring: --platform simulates, a rank on each host")
    network = platforms.parse(platform)
    number = ranks or network.hosts
    if number > network.hosts:
        raise UnisonoError(f"-n {number}: {network.spec} has {network.hosts} hosts, for a rank each")
    return Place(Simulator(network, number), number, number, Text(network.spec, style="bold"), network)


def machine_of(place: Place, given: Path | None, folder: str) -> Path:
    """As given, or of the simulated network."""
    if given:
        return given
    assert place.network
    with errors.status("calibrating"):
        return calibrate.calibrate(place.network, place.ranks, Path(folder) / "machine.json")


@app.command()
def check(
    context: typer.Context,
    collective: options.Collective,
    machine: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Of unisono-model fit; with --platform otherwise calibrated there."
        ),
    ] = None,
    platform: Annotated[
        str | None, typer.Option(metavar="NETWORK", help="Simulate: ethernet:16, as unisono sim takes them.")
    ] = None,
    ranks: where.Ranks = None,
    mpi: where.Library = options.Library.AUTO,
    lab: where.Lab = False,
    launch: where.Launch = None,
    ppn: where.RanksPerHost = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="With --launch: on which its ranks are; otherwise one each.")
    ] = None,
    sizes: options.Sizes = STANDARD_SIZES,
    arms: Arms = None,
    budget: options.Budget = "2m",
    json: options.Json = None,
) -> None:
    """Measure calls, and compare with what the model says of them, and of their segments."""
    chosen = parse_collective(collective, "--collective")
    bytes_ = amounts.parse_sizes(sizes)
    if machine:
        measured_on = read_machine(machine).get("mpi", {}).get("flavour", mpi)
        if mpi is options.Library.AUTO and measured_on in set(options.Library):
            mpi = options.Library(measured_on)
        if not platform and measured_on != mpi:
            errors.print(f"{machine} was measured under {measured_on}: for others it is no test (--mpi)")
    elif not platform:
        raise UnisonoError("--machine FILE is missing: unisono-model fit writes one")
    real = (ranks, mpi, lab, launch, ppn, nodes)
    place = simulated(platform, ranks, context) if platform else on_ranks(*real)
    errors.print(Text.assemble(place.title, f", {place.ranks} ranks"))
    with tempfile.TemporaryDirectory(prefix="unisono-check-") as folder:
        file = machine_of(place, machine, folder)
        with errors.status("measuring") as status:
            report = model_check.check(
                place.bench,
                Asker(file, chosen, place.ranks, place.nodes),
                bytes_,
                split_specs(arms or ""),
                parse_time(budget),
                lambda of: status.update(f"{of.point.text()}: {len(of.specs)} algorithms"),
            )
    show_report(report, output(json))
    documents.write(model_check.document_of(report), json)
    if report.problems:
        raise typer.Exit(FAILED)


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def show_report(report: Report, console: Console) -> None:
    made = table("algorithm", "size", "predicted us", "measured us", "95 %", "error", left=1)
    # A simulated time is the same in every run.
    for one in report.compared:
        arm = one.arm
        made.add_row(
            arm.spec,
            format_size(one.point.bytes) + ("*" if one.is_between else ""),
            f"{one.predicted_s * 1e6:.1f}",
            f"{arm.median_s * 1e6:.1f}",
            "exact" if one.exact else f"{arm.low_s * 1e6:.1f} - {arm.high_s * 1e6:.1f}",
            f"{100 * one.error:+.0f} %",
        )
    console.print(made)
    if report.verdicts:
        made = table("the model's segment", "the best measured", "size", "verdict", left=2)
        for found in report.verdicts:
            made.add_row(found.chosen, found.best, format_size(found.point.bytes), found.text)
        console.print(made)
    for problem in report.problems:
        console.print(Text(problem, style="red"), soft_wrap=True)
    parts = [f"median error {percent(report.error())} of {len(report.compared)}"]
    if report.error(between=True) is not None:
        parts.append(f"{percent(report.error(between=True))} at sizes (*) that calibration did not measure")
    console.print("; ".join(parts), soft_wrap=True)
