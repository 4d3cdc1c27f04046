"""The tables of docs/results/pipelines.md and pipelines/simulator.md."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from statistics import median

from unisono.core.catalogue import format_size
from unisono.core.files import read_json

from experiments.harness import ROOT, Check
from experiments.markdown import table
from experiments.pipelines import blocks, copies, figures, goals, measuring, paper, ports, simulator, stream
from experiments.pipelines.measuring import DEFAULT, NATIVE, SUM, Point
from experiments.tables.words import LIBRARIES
from experiments.testbeds import Json

FOLDER = ROOT / "docs" / "results" / "pipelines"
Maker = Callable[[], Sequence[str]]
WORDS = {True: "yes", False: "no", None: "undecided"}
FLAVOURS = ("mpich", "openmpi")


@cache
def body_of(name: str, experiment: str) -> Json:
    return measuring.read(FOLDER / f"{name}.json.zst", experiment)


@cache
def points_of(name: str, flavour: str) -> tuple[list[Point], float | None]:
    """Of an MPI library's test bed, and what a port of that lets through."""
    body = body_of(name, figures.EXPERIMENT)
    (bed,) = (bed for bed in body["beds"] if flavour in bed.split(", "))
    points = figures.by_algorithm(measuring.points(body["results"]))
    return [point for point in points if point.bed == bed], figures.bits_of(body["beds"][bed])


# --- goals and the paper


def goal_cells() -> list[str]:
    found: dict[str, list[str]] = {}
    for flavour in FLAVOURS:
        points, bits = points_of("goals", flavour)
        for check in goals.checks(points, bits or 0):
            goal = re.sub(r", \d+ hosts: ", ": ", check.claim)
            best, ratio = check.numbers.split(" ", 1)
            found.setdefault(goal, []).append(f"{WORDS[check.holds]}: {ratio} `{best}`")
    head = ["goal"]
    for flavour in FLAVOURS:
        head += [f"{LIBRARIES[flavour]}, {goals.HOSTS[0]} hosts", f"{goals.HOSTS[1]} hosts"]
    return table(head, [(goal, *cells) for goal, cells in found.items()], range(5))


def of_paper() -> list[str]:
    both: list[list[Check]] = []
    for flavour in FLAVOURS:
        points, _ = points_of("figures", flavour)
        both.append(paper.checks([point for point in points if point.op == SUM]))
    rows = [
        (one.claim, *(f"{check.word}: {check.numbers}" for check in (one, other)))
        for one, other in zip(*both, strict=True)
    ]
    return table(("the paper says", *(LIBRARIES[flavour] for flavour in FLAVOURS)), rows, range(3))


def in_ports() -> list[str]:
    body = body_of("ports", ports.EXPERIMENT)
    return ports.page(body["results"], body["beds"]).splitlines()[2:]


# --- on a node


def speeds() -> list[str]:
    """GB/s in the fast mode of the machine and in the slow one, by a job's Bcasts through the chain."""
    rows = []
    found = {flavour: points_of("node", flavour)[0] for flavour in FLAVOURS}
    modes = {flavour: slow_jobs(points) for flavour, points in found.items()}
    by_call = {
        flavour: {(p.collective, p.bytes): p for p in points if p.op == SUM}
        for flavour, points in found.items()
    }
    for collective in ("bcast", "reduce", "scan", "allreduce"):
        arms = (NATIVE, paper.GENERIC[collective], paper.PIPELINED[collective], DEFAULT)
        for size in (16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20):
            cells = []
            for flavour in FLAVOURS:
                point = by_call[flavour][collective, size]
                cells += [in_modes(point, arm, modes[flavour]) for arm in arms]
            rows.append((collective, format_size(size), *cells))
    head = ["", "bytes"]
    for flavour in FLAVOURS:
        head += [f"{LIBRARIES[flavour]}: native", "tree", "`chain`", "`default`"]
    return table(head, rows, (0,))


