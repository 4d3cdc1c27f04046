"""Compiled communication (CC-MPI), Tables 2 and 3, and matrices of our own: MPI_Alltoallv in the lab.

  sudo .venv/bin/unisono lab up --hosts 16 --rate 100mbit
  sudo .venv/bin/python -m experiments.compiled.matrices --json F --markdown T
  .venv/bin/python -m experiments.compiled.matrices --report F --markdown T

Matrices by seed: uniform, Zipf, a quarter of the pairs (sparse), hot receivers, of so many bytes a message in
the mean; equal blocks (Table 2); the paper's random pattern (Table 3). A job (benchmarks/calls/matrices.cpp)
has all arms of a matrix in turn, after drained ports, and every byte is checked. Levels, as in the paper:
1, counts are exchanged in each call (UNISONO_REPEATS=0); 2, known before; 3, the order is in a file. Times
are over the wire: the bytes of the busiest rank at the line rate, of which TCP takes 1.046.
"""

import argparse
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from unisono.core import catalogue, files, places
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import harness, testbeds
from experiments.arrival.measuring import numbers_of, paired_ratio
from experiments.compiled import patterns
from experiments.compiled.patterns import EQUAL, TABLE_3, Cell
from experiments.harness import Check, above, below
from experiments.markdown import table, verdicts
from experiments.orthogonal.layouts import some_of
from experiments.pipelines import measuring
from experiments.pipelines.measuring import NATIVE, Point, Ratio
from experiments.testbeds import ROOT, Json, Program, Real, Run

EXPERIMENT = "compiled-matrices"
MATRICES = Program("unisono-matrices", ROOT / "benchmarks/calls/matrices.cpp", True, True)
FOLDER = harness.STORE / "matrices"
LEVELS = {1: "", 2: "+known", 3: "+stored"}
LIST = "token_list"
WINDOWS = ("token_list+known", "token_list:window=1+known", "token_list:window=4+known")
CREDITS = "credits"
GOAL_ARMS = (
    *(NATIVE, CREDITS, "credits:window=8", "credits:window=24"),
    *(LIST, *WINDOWS, "token_list+stored", "ring_light_barrier"),
)
PHASES = ("greedy_barriers", "all_to_all_based_barriers")
MORE_ARMS = (
    *(f"{phases}{suffix}" for phases in PHASES for suffix in LEVELS.values()),
    *("greedy_light_barriers+known", "greedy+known"),
    *("all_to_all_based_light_barriers+known", "all_to_all_based+known"),
    *("edge_colouring+known", "simple", "pair"),
)
MOST, TIMES_NATIVE = 1.12, 1.5  # the goals: of the wire; as fast as the libraries, in the geometric mean
SHORT = 20e-3  # seconds; several calls of less are timed in one go: ranks leave a barrier one by one
# Milliseconds on 16 nodes: Karwande, Yuan, Lowenthal 2003. Phases are those based on the all-to-all.
TABLE_2 = {
    2: (23.6, 21.2, 20.0, 3.5),
    4: (26.4, 24.1, 22.8, 8.5),
    8: (32.5, 30.1, 28.8, 30.2),
    16: (44.5, 42.2, 40.9, 88.0),
    32: (67.4, 65.1, 63.7, 142.4),
    64: (112.0, 109.7, 108.4, 214.1),
}
POINT_TO_POINT = "simple"
IN_TABLE_3 = {"all_to_all_based_barriers": (108.3, 106.0, 105.9), "greedy_barriers": (125.5, 123.3, 123.2)}
LIBRARIES = {"LAM/MPI": 165.5, "MPICH": 358.3}


# --- measuring ------------------------------------------------------------------------------------


def arms_of(cell: Cell, chosen: str) -> list[str]:
    """All in the cells of the paper and of 64 KiB, or those of the goals."""
    every = chosen == "all" or (chosen == "auto" and (cell.of_paper or cell.kib == 64))
    arms = [*GOAL_ARMS, *(MORE_ARMS if every else ())]
    return [arm for arm in arms if arm != "pair" or cell.ranks & (cell.ranks - 1) == 0]


