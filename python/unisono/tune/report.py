"""A tuning in the terminal."""

import statistics

import msgspec
from rich.console import Console
from rich.text import Text

from unisono.core import documents
from unisono.core.catalogue import NATIVE, format_size
from unisono.core.console import table
from unisono.core.words import choice_text, interval, number
from unisono.profile.document import Cell, Environment, Measured
from unisono.testbeds.bench import Failed, Point, Row
from unisono.testbeds.library import Loaded
from unisono.tune.prediction import correlations
from unisono.tune.tuner import Outcome

REST = ("us", "ratio", "95 %", "arms", "blocks")


class FailedRow(msgspec.Struct):
    """A candidate that was left out of a cell."""

    collective: str
    bytes: int
    spec: str
    problem: str


class Document(documents.Document, tag="unisono.tuning", kw_only=True):
    """What a tuning found; the profile that it wrote says the same of what was decided. Times in seconds."""

    planned: int
    measured: int
    interrupted: bool
    environments: list[Environment]
    undecided: list[Point]
    missing: list[Point]
    unreached: list[Point]
    needed_seconds: float
    library: Loaded
    failed: list[FailedRow]
    problems: list[str]


def document_of(outcome: Outcome, loaded: Loaded) -> Document:
    return Document(
        planned=outcome.planned,
        measured=outcome.measured,
        interrupted=outcome.interrupted,
        environments=list(outcome.profile.environments),
        undecided=outcome.undecided,
        missing=outcome.missing,
        unreached=outcome.unreached,
        needed_seconds=outcome.needed_s,
        library=loaded,
        failed=[FailedRow(p.collective, p.bytes, one.spec, one.problem) for p, one in outcome.failed],
        problems=[f"{row.point.text()}: {row.problem}" for row in outcome.problems if not row.failed],
    )


def show(outcome: Outcome, seconds: float, console: Console) -> None:
    for environment in outcome.profile.environments:
        console.print(Text(environment.key.text(), style="bold"), soft_wrap=True)
        made = table("collective", "choice", "size", "native us", *REST, left=2)
        for cell, measured in environment.points():
            made.add_row(*row_of(cell, measured))
        console.print(made)
        show_correlations(environment, console)
    for point, spec, modes in outcome.modes:
        text = f"{point.text()}: two modes of {spec}: {modes.text()}"
        console.print(Text(text, style="yellow"), soft_wrap=True)
    for point, failed in outcome.failed:
        console.print(Text(failure(point, failed), style="red"), soft_wrap=True)
    for row in outcome.problems:
        if row.failed:
            continue
        console.print(Text(f"{row.point.text()}: {row.problem}", style="red"), soft_wrap=True)
    for points, text, style in (
        (outcome.undecided, "undecided, so left to each job's own calls", "yellow"),
        (outcome.missing, "not in the profile", "bold red"),
    ):
        if points:
            names = ", ".join(point.text() for point in points)
            console.print(Text(f"{text}: {names}", style=style), soft_wrap=True)
    if outcome.unreached and not outcome.interrupted:
        text = f"the budget was over before {len(outcome.unreached)} of them: {outcome.planned} cells take "
        text += f"{outcome.needed_s:.0f} s at least, and more are better: give a larger --budget"
        console.print(Text(text, style="bold red"), soft_wrap=True)
    state = "interrupted: " if outcome.interrupted else ""
    console.print(f"{state}{outcome.measured} of {outcome.planned} cells measured in {seconds:.0f} s")


def failure(point: Point, failed: Failed) -> str:
    what = "native failed" if failed.spec == NATIVE else f"left out {failed.spec}"
    return f"{point.text()}: {what}: {failed.problem}"


def failures(row: Row) -> list[str]:
    """A line each."""
    problem = [f"{row.point.text()}: {row.problem}"] if row.problem else []
    return [failure(row.point, failed) for failed in row.failed] or problem


def row_of(cell: Cell, measured: Measured) -> list[Text | str]:
    arm, native = measured.arm(cell.choice), measured.arm(NATIVE)
    ratio = arm.ratio_to_native if arm else None
    return [
        cell.collective,
        choice_text(cell.choice),
        format_size(measured.bytes),
        number(1e6 * native.median_s) if native else "",
        number(1e6 * arm.median_s) if arm else "",
        number(ratio.median) if ratio else "",
        interval(ratio),
        str(len(measured.arms)),
        str(arm.blocks) if arm else "",
    ]


def show_correlations(environment: Environment, console: Console) -> None:
    found = correlations(environment)
    if not found:
        return
    made = table("collective", "rank correlation predicted/measured: median", "least", "sizes", left=1)
    for collective, values in found.items():
        made.add_row(collective, f"{statistics.median(values):.2f}", f"{min(values):.2f}", str(len(values)))
    console.print(made)
