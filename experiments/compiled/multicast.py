"""Compiled communication (CC-MPI), Figures 7 to 12 and Table 1: multicast and phases in collectives.

  sudo .venv/bin/unisono lab up --hosts 32 --rate 100mbit
  sudo .venv/bin/python -m experiments.compiled.multicast --json F --markdown T
  .venv/bin/python -m experiments.compiled.multicast --report F --markdown T

Figures 7 and 8: Bcast of 1 B and 10 KB on 2 to 29 hosts; the goals: 64 KiB and 1 MiB on 16 and 32. Figure
9: Scatter on 29. Figure 10: a Scatterv to five of 29, by benchmarks/calls/matrices.cpp: static, the group of
all; dynamic, a group that is made in the call (UNISONO_MCAST_GROUPS=2, other receivers each time); assisted,
a persistent call. Table 1: Allgather on 16; its unicast and phased are the same messages as an Alltoall by
simple and ring_barrier, in the same job. Figures 11 and 12: Alltoall in phases on 4 and 16 hosts. Receivers
ask for what is missing (nack) or acknowledge all (ack), in jobs of their own. A round is one job of each
kind, ratios are of the same round.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import harness, testbeds
from experiments.arrival.measuring import numbers_of
from experiments.compiled.matrices import FOLDER, MATRICES
from experiments.harness import Check, above, below
from experiments.markdown import table, verdicts
from experiments.orthogonal.layouts import some_of
from experiments.pipelines import measuring, wire
from experiments.pipelines.measuring import NATIVE, Plan, Point
from experiments.testbeds import Json, Real, Run

EXPERIMENT = "compiled-multicast"
MULTICAST, BY_ACK = "multicast", "multicast, ack"
CHAIN, CIRCULANT = "chain:segment=4K", "circulant:segment=4K"
KIB, MIB = 1 << 10, 1 << 20
HOSTS = "2,4,8,16,24,29"
FIGURES = {7: 1, 8: 10 * KIB}  # bytes of a Bcast
GOALS = {64 * KIB: 1.15, MIB: 1.06}  # times the wire
GOAL_HOSTS = (16, 32)
MANY = 29
SCATTER = (10, 50, 100, 200)
SCATTERV = (10, 100, 1000)
STATIC, DYNAMIC, ASSISTED = "static", "dynamic", "assisted"
UNICAST, PHASED = "simple", "ring_barrier"  # of Alltoall
# Milliseconds of an Allgather on 16 nodes: Karwande, Yuan, Lowenthal 2003, Table 1.
TABLE_1 = {
    1: {MULTICAST: 1.8, UNICAST: 1.1, PHASED: 17.7, "LAM/MPI": 0.7, "MPICH": 1.9},
    KIB: {MULTICAST: 8.7, UNICAST: 9.4, PHASED: 18.1, "LAM/MPI": 7.6, "MPICH": 5.0},
    8 * KIB: {MULTICAST: 61.4, UNICAST: 82.5, PHASED: 28.7, "LAM/MPI": 108.4, "MPICH": 15.3},
    64 * KIB: {MULTICAST: 494.2, UNICAST: 705.2, PHASED: 112.2, "LAM/MPI": 937.7, "MPICH": 335.0},
    256 * KIB: {MULTICAST: 1987.0, UNICAST: 2739.6, PHASED: 378.8, "LAM/MPI": 3706.8, "MPICH": 905.1},
}
FEW, SIXTEEN = 4, 16  # hosts of Figures 11 and 12
ALLTOALL = (4 * KIB, 16 * KIB, 32 * KIB, 64 * KIB)
IN_PHASES = (PHASED, "all_to_all_based_barriers", "ring_light_barrier")
TIMES_NATIVE = 1.5  # of LAM/MPI's, 64 KB on 16 nodes; 5 of MPICH's
EXCHANGE = "alltoall beside allgather"  # Table 1's; Figure 12 has one of as many hosts and bytes
PARTS = ("bcast", "goals", "scatter", "scatterv", "allgather", "alltoall")


# --- measuring ------------------------------------------------------------------------------------


def both(plan: Plan) -> list[Plan]:
    """With either reliability; what does not multicast is in the first job, native in both."""
    cells = []
    for collective, sizes, arms in plan.cells:
        kept = [arm for arm in arms if arm in (NATIVE, MULTICAST)]
        cells += [(collective, sizes, kept)] if MULTICAST in kept else []
    by_ack = replace(plan, name=f"{plan.name} ack", cells=cells, variables=reliability("ack"))
    return [replace(plan, variables=reliability("nack")), by_ack]


def reliability(family: str) -> dict[str, str]:
    return {"UNISONO_MCAST_RELIABILITY": family}


Cells = list[tuple[str, str, Sequence[str]]]


def plans(parts: Sequence[str], hosts: Sequence[int]) -> list[Plan]:
    """All jobs of unisono-bench in a round."""
    made: list[Plan] = []
    cells: Cells
    arms = (NATIVE, MULTICAST, CHAIN, CIRCULANT)
    if "bcast" in parts:
        sizes = ",".join(map(str, FIGURES.values()))
        for ranks in hosts:
            made += both(Plan("bcast", ranks, [("bcast", sizes, arms)], 20, 0.5, calls=4))
    if "goals" in parts:
        for ranks in GOAL_HOSTS:
            cells = [("bcast", str(size), arms) for size in GOALS]
            made += both(Plan("goals", ranks, cells, 4, 1.5, calls=1))
    if "scatter" in parts:
        sizes = ",".join(map(str, SCATTER))
        cells = [("scatter", sizes, (NATIVE, MULTICAST, "flat", "binomial"))]
        made += both(Plan("scatter", MANY, cells, 20, 0.5, calls=4))
    if "allgather" in parts:
        cells = []
        for size in TABLE_1:
            cells.append(("allgather", str(size), (NATIVE, MULTICAST, "ring")))
            cells.append(("alltoall", str(size), (UNICAST, PHASED)))
        made += both(Plan("allgather", SIXTEEN, cells, 4, 1.0, calls=1))
    if "alltoall" in parts:
        cells = [("alltoall", ",".join(map(str, ALLTOALL)), (NATIVE, *IN_PHASES))]
        made += [Plan("alltoall", ranks, cells, 4, 1.0, calls=1) for ranks in (FEW, SIXTEEN)]
    return made


def checked(job: Json, plan: Plan) -> Json:
    """The bench leaves out what the MPI library would have run: without multicast there is nothing to say."""
    wanted = {(collective, arm) for collective, _, arms in plan.cells for arm in arms}
    for cell in job["cells"]:
        missing = [arm for name, arm in wanted if name == cell["collective"] and arm not in cell["arms"]]
        if missing or cell["passed_on"]:
            what = ", ".join(sorted({*missing, *cell["passed_on"]}))
            raise UnisonoError(
                f"{job['ranks']} ranks, {cell['collective']}, {cell['bytes']} B: not run: {what}"
            )
    return job


SCATTERV_JOBS: dict[str, tuple[list[str], dict[str, str], list[str]]] = {
    # The arms' text and name; variables; further options.
    STATIC: (["multicast"], {}, ["--rotate"]),
    DYNAMIC: (["multicast_receivers"], {"UNISONO_MCAST_GROUPS": "2"}, ["--rotate"]),
    ASSISTED: (["multicast_receivers+init"], {}, []),
}


def row_of_five(size: int) -> str:
    """Of the matrix the first row counts: to five of the ranks, as far from each other as can be."""
    receivers = {1 + k * (MANY - 1) // 5 for k in range(5)}
    first = [size if rank in receivers else 0 for rank in range(MANY)]
    rows = [first, *([[0] * MANY] * (MANY - 1))]
    return "\n".join(" ".join(map(str, row)) for row in rows) + "\n"


def one_to_five(bed: Real, size: int, scheme: str, turn: int, fresh: bool) -> Json:
    texts, variables, more = SCATTERV_JOBS[scheme]
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"five-{size}-{MANY}.txt"
    file.write_text(row_of_five(size))
    options = ["--counts", str(file), "--arms", " ".join([NATIVE, *texts]), "--collective", "scatterv"]
    options += ["--blocks", "20", "--drain", "64K", *more]
    run = Run(MATRICES, MANY, options, None, "--json", variables, turn)
    raw = harness.measure(bed, run, measuring.LIMIT, fresh)
    if raw["wrong"] or not all(arm["by_unisono"] for arm in raw["arms"][1:]):
        raise UnisonoError(
            f"scatterv of {size} B, {scheme}: {'wrong bytes' if raw['wrong'] else 'no multicast'}"
        )
    arms = {name: arm["seconds"] for name, arm in zip((NATIVE, scheme), raw["arms"], strict=True)}
    cell = {"collective": "scatterv", "bytes": size, "arms": arms, "passed_on": []}
    head = {"bed": bed.name, "ranks": MANY, "name": f"scatterv {scheme}", "round": turn, "op": measuring.SUM}
    return {**head, "cells": [cell]}


def measure(given: argparse.Namespace) -> Json:
    parts = some_of("--parts", given.parts, PARTS)
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    beds = [bed for bed in testbeds.parse(given.bed, mpis) if isinstance(bed, Real)]
    measuring.lab_only(beds)
    wanted = plans(parts, numbers_of(given.hosts, "--hosts"))
    jobs: list[Json] = []

    def one_round(turn: int) -> Iterator[Json]:
        for bed in beds:
            for plan in wanted:
                yield checked(measuring.run(bed, plan, turn, given.fresh), plan)
            for size in SCATTERV if "scatterv" in parts else ():
                for scheme in SCATTERV_JOBS:
                    yield one_to_five(bed, size, scheme, turn, given.fresh)

    described = {bed.name: bed.describe() | {"bits_per_second": bed.line_rate} for bed in beds}
    for one in measuring.in_rounds(one_round, given.rounds, given.minutes):
        jobs.append(one)
        if given.json:
            write_json(measuring.document(EXPERIMENT, described, jobs), given.json)
    return {"beds": described, "results": jobs}


# --- what came out --------------------------------------------------------------------------------

Key = tuple[str, int, int]  # collective, bytes, ranks


def found_in(body: Json, bed: str) -> dict[Key, Point]:
    """Of a job the median of its blocks. Native's own in the job beside stands under native of that job."""
    found: dict[Key, Point] = {}
    for job in body["results"]:
        if job["bed"] != bed:
            continue
        by_ack = job["name"].endswith(" ack")
        for cell in job["cells"]:
            is_exchange = job["name"] == "allgather" and cell["collective"] == "alltoall"
            key = (EXCHANGE if is_exchange else cell["collective"], cell["bytes"], job["ranks"])
            point = found.setdefault(key, Point(bed, job["ranks"], key[0], key[1]))
            for arm, seconds in cell["arms"].items():
                name = native_of(job["name"]) if arm == NATIVE else BY_ACK if by_ack else arm
                point.times.setdefault(name, {})[str(job["round"])] = statistics.median(seconds)
    return found