def written(cell: Cell, seed: int) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{cell.kind}-{cell.kib}-{cell.ranks}-{seed}.txt"
    lines = (" ".join(map(str, row)) for row in patterns.matrix(cell, seed))
    file.write_text("\n".join(lines) + "\n")
    return file


def stored(counts: Path, arm: str) -> Path:
    """The order by an arm's rule; short messages share a phase as they do in a call."""
    rule = arm.removesuffix("_barriers")
    file = counts.with_suffix(f".{rule}.json")
    threshold = "0" if rule == LIST else "1K"
    files.write_text(
        catalogue.ask("order", "make", "--matrix", str(counts), "--rule", rule, "--threshold", threshold),
        file,
    )
    return file


def job(bed: Real, cell: Cell, turn: int, given: argparse.Namespace) -> Json:
    counts = written(cell, given.seed)
    arms = arms_of(cell, given.arms)
    as_text = [
        f"{arm}={stored(counts, arm.removesuffix('+stored'))}" if arm.endswith("+stored") else arm
        for arm in arms
    ]
    wire = 8 * patterns.busiest(cell, given.seed) / (bed.line_rate or 1e8)
    calls = max(1, min(8, round(SHORT / wire)))
    options = ["--counts", str(counts), "--arms", " ".join(as_text), "--blocks", str(given.blocks)]
    options += ["--calls", str(calls), "--drain", "64K"]
    # The network is measured, as in any job: long messages go in portions where that says so (ADR 33).
    variables = {"UNISONO_REPEATS": "0", "UNISONO": "measure", "UNISONO_ONLINE": "off"}
    run = Run(MATRICES, cell.ranks, options, into="--json", variables=variables, repetition=turn)
    raw = harness.measure(bed, run, measuring.LIMIT, given.fresh)
    return {"bed": bed.name, "round": turn, **kept_of(cell, arms, raw)}


def kept_of(cell: Cell, arms: Sequence[str], raw: Json) -> Json:
    where = f"{cell.words}, {cell.ranks} ranks"
    if raw["wrong"]:
        raise UnisonoError(f"{where}: {raw['wrong']:g} wrong bytes")
    own = dict(zip(arms, raw["arms"], strict=True))
    passed_on = [arm for arm, one in own.items() if arm != NATIVE and not one["by_unisono"]]
    if passed_on:
        raise UnisonoError(f"{where}: the MPI library ran {', '.join(passed_on)}")
    seconds = {arm: [round(s, 8) for s in one["seconds"]] for arm, one in own.items()}
    return {"cell": vars(cell), "busiest_port": raw["busiest_port"], "calls": raw["calls"], "arms": seconds}


def measure(given: argparse.Namespace) -> Json:
    cells = cells_of(given)
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    beds = [bed for bed in testbeds.parse(given.bed, mpis) if isinstance(bed, Real)]
    measuring.lab_only(beds)
    jobs: list[Json] = []

    def one_round(turn: int) -> Iterator[Json]:
        for bed in beds:
            for cell in cells:
                yield job(bed, cell, turn, given)

    described = {bed.name: bed.describe() | {"bits_per_second": bed.line_rate} for bed in beds}
    for one in measuring.in_rounds(one_round, given.rounds, given.minutes):
        jobs.append(one)
        if given.json:
            write_json(measuring.document(EXPERIMENT, described, jobs), given.json)
    return {"beds": described, "results": jobs}


# --- what came out --------------------------------------------------------------------------------

Found = dict[str, dict[Cell, Point]]  # by test bed; times are over the wire


def found_in(body: Json) -> Found:
    """Of a job the median of its blocks."""
    found: Found = {}
    for one in body["results"]:
        cell = Cell(**one["cell"])
        own = found.setdefault(one["bed"], {})
        point = own.setdefault(cell, Point(one["bed"], cell.ranks, "alltoallv", 1024 * cell.kib, cell.kind))
        wire = 8 * one["busiest_port"] / body["beds"][one["bed"]]["bits_per_second"]
        for arm, seconds in one["arms"].items():
            point.times.setdefault(arm, {})[str(one["round"])] = statistics.median(seconds) / wire
    return found


