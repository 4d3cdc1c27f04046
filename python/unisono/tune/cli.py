"""The command `unisono tune`."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.text import Text

from unisono.core import amounts, catalogue, documents, options, places
from unisono.core.amounts import parse_time
from unisono.core.arguments import names as split_names
from unisono.core.arguments import parse_collectives
from unisono.core.catalogue import format_size
from unisono.core.console import errors, progress
from unisono.core.console import output as stdout
from unisono.core.errors import FAILED, INTERRUPTED, UnisonoError
from unisono.core.limits import Sized, size_kind
from unisono.profile import document
from unisono.testbeds import beds, calibrate, library, where
from unisono.testbeds.bench import Bench, Point, Row
from unisono.testbeds.library import Loaded
from unisono.tune import native, report
from unisono.tune.prediction import Field
from unisono.tune.record import Record
from unisono.tune.tuner import Listener, Outcome, Tuner

STANDARD_COLLECTIVES = "bcast,gather,scatter,reduce,allreduce,allgather"
STANDARD_SIZES = "64:1M:4"
LEAST_FOR_MODEL = 40.0  # seconds of budget: the cells are what it is for


@dataclass(frozen=True)
class Options:
    bed: beds.Bed
    mpi: places.Mpi
    ranks: int
    ppn: int | None
    points: list[Point]
    budget: float  # seconds
    output: Path
    resume: bool
    machine: Path | None  # of the cost model; None: calibrate
    use_model: bool


def tune(
    context: typer.Context,
    output: options.OutputFile,
    ranks: where.Ranks = None,
    mpi: where.Library = options.Library.AUTO,
    lab: where.Lab = False,
    launch: where.Launch = None,
    ppn: where.RanksPerHost = None,
    collectives: Annotated[str, options.collectives(STANDARD_COLLECTIVES)] = STANDARD_COLLECTIVES,
    sizes: options.Sizes = STANDARD_SIZES,
    budget: options.Budget = "20m",
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was interrupted.")] = False,
    machine: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of unisono-model fit; otherwise measured.")
    ] = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="A fixed list of candidates.")] = False,
    native_only: Annotated[
        bool,
        typer.Option("--native-only", help="The MPI library's own algorithms, for its own settings file."),
    ] = False,
    json: options.Json = None,
) -> None:
    """Measure which algorithm is fastest here: [bold]unisono tune -n 4 -o profile.json[/bold]"""
    bed: beds.Bed = beds.Launcher(launch) if launch else beds.current_lab() if lab else beds.Node()
    if native_only:
        options.refuse_given(context, {"machine", "no_model", "json"}, "is not for --native-only")
        bytes_ = amounts.parse_sizes(sizes)
        names = native.COLLECTIVES if collectives == "all" else native_names(collectives)
        native.tune_and_show(
            native.Options(
                bed=bed,
                mpi=beds.find_mpi(bed, mpi),
                output=output,
                ranks=[ranks] if ranks else [],
                per_host=ppn,
                collectives=names,
                sizes=bytes_,
                block_sizes=bytes_,
                budget=parse_time(budget),
                resume=resume,
            )
        )
        return
    demand_machine(machine, no_model)
    options.demand_folder(output)
    options.demand_folder(json)
    chosen = Options(
        bed=bed,
        mpi=beds.find_mpi(bed, mpi),
        ranks=ranks or bed.fitting_ranks(),
        ppn=ppn,
        points=points_of(collectives, sizes),
        budget=parse_time(budget),
        output=output,
        resume=resume,
        machine=machine,
        use_model=not no_model,
    )
    began = time.monotonic()
    outcome, loaded = run(chosen)
    out = stdout(json)
    report.show(outcome, time.monotonic() - began, out)
    documents.write(report.document_of(outcome, loaded), json)
    finish(chosen, outcome, out)


def native_names(collectives: str) -> list[str]:
    """Those that the MPI library's own settings know are checked where its rules are written."""
    return [catalogue.collective_named(name) for name in split_names(collectives)]


def demand_machine(machine: Path | None, no_model: bool) -> None:
    if machine and no_model:
        raise UnisonoError("--machine is not for --no-model")
    if machine and not machine.is_file():
        raise UnisonoError(f"--machine {machine}: no such file; unisono-model fit makes one")


