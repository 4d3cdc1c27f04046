"""The command `unisono profile verify`: a profile measured anew."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from unisono.core import documents, options
from unisono.core.amounts import parse_time
from unisono.core.catalogue import format_size
from unisono.core.console import errors, output, table
from unisono.core.errors import FAILED, INTERRUPTED
from unisono.core.words import choice_text, interval, number
from unisono.profile import check
from unisono.profile.cli import app
from unisono.testbeds import beds, where
from unisono.testbeds import library as library_module
from unisono.testbeds.bench import Bench
from unisono.tune.verify import JOBS, Answer, Verdict, Verification, all_good, document_of, summary


@app.command()
def verify(
    profile: Annotated[Path, typer.Argument(metavar="PROFILE", help="Of unisono tune.")],
    mpi: where.Library = options.Library.AUTO,
    lab: Annotated[bool, typer.Option("--lab/--node", help="Where it was tuned.")] = False,
    launch: Annotated[str | None, typer.Option(metavar="COMMAND", help="As for unisono tune.")] = None,
    ranks: Annotated[int | None, typer.Option("-n", min=2, help="Of the cells that are measured.")] = None,
    ppn: where.RanksPerHost = None,
    budget: options.Budget = "20m",
    jobs: Annotated[int, typer.Option(min=1, help="Of each cell, spread over the run.")] = JOBS,
    json: options.Json = None,
) -> None:
    """Measure every cell anew, and sizes between; say whether the choices are right."""
    loaded = check.load(profile)
    options.demand_folder(json)
    bed: beds.Bed = beds.Launcher(launch) if launch else beds.current_lab() if lab else beds.Node()
    ranks = ranks or bed.fitting_ranks()
    environment = check.environment_of(loaded, profile, mpi.chosen, ranks)
    library = beds.find_mpi(bed, mpi.chosen or environment.key.flavour)
    library_module.say(bed, library, ranks, bed.per_host(ranks, ppn))
    deadline = time.monotonic() + parse_time(budget)
    out = output(json)
    with errors.status("") as status:
        verification = Verification(
            environment,
            Bench(bed, library, ranks, ppn),
            lambda: deadline - time.monotonic(),
            jobs,
            lambda number, look: status.update(f"job {number + 1}: {look.point.text()}"),
        )
        try:
            verification.run()
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
    verdicts = verification.verdicts()
    if interrupted:
        out.print("interrupted")
    show_verdicts(verdicts, out)
    if json:
        documents.write(document_of(environment, verdicts), json)
        out.print(f"wrote {json}", soft_wrap=True)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if not all_good(verdicts):
        raise typer.Exit(FAILED)


def show_verdicts(verdicts: Sequence[Verdict], console: Console) -> None:
    columns = ("collective", "choice", "size", "to native", "95 %", "best", "to best", "95 %", "jobs")
    made = table(*columns, "within 0.97", left=2)
    made.columns[5].justify = made.columns[-1].justify = "left"
    for verdict in verdicts:
        look = verdict.look
        size = format_size(look.point.bytes) + ("" if look.tuned else " (between)")
        head: list[Text | str] = [look.point.collective, choice_text(look.choice), size]
        if verdict.problem:
            made.add_row(*head, "", "", "", "", "", "", Text(verdict.problem, style="red"))
            continue
        to_native, to_best = verdict.to_native, verdict.ratio_to(verdict.best)
        made.add_row(
            *head,
            number(to_native.median) if to_native else "",
            interval(to_native),
            verdict.best,
            number(to_best.median) if to_best else "",
            interval(to_best),
            str(len(verdict.rows)),
            remark(verdict),
        )
    console.print(made)
    for verdict in verdicts:
        show_particulars(verdict, console)
    told = summary(verdicts)
    failed = f"; {told['failed']} without a result" if told["failed"] else ""
    console.print(f"{told['cells']} cells{failed}", soft_wrap=True)
    for what in ("native", "best"):
        counts = ", ".join(f"{answer} {count}" for answer, count in told[f"within_0.97_of_{what}"].items())
        console.print(f"the choice is within 0.97 of {what}'s speed: {counts}", soft_wrap=True)


def remark(verdict: Verdict) -> Text:
    text = Text("")
    for answer, what in ((verdict.within_native, "native"), (verdict.within_best, "the best")):
        if answer is Answer.NO:
            text += Text(f"no: SLOWER than {what} ", style="bold red")
        elif answer is Answer.UNDECIDED:
            text += Text(f"undecided: {what} ", style="yellow")
    return text or Text("yes")


def show_particulars(verdict: Verdict, console: Console) -> None:
    where = verdict.look.point.text()
    for spec, modes in verdict.modes.items():
        console.print(Text(f"{where}: two modes of {spec}: {modes.text()}", style="yellow"), soft_wrap=True)
    if verdict.look.left_out:
        names = ", ".join(verdict.look.left_out)
        console.print(Text(f"{where}: not measured again: {names}", style="dim"), soft_wrap=True)
    if verdict.look.no_time:
        names = ", ".join(verdict.look.no_time)
        console.print(Text(f"{where}: no time for {names}", style="yellow"), soft_wrap=True)
