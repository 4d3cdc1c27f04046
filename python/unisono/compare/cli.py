"""The command `unisono compare`."""

import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from unisono.compare import guidelines as rules
from unisono.compare import matrix, results, summary, terminal
from unisono.compare.results import PATTERNS, Comparison, Failure, Point, Setting
from unisono.compare.runner import Listener, Runner
from unisono.compare.runner import Options as RunOptions
from unisono.compare.yardstick import yardstick_of
from unisono.core import amounts, completion, console, documents, options, places
from unisono.core.arguments import names, parse_collectives
from unisono.core.errors import FAILED, INTERRUPTED, UnisonoError
from unisono.core.places import Mpi
from unisono.testbeds import beds, library

MATRIX, REPORT = "Matrix", "Report"
PASSES = 3
Passes = Annotated[
    int, typer.Option(min=1, help="Over the whole matrix: the blocks of a cell are spread over the run.")
]
Pattern = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help=f"What ranks do before every call: {', '.join(PATTERNS)}, several of them, or all; "
        f"{PATTERNS[0]} otherwise, with --guidelines {rules.PATTERN}.",
        rich_help_panel=MATRIX,
    ),
]

Collectives = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help=f"Collectives, or all; {matrix.STANDARD_COLLECTIVES.replace(',', ', ')} otherwise.",
        rich_help_panel=MATRIX,
        autocompletion=completion.collectives,
    ),
]
Libraries = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help=f"{options.LIBRARIES}; mpich and openmpi otherwise, whichever are there.",
        rich_help_panel=MATRIX,
    ),
]
Guidelines = Annotated[
    bool,
    typer.Option(
        "--guidelines",
        rich_help_panel=REPORT,
        help="Only where a library breaks its own performance guidelines, and what Unisono makes of it.",
    ),
]


def compare(
    context: typer.Context,
    lab: Annotated[
        bool, typer.Option("--lab/--node", help="Where: the lab that is up, or this node.")
    ] = False,
    mpi: Libraries = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            "-n",
            metavar="N,N",
            help="Rank counts; otherwise one for each core or host.",
            rich_help_panel=MATRIX,
        ),
    ] = None,
    ppn: Annotated[
        int | None,
        typer.Option(min=1, help="Ranks on a host of the lab; otherwise few.", rich_help_panel=MATRIX),
    ] = None,
    collectives: Collectives = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="S,S",
            help=f"Bytes: 8,64K; 8:1M doubles, 8:1M:4 quadruples; {matrix.STANDARD_SIZES} otherwise.",
            rich_help_panel=MATRIX,
        ),
    ] = None,
    block_sizes: Annotated[
        str | None,
        typer.Option(
            metavar="S,S",
            help="Other sizes where the size is that of a block: gather, scatter, allgather, alltoall "
            f"and their forms. Without --sizes {matrix.STANDARD_BLOCK_SIZES}.",
            rich_help_panel=MATRIX,
        ),
    ] = None,
    arms: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="Beside native: default, algorithms such as chain:segment=32K, or all.",
            rich_help_panel=MATRIX,
            autocompletion=completion.algorithms,
        ),
    ] = "default",
    pattern: Pattern = None,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="For a cell, all arms and passes together: 1s, 2m.")
    ] = "1s",
    passes: Passes = PASSES,
    silence: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="A job without a new cell for so long is ended; 1m and 10 budgets otherwise.",
        ),
    ] = None,
    json: options.Json = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", rich_help_panel=REPORT, help="Write a page with plots.")
    ] = None,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", rich_help_panel=REPORT, help="Measure nothing: show this JSON."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=REPORT, help="Show what changed since this JSON."),
    ] = None,
    guidelines: Guidelines = False,
) -> None:
    """Native, Unisono and the limit side by side: [bold]unisono compare --collectives bcast[/bold]"""
    former = results.load(against) if against else None
    if from_file:
        refuse_measuring(context)
        comparison = results.load(from_file)
    else:
        for path in (json, html):
            options.demand_folder(path)
        pattern = pattern or (rules.PATTERN if guidelines else PATTERNS[0])
        standard = ",".join(rules.collectives()) if guidelines else matrix.STANDARD_COLLECTIVES
        chosen = parse_collectives(collectives or standard)
        bed: beds.Bed = beds.current_lab() if lab else beds.Node()
        libraries = libraries_of(bed, mpi)
        settings = settings_of(bed, libraries, ranks, ppn, pattern)
        own = matrix.arms_by_collective(matrix.parse_arms(arms), chosen)
        plan = plan_of(settings, own, sizes, block_sizes, guidelines=guidelines)
        if former:
            summary.refuse_mixture(former, matrix.parse_patterns(pattern))
        seconds = amounts.parse_time(budget)
        patience = amounts.parse_time(silence, "--silence") if silence else 60 + 10 * seconds
        comparison = measure(bed, libraries, plan, RunOptions(seconds, patience, passes), json)
    report(comparison, former, json, html, guidelines=guidelines)