def points_of(collectives: str, sizes: str) -> list[Point]:
    chosen = parse_collectives(collectives)
    unknown = [name for name in chosen if not catalogue.collective(name).bytes_known]
    if unknown and collectives != "all":
        raise UnisonoError(
            f"--collectives {unknown[0]}: no rank knows all counts, a profile cannot choose by them"
        )
    bytes_ = amounts.parse_sizes(sizes)
    return [
        Point(name, size)
        for name in chosen
        if catalogue.collective(name).bytes_known
        for size in ((0,) if size_kind(name) is Sized.NOTHING else bytes_)
    ]


def run(options: Options) -> tuple[Outcome, Loaded]:
    """A first Ctrl-C ends the measurement and keeps it, a second one ends this at once."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    deadline = time.monotonic() + options.budget
    bench = Bench(options.bed, options.mpi, options.ranks, options.ppn)
    record = Record(folder_of(options.output), plan_of(options), options.resume)
    loaded = library.say(options.bed, options.mpi, options.ranks, bench.per_host)
    errors.print(Text.assemble((options.bed.title(), "bold"), f", {options.ranks} ranks"), soft_wrap=True)
    field = Field(machine_of(options, record), options.ranks, -(-options.ranks // bench.per_host), warn)
    with display() as listener:
        return Tuner(bench, field, record, listener).run(options.points, deadline), loaded


def machine_of(options: Options, record: Record) -> Path | None:
    if not options.use_model:
        return None
    if options.machine:
        return options.machine
    file = record.folder / "machine.json"
    if file.exists():
        return file
    if options.budget < LEAST_FOR_MODEL:
        warn(
            f"without the model: its machine takes some 10 s of {options.budget:g} s to measure, or --machine"
        )
        return None
    try:
        patience = min(120.0, options.budget / 2)
        with errors.status("measuring the machine for the model"):
            return calibrate.calibrate(options.bed, options.mpi, options.ranks, file, options.ppn, patience)
    except UnisonoError as error:
        warn(f"without the model: {error}")
        return None


def warn(text: str) -> None:
    errors.print(Text(text, style="yellow"), soft_wrap=True)


def folder_of(output: Path) -> Path:
    return output.with_name(output.name + ".work")


def plan_of(options: Options) -> dict[str, str | int]:
    """What must be alike for --resume. Other collectives and sizes are welcome."""
    drain = os.environ.get("UNISONO_BENCH_DRAIN", "")  # beside what the lab sets
    return {"bed": options.bed.title(), "mpi": options.mpi.name, "ranks": options.ranks, "drain": drain}


def finish(options: Options, outcome: Outcome, out: Console) -> None:
    folder = folder_of(options.output)
    if outcome.profile.environments:
        document.save(outcome.profile, options.output)
        out.print(f"wrote {options.output}; use it: UNISONO_PROFILE={options.output}", soft_wrap=True)
    if outcome.interrupted or outcome.measured < outcome.planned:
        out.print(f"go on: the same command with --resume (kept in {folder})", soft_wrap=True)
    else:
        Record.remove(folder)
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)
    if outcome.problems or outcome.failed or outcome.measured < outcome.planned:
        raise typer.Exit(FAILED)


class Display(Listener):
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self.progress, self.task, self.kind = progress, task, ""

    def round_begins(self, kind: str, cells: int) -> None:
        self.kind = kind
        self.progress.update(self.task, description=kind, total=cells, completed=0)

    def cell_begins(self, point: Point, arms: int) -> None:
        size = format_size(point.bytes) if point.bytes else ""
        text = f"{self.kind}: {point.collective} {size}, {arms + 1} arms"
        self.progress.update(self.task, description=text)

    def cell_done(self, row: Row) -> None:
        self.progress.advance(self.task)

    def cell_failed(self, row: Row) -> None:
        for text in report.failures(row):
            self.progress.console.print(Text(text, style="red"), soft_wrap=True)


@contextlib.contextmanager
def display() -> Iterator[Display]:
    with progress() as bar:
        yield Display(bar, bar.add_task("", total=None))
