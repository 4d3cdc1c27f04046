"""The tables of docs/results/unasked.md and of unasked/tables.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from unisono.compare import results, summary
from unisono.compare.results import Comparison, Setting
from unisono.core.files import read_json

from experiments.harness import ROOT
from experiments.markdown import met, table
from experiments.programs import times as program_times
from experiments.tables.words import LIBRARIES, size_text
from scripts import choices_at_scale, init_time, unasked
from scripts.unasked import Cell, Row, geometric

FOLDER = ROOT / "docs" / "results" / "unasked"
NEAR, SLOWER, LOSING = 1.15, 1 / 0.95, 1 / 0.97
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
        cells, key=lambda cell: (cell.mpi, cell.hosts.ranks_on_each, cell.hosts.number, cell.length)
    )


def near(row: Row) -> bool:
    return row.limit.median <= NEAR


def natively_near(row: Row) -> bool:
    return row.native_limit.median <= NEAR


def mean_of_programs(rows: Sequence[Row]) -> str:
    return f"{geometric(row.program.median for row in rows):.2f}"


def name(row: Row) -> str:
    return row.kind.capitalize()


def where(row: Row) -> str:
    return f"{name(row)}, {LIBRARIES[row.cell.mpi]}, {hosts_text(row.cell)}:"


def slower_rows(rows: Sequence[Row]) -> list[Row]:
    found = [row for row in rows if row.from_eighth.median > SLOWER]
    return sorted(found, key=lambda row: -row.from_eighth.median)


def by_hosts() -> list[str]:
    made = []
    found = rows_in("cells")
    for cell in in_order(list(found)):
        rows = found[cell]
        worst = max(rows, key=lambda row: row.program.median)
        second = [row.second.median for row in rows if row.second]
        limits = [row.second_limit.median for row in rows if row.second_limit]
        counts = (sum(map(natively_near, rows)), sum(map(near, rows)), sum(one <= NEAR for one in limits))
        made.append(
            (
                LIBRARIES[cell.mpi],
                hosts_text(cell) + (" ranks" if cell.hosts.ranks_on_each == 2 else ""),
                *map(str, counts),
                mean_of_programs(rows),
                f"{geometric(second):.2f}",
                f"{name(worst)} {worst.program.median:.2f}",
            )
        )
    head = ["library", "hosts", "of 9 kinds at 1.15 of the limit or below: native", "Unisono", "second run"]
    return table([*head, "program, geometric mean", "second run", "slowest program"], made, (0, 1, 7))


def far_text(rows: Sequence[Row]) -> str:
    far = [row for row in rows if row.native_limit.median > 2]
    return f"{mean_of_programs(far)} ({len(far)} cells)"


GOAL = 0.9  # of the cells
LONG_AT_400 = "400mbit"
Claim = tuple[str, str, str]  # the goal, what was measured, whether it is met


def all_in(folder: str, wanted: Callable[[Cell], bool] = lambda cell: True) -> list[Row]:
    return [row for cell, own in rows_in(folder).items() if wanted(cell) for row in own]


def near_text(rows: Sequence[Row]) -> str:
    number = sum(map(near, rows))
    return f"{number} of {len(rows)}, {100 * number / len(rows):.0f} %"


def worst_of(rows: Sequence[Row]) -> str:
    worst = max(rows, key=lambda row: row.program.median)
    hosts = hosts_text(worst.cell)
    place = f"{hosts} hosts" if hosts.isdigit() else hosts
    return f"{name(worst)}, {LIBRARIES[worst.cell.mpi]}, {place}, {worst.program.median:.2f}"


def goals_at_100(rows: Sequence[Row]) -> list[Claim]:
    far = [row for row in rows if row.native_limit.median > 2]
    halved = sum(row.program.median <= 0.5 for row in far)
    slower, losing = slower_rows(rows), [row for row in rows if row.program.median > LOSING]
    named = "; ".join(f"{where(row).removesuffix(':')}, {row.from_eighth.median:.2f}" for row in slower)
    mean = geometric(row.program.median for row in far)
    word = met(halved == len(far)) if halved == len(far) or mean > 0.5 else "yes, as a mean"
    return [
        (
            "at 100 Mb/s, from the 8th call on at 1.15 of the limit, 90 % of the cells",
            f"{near_text(rows)} (native {sum(map(natively_near, rows))})",
            met(sum(map(near, rows)) >= GOAL * len(rows)),
        ),
        (
            "none slower than 0.95 of native from there",
            f"{len(slower)}, times native's: {named}" if slower else "0",
            met(not slower),
        ),
        (
            "whole program 2 times native where native is above twice the limit",
            f"geometric mean {mean:.2f} of native's time over {len(far)} cells; {halved} are at 0.5 or "
            f"below, the worst is {worst_of(far)}",
            word,
        ),
        (
            "whole program nowhere below 0.97 of native",
            f"{len(losing)} cells are, the worst {worst_of(losing)}" if losing else "0 cells are",
            met(not losing),
        ),
    ]


def goal_of_second(rows: Sequence[Row]) -> Claim:
    texts = []
    for words, alone in (("one rank a host", True), ("several", False)):
        own = [row for row in rows if (row.cell.hosts.ranks_on_each == 1) == alone]
        limits = [row.second_limit.median for row in own if row.second_limit]
        seconds = [row.second.median for row in own if row.second]
        texts.append(
            f"{words}: {sum(one <= NEAR for one in limits)} of {len(limits)} at 1.15 of the limit over all "
            f"calls, {geometric(seconds):.2f} of native's time (first run {mean_of_programs(own)})"
        )
    losing = sum(row.second.median > LOSING for row in rows if row.second)
    enough = sum(row.second_limit.median <= NEAR for row in rows if row.second_limit) >= GOAL * len(rows)
    told = f"{'; '.join(texts)}; {losing} programs below 0.97"
    return "second run from its first call", told, met(enough and not losing)


def goals() -> list[str]:
    """Of the second run over all its calls; the page says what its first ones do."""
    at_400 = all_in("cores16", lambda cell: cell.rate == LONG_AT_400)
    crowded, short = all_in("two-cores-400"), all_in("short")
    losing = sum(row.program.median > LOSING for row in at_400)
    claims = [
        *goals_at_100(all_in("cells")),
        goal_of_second(all_in("cells")),
        (
            "the same at 400 Mb/s, a core for each rank",
            f"[{near_text(at_400)}](#a-core-for-each-rank); {len(slower_rows(at_400))} slower than 0.95 of "
            f"native; {far_text(at_400)} where that is above twice the limit; {losing} programs below 0.97",
            "as above",
        ),
        (
            "at 400 Mb/s on two cores",
            f"[{near_text(crowded)}](#20-mbs-400-mbs-two-switches); {len(slower_rows(crowded))} slower than "
            "0.95",
            met(sum(map(near, crowded)) >= GOAL * len(crowded)),
        ),
        (
            "short messages of 8 B and 512 B: 1.2 times native, none below 0.95",
            f"[{mean_of_programs(short)} of native's time](#short-messages), from the 8th call on "
            f"{geometric(row.from_eighth.median for row in short):.2f}; {len(slower_rows(short))} of "
            f"{len(short)} kinds below 0.95",
            met(not slower_rows(short)),
        ),
    ]
    return table(("goal", "measured", "met"), claims, range(3))


def many_cores() -> list[str]:
    made = []
    for rate, hosts in (("400mbit", "13, 4 of four, 8 of two"), ("1gbit", "13")):
        rows = [row for cell, own in rows_in("cores16").items() if cell.rate == rate for row in own]
        slower = sum(row.from_eighth.median > SLOWER for row in rows)
        losing = sum(row.program.median > LOSING for row in rows)
        counts = (len(rows), sum(map(natively_near, rows)), sum(map(near, rows)), slower, losing)
        made.append(
            (rate.replace("mbit", " Mb/s").replace("gbit", " Gb/s"), hosts, *map(str, counts), far_text(rows))
        )
    head = ["rate", "hosts", "cells", "at 1.15 of the limit or below from the 8th call on: native", "Unisono"]
    head += [
        "slower than 0.95 of native",
        "programs below 0.97",
        "program where native is above twice the limit",
    ]
    return table(head, made, (0, 1, 7))


NETWORKS = {
    "two-cores-400": "400 Mb/s: 4 hosts, 4 of four, 6 of three in turn",
    "slow": "20 Mb/s: 4 of four",
    "switches": "two switches, 100 Mb/s between them: 8 hosts (MPICH), 8 of two",
}


def networks() -> list[str]:
    made = []
    for folder, words in NETWORKS.items():
        rows = [row for own in rows_in(folder).values() for row in own]
        slower = slower_rows(rows)
        worst = f": the worst {where(slower[0])} {slower[0].from_eighth.median:.2f}" if slower else ""
        counts = (len(rows), sum(map(natively_near, rows)), sum(map(near, rows)))
        made.append((words, *map(str, counts), f"{len(slower)}{worst}", far_text(rows)))
    head = ["network", "cells", "at 1.15 of the limit or below from the 8th call on: native", "Unisono"]
    head += ["slower than 0.95 of native", "program where native is above twice the limit"]
    return table(head, made, (0, 4, 5))


def short_messages() -> list[str]:
    made = []
    for machine, folder in (("two cores", "short"), ("a core for each rank", "cores16")):
        found = {cell: rows for cell, rows in rows_in(folder).items() if cell.length}
        for cell in in_order(list(found)):
            rows = found[cell]
            slower = slower_rows(rows)
            fastest = min(rows, key=lambda row: row.program.median)
            _, rounds = unasked.read(unasked.file_of(cell, FOLDER / folder))
            made.append(
                (
                    machine,
                    LIBRARIES[cell.mpi],
                    hosts_text(cell),
                    str(cell.length),
                    str(len(rounds)),
                    mean_of_programs(rows),
                    ", ".join(f"{name(row)} {row.from_eighth.median:.2f}" for row in slower) or "none",
                    f"{name(fastest)} {fastest.program.median:.2f}",
                )
            )
    head = ["machine", "library", "hosts", "bytes", "jobs", "program, geometric mean"]
    head += ["slower than 0.95 of native from the 8th call on", "fastest program"]
    return table(head, made, (0, 1, 2, 6, 7))


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


def other_programs() -> list[str]:
    rows = read_json(FOLDER / "programs.json.zst")["programs"]
    return program_times.table({(row["program"], row["ranks"]): row["native_and_ours_s"] for row in rows})


def init(mpi: str) -> list[str]:
    return init_time.table(read_json(FOLDER / "init-16.json.zst")["milliseconds"][mpi])


def at_scale() -> list[str]:
    lines = choices_at_scale.report(read_json(FOLDER / "choices.json.zst"))
    return [line for line in lines if line.startswith("|")]


def reported(folder: str) -> list[str]:
    return "\n\n".join(unasked.report(FOLDER / folder)).splitlines()


ALL: Mapping[str, Callable[[], list[str]]] = {
    folder: partial(reported, folder)
    for folder in ("cells", "again", "cores16", "two-cores-400", "slow", "switches", "short")
}
TABLES: Mapping[str, Callable[[], list[str]]] = {
    "goals": goals,
    "hosts": by_hosts,
    "cores": many_cores,
    "networks": networks,
    "short": short_messages,
    "node": on_two_cores,
    "node, many cores": on_many_cores,
    "programs": other_programs,
    "init, openmpi": partial(init, "openmpi"),
    "init, mpich": partial(init, "mpich"),
    "choices": at_scale,
}