def slow_jobs(points: Sequence[Point]) -> set[str]:
    (point,) = (p for p in points if (p.collective, p.bytes, p.op) == ("bcast", 1 << 20, SUM))
    chain = point.times[paper.PIPELINED["bcast"]]
    middle = median(chain.values())
    return {job for job, seconds in chain.items() if seconds > middle}


def in_modes(point: Point, arm: str, slow: set[str]) -> str:
    times = point.times[arm]
    modes = ([t for job, t in times.items() if (job in slow) == is_slow] for is_slow in (False, True))
    return " ".join(f"{median(point.bytes / t for t in own) / 1e9:.1f}" for own in modes)


def beside_bcast() -> list[str]:
    tables = {}
    for flavour in FLAVOURS:
        found = copies.over_bcast(points_of("node", flavour)[0])
        tables[flavour] = {
            key: (ratio.text(), copies.over_bound(key[0], ratio).text()) for key, ratio in found.items()
        }
    rows = [
        (
            collective,
            format_size(size),
            *tables["mpich"][collective, size],
            *tables["openmpi"][collective, size],
        )
        for collective, size in sorted(tables["mpich"])
    ]
    head = ["", "bytes"]
    for flavour in FLAVOURS:
        head += [f"{LIBRARIES[flavour]}: times a Bcast", "times the copy bound"]
    return table(head, rows, (0,))


# --- calls in a row; blocks


def in_a_row(flavour: str) -> list[str]:
    body = body_of("stream", stream.EXPERIMENT)
    (bed,) = (bed for bed in body["beds"] if flavour in bed.split(", "))
    return stream.section(stream.times(body["results"], body["beds"]), bed, ()).splitlines()[2:]


def equation() -> list[str]:
    return blocks.paper_section().splitlines()[2:]


def best_blocks(flavour: str) -> list[str]:
    body = body_of("blocks", blocks.EXPERIMENT)
    (bed,) = (bed for bed in body["beds"] if flavour in bed.split(", "))
    points = [point for point in measuring.points(body["results"]) if point.bed == bed]
    bits = body["beds"][bed].get("bits_per_second")
    found = blocks.comparisons(points, body["machines"][bed], bits)
    return table((LIBRARIES[flavour], *blocks.HEAD), [one.row() for one in found], (0,))


PARAMETERS = {"l_PIO, stores": 1, "l_DMA, single copy": 2, "l_cpy": 4, "l_cmb": 5}  # columns of the file
LENGTHS = ("64", "1K", "4K", "16K", "64K", "256K", "1M")


def parameters() -> list[str]:
    """Microseconds by length, as `unisono model show` printed them."""
    lines = (FOLDER / "node-model.txt").read_text().splitlines()
    columns: dict[str, list[str]] = {}
    for words in map(str.split, lines):
        if len(words) > max(PARAMETERS.values()):
            columns.setdefault(words[0], words)  # MPICH's stand before Open MPI's
    rows = [(name, *(columns[size][at] for size in LENGTHS)) for name, at in PARAMETERS.items()]
    return table(("d", *LENGTHS), rows, (0,))


# --- the simulator


@cache
def simulated() -> list[Json]:
    return [cell for cell in read_json(FOLDER / "simulator.json.zst")["cells"] if "arms" in cell]


TABLES: Mapping[str, Maker] = {
    "goals": goal_cells,
    "ports": in_ports,
    "paper": of_paper,
    "node": speeds,
    "copies": beside_bcast,
    "calls in a row, mpich": partial(in_a_row, "mpich"),
    "calls in a row, openmpi": partial(in_a_row, "openmpi"),
    "equation": equation,
    "blocks, mpich": partial(best_blocks, "mpich"),
    "blocks, openmpi": partial(best_blocks, "openmpi"),
    "parameters": parameters,
    "simulator": lambda: simulator.goals(simulated()),
}
SIMULATOR: Mapping[str, Maker] = {
    "goals": lambda: simulator.goals(simulated()),
    "networks": lambda: simulator.by_network(simulated()),
    "algorithms": lambda: simulator.by_row(simulated()),
    "worst": lambda: simulator.worst_cells(simulated()),
}