def native_of(job: str) -> str:
    """Jobs beside the first have a native of their own."""
    if job.endswith(" ack"):
        return f"{NATIVE}, ack"
    kind, _, scheme = job.partition(" ")
    return f"{NATIVE}, {scheme}" if kind == "scatterv" and scheme != STATIC else NATIVE


def beside(arm: str) -> str:
    return f"{NATIVE}, {arm}" if arm in (DYNAMIC, ASSISTED) else f"{NATIVE}, ack" if arm == BY_ACK else NATIVE


Points = Mapping[Key, Point]
Judge = Callable[[float, float, float], bool | None]


def judged(point: Point, arm: str, other: str, claim: str, judge: Judge = below) -> list[Check]:
    ratio = point.ratio(arm, other)
    return [Check(claim, judge(ratio.low, ratio.high, 1), ratio.text())] if ratio else []


def goals(points: Points, bits: float) -> list[Check]:
    made = []
    for (collective, size, ranks), point in points.items():
        if collective != "bcast" or size not in GOALS or ranks not in GOAL_HOSTS:
            continue
        for arm in (MULTICAST, BY_ACK):
            time = point.time(arm, wire.seconds("bcast", size, ranks, bits))
            if time:
                claim = f"bcast, {size // KIB} KiB, {ranks} hosts, {arm}: at most {GOALS[size]:g} of the wire"
                made.append(Check(claim, below(time.low, time.high, GOALS[size]), time.text(3)))
    return made


