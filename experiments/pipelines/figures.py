"""Pipelining and overlapping (Worringer 2003), Figures 3 and 4, and the goals for long messages in the lab.

  sudo .venv/bin/unisono lab up --hosts 16 --rate 100mbit
  sudo .venv/bin/python -m experiments.pipelines.figures --bed lab --minutes 15 --json F --markdown T
  .venv/bin/python -m experiments.pipelines.figures --bed node --json F --markdown T
  .venv/bin/python -m experiments.pipelines.figures --report F [F...] --markdown T

Bandwidth per process over the length: trees (the paper's generic algorithms), the MPI library's own,
pipelines, and for Allreduce Rabenseifner's algorithm; on a node all messages but those of the library go
through the memory that the ranks share, as in the paper. All arms of a cell in one job, in turn; --rounds
jobs of each kind, spread over the run, no round begun that --minutes are not enough for. Ratios are of the
same round, their interval Student's of 95 % over the rounds. `default`, what Unisono chooses, on the node
only: in the lab it learns from more calls.

In the lab ports are drained before every call, and times are also times the wire: m at the line rate,
2 (p - 1) / p m for Allreduce. TCP takes 1.046 of it. `rounds` is what an algorithm would take without
latency, times the wire.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.figure import Figure
from unisono.core import places
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import harness, testbeds
from experiments.harness import Check
from experiments.markdown import table, verdicts
from experiments.pipelines import copies, goals, measuring, paper, wire
from experiments.pipelines.measuring import DEFAULT, NATIVE, SUM, Plan, Point
from experiments.pipelines.paper import GENERIC, PIPELINED, RABENSEIFNER
from experiments.testbeds import Json, Real

EXPERIMENT = "pipelines-figures"
RANKS = {"lab": "2,3,4,5,6,7,8,13,16", "node": "2"}
SIZES = {"lab": "64K,256K", "node": "16K,32K,64K,256K,1M,4M"}
THROUGH_MEMORY = ":transport=shm"
LONGER = (8, 16)  # numbers of ranks that have 1 MiB in the lab too; Scan, which takes longest, on 8 only
ARMS = {
    "bcast": (NATIVE, "binomial", "chain", "circulant", DEFAULT),
    "reduce": (NATIVE, "binomial", "chain", "circulant", DEFAULT),
    "scan": (NATIVE, "linear", "chain", DEFAULT),
    "allreduce": (NATIVE, "reduce_bcast", RABENSEIFNER, "chain", "pipeline", DEFAULT),
}
PARTS = ("figures", "goals")


@dataclass(frozen=True)
class Options:
    testbeds: list[Real]
    ranks: str
    sizes: str
    parts: tuple[str, ...]
    rounds: int
    minutes: float
    fresh: bool
    kept: list[Path]
    json: Path | None
    markdown: Path | None


def parse(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--bed", default="lab", help="node, lab (lab)")
    add("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    add("--ranks", default="", help=f"({RANKS['lab']}; on the node {RANKS['node']})")
    add("--sizes", default="", help=f"({SIZES['lab']}, and 1M on {LONGER}; on the node {SIZES['node']})")
    add("--parts", default="figures,goals", help="figures, goals (both; goals in the lab only)")
    add("--rounds", type=int, default=6, help="jobs of each kind (6)")
    add("--minutes", type=float, default=15.0, help="for all rounds (15); two are run in any case")
    add("--fresh", action="store_true", help="measure anew what is kept from before")
    add(
        "--report", "--from", dest="kept", nargs="+", default=[], type=Path, help="evaluate what --json wrote"
    )
    add("--json", type=Path, help="write every job's times to this file, anew after every round")
    add("--markdown", type=Path, help="write the tables to this file")
    given = parser.parse_args(arguments)
    parts = tuple(given.parts.split(","))
    if not set(parts) <= set(PARTS):
        raise UnisonoError(f"--parts {given.parts}: valid are {', '.join(PARTS)}")
    mpis = [] if given.kept else [places.find_mpi(name) for name in given.mpi.split(",")]
    beds = [] if given.kept else testbeds.parse(given.bed, mpis)
    real = [bed for bed in beds if isinstance(bed, Real)]
    if len(real) < len(beds):
        raise UnisonoError(f"--bed {given.bed}: node or lab; the simulator has `unisono sim`")
    return Options(
        testbeds=real,
        ranks=given.ranks,
        sizes=given.sizes,
        parts=parts,
        rounds=given.rounds,
        minutes=given.minutes,
        fresh=given.fresh,
        kept=given.kept,
        json=given.json,
        markdown=given.markdown,
    )


def arms_of(collective: str, on_wire: bool) -> list[str]:
    if on_wire:
        return [arm for arm in ARMS[collective] if arm != DEFAULT]
    return [arm if arm in (NATIVE, DEFAULT) else arm + THROUGH_MEMORY for arm in ARMS[collective]]


def by_algorithm(points: Sequence[Point]) -> list[Point]:
    """Whatever carried its messages."""
    return [
        replace(point, times={arm.removesuffix(THROUGH_MEMORY): times for arm, times in point.times.items()})
        for point in points
    ]


def sizes_of(collective: str, ranks: int, kind: str, options: Options) -> str:
    longer = kind == "lab" and ranks in LONGER and (collective != "scan" or ranks == min(LONGER))
    return options.sizes or SIZES[kind] + (",1M" if longer else "")


def plans(kind: str, options: Options) -> list[Plan]:
    """The jobs of a round."""
    made: list[Plan] = []
    on_wire = kind == "lab"
    counts = [int(word) for word in (options.ranks or RANKS[kind]).split(",")]
    if "figures" in options.parts:
        for ranks in counts:
            cells = [(name, sizes_of(name, ranks, kind, options), arms_of(name, on_wire)) for name in ARMS]
            how = {"blocks": 1, "calls": 1} if on_wire else {"blocks": 20, "budget": 0.15}
            made.append(Plan("figures", ranks, cells, **how))
    if "goals" in options.parts and on_wire:
        made += [plan for ranks in goals.HOSTS if ranks in counts for plan in goals.plans(ranks)]
    return made


def measure(options: Options) -> tuple[dict[str, Json], list[Json]]:
    beds = {bed.name: bed.describe() for bed in options.testbeds}
    jobs: list[Json] = []

    def one_round(turn: int) -> Iterator[Json]:
        for bed in options.testbeds:
            for plan in plans(bed.bed.kind, options):
                yield measuring.run(bed, plan, turn, options.fresh)

    for job in measuring.in_rounds(one_round, options.rounds, options.minutes):
        jobs.append(job)
        if options.json:
            write_json(measuring.document(EXPERIMENT, beds, jobs), options.json)
    return beds, jobs


def bits_of(bed: Json) -> float | None:
    """Of a port; None on a node."""
    rate: float | None = bed.get("bits_per_second")
    return rate


def checks(points: Sequence[Point], bits: float | None) -> list[Check]:
    sums = [point for point in points if point.op == SUM]
    return paper.checks(sums) + (goals.checks(points, bits) if bits else copies.checks(points))


def crowded(jobs: Sequence[Json]) -> set[int]:
    """Numbers of ranks that share the cores of a node."""
    return {job["ranks"] for job in jobs if job["ranks"] > job["nodes"] * job["cores"]}


# --- tables ------------------------------------------------------------------------------------------


def rounds_of(points: Sequence[Point]) -> list[dict[str, float]]:
    named = [[arm for arm in point.times if arm not in (NATIVE, DEFAULT)] for point in points]
    wanted = [(p.collective, p.bytes, p.ranks, arms) for p, arms in zip(points, named, strict=True)]
    return wire.rounds(wanted)


def curve_table(points: Sequence[Point], bits: float | None, shared: set[int]) -> list[str]:
    """A row for each number of ranks and size of one collective: MB/s on each process (times the wire)."""
    collective = points[0].collective
    arms = [arm for arm in ARMS[collective] if any(arm in point.times for point in points)]
    generic, pipelined = GENERIC[collective], PIPELINED[collective]
    ordered = sorted(points, key=lambda point: (point.bytes, point.ranks))
    arithmetic = rounds_of(ordered) if bits else [{} for _ in ordered]
    head = ["bytes", "ranks", *arms, f"{generic} / {pipelined}"]
    head += [f"rounds of {generic}", f"of {pipelined}"] if bits else []
    rows = []
    for point, ideal in zip(ordered, arithmetic, strict=True):
        row = [format_size(point.bytes), str(point.ranks) + "*" * (point.ranks in shared)]
        row += [speed(point, arm, bits) for arm in arms]
        ratio = point.ratio(generic, pipelined)
        row.append(ratio.text() if ratio else "")
        row += [f"{ideal[arm]:.2f}" if arm in ideal else "" for arm in (generic, pipelined)] if bits else []
        rows.append(row)
    return table(head, rows, ())


def speed(point: Point, arm: str, bits: float | None) -> str:
    seconds = point.time(arm)
    if not seconds:
        return ""
    text = f"{point.bytes / seconds.value / 1e6:.3g}"
    if not bits:
        return text
    return f"{text} ({seconds.value / wire.seconds(point.collective, point.bytes, point.ranks, bits):.2f})"


def goal_table(points: Sequence[Point], bits: float) -> list[str]:
    """Every arm that was tried for a goal: times the wire, and its rounds without latency."""
    own = [p for p in points if any(job.startswith("goals") for arm in p.times.values() for job in arm)]
    rows = []
    for point, ideal in zip(own, rounds_of(own), strict=True):
        unit = wire.seconds(point.collective, point.bytes, point.ranks, bits)
        for arm, times in point.times.items():
            there = {job: seconds for job, seconds in times.items() if job.startswith("goals")}
            ratio = Point(point.bed, point.ranks, "", 0, "", {arm: there}).time(arm, unit)
            if ratio:
                what = f"{point.collective}{'' if point.op == SUM else ', ordered'}"
                rounds = f"{ideal[arm] * wire.TCP:.2f}" if arm in ideal else ""
                rows.append((what, format_size(point.bytes), str(point.ranks), arm, ratio.text(3), rounds))
    head = ("collective", "bytes", "hosts", "arm", "times the wire", "rounds, by TCP")
    return table(head, rows, (0, 3)) if rows else []


def section(name: str, points: Sequence[Point], bed: Json, shared: set[int], found: Sequence[Check]) -> str:
    bits = bits_of(bed)
    unit = "MB/s of each process" + (" (times the wire)" if bits else "")
    lines = [f"### {name}", ""]
    for collective in ARMS:
        own = [
            p for p in points if p.collective == collective and p.op == SUM and GENERIC[collective] in p.times
        ]
        if own:
            lines += [f"{collective.capitalize()}: {unit}.", "", *curve_table(own, bits, shared)]
    if shared:
        lines += ["`*`: more ranks than cores.", ""]
    lines += goal_table(points, bits) if bits else copies.copy_table(points)
    return "\n".join([*lines, *verdicts(found)])


def plot(points: Sequence[Point]) -> Figure:
    """Generic left, pipelined right, as in the paper; of Allreduce Rabenseifner's algorithm too."""
    columns = [
        *(("generic", GENERIC), ("pipelined", PIPELINED)),
        ("Rabenseifner", {"allreduce": RABENSEIFNER}),
    ]
    figure = Figure(figsize=(4 * len(columns), 3 * len(GENERIC)), layout="constrained")
    axes = figure.subplots(len(GENERIC), len(columns), squeeze=False, sharey="row")
    for row, collective in zip(axes, GENERIC, strict=True):
        for axis, (title, names) in zip(row, columns, strict=True):
            if collective not in names:
                axis.remove()
                continue
            axis.set(title=f"{collective}, {title}", xlabel="bytes", ylabel="MB/s", xscale="log")
            own = [p for p in points if p.collective == collective and p.op == SUM]
            for ranks in sorted({point.ranks for point in own}):
                line = curve(own, ranks, names[collective])
                if line:
                    axis.plot(*zip(*line, strict=True), marker=".", label=f"P = {ranks}")
            if axis.lines:
                axis.legend(fontsize="x-small")
    return figure


def curve(points: Sequence[Point], ranks: int, arm: str) -> list[tuple[int, float]]:
    own = [(p.bytes, p.time(arm)) for p in points if p.ranks == ranks]
    return sorted((size, size / time.value / 1e6) for size, time in own if time)


def report(beds: Mapping[str, Json], jobs: Sequence[Json], markdown: Path | None) -> None:
    points = by_algorithm(measuring.points(jobs))
    sections, found = [], {}
    for name, bed in beds.items():
        own = [point for point in points if point.bed == name]
        if not own:
            continue
        found[name] = checks(own, bits_of(bed))
        shared = crowded([job for job in jobs if job["bed"] == name])
        sections.append(section(name, own, bed, shared, found[name]))
        harness.save(plot(own), f"pipelines-{name.replace(', ', '-')}")
    harness.report(found)
    if markdown:
        markdown.write_text("\n".join(sections))


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.kept:
        bodies = [measuring.read(file, EXPERIMENT) for file in options.kept]
        beds = {name: bed for body in bodies for name, bed in body["beds"].items()}
        jobs = [job for body in bodies for job in body["results"]]
    else:
        beds, jobs = measure(options)
    report(beds, jobs, options.markdown)
    return 0


if __name__ == "__main__":
    harness.run(main)