def plan_of(
    settings: list[Setting],
    arms: dict[str, tuple[str, ...]],
    sizes: str | None,
    block_sizes: str | None,
    *,
    guidelines: bool,
) -> list[matrix.Job]:
    if guidelines and sizes:
        raise UnisonoError(
            "--sizes: not with --guidelines, give --block-sizes; vectors are as many blocks as ranks"
        )
    if guidelines:
        return rules.plan(
            settings, arms, amounts.parse_sizes(block_sizes or rules.BLOCK_SIZES, "--block-sizes")
        )
    return matrix.plan(
        settings,
        arms,
        amounts.parse_sizes(sizes or matrix.STANDARD_SIZES),
        amounts.parse_sizes(block_sizes or sizes or matrix.STANDARD_BLOCK_SIZES, "--block-sizes"),
    )


def refuse_measuring(context: typer.Context) -> None:
    """--from shows all that a file holds; an option that seems to choose from it would mislead."""
    showing = {"from_file", "against", "json", "html", "guidelines"}
    measuring = {parameter.name or "" for parameter in context.command.params} - showing
    options.refuse_given(context, measuring, "is for measuring: --from shows all that its file holds")


def libraries_of(bed: beds.Bed, asked: str | None) -> dict[str, Mpi]:
    """By their names; without being asked, of each binary interface one, if there is any."""
    chosen = names(asked) if asked is not None else places.standard_names()
    if not chosen and asked is None:
        places.find_mpi(None)  # says that there is none
    if not chosen:
        raise UnisonoError(f"--mpi: valid are {options.LIBRARIES}")
    found: dict[str, Mpi] = {}
    for name in dict.fromkeys(chosen):
        mpi = beds.find_mpi(bed, name)
        mpi.tool("unisono-bench")
        if found.setdefault(mpi.name, mpi) != mpi:
            raise UnisonoError(
                f"--mpi {asked}: {found[mpi.name].home} and {mpi.home} are both {mpi.name}: one at a time"
            )
    return found


def settings_of(
    bed: beds.Bed, libraries: Iterable[str], ranks: str | None, ppn: int | None, patterns: str = PATTERNS[0]
) -> list[Setting]:
    counts = [int(n) for n in names(ranks) if n.isdigit()] if ranks else [bed.fitting_ranks()]
    if not counts or min(counts) < 1 or (ranks and len(counts) != len(names(ranks))):
        raise UnisonoError(f"-n {ranks}: write numbers of ranks, as in 2,4")
    return [
        Setting(name, n, bed.per_host(n, ppn), pattern)
        for name in libraries
        for n in counts
        for pattern in matrix.parse_patterns(patterns)
    ]


class Display(Listener):
    """A progress bar, a line for each failure; what was measured is kept in the file all the time."""

    def __init__(self, progress: Progress, cells: int) -> None:
        self.progress = progress
        self.task = progress.add_task("", total=cells)
        self.settled = 0

    def job_begins(self, job: matrix.Job) -> None:
        self.progress.update(self.task, description=f"{job.setting.text()}: {job.collective}")

    def cell_done(self, point: Point) -> None:
        self.settled += 1
        self.progress.update(self.task, completed=self.settled)

    def failed(self, failure: Failure) -> None:
        self.cell_done(failure.point)
        self.progress.console.print(
            Text(f"{failure.point.text()}: {failure.reason}", style="red"), soft_wrap=True
        )


def measure(
    bed: beds.Bed, libraries: dict[str, Mpi], plan: list[matrix.Job], chosen: RunOptions, json: Path | None
) -> Comparison:
    # A kill asks for the same as Ctrl-C: end the job, keep what there is.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console.errors.print(Text(bed.title(), style="bold"), soft_wrap=True)
    first = {job.setting.mpi: job.setting for job in reversed(plan)}
    loaded = [
        library.say(bed, mpi, first[name].ranks, first[name].ranks_per_host)
        for name, mpi in libraries.items()
        if name in first
    ]
    with console.progress(TextColumn("left"), TimeRemainingColumn()) as progress:
        display = Display(progress, chosen.passes * sum(len(job.sizes) for job in plan))
        runner = Runner(bed, yardstick_of(bed), chosen, display, find=libraries.__getitem__)
        runner.result.libraries = loaded
        if json and str(json) != "-":
            runner.save_to = json
        return runner.run(plan)


def report(
    comparison: Comparison,
    former: Comparison | None,
    json: Path | None,
    html: Path | None,
    *,
    guidelines: bool,
) -> None:
    out = console.output(json)
    terminal.show_guidelines(comparison, out) if guidelines else terminal.show(comparison, out)
    changes = None if former is None else summary.changes(former, comparison)
    if changes is not None:
        terminal.show_changes(changes, out)
    if json:
        documents.write(results.document_of(comparison), json)
        out.print(f"wrote {json}", soft_wrap=True)
    if html:
        from unisono.compare import page  # noqa: PLC0415 - Matplotlib takes a second to load

        page.write(comparison, html, changes)
        out.print(f"wrote {html}", soft_wrap=True)
    if comparison.interrupted:
        raise typer.Exit(INTERRUPTED)
    if comparison.wrong or any(failure.is_error for failure in comparison.failures):
        raise typer.Exit(FAILED)