def paper_checks(points: Points) -> list[Check]:
    made = []
    for (collective, size, ranks), point in points.items():
        if collective == "bcast" and size == FIGURES[7] and ranks > 4:
            claim = f"Figure 7: bcast, 1 B, {ranks} hosts: multicast slower than the library's own"
            made += judged(point, MULTICAST, NATIVE, claim, above)
        elif collective == "bcast" and size == FIGURES[8] and ranks > 4:
            claim = f"Figure 8: bcast, 10 KB, {ranks} hosts: multicast faster than the library's own"
            made += judged(point, MULTICAST, NATIVE, claim)
        elif collective == "scatter" and size in (50, 200):
            word, judge = ("faster", below) if size == 50 else ("slower", above)
            claim = f"Figure 9: scatter, {size} B, {ranks} hosts: multicast {word} than the library's own"
            made += judged(point, MULTICAST, NATIVE, claim, judge)
        elif collective == "scatterv":
            for arm, other in ((ASSISTED, STATIC), (STATIC, DYNAMIC)):
                claim = f"Figure 10: one to five, {size} B, {ranks} hosts: {arm} faster than {other}"
                made += judged(point, arm, other, claim)
    return made + table_1(points) + phases(points)


def phases(points: Points) -> list[Check]:
    """Figure 11: from above 16 KB on they win on 4 nodes; Figure 12: clearly at 64 KB on 16."""
    made = []
    for (collective, size, ranks), point in points.items():
        if collective == "alltoall" and ranks == FEW and size > 16 * KIB:
            claim = (
                f"Figure 11: alltoall, {size // KIB} KiB, {ranks} hosts: phases faster than the library's own"
            )
            made += judged(point, PHASED, NATIVE, claim)
        ratio = point.ratio(NATIVE, PHASED)
        if ratio and (collective, size, ranks) == ("alltoall", 64 * KIB, SIXTEEN):
            claim = f"Figure 12: alltoall, 64 KiB, {ranks} hosts: phases {TIMES_NATIVE:g} times as fast"
            made.append(Check(claim, above(ratio.low, ratio.high, TIMES_NATIVE), ratio.text()))
    return made


