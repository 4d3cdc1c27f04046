"""The tables of docs/results/compiled.md: medians over the rounds, and the span of those where it is wide."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from statistics import median

from unisono.core.files import read_json

from experiments.compiled import applications, matrices, multicast, reliable
from experiments.compiled.applications import Times
from experiments.compiled.patterns import TABLE_3, Cell
from experiments.compiled.reliable import Case, lossy
from experiments.harness import ROOT, Check
from experiments.markdown import table
from experiments.pipelines import measuring, wire
from experiments.pipelines.measuring import Point
from experiments.tables.words import LIBRARIES, size_text
from experiments.testbeds import Json

FOLDER = ROOT / "docs" / "results" / "compiled"
WIDE = 1.1  # the slowest round / the fastest, from which on both are told
KIB = 1 << 10


@cache
def body_of(name: str, experiment: str) -> Json:
    return measuring.read(FOLDER / f"{name}.json.zst", experiment)


def bed_of(body: Json, flavour: str) -> str:
    """The test bed of an MPI library."""
    (name,) = (bed for bed in body["beds"] if flavour in bed.split(", "))
    return str(name)


def span(values: Sequence[float], digits: int = 2) -> str:
    if not values:
        return ""
    text, low, high = (f"{value:.{digits}f}" for value in (median(values), min(values), max(values)))
    return f"{text} ({low} to {high})" if max(values) > WIDE * min(values) else text


# --- MPI_Alltoallv


OWN_ARMS = {
    "native": "native",
    **{f"`{arm}`": arm for arm in ("credits", "token_list", "token_list+known", "token_list:window=4+known")},
    "`token_list+stored`": "token_list+stored",
    "`ring_light_barrier`": "ring_light_barrier",
    "`simple`": "simple",
    "`greedy_barriers`": "greedy_barriers+known",
    "`greedy_light_barriers`": "greedy_light_barriers+known",
    "`all_to_all_based_barriers`": "all_to_all_based_barriers+known",
    "`edge_colouring`": "edge_colouring+known",
}
PHASED_ARMS = [f"{phases}{level}" for phases in matrices.PHASES for level in matrices.LEVELS.values()]
PAPER_ARMS = {
    "native": "native",
    **{f"`{arm}`": arm for arm in ("credits", "token_list", "simple", *PHASED_ARMS)},
}


@cache
def points_in(name: str, flavour: str) -> dict[Cell, Point]:
    body = body_of(name, matrices.EXPERIMENT)
    return matrices.found_in(body)[bed_of(body, flavour)]


def matrix_table(name: str, flavour: str, arms: Mapping[str, str]) -> list[str]:
    rows = []
    for cell, point in points_in(name, flavour).items():
        times = [list(point.times.get(arm, {}).values()) for arm in arms.values()]
        rows.append((cell.words.capitalize() if cell.kind == TABLE_3 else cell.words, *map(span, times)))
    return table(("matrix", *arms), rows, (0,))


LISTS = "token_list:window=4+known"


def goals() -> list[str]:
    """Of the wire by cell, and the geometric mean over the matrices on 16 hosts."""
    sets = (
        ("own", f"at most {matrices.MOST} of the wire"),
        ("thirteen", "13 hosts, other matrices (seed 2), 16 and 128 KiB"),
    )
    rows = []
    for name, words in sets:
        for flavour in ("mpich", "openmpi"):
            checks = matrices.goals(points_in(name, flavour))
            cells = [counted([c for c in checks if f": {arm} at most" in c.claim]) for arm in ARMS_JUDGED]
            rows.append((f"{words}, {LIBRARIES[flavour]}", *cells))
    for flavour in ("mpich", "openmpi"):
        checks = matrices.goals(points_in("own", flavour))
        claims = [f": {arm} {matrices.TIMES_NATIVE} times as fast" for arm in ARMS_JUDGED]
        means = [next(check for check in checks if claim in check.claim) for claim in claims]
        words = f"{matrices.TIMES_NATIVE} times as fast as the library's own, geometric mean"
        cells = [f"{WORDS[check.holds]}: {check.numbers}" for check in means]
        rows.append((f"{words}, {LIBRARIES[flavour]}", *cells))
    return table(("goal", "`credits`", "`token_list:window=4`, counts known"), rows, range(3))


ARMS_JUDGED = (matrices.CREDITS, LISTS)
WORDS = {True: "yes", False: "**no**", None: "undecided"}


def counted(checks: Sequence[Check], what: str = "matrices") -> str:
    answers = [check.holds for check in checks]
    text = f"{answers.count(True)} of {len(answers)} {what}"
    for answer, word in ((False, "not"), (None, "undecided")):
        text += f", {answers.count(answer)} {word}" if answer in answers else ""
    return text


def against_native() -> list[str]:
    rows = []
    for name, hosts in (("own", 16), ("thirteen", 13)):
        for flavour in ("mpich", "openmpi"):
            points = points_in(name, flavour)
            found = {cell: point.ratio(matrices.CREDITS, "native") for cell, point in points.items()}
            ratios = {cell: ratio for cell, ratio in found.items() if ratio}
            slower = [
                f"{cell.words}, {100 * (ratio.value - 1):.0f} %"
                for cell, ratio in ratios.items()
                if ratio.low > 1
            ]
            faster = sum(ratio.high < 1 for ratio in ratios.values())
            named = f"{len(slower)}: {'; '.join(slower)}" if slower else "0"
            undecided = len(ratios) - faster - len(slower)
            rows.append((f"{LIBRARIES[flavour]}, {hosts} hosts", str(faster), named, str(undecided)))
    head = ("`credits` against the library's own, by cell", "surely faster", "surely slower", "undecided")
    return table(head, rows, (0, 2))


# --- multicast


def losses() -> list[str]:
    runs = reliable.runs_in(body_of("reliable", reliable.EXPERIMENT))

    def cells(way: str, kib: int, loss: float) -> list[str]:
        case = lossy(way, kib * KIB, loss)
        times = [one["ms"] for one in runs[case].values() if one["ms"]]
        over = reliable.ratio(runs, case, Case(**{**vars(case), "loss": 0.0})) if loss else None
        middle = median(times)
        text = f"{middle:.{0 if way == reliable.NORM or middle >= 100 else 1}f}"
        return [text, over.text() if over else ""]

    rows = []
    for loss in (0.0, 0.001, 0.01, 0.05):
        long = [text for way in ("nack", "ack", reliable.NORM) for text in cells(way, KIB, loss)]
        short = [text for way in ("nack", "ack", reliable.NORM) for text in cells(way, 64, loss)]
        rows.append((f"{100 * loss:g} %" if loss else "nothing", *long, *short[:-1]))
    head = ["lost"]
    for size in ("1 MiB", "64 KiB"):
        for way in ("nack", "ack", "NORM"):
            head += [f"{size}, {way}: ms", "/ without"]
    return table(head[:-1], rows, (0,))


@cache
def multicasts(flavour: str) -> dict[multicast.Key, Point]:
    body = body_of("multicast", multicast.EXPERIMENT)
    return multicast.found_in(body, bed_of(body, flavour))


BCAST = ("native", multicast.MULTICAST, multicast.BY_ACK, multicast.CHAIN, multicast.CIRCULANT)
SCATTER = ("native", "multicast", "native, ack", "multicast, ack", "flat", "binomial")
SCATTERV = ("native, static", "static", "native, dynamic", "dynamic", "native, assisted", "assisted")
DISTURBED = "0"  # round
ALLGATHER = (
    "native",
    "multicast",
    "multicast, ack",
    "ring",
    "as Alltoall: simple",
    "as Alltoall: ring_barrier",
)


def bcasts() -> list[str]:
    rows = []
    for flavour in ("mpich", "openmpi"):
        bits = body_of("multicast", multicast.EXPERIMENT)["beds"]
        rate = bits[bed_of(body_of("multicast", multicast.EXPERIMENT), flavour)]["bits_per_second"]
        for size in multicast.GOALS:
            for hosts in multicast.GOAL_HOSTS:
                point = multicasts(flavour)["bcast", size, hosts]
                line = wire.seconds("bcast", size, hosts, rate)
                times = [[t / line for t in point.times.get(arm, {}).values()] for arm in BCAST]
                where = f"{LIBRARIES[flavour]}, {size_text(size)}, {hosts} hosts"
                rows.append((where, *(span(own, 3) for own in times)))
    return table(("Bcast", *BCAST), rows, (0,))


def bcast_goals() -> list[str]:
    """By the intervals of the rounds; and each job by itself, of which there are few."""
    beds = body_of("multicast", multicast.EXPERIMENT)["beds"]
    rows = []
    for size, most in sorted(multicast.GOALS.items(), reverse=True):
        for hosts in multicast.GOAL_HOSTS:
            checks: list[Check] = []
            jobs: list[float] = []
            for flavour in ("mpich", "openmpi"):
                key = ("bcast", size, hosts)
                rate = beds[bed_of(body_of("multicast", multicast.EXPERIMENT), flavour)]["bits_per_second"]
                point, line = multicasts(flavour)[key], wire.seconds(*key, rate)
                checks += multicast.goals({key: point}, rate)
                arms = (point.times.get(arm, {}) for arm in (multicast.MULTICAST, multicast.BY_ACK))
                jobs += [seconds / line for own in arms for seconds in own.values()]
            longer = sum(job > most for job in jobs)
            met = counted(checks, "cells met").replace(" not", " **missed**")
            words = f"{size_text(size)} at most {most:g} of the wire, {hosts} hosts"
            rows.append((words, met, f"{longer} of {len(jobs)}", f"{min(jobs):.3f} to {max(jobs):.3f}"))
    head = ("goal, Bcast", "by the intervals", "jobs that took longer", "all jobs, times the wire")
    return table(head, rows, (0, 1, 3))


def scatter() -> list[str]:
    """Without the job under MPICH beside which others used the machine."""

    def quiet(point: Point) -> Point:
        times = {
            arm: {job: t for job, t in own.items() if job != DISTURBED or not arm.endswith(", ack")}
            for arm, own in point.times.items()
        }
        return replace(point, times=times)

    rows = []
    for flavour in ("mpich", "openmpi"):
        for size in multicast.SCATTER:
            point = multicasts(flavour)["scatter", size, multicast.MANY]
            cells = milliseconds(quiet(point) if flavour == "mpich" else point, SCATTER)
            rows.append((f"{LIBRARIES[flavour]}, {size} B", *cells))
    return table((f"Scatter, {multicast.MANY} hosts", *SCATTER), rows, (0,))


def milliseconds(point: Point, arms: Sequence[str]) -> list[str]:
    return [span([1e3 * seconds for seconds in point.times.get(arm, {}).values()]) for arm in arms]


def by_hosts(size: int) -> list[str]:
    rows = []
    for flavour in ("mpich", "openmpi"):
        for hosts in map(int, multicast.HOSTS.split(",")):
            point = multicasts(flavour)["bcast", size, hosts]
            rows.append((f"{LIBRARIES[flavour]}, {hosts}", *milliseconds(point, BCAST)))
    return table(("hosts", *BCAST), rows, (0,))


def scatterv() -> list[str]:
    arms = ("native", *SCATTERV[1:])
    rows = []
    for flavour in ("mpich", "openmpi"):
        for size in multicast.SCATTERV:
            point = multicasts(flavour)["scatterv", size, multicast.MANY]
            rows.append((f"{LIBRARIES[flavour]}, {size} B", *milliseconds(point, arms)))
    return table((f"Scatterv, {multicast.MANY} hosts", *SCATTERV), rows, (0,))


def allgather() -> list[str]:
    rows = []
    for flavour in ("mpich", "openmpi"):
        for size in multicast.TABLE_1:
            point = multicasts(flavour)["allgather", size, multicast.SIXTEEN]
            beside = multicasts(flavour)[multicast.EXCHANGE, size, multicast.SIXTEEN]
            own = milliseconds(point, ALLGATHER[:4])
            exchanged = milliseconds(beside, (multicast.UNICAST, multicast.PHASED))
            rows.append((f"{LIBRARIES[flavour]}, {size} B", *own, *exchanged))
    return table((f"Allgather, {multicast.SIXTEEN} hosts", *ALLGATHER), rows, (0,))


def alltoall() -> list[str]:
    arms = ("native", *multicast.IN_PHASES)
    rows = []
    for flavour in ("mpich", "openmpi"):
        for hosts in (multicast.FEW, multicast.SIXTEEN):
            for size in multicast.ALLTOALL:
                point = multicasts(flavour)["alltoall", size, hosts]
                where = f"{LIBRARIES[flavour]}, {size_text(size)}, {hosts} hosts"
                rows.append((where, *milliseconds(point, arms)))
    return table(("Alltoall", *arms), rows, (0,))


# --- applications


def programs(flavour: str) -> list[str]:
    found = read_json(FOLDER / "tables.json.zst")["results"]
    (times,) = (applications.read(own) for bed, own in found.items() if flavour in bed.split(", "))
    rows = [(program_text(one), *program_cells(one)) for one in times]
    head = (LIBRARIES[flavour], "native", *applications.ARMS[:3], "persistent, credits")
    return table((*head, "paper: phased / LAM/MPI, / MPICH"), rows, (0,))


def program_text(one: Times) -> str:
    return one.cell.words.removesuffix(f", {one.cell.ranks} ranks")


def program_cells(one: Times) -> list[str]:
    cells = []
    for arm in (applications.NATIVE, *applications.ARMS):
        seconds, ratio = one.seconds.get(arm), one.ratio(arm)
        text = f"{median(seconds):.2f}" if seconds else ""
        over = f": {applications.span(ratio)}" if ratio and arm != applications.NATIVE else ""
        cells.append(text + over)
    of_paper = [one.cell.of_paper(rival) for rival in ("LAM/MPI", "MPICH")]
    return [*cells, ", ".join(f"{figure:.2f}" if figure else "-" for figure in of_paper)]


TABLES: Mapping[str, Callable[[], Sequence[str]]] = {
    "own, mpich": partial(matrix_table, "own", "mpich", OWN_ARMS),
    "own, openmpi": partial(matrix_table, "own", "openmpi", OWN_ARMS),
    "goals": goals,
    "against native": against_native,
    "paper, mpich": partial(matrix_table, "paper", "mpich", PAPER_ARMS),
    "paper, openmpi": partial(matrix_table, "paper", "openmpi", PAPER_ARMS),
    "losses": losses,
    "bcast": bcasts,
    "bcast, goals": bcast_goals,
    "figure 7": partial(by_hosts, multicast.FIGURES[7]),
    "figure 8": partial(by_hosts, multicast.FIGURES[8]),
    "scatter": scatter,
    "scatterv": scatterv,
    "allgather": allgather,
    "alltoall": alltoall,
    "programs, mpich": partial(programs, "mpich"),
    "programs, openmpi": partial(programs, "openmpi"),
}