def mean_over(points: Sequence[Point], arm: str, other: str) -> Ratio | None:
    """Geometric mean over the cells of arm / other in each round, and its interval over the rounds."""
    both = [p for p in points if p.times.get(arm) and p.times.get(other)]
    rounds = set.intersection(*(set(p.times[arm]) & set(p.times[other]) for p in both)) if both else set()
    if not rounds:
        return None
    own = [
        statistics.geometric_mean(p.times[arm][r] / p.times[other][r] for p in both) for r in sorted(rounds)
    ]
    return Ratio(*paired_ratio(own, [1.0] * len(own)))


def goals(points: Mapping[Cell, Point]) -> list[Check]:
    """Of the matrices that are not the paper's; of token lists that with the window that is best over all."""
    own = {cell: point for cell, point in points.items() if not cell.of_paper}
    if not own:
        return []
    made = []
    for arm in (best_window(list(own.values())), CREDITS):
        for cell, point in own.items():
            time = point.time(arm)
            if time:
                claim = f"{cell.words}, {cell.ranks} hosts: {arm} at most {MOST:g} of the largest port sum"
                made.append(Check(claim, below(time.low, time.high, MOST), time.text(3)))
        for ranks in sorted({cell.ranks for cell in own}):
            ratio = mean_over([p for c, p in own.items() if c.ranks == ranks], NATIVE, arm)
            if ratio:
                claim = f"{ranks} hosts: {arm} {TIMES_NATIVE:g} times as fast as the library, geometric mean"
                made.append(Check(claim, above(ratio.low, ratio.high, TIMES_NATIVE), ratio.text()))
    return made


def best_window(points: Sequence[Point]) -> str:
    """One for all cells: none is chosen for its luck in one."""

    def all_over(arm: str) -> float:
        times = [t for p in points for t in p.times.get(arm, {}).values()]
        return statistics.geometric_mean(times) if times else float("inf")

    return min(WINDOWS, key=all_over)


def paper_checks(points: Mapping[Cell, Point]) -> list[Check]:
    made = []
    for cell, point in points.items():
        if cell.kind == EQUAL:
            made += levels(point, PHASES[1], cell) + against_messages(point, cell)
        elif cell.kind == TABLE_3:
            for phases in PHASES:
                made += levels(point, phases, cell)
                made += claimed(
                    point, phases, NATIVE, f"{cell.title}: {phases} faster than the library's own"
                )
            made += claimed(point, PHASES[1], PHASES[0], f"{cell.title}: all-to-all based faster than greedy")
    return made


def claimed(point: Point, arm: str, other: str, claim: str) -> list[Check]:
    ratio = point.ratio(arm, other)
    return [Check(claim, below(ratio.low, ratio.high, 1), ratio.text(3))] if ratio else []


def levels(point: Point, phases: str, cell: Cell) -> list[Check]:
    made = []
    for low, high in ((1, 2), (2, 3)):
        claim = f"{cell.title}, {phases}: Level {high} faster than Level {low}"
        made += claimed(point, phases + LEVELS[high], phases + LEVELS[low], claim)
    return made


def against_messages(point: Point, cell: Cell) -> list[Check]:
    """Table 2: up to 4 KB messages alone are faster, from 16 KB on phases."""
    if cell.kib <= 4:
        return claimed(point, POINT_TO_POINT, PHASES[1], f"{cell.title}: point to point faster than phases")
    if cell.kib >= 16:
        return claimed(point, PHASES[1], POINT_TO_POINT, f"{cell.title}: phases faster than point to point")
    return []


def of_paper(cell: Cell, arm: str) -> str:
    """The paper's own milliseconds."""
    phases, _, level = arm.partition("+")
    at = list(LEVELS.values()).index(f"+{level}" if level else "")
    if cell.ranks != 16 or phases not in (*PHASES, POINT_TO_POINT):
        return (
            f"{LIBRARIES['LAM/MPI']}, {LIBRARIES['MPICH']}" if (cell.kind, arm) == (TABLE_3, NATIVE) else ""
        )
    if cell.kind == TABLE_3:
        return f"{IN_TABLE_3[phases][at]}" if phases in IN_TABLE_3 else ""
    if cell.kind == EQUAL and cell.kib in TABLE_2 and phases != PHASES[0]:
        return f"{TABLE_2[cell.kib][3 if phases == POINT_TO_POINT else at]}"
    return ""