def table_1(points: Points) -> list[Check]:
    """Of 1 B unicast is the fastest of the three, of 1 KB multicast, from 8 KB on phases."""
    made = []
    for (collective, size, ranks), point in points.items():
        exchange = points.get((EXCHANGE, size, ranks))
        if collective != "allgather" or size not in TABLE_1 or not exchange:
            continue
        together = Point(point.bed, ranks, collective, size, times={**exchange.times, **point.times})
        fastest = UNICAST if size == 1 else MULTICAST if size == KIB else PHASED
        for other in (UNICAST, MULTICAST, PHASED):
            if other != fastest:
                claim = f"Table 1: allgather, {size} B, {ranks} hosts: {fastest} faster than {other}"
                made += judged(together, fastest, other, claim)
    return made


HEAD = ("collective", "bytes", "hosts", "arm", "ms", "times the wire", "/ native", "paper, ms")


def rows_of(points: Points, bits: float) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for (collective, size, ranks), point in points.items():
        blocks = (
            ranks - 1
            if collective in ("allgather", "alltoall", EXCHANGE, "scatter")
            else 5
            if collective == "scatterv"
            else 1
        )
        line = 8 * blocks * size / bits
        of_paper = TABLE_1.get(size, {}) if collective in ("allgather", EXCHANGE) and ranks == 16 else {}
        for arm, own in point.times.items():
            milliseconds = 1e3 * statistics.median(own.values())
            ratio = point.ratio(arm, beside(arm)) if not arm.startswith(NATIVE) else None
            time = point.time(arm, line)
            figure = f"{of_paper[arm]}" if arm in of_paper else ""
            if of_paper and arm == NATIVE:
                figure = f"{of_paper['LAM/MPI']}, {of_paper['MPICH']}"
            rows.append(
                (
                    *(collective, str(size), str(ranks), arm, f"{milliseconds:.3f}"),
                    time.text(3) if time and size >= KIB else "",
                    *(ratio.text() if ratio else "", figure),
                )
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.lab_parser(__doc__)
    add = parser.add_argument
    add("--parts", default=",".join(PARTS), help="some of them; all by default")
    add("--hosts", default=HOSTS, help=f"of Figures 7 and 8 ({HOSTS})")
    add("--rounds", type=int, default=4, help="jobs of each kind (4)")
    add("--minutes", type=float, default=25.0, help="for all rounds (25); two are run in any case")
    given = parser.parse_args(arguments)
    body = measuring.read(given.kept, EXPERIMENT) if given.kept else measure(given)
    made, sections = {}, []
    for bed, described in body["beds"].items():
        points, bits = found_in(body, bed), described["bits_per_second"]
        made[bed] = [*goals(points, bits), *paper_checks(points)]
        rows = rows_of(points, bits)
        sections += [f"### {bed}", "", *table(HEAD, rows, (0, 3)), *verdicts(made[bed])]
    harness.report(made)
    if given.markdown:
        given.markdown.write_text("\n".join(sections))
    return 0


if __name__ == "__main__":
    harness.run(main)
