"""What was found, in 80 columns."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unisono.core.catalogue import NATIVE, format_size
from unisono.core.console import table
from unisono.trace.verdict import time_text
from unisono.whatif.replay import Cell
from unisono.whatif.scaling import RULES
from unisono.whatif.study import Arm, CellStudy, Study, totals

IMITATED = {"ompi": "Open MPI", "mpich": "MPICH", "mvapich2": "MVAPICH2", "impi": "Intel MPI"}
SHOWN = 0.01  # of the time in collectives: what takes less has no arms of its own on the screen
TOTALS = {
    NATIVE: "native",
    "best": "best of each",
    "by_itself": "Unisono by itself",
}


def call_text(cell: Cell, ranks: int) -> str:
    size = f" {format_size(cell.bytes)}" if cell.bytes else ""
    return f"{cell.collective}{size}, {cell.shape.text(ranks)}"


def imitation(selector: str) -> str:
    return f"the simulator's imitation of {IMITATED[selector]}"


def show(found: Study, console: Console) -> None:
    head(found, console)
    sites(found, console)
    total = sum(cell.total for cell in found.cells.values())
    for cell in sorted(found.cells.values(), key=lambda cell: -cell.total):
        if cell.arms and cell.total >= SHOWN * total:
            arms(found, cell, console)
    programs(found, console)
    for note in found.notes:
        console.print(Text(note, style="yellow"), soft_wrap=False)


def head(found: Study, console: Console) -> None:
    calls, target = found.program.calls, found.program.target
    console.print(
        Text(
            f"{calls.ranks} ranks in the trace, here {target.ranks} on {target.hosts} hosts, "
            f"{found.program.platform.spec}",
            style="bold",
        )
    )
    console.print(f"Scaling {target.scaling}: {RULES[target.scaling]}.")
    console.print(
        f"{len(found.program.kept)} of {len(calls.kind_of)} calls were replayed, at most "
        f"{found.program.sample} of each kind; the others count as these. Native is "
        f"{imitation(found.program.selector)}."
    )
    if calls.alone:
        console.print(f"{calls.alone} calls of single ranks are left out.")
    if calls.empty:
        console.print(f"{calls.empty} calls without data are left out.")


def drawn(*columns: str, words: int) -> Table:
    """Numbers stay in one piece where words must fold."""
    made = table(*columns, left=words)
    for column in made.columns[words:]:
        column.no_wrap = True
    return made


def sites(found: Study, console: Console) -> None:
    """Each place in the program, by the time it takes natively."""
    made = drawn("call site", "call", "calls", "native", "chosen", "gain", words=2)
    program = found.program
    rows = sorted(
        zip(program.calls.kinds, program.cells, found.native.in_call, strict=True),
        key=lambda row: -row[0].calls * row[2],
    )
    for kind, cell, seconds in rows:
        own = found.cells[cell]
        made.add_row(
            kind.place,
            call_text(cell, program.target.ranks),
            str(kind.calls),
            time_text(kind.calls * seconds),
            time_text(kind.calls * seconds * share(own)),
            gain(own),
        )
    console.print(made)


def share(cell: CellStudy) -> float:
    """Of native's time, with what was chosen."""
    best = cell.best()
    if cell.chosen == NATIVE or best is None or best.replayed is None:
        return 1.0
    return best.replayed / cell.native


def gain(cell: CellStudy) -> str:
    return "" if cell.chosen == NATIVE else f"{100 * (1 - share(cell)):.0f} %"


def arms(found: Study, cell: CellStudy, console: Console) -> None:
    """Side by side: native, and what was replayed or timed alone."""
    console.print(Text(call_text(cell.cell, found.program.target.ranks), style="bold"))
    made = drawn("algorithm", "alone", "in the program", "ratio", words=1)
    replayed = [arm for arm in cell.arms if arm.replayed is not None]
    others = [arm for arm in cell.arms if arm.replayed is None and arm.screened is not None]
    made.add_row(NATIVE, "", time_text(cell.native), "1.00")
    for arm in sorted(replayed, key=lambda arm: arm.replayed or 0.0):
        style = "green" if arm.spec == cell.chosen else ""
        made.add_row(Text(arm.spec, style=style), *times(arm, cell.native))
    for arm in others[:3]:
        made.add_row(Text(arm.spec, style="dim"), *times(arm, cell.native))
    console.print(made)
    rest = len(others) - 3
    told = [f"{rest} more are slower alone"] if rest > 0 else []
    told += [f"{cell.left_out} were left out by the budget"] if cell.left_out else []
    told += [f"Unisono by itself ran {cell.by_itself}"] if cell.by_itself else []
    if told:
        console.print(Text("; ".join(told) + ".", style="dim"))


def times(arm: Arm, native: float) -> tuple[str, str, str]:
    replayed = "" if arm.replayed is None else time_text(arm.replayed)
    ratio = "" if arm.replayed is None else f"{arm.replayed / native:.2f}"
    return time_text(arm.screened), replayed, ratio


def programs(found: Study, console: Console) -> None:
    """The whole program: computing, and all calls."""
    made = drawn("the program", "all", "in collectives", "gain", words=1)
    told, kinds = totals(found), found.program.calls.kinds
    runs = {NATIVE: found.native, "best": found.best, "by_itself": found.by_itself}
    for name, seconds in told.items():
        run = runs[name]
        assert run is not None
        saved = 1 - seconds / told[NATIVE] if told[NATIVE] else 0.0
        made.add_row(
            TOTALS[name],
            time_text(seconds),
            time_text(run.collectives(kinds)),
            "" if name == NATIVE else f"{100 * saved:.1f} %",
        )
    console.print(made)