HEAD = ("matrix", "hosts", "arm", "times the wire", "/ native", "ms", "paper, ms")


def rows_of(points: Mapping[Cell, Point], ports: Mapping[Cell, float]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for cell, point in points.items():
        for arm, own in point.times.items():
            time, ratio = point.time(arm), point.ratio(arm, NATIVE)
            milliseconds = 1e3 * ports[cell] * statistics.median(own.values())
            rows.append(
                (
                    *(cell.words, str(cell.ranks), arm, time.text(3) if time else ""),
                    ratio.text() if ratio and arm != NATIVE else "",
                    *(f"{milliseconds:.1f}", of_paper(cell, arm)),
                )
            )
    return rows


def means(points: Mapping[Cell, Point]) -> list[tuple[str, ...]]:
    """Over the matrices that are not the paper's, arm / native."""
    rows: list[tuple[str, ...]] = []
    own = [(cell, point) for cell, point in points.items() if not cell.of_paper]
    for ranks in sorted({cell.ranks for cell, _ in own}):
        of_hosts = [point for cell, point in own if cell.ranks == ranks]
        for arm in dict.fromkeys(arm for point in of_hosts for arm in point.times):
            ratio = mean_over(of_hosts, arm, NATIVE)
            cells = sum(arm in point.times for point in of_hosts)
            if ratio and arm != NATIVE:
                rows.append((str(ranks), arm, str(cells), ratio.text()))
    return rows


def section(body: Json, bed: str, points: Mapping[Cell, Point], made: Sequence[Check]) -> str:
    bits = body["beds"][bed]["bits_per_second"]
    ports = {Cell(**one["cell"]): 8 * one["busiest_port"] / bits for one in body["results"]}
    return "\n".join(
        [
            *(f"### {bed}", "", *table(HEAD, rows_of(points, ports), (0, 2))),
            *table(("hosts", "arm", "matrices", "/ native, geometric mean"), means(points), (1,)),
            *verdicts(made),
        ]
    )


def cells_of(given: argparse.Namespace) -> list[Cell]:
    kinds = some_of("--kinds", given.kinds, (*patterns.OWN, EQUAL, TABLE_3))
    found = []
    for ranks in numbers_of(given.ranks, "--ranks"):
        for kind in kinds:
            sizes = list(TABLE_2) if kind == EQUAL else [0] if kind == TABLE_3 else given.sizes
            found += [Cell(kind, kib, ranks) for kib in sizes]
    return found


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = measuring.lab_parser(__doc__)
    add = parser.add_argument
    add("--ranks", default="16", help="hosts, several by commas (16)")
    add("--kinds", default=",".join((*patterns.OWN, EQUAL, TABLE_3)), help="of matrices; all by default")
    add("--means", default="8,32,64,256", help="KiB a message, of our own matrices (8,32,64,256)")
    add(
        "--arms",
        default="auto",
        choices=("auto", "all", "goals"),
        help="auto: all in the paper's cells and of 64 KiB",
    )
    add("--blocks", type=int, default=2, help="of a job (2)")
    add("--seed", type=int, default=1, help="of the matrices (1)")
    add("--rounds", type=int, default=4, help="jobs of each matrix (4)")
    add("--minutes", type=float, default=25.0, help="for all rounds (25); two are run in any case")
    given = parser.parse_args(arguments)
    given.sizes = numbers_of(given.means, "--means")
    if min(given.rounds, given.blocks) < 1:
        raise UnisonoError("--rounds, --blocks: one at least")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    body = measuring.read(given.kept, EXPERIMENT) if given.kept else measure(given)
    found = found_in(body)
    made = {bed: [*goals(points), *paper_checks(points)] for bed, points in found.items()}
    harness.report(made)
    if given.markdown:
        sections = [section(body, bed, points, made[bed]) for bed, points in found.items()]
        given.markdown.write_text("\n".join(sections))
    return 0


if __name__ == "__main__":
    harness.run(main)
