"""The tables of docs/results/unasked.md."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import median

from unisono.compare import results, summary
from unisono.compare.results import Comparison, Setting
from unisono.core.files import read_json

from experiments import same_bits
from experiments.harness import ROOT
from experiments.markdown import table
from experiments.tables import harmless
from experiments.tables.words import LIBRARIES, size_text
from scripts import init_time, kinds_simulated, peers, probe_rates, unasked
from scripts.kinds_in_lab import Cell, read
from scripts.unasked import Row

FOLDER = ROOT / "docs" / "results" / "unasked"
FEW = 2
NUMBERS = {2: "two", 3: "three", 4: "four"}
# Those that the rule of the first call runs; of the others blocks of 32 KiB stay in the MPI library.
RUN = ("bcast", "reduce", "allreduce", "scan", "allgather", "reduce_scatter_block")


SLOW, STALLED, AT_WIRE = 0.97, 0.87, 1.10  # of native's speed; the same of a single job; of the limit


@dataclass(frozen=True)
class Measured:
    """A program of one kind of call in a cell, and its jobs."""

    row: Row
    jobs: list[float]  # times as fast as natively
    over_limit: float  # the whole program's calls over what the wire takes: a median
    by_sums: float  # native's seconds of all jobs over Unisono's: single stalls count

    @property
    def speed(self) -> float:
        return 1 / self.row.program.median

    @property
    def possible(self) -> float:
        """Times as fast as natively, were all calls at the wire."""
        return self.row.native.median / self.row.cell.limit(self.row.kind)

    @property
    def again(self) -> float:
        """Native once more, times as fast as natively."""
        return 1 / self.row.again.median if self.row.again else math.nan


@cache
def measured(part: str) -> list[Measured]:
    found = []
    for file in sorted((FOLDER / part).glob("*.json.zst")):
        cell, rounds = read(file)
        good = [one for one in rounds if "failed" not in one]
        for row in unasked.rows_of(cell, rounds):
            whole = [
                {arm: unasked.whole(one[arm][row.kind], cell.calls) for arm in ("native", "unisono")}
                for one in good
            ]
            jobs = [one["native"] / one["unisono"] for one in whole]
            over = median(one["unisono"] for one in whole) / cell.limit(row.kind)
            sums = sum(one["native"] for one in whole) / sum(one["unisono"] for one in whole)
            found.append(Measured(row, jobs, over, sums))
    return found


def bed(cell: Cell) -> str:
    hosts = cell.hosts
    each = f" of {NUMBERS[hosts.ranks_on_each]}" if hosts.ranks_on_each > 1 else ""
    rate = cell.rate.replace("mbit", " Mb/s").replace("gbit", " Gb/s")
    return f"{hosts.number}{each} at {rate}"


def speed_text(some: Sequence[Measured]) -> str:
    return f"{unasked.geometric(one.speed for one in some):.2f}" if some else ""


def grouped(
    all_: Sequence[Measured], key: Callable[[Measured], tuple[str, ...]]
) -> dict[tuple[str, ...], list[Measured]]:
    found: dict[tuple[str, ...], list[Measured]] = {}
    for one in sorted(all_, key=lambda one: (one.row.cell.hosts.ranks, one.row.cell.length)):
        found.setdefault(key(one), []).append(one)
    return found


def figures(some: Sequence[Measured]) -> list[str]:
    run = [one for one in some if one.row.kind in RUN]
    jobs = [speed for one in some for speed in one.jobs]
    again = unasked.geometric(one.again for one in some)
    return [
        str(len(some)),
        speed_text(run),
        speed_text(some),
        f"{unasked.geometric(one.by_sums for one in some):.2f}",
        f"{unasked.geometric(one.possible for one in some):.2f}",
        f"{again:.2f}",
        f"{min(one.speed for one in some):.2f}",
        str(sum(one.speed < SLOW for one in some)),
        str(sum(one.again < SLOW for one in some)),
        f"{sum(speed < STALLED for speed in jobs)} of {len(jobs)}",
    ]


HEADS = (
    "programs",
    "the six kinds, times as fast",
    "all nine",
    "by sums",
    "at the wire",
    "native again",
    "worst",
    "below 0.97",
    "native again below 0.97",
    "jobs below 0.87",
)


def beds(part: str) -> list[str]:
    """By library and bed: what programs of long messages gain."""
    made = grouped(measured(part), lambda one: (LIBRARIES[one.row.cell.mpi], bed(one.row.cell)))
    rows = [(*names, *figures(some)) for names, some in made.items()]
    rows.append(("all", "", *figures(measured(part))))
    return table(["library", "hosts", *HEADS], rows, (0, 1))


BESIDE = {
    "pauses": "30 ms before each call",
    "loss": "1 % of the frames to one host lost",
    "traffic": "a TCP stream between two hosts",
    "busy": "a host that computes",
    "corking": "Linux's own setting of autocorking",
}


def conditions() -> list[str]:
    """By what else goes on, and library."""
    made = grouped(measured("conditions"), lambda one: (one.row.cell.condition, one.row.cell.mpi))
    rows = []
    for condition, mpi in sorted(made, key=lambda key: (list(BESIDE).index(key[0]), key[1])):
        some = made[condition, mpi]
        slower = [f"{one.row.kind.capitalize()} {one.speed:.2f}" for one in some if max(one.jobs) < 1]
        rows.append((BESIDE[condition], LIBRARIES[mpi], *figures(some), ", ".join(slower) or "none"))
    heads = ["beside", "library", *HEADS, "slower than native in every job"]
    return table(heads, rows, (0, 1, len(heads) - 1))


def seconds() -> list[str]:
    """First and second jobs, by library and bed."""
    made = grouped(measured("second"), lambda one: (LIBRARIES[one.row.cell.mpi], bed(one.row.cell)))
    rows = []
    for names, some in made.items():
        speeds = [1 / one.row.second.median for one in some if one.row.second]
        slow = [sum(speed < SLOW for speed in each) for each in ([one.speed for one in some], speeds)]
        rows.append(
            (
                *names,
                str(len(some)),
                speed_text(some),
                f"{unasked.geometric(speeds):.2f}",
                *map(str, slow),
                f"{unasked.geometric(one.again for one in some):.2f}",
            )
        )
    heads = ["library", "hosts", "programs", "first jobs, times as fast", "second jobs", "first below 0.97"]
    return table([*heads, "second below 0.97", "native again"], rows, (0, 1))


def peer_libraries() -> list[str]:
    """By bed and kind: the best peer, and Unisono under each library over it."""
    rows = []
    all_ = peers.read_rows(FOLDER / "peers")
    for row in all_:
        over = [f"{row.over_best(arm):.2f}" if arm in row.seconds else "" for arm in peers.OURS]
        milliseconds = f"{row.seconds[row.best_peer] * 1e3:.4g}"
        rows.append((bed(row.cell), row.kind.capitalize(), row.best_peer, milliseconds, *over))
    means = [
        f"{unasked.geometric(row.over_best(arm) for row in all_ if arm in row.seconds):.2f}"
        for arm in peers.OURS
    ]
    rows.append(("all", "", "", "", *means))
    return table(["hosts", "kind", "best peer", "its call, ms", *peers.OURS], rows, (0, 1, 2))


def kinds() -> list[str]:
    """By kind: times as fast, and how near the wire."""
    made = grouped(measured("safe"), lambda one: (one.row.kind,))
    rows = []
    for (kind,), some in made.items():
        near = sum(one.over_limit <= AT_WIRE for one in some)
        native = sum(one.row.native_limit.median <= AT_WIRE for one in some)
        worst = min(some, key=lambda one: one.speed)
        worst_text = f"{worst.speed:.2f} ({LIBRARIES[worst.row.cell.mpi]}, {bed(worst.row.cell)})"
        rows.append((kind.capitalize(), speed_text(some), worst_text, f"{near} of {len(some)}", f"{native}"))
    heads = ["kind", "times as fast", "worst", "at 1.10 of the wire or below", "native, from the 8th call"]
    return table(heads, rows, (0, 2))


def lengths() -> list[str]:
    """By length and kind: times as fast, over all beds and libraries."""
    made = grouped(measured("lengths"), lambda one: (str(one.row.cell.length),))
    names = list(dict.fromkeys(one.row.kind for one in measured("lengths")))
    rows = []
    for (length,), some in sorted(made.items(), key=lambda item: int(item[0][0])):
        by_kind = [speed_text([one for one in some if one.row.kind == name]) for name in names]
        slow, again = (sum(v(one) < SLOW for one in some) for v in (speed_of, again_of))
        rounds = sorted({len(one.jobs) for one in some})
        rounds_text = f"{rounds[0]} to {rounds[-1]}" if len(rounds) > 1 else f"{rounds[0]}"
        rows.append((size_text(int(length)), rounds_text, *by_kind, f"{slow} of {len(some)}", str(again)))
    heads = ["bytes", "rounds", *(name.capitalize() for name in names)]
    heads += ["below 0.97", "native again below 0.97"]
    return table(heads, rows, ())


def speed_of(one: Measured) -> float:
    return one.speed


def again_of(one: Measured) -> float:
    return one.again


def losses() -> list[str]:
    """All programs below 0.97 of native's speed by the median of their jobs."""
    parts = ("safe", "lengths", "conditions", "corking")
    slow = [one for part in parts for one in measured(part) if one.speed < SLOW]
    rows = []
    for one in sorted(slow, key=speed_of):
        cell = one.row.cell
        jobs = " ".join(f"{speed:.2f}" for speed in sorted(one.jobs))
        size = size_text(cell.length) if cell.length else "long"
        place = f"{bed(cell)}, {BESIDE[cell.condition]}" if cell.condition else bed(cell)
        where = (LIBRARIES[cell.mpi], place, one.row.kind.capitalize(), size)
        rows.append((*where, f"{one.speed:.3f}", f"{one.again:.2f}", jobs))
    heads = ["library", "hosts", "kind", "bytes", "times as fast", "native again", "each job"]
    return table(heads, rows, (0, 1, 2, 3, 6))


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
    head = ["2 ranks on two cores (AMD EPYC, family 25, model 1; [cells](../node/unasked-2.json.zst))"]
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
    head = ["a core for each rank (16 cores, model 207; [cells](../node/unasked-16-cores.json.zst))"]
    for mpi, pattern in columns:
        head += [f"{LIBRARIES[mpi]}, {WHEN[pattern]}", "below 0.95"]
    return table(head, rows, (0, 2, 4, 6, 8))


