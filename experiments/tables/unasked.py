"""The tables of docs/results/unasked.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from unisono.compare import results, summary
from unisono.compare.results import Comparison, Setting
from unisono.core.files import read_json
from unisono.lab import layout

from experiments import same_bits
from experiments.harness import ROOT
from experiments.markdown import table
from experiments.tables.words import LIBRARIES, size_text
from scripts import init_time, unasked
from scripts.unasked import Cell, Row

FOLDER = ROOT / "docs" / "results" / "unasked"
NEAR, LOSING = 1.15, 1 / 0.97
FEW = 2
NUMBERS = {2: "two", 3: "three", 4: "four"}


@cache
def rows_in(folder: str) -> dict[Cell, list[Row]]:
    read = map(unasked.read, sorted((FOLDER / folder).glob("*.json.zst")))
    return {cell: unasked.rows_of(cell, rounds) for cell, rounds in read}


def hosts_text(cell: Cell) -> str:
    hosts = cell.hosts
    if hosts.ranks_on_each == 1:
        return str(hosts.number)
    return f"{hosts.number} of {NUMBERS[hosts.ranks_on_each]}" + (" in turn" if hosts.in_turn else "")


def in_order(cells: Sequence[Cell]) -> list[Cell]:
    return sorted(
        cells,
        key=lambda cell: (cell.mpi, cell.hosts.ranks_on_each, cell.hosts.number, layout.rate_of(cell.rate)),
    )


def name(row: Row) -> str:
    return row.kind.capitalize()


def rate_text(rate: str) -> str:
    return rate.replace("mbit", " Mb/s").replace("gbit", " Gb/s")


def of_wire(row: Row) -> float:
    """All calls of the program, with Unisono, over what the wire needs."""
    return row.native.median * row.program.median / row.cell.limit(row.kind)


def speed(rows: Sequence[Row], of: Callable[[Row], float] = lambda row: row.program.median) -> str:
    return f"{1 / unasked.geometric(map(of, rows)):.2f}"


def native_again(row: Row) -> float:
    assert row.again is not None
    return row.again.median


def beds() -> list[str]:
    made = []
    found = rows_in("safe")
    for cell in in_order(list(found)):
        rows = found[cell]
        worst = max(rows, key=lambda row: row.program.median)
        _, rounds = unasked.read(unasked.file_of(cell, FOLDER / "safe"))
        natively = sum(row.native_limit.median <= NEAR for row in rows)
        ours = sum(of_wire(row) <= NEAR for row in rows)
        made.append(
            (
                LIBRARIES[cell.mpi],
                hosts_text(cell),
                rate_text(cell.rate),
                str(sum("failed" not in one for one in rounds)),
                speed(rows),
                speed(rows, native_again),
                str(sum(row.program.median > LOSING for row in rows)),
                f"{name(worst)} {1 / worst.program.median:.2f}",
                f"{natively}, {ours}",
            )
        )
    rows = [row for own in found.values() for row in own]
    losing = str(sum(row.program.median > LOSING for row in rows))
    all_rows = ("all", "", "", "", speed(rows), speed(rows, native_again), losing, "", "")
    head = ["library", "hosts", "rate", "rounds", "times as fast as natively", "native again"]
    head += ["of 9 below 0.97", "slowest", "of 9 near the wire: native, Unisono"]
    return table(head, [*made, all_rows], (0, 1, 2, 7))


def kinds() -> list[str]:
    rows = [row for own in rows_in("safe").values() for row in own]
    made = []
    for kind in dict.fromkeys(row.kind for row in rows):
        own = [row for row in rows if row.kind == kind]
        made.append(
            (
                kind.capitalize(),
                speed(own),
                f"{1 / max(row.program.median for row in own):.2f}",
                f"{1 / min(row.program.median for row in own):.2f}",
                speed(own, native_again),
            )
        )
    return table(["collective", "times as fast", "least", "most", "native again"], made, (0,))


def losses() -> list[str]:
    """Programs below 0.97 of native's speed by the median of their rounds, and what native once more took."""
    rows = [row for own in rows_in("safe").values() for row in own if row.program.median > LOSING]
    made = [
        (
            name(row),
            LIBRARIES[row.cell.mpi],
            hosts_text(row.cell),
            rate_text(row.cell.rate),
            speed([row]),
            f"{1 / row.program.high:.2f} to {1 / row.program.low:.2f}",
            speed([row], native_again),
        )
        for row in sorted(rows, key=lambda row: -row.program.median)
    ]
    head = ["collective", "library", "hosts", "rate", "times as fast", "least and most of the rounds"]
    return table([*head, "native again"], made, (0, 1, 2, 3, 5))


WHEN = {"barrier": "after a barrier", "sleep": "after sleep", "compute": "between computing"}


def node_file(file: str) -> Comparison:
    return results.load(FOLDER.parent / "node" / file)


def on_node(comparison: Comparison, mpi: str, ranks: int, pattern: str) -> list[str]:
    """The mean, and how many cells are below 0.95; those that surely are by name, where they are few."""
    places = Setting(mpi, ranks, ranks, pattern)
    own = replace(comparison, cells=[cell for cell in comparison.cells if cell.point.setting == places])
    (row,) = summary.rows(own)
    slow = summary.slow_cells(own)
    sure = [
        f"{cell.point.collective.capitalize()} of {size_text(cell.point.size)} {ratio.median:.2f}"
        for cell, _, ratio in slow
        if ratio.is_slower
    ]
    named = f": {', '.join(sure)}" if 0 < len(sure) <= FEW else ""
    return [f"{row.geometric_mean:.2f}", f"{len(slow)} ({len(sure)} surely{named})" if slow else "0"]


def on_two_cores() -> list[str]:
    comparison = node_file("unasked-2.json.zst")
    rows = [
        [WHEN[pattern], *(text for mpi in LIBRARIES for text in on_node(comparison, mpi, 2, pattern))]
        for pattern in comparison.patterns()
    ]
    head = ["2 ranks on two cores (family 6, model 167; [cells](node/unasked-2.json.zst))"]
    for library in LIBRARIES.values():
        head += [library, "below 0.95"]
    return table(head, rows, (0, 2, 4, 6))


def on_many_cores() -> list[str]:
    comparison = node_file("unasked-16-cores.json.zst")
    columns = [(mpi, pattern) for mpi in ("mpich", "openmpi") for pattern in comparison.patterns()]
    rows = [
        [f"{ranks} ranks", *(text for of in columns for text in on_node(comparison, of[0], ranks, of[1]))]
        for ranks in (2, 4, 8, 16)
    ]
    head = ["a core for each rank (16 cores, model 207; [cells](node/unasked-16-cores.json.zst))"]
    for mpi, pattern in columns:
        head += [f"{LIBRARIES[mpi]}, {WHEN[pattern]}", "below 0.95"]
    return table(head, rows, (0, 2, 4, 6, 8))


def same_bits_rows() -> list[str]:
    rows = read_json(FOLDER / "same-bits.json.zst")["rows"]
    return same_bits.table([same_bits.Row(**row) for row in rows])


def init(mpi: str) -> list[str]:
    return init_time.table(read_json(FOLDER / "init-16.json.zst")["milliseconds"][mpi])


TABLES: Mapping[str, Callable[[], list[str]]] = {
    "beds": beds,
    "kinds": kinds,
    "losses": losses,
    "bits": same_bits_rows,
    "node": on_two_cores,
    "node, many cores": on_many_cores,
    "init, openmpi": partial(init, "openmpi"),
    "init, mpich": partial(init, "mpich"),
}
