"""The tables of docs/results/node.md, from what `unisono compare --node --json` wrote.

  .venv/bin/python -m experiments.node.tables docs/results/node/node-{2,more}.json.zst

Of a cell that stands in several files the last one counts. `*`: Unisono handed the call to the MPI library;
bold: the fastest library of its own.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from unisono.compare import results, summary
from unisono.compare.results import PATTERNS, Arm, Cell, Comparison
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError

from experiments import markdown
from experiments.tables.words import LIBRARIES

NATIVE, DEFAULT = "native", "default"


def joined(comparisons: Sequence[Comparison]) -> Comparison:
    for comparison in comparisons:
        if comparison.patterns() != comparisons[0].patterns():
            raise UnisonoError("these files were measured with different patterns: no table of both")
    cells = {cell.point: cell for comparison in comparisons for cell in comparison.cells}
    return replace(comparisons[-1], cells=list(cells.values()))


def rank_counts(comparison: Comparison) -> list[int]:
    return sorted({cell.point.setting.ranks for cell in comparison.cells})


def of_ranks(comparison: Comparison, ranks: int) -> Comparison:
    cells = [cell for cell in comparison.cells if cell.point.setting.ranks == ranks]
    return replace(comparison, cells=cells)


def measured(cell: Cell | None, name: str) -> Arm | None:
    arm = cell.arm(name) if cell else None
    return arm if arm and arm.time_us and arm.correct else None


def three_digits(value: float) -> str:
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def overview(comparison: Comparison) -> list[str]:
    """Of every number of ranks and library: the geometric mean, and how many cells are slower."""
    rows = []
    pattern = "".join(f", {name}" for name in comparison.patterns() if name != PATTERNS[0])
    for ranks in rank_counts(comparison):
        own = {row.where: row for row in summary.rows(of_ranks(comparison, ranks)) if row.arm == DEFAULT}
        over = {
            row.where: row
            for row in summary.against_fastest(of_ranks(comparison, ranks))
            if row.arm == DEFAULT
        }
        cells = []
        for library in LIBRARIES:
            where = f"{library}, {ranks} ranks{pattern}"
            cells.append(goal_text(own[where]) if where in own else "not measured")
            cells.append(f"{over[where].geometric_mean:.2f}" if where in over else "")
        rows.append((str(ranks), *cells))
    head = ["ranks"]
    for title in LIBRARIES.values():
        head += [title, "over the fastest"]
    return markdown.table(head, rows, (1, 3, 5))


def goal_text(row: summary.Row) -> str:
    return (
        f"{three_digits(row.geometric_mean)} ({three_digits(1 / row.geometric_mean)} times faster), "
        f"{row.slow} of {row.cells} slower"
    )


def slower(comparison: Comparison) -> list[str]:
    """The cells slower than 0.95 of native's speed, a line for each setting that has some."""
    lines = []
    for setting in comparison.settings():
        own = [cell for cell in comparison.cells if cell.point.setting == setting]
        texts = [
            f"{cell.point.collective} {cell.point.size_text} {ratio.median:.2f}"
            + ("" if arm.ran_by == "unisono" else " (handed on)")
            for cell, arm, ratio in summary.slow_cells(replace(comparison, cells=own))
            if arm.name == DEFAULT
        ]
        if texts:
            lines.append(f"- {setting.text()}: {', '.join(texts)}")
    return [*(lines or ["- none"]), ""]


def times(comparison: Comparison, ranks: int) -> list[str]:
    """A row for each collective and size: microseconds of each library, of Unisono under it, and times the
    limit."""
    cells = {
        (cell.point.setting.mpi, cell.point.collective, cell.point.size): cell
        for cell in of_ranks(comparison, ranks).cells
    }
    libraries = [library for library in LIBRARIES if any(key[0] == library for key in cells)]
    rows = []
    for collective, size in sorted({key[1:] for key in cells}):
        found = [cells.get((library, collective, size)) for library in libraries]
        rows.append((collective, format_size(size) if size else "-", *texts(found)))
    titles = [LIBRARIES[library] for library in libraries]
    head = (
        "collective",
        "bytes",
        *titles,
        *(f"Unisono, {t}" for t in titles),
        *(f"x limit, {t}" for t in titles),
    )
    return [f"### {ranks} ranks", "", *markdown.table(head, rows, (0, 1))]


def texts(cells: Sequence[Cell | None]) -> list[str]:
    native = [measured(cell, NATIVE) for cell in cells]
    fastest = min((arm.time_us.median for arm in native if arm and arm.time_us), default=None)
    made = []
    for arm in native:
        text = three_digits(arm.time_us.median) if arm and arm.time_us else ""
        made.append(f"**{text}**" if arm and arm.time_us and arm.time_us.median == fastest else text)
    own = [measured(cell, DEFAULT) for cell in cells]
    for arm in own:
        made.append(three_digits(arm.time_us.median) + "*" * arm.handed_on if arm and arm.time_us else "")
    for cell, arm in zip(cells, own, strict=True):
        over = cell.times_limit(arm) if cell and arm else None
        made.append(f"{over:.1f}" if over and over < 100 else "")  # of short messages it says nothing
    return made


FORMS = {"leaders": "grid:shape=4x4,rows=shm", "lanes": "grid:shape=4x4,form=lanes,rows=shm"}


def several_nodes(comparison: Comparison) -> list[str]:
    """Four ranks on each of four hosts: milliseconds, times the limit of the wire, time / native."""
    rows = []
    for cell in comparison.cells:
        point = cell.point
        row = [point.setting.mpi, point.collective, format_size(point.size)]
        for name in (NATIVE, *FORMS.values()):
            arm = measured(cell, name)
            over = cell.times_limit(arm) if arm else None
            row.append(f"{arm.time_us.median / 1000:.2f}" if arm and arm.time_us else "")
            row.append(f"{over:.1f}" if over else "")
            if name != NATIVE:
                row.append(f"{arm.ratio_to_native.median:.2f}" if arm and arm.ratio_to_native else "")
        rows.append(row)
    head = ["library", "collective", "bytes", "native: ms", "x wire"]
    for form in FORMS:
        head += [f"{form}: ms", "x wire", "ratio"]
    return markdown.table(head, rows, (0, 1, 2))


def page(comparison: Comparison, *, brief: bool) -> str:
    if comparison.bed.get("kind") == "lab":
        return "\n".join(several_nodes(comparison))
    lines = ["Time / native, geometric mean:", "", *overview(comparison)]
    lines += ["Slower than 0.95 of native's speed:", "", *slower(comparison)]
    for ranks in [] if brief else rank_counts(comparison):
        lines += times(comparison, ranks)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--brief", action="store_true", help="without the times")
    given = parser.parse_args(arguments)
    print(page(joined([results.load(file) for file in given.files]), brief=given.brief))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
