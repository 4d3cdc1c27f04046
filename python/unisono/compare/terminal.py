"""A comparison as tables in the terminal: what is bad first."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unisono.compare import guidelines, summary
from unisono.compare.results import Arm, Cell, Comparison, Setting
from unisono.compare.words import library, title, warnings
from unisono.core import console as console_module
from unisono.core.errors import UnisonoError
from unisono.core.estimates import Estimate
from unisono.core.words import interval, microseconds, number, percent

LEFT = {"where", "collective", "size of", "arm", "change", "verdict", "removed"}
REMOVED = {
    guidelines.Verdict.KEPT: "surely",
    guidelines.Verdict.BROKEN: "no",
    guidelines.Verdict.UNDECIDED: "undecided",
}
NOT_ALIKE = (
    "only with --pattern compute or sleep are all collectives timed alike: of short messages in other "
    "patterns believe only what compares a collective with its like"
)
GUIDELINES_LEGEND = (
    "factor: time of the left side / sum of the times of the right side; 95 %: its worst case.\n"
    "with ...: the left side's time by that arm / native's right side. Sizes: of a block in gather,\n"
    "scatter, allgather and alltoall and their forms, else of the vector."
)


def table(*columns: str) -> Table:
    made = console_module.table(*columns)
    for column in made.columns:
        name = str(column.header)
        column.justify = "left" if name in LEFT or name.startswith("broken") else "right"
    return made


def show_head(comparison: Comparison, console: Console) -> None:
    console.print(Text(title(comparison), style="bold"), soft_wrap=True)
    for one in comparison.libraries:
        console.print(Text(one.text()), soft_wrap=True)
    for warning in warnings(comparison):
        console.print(Text(warning, style="yellow"), soft_wrap=True)
    show_unfinished(comparison, console)


def show(comparison: Comparison, console: Console) -> None:
    show_head(comparison, console)
    show_slow(comparison, console)
    show_patterns(comparison, console)
    show_summary(comparison, console)
    for setting in comparison.settings():
        show_setting(comparison, setting, console)
    if comparison.cells:
        console.print(Text(legend(comparison), style="dim"))


def show_unfinished(comparison: Comparison, console: Console) -> None:
    measured = len(comparison.cells)
    if comparison.interrupted:
        text = f"interrupted: {measured} of {comparison.planned} cells were measured"
        console.print(Text(text, style="bold yellow"))
    for cell, arm in comparison.wrong:
        text = f"WRONG RESULT: {cell.point.text()}, {arm.name}"
        console.print(Text(text, style="bold red"), soft_wrap=True)
    for failure in comparison.failures:
        style = "bold red" if failure.is_error else "yellow"
        console.print(Text(f"{failure.point.text()}: {failure.reason}", style=style), soft_wrap=True)


def show_slow(comparison: Comparison, console: Console) -> None:
    slow = summary.slow_cells(comparison)
    of = sum(len(found) for found in summary.ratios(comparison.cells).values())
    if not of:
        return
    if not slow:
        console.print(Text(f"none of {of} is slower than 0.95 of native's speed\n", style="green"))
        return
    text = f"slower than 0.95 of native's speed: {len(slow)} of {of}, {summary.surely(slow)}"
    console.print(Text(text, style="bold red"))
    columns = ("where", "collective", "size of", "arm", "native us", "us", "ratio", "95 %")
    made = table(*columns, "of means", "95 %", "verdict")
    for cell, arm, _ in slow:
        native = cell.arm("native")
        made.add_row(
            cell.point.setting.text(),
            cell.point.collective,
            cell.point.size_text,
            arm.name,
            microseconds(native.time_us if native else None),
            time_text(arm),
            ratio_text(arm.ratio_to_native),
            interval(arm.ratio_to_native),
            ratio_text(arm.mean_ratio),
            interval(arm.mean_ratio),
            arm.verdict,
        )
    console.print(made)


def show_patterns(comparison: Comparison, console: Console) -> None:
    """Of several patterns, what is lost in any: a default must hold in all of them."""
    patterns = comparison.patterns()
    calls = summary.by_call(comparison)
    if len(patterns) < 2 or not calls:
        return
    slower = summary.slower_in_any(calls)
    where = f"in at least one of {len(patterns)} patterns"
    text = f"surely slower than native {where}: {len(slower)} of {len(calls)}"
    console.print(Text(text, style="bold red" if slower else "green"))
    if not slower:
        return
    made = table("where", "collective", "size of", "arm", *patterns)
    for call in slower:
        texts = (ratio_text(call.ratios.get(pattern)) for pattern in patterns)
        made.add_row(call.point.setting.text(), call.point.collective, call.point.size_text, call.arm, *texts)
    console.print(made)


def show_guidelines(comparison: Comparison, console: Console) -> None:
    show_head(comparison, console)
    reports = guidelines.reports(comparison)
    if not any(report.checked for report in reports):
        raise UnisonoError("--guidelines: no two of these cells can be compared; measure with --guidelines")
    if not set(comparison.patterns()) <= {"compute", "sleep"}:
        console.print(Text(NOT_ALIKE, style="yellow"), soft_wrap=True)
    for report in reports:
        for line in guideline_counts(report):
            console.print(Text(line, style="bold"), soft_wrap=True)
        show_findings(report, console)
    console.print(Text(GUIDELINES_LEGEND, style="dim"))


def guideline_counts(report: guidelines.Report) -> list[str]:
    removed, remaining = len(report.removed), len(report.remaining)
    own = sum(found.is_sure for found in report.own)
    return [
        f"{report.setting.text()}: of {report.checked} guidelines native surely breaks {report.sure}, "
        f"undecided {len(report.native) - report.sure}",
        f"{report.arm} surely removes {removed} of {report.sure}, surely leaves {remaining}, undecided "
        f"{report.sure - removed - remaining}; by its own times it surely breaks {own}, undecided "
        f"{len(report.own) - own}",
    ]


def show_findings(report: guidelines.Report, console: Console) -> None:
    if report.native:
        made = table("broken by native", "factor", "95 %", "verdict", f"with {report.arm}", "95 %", "removed")
        for found in report.native:
            helped = found.helped
            verdict = guidelines.verdict(helped) if helped else None
            made.add_row(
                *finding_texts(found),
                ratio_text(helped),
                interval(helped),
                REMOVED[verdict] if verdict else "",
            )
        console.print(made)
    if report.own:
        made = table(f"broken by {report.arm}", "factor", "95 %", "verdict")
        for found in report.own:
            made.add_row(*finding_texts(found))
        console.print(made)


def finding_texts(found: guidelines.Finding) -> list[Text | str]:
    verdict = str(guidelines.verdict(found.factor))
    return [found.statement.text(), ratio_text(found.factor), interval(found.factor), verdict]


def show_summary(comparison: Comparison, console: Console) -> None:
    rows = summary.rows(comparison)
    if not rows:
        return
    show_rows(rows, "surely faster", console)
    against = summary.against_fastest(comparison)
    if against:
        console.print(Text("over the fastest library's own in each cell", style="bold"))
        show_rows(against, "faster", console)


def show_rows(rows: Sequence[summary.Row], faster: str, console: Console) -> None:
    made = table(
        *("where", "arm", "cells", "geometric mean", "of means"),
        *(faster, faster.replace("faster", "slower"), "undecided", "slow"),
    )
    for row in rows:
        counts = (row.faster, row.slower, row.undecided, row.slow)
        means = number(row.geometric_mean), number(row.means)
        made.add_row(row.where, row.arm, str(row.cells), *means, *map(str, counts))
    console.print(made)


def show_setting(comparison: Comparison, setting: Setting, console: Console) -> None:
    console.print(Text(f"{setting.text()}: {library(comparison, setting.mpi)}", style="bold"))
    made = table(
        *("collective", "size of", "native us", "spread", "x limit"),
        *("arm", "us", "spread", "x limit", "ratio", "95 %"),
    )
    for cell in comparison.cells:
        if cell.point.setting == setting:
            for row in rows_of(cell):
                made.add_row(*row)
    console.print(made)


def rows_of(cell: Cell) -> list[Sequence[Text | str]]:
    """A row per arm; what they share stands in the first one."""
    native = cell.arm("native")
    head: Sequence[Text | str] = [cell.point.collective, cell.point.size_text, *times(cell, native)]
    found: list[Sequence[Text | str]] = []
    for arm in cell.arms:
        if arm.name == "native":
            continue
        row = [*head, arm.name, *times(cell, arm)]
        found.append([*row, ratio_text(arm.ratio_to_native), interval(arm.ratio_to_native)])
        head = [""] * 5
    return found


def times(cell: Cell, arm: Arm | None) -> list[Text | str]:
    if arm is None or not arm.available:
        return ["n/a", "", ""]
    if not arm.correct:
        return [Text("WRONG", style="bold red"), "", ""]
    return [time_text(arm), percent(arm.spread), number(cell.times_limit(arm))]


def time_text(arm: Arm) -> str:
    return microseconds(arm.time_us) + ("*" if arm.handed_on else "")


def ratio_text(ratio: Estimate | None) -> Text | str:
    """Green when surely faster, red when surely slower."""
    if ratio is None:
        return ""
    style = "green" if ratio.is_faster else "red" if ratio.is_slower else "dim"
    return Text(number(ratio.median), style=style)


def legend(comparison: Comparison) -> str:
    wire = comparison.bed.get("limit", {}).get("kind") == "wire"
    limit = "bytes in a port / line rate" if wire else "bytes read and written / copy bandwidth"
    return (
        "us: median. of means: the ratio of the means, which a program pays; a verdict needs both. "
        "spread: middle half of the times. ratio: time / native's time, below 1 is faster;\n"
        f"95 %: its interval (?: too few repetitions for that). x limit: time over the limit ({limit}).\n"
        "block: what goes from one rank to one other; vector: a rank's whole.   *: handed to the MPI library"
    )


def show_changes(changes: Sequence[summary.Change], console: Console) -> None:
    sure = [change for change in changes if change.is_sure]
    console.print(
        Text(f"{len(changes)} cells in both, {len(sure)} surely changed (ratios to native)", style="bold")
    )
    if not sure:
        return
    made = table(
        "change", "where", "collective", "size of", "arm", "before", "95 %", "after", "95 %", "factor"
    )
    for change in sure:
        worse = change.factor > 1
        made.add_row(
            Text("worse", style="red") if worse else Text("better", style="green"),
            change.point.setting.text(),
            change.point.collective,
            change.point.size_text,
            change.arm,
            number(change.before.median),
            interval(change.before),
            number(change.after.median),
            interval(change.after),
            number(change.factor),
        )
    console.print(made)
