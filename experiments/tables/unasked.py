"""The tables of docs/results/unasked.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import median

from unisono.compare import results, summary
from unisono.compare.results import Comparison, Setting
from unisono.core.files import read_json

from experiments import same_bits
from experiments.harness import ROOT
from experiments.markdown import table
from experiments.tables.words import LIBRARIES, size_text
from scripts import init_time, unasked
from scripts.unasked import Cell, Hosts

FOLDER = ROOT / "docs" / "results" / "unasked"
FEW = 2
NUMBERS = {2: "two", 3: "three", 4: "four"}
# Those that the rule of the first call runs; of the others blocks of 32 KiB stay in the MPI library.
RUN = ("bcast", "reduce", "allreduce", "scan", "allgather", "reduce_scatter_block")


@dataclass(frozen=True)
class Look:
    """Seconds a call, medians of the jobs."""

    cell: Cell
    kind: str
    native: float
    ours: float

    @property
    def speed(self) -> float:
        return self.native / self.ours


@cache
def looks() -> list[Look]:
    seconds: dict[tuple[Cell, str], dict[str, list[float]]] = {}
    for job in read_json(FOLDER / "first-look.json.zst")["jobs"]:
        hosts = Hosts(job["hosts"], job["each"])
        cell = Cell(job["mpi"], hosts, job["rate"], job["calls"], job["calls"])
        for kind in RUN:
            arms = seconds.setdefault((cell, kind), {})
            arms.setdefault(job["arm"], []).append(job["seconds"][kind] / job["calls"])
    return [
        Look(cell, kind, median(arms["native"]), median(arms["ours"]))
        for (cell, kind), arms in seconds.items()
    ]


def hosts_text(cell: Cell) -> str:
    hosts = cell.hosts
    if hosts.ranks_on_each == 1:
        return str(hosts.number)
    return f"{hosts.number} of {NUMBERS[hosts.ranks_on_each]}"


def first_look() -> list[str]:
    """Times as fast as natively, by bed and collective."""
    made = []
    for cell in dict.fromkeys(look.cell for look in looks()):
        speeds = {look.kind: look.speed for look in looks() if look.cell == cell}
        own = [f"{speeds[kind]:.2f}" for kind in RUN]
        made.append(
            (LIBRARIES[cell.mpi], hosts_text(cell), *own, f"{unasked.geometric(speeds.values()):.2f}")
        )
    mean = unasked.geometric(look.speed for look in looks())
    made.append(("all", "", *("" for _ in RUN), f"{mean:.2f}"))
    names = [kind.capitalize() for kind in RUN]
    return table(["library", "hosts", *names, "geometric mean"], made, (0, 1))


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
    "first look": first_look,
    "bits": same_bits_rows,
    "node": on_two_cores,
    "node, many cores": on_many_cores,
    "init, openmpi": partial(init, "openmpi"),
    "init, mpich": partial(init, "mpich"),
}