def same_bits_rows() -> list[str]:
    rows = read_json(FOLDER / "same-bits.json.zst")["rows"]
    return same_bits.table([same_bits.Row(**row) for row in rows])


def probe() -> list[str]:
    return probe_rates.table([probe_rates.Job(**job) for job in read_json(FOLDER / "probe.json.zst")["jobs"]])


def init(mpi: str) -> list[str]:
    return init_time.table(read_json(FOLDER / "init-16.json.zst")["milliseconds"][mpi])


def simulated() -> list[str]:
    return kinds_simulated.tables(read_json(FOLDER / "simulated.json.zst")["networks"])


Tables = Mapping[str, Callable[[], Sequence[str]]]
TABLES: Tables = {
    "beds": partial(beds, "safe"),
    "corking": partial(beds, "corking"),
    "kinds": kinds,
    "conditions": conditions,
    "second": seconds,
    "simulated": simulated,
    "peers": peer_libraries,
    "programs": partial(harmless.program_times, FOLDER / "programs.json.zst"),
    "bits": same_bits_rows,
}
LENGTHS: Tables = {"lengths": lengths, "losses": losses}
NODE: Tables = {"node": on_two_cores, "node, many cores": on_many_cores}
START: Tables = {
    "probe": probe,
    "init, openmpi": partial(init, "openmpi"),
    "init, mpich": partial(init, "mpich"),
}
