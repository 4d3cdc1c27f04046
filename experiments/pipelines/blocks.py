"""Pipelining and overlapping (Worringer 2003), Figure 5: the length of blocks.

  sudo .venv/bin/python -m experiments.pipelines.blocks --bed lab --minutes 4 --json F --markdown T
  .venv/bin/python -m experiments.pipelines.blocks --report F --markdown T

Predicted: by equation (2) with the paper's SCI parameters; by the cost model of each machine that is
calibrated here, up to 256 ranks. Bandwidth over the block, over the ranks against a binomial tree, and over
the delay of flow control, which a model's messages have on top. Measured: the same blocks on --ranks hosts,
all in one job, several jobs. The relative error is |predicted - measured| / measured.

The lab's shaper lets 64 KiB pass at once after a pause, and calibrating short messages sees little else: as
fitted, the model has them faster than the wire. `at the line` is the same machine with no byte cheaper than
TCP makes it at the line rate, and no message begun for less than the shortest.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from unisono.core import places
from unisono.core.catalogue import format_size
from unisono.core.cost_model import Job
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.testbeds import calibrate

from experiments import harness, testbeds
from experiments.harness import Check, below
from experiments.markdown import table, verdicts
from experiments.pipelines import measuring, paper, wire
from experiments.pipelines.measuring import Plan, Point, Ratio, lab_only
from experiments.pipelines.paper import Sci
from experiments.testbeds import Json, Real

EXPERIMENT = "pipelines-blocks"
SIZE = 1 << 20
BLOCKS = tuple(1 << power for power in range(9, 19))  # 512 B to 256 KiB
MEASURED = tuple(
    1 << power for power in range(10, 19)
)  # shorter ones would take the machine's time, not the wire's
PREDICTED_RANKS = (4, 8, 16, 32, 64, 128, 256)
LENGTHS = (64 << 10, 256 << 10, 1 << 20, 4 << 20)
DELAYS = (0.0, 5e-6, 20e-6, 80e-6)
CLOSE = 1.03  # the model's best block, over the best one measured
ALIKE = 1.015  # of prices so close the longest block counts, as in src/model/segment.h
COLLECTIVES = "bcast,reduce"
FINE = tuple(sorted({*BLOCKS, *(3 * block // 2 for block in BLOCKS)}))
Machine = Json


def chain(block: int) -> str:
    return f"chain:segment={format_size(block)}"


def delayed(machine: Machine, seconds: float) -> Machine:
    """With so much more for every message between nodes."""
    changed: Machine = json.loads(json.dumps(machine))
    for quantity in ("one_way", "gap", "exchange"):
        for line in changed["levels"]["between_nodes"][quantity]:
            line["alpha_s"] += seconds
    return changed


def at_the_line(machine: Machine, bits: float | None) -> Machine:
    """No byte between nodes faster than the line, no message begun for less than the shortest."""
    changed: Machine = json.loads(json.dumps(machine))
    if not bits:
        return changed
    for quantity in ("one_way", "gap", "exchange"):
        lines = changed["levels"]["between_nodes"][quantity]
        for line in lines:
            line["beta_s_per_byte"] = max(line["beta_s_per_byte"], 8 * wire.TCP / bits)
            line["alpha_s"] = max(line["alpha_s"], lines[0]["alpha_s"], 0.0)
    return changed


@dataclass(frozen=True)
class Curve:
    """Seconds by block."""

    title: str
    seconds: dict[int, float]

    @property
    def best(self) -> int:
        return min(self.seconds, key=lambda block: self.seconds[block])

    def near_best(self, within: float) -> list[int]:
        least = min(self.seconds.values())
        return [block for block, seconds in self.seconds.items() if seconds <= least * within]


def predicted(
    machine: Machine, ranks: int, size: int = SIZE, blocks: Sequence[int] = BLOCKS, name: str = "bcast"
) -> Curve:
    own = [block for block in blocks if block <= size]
    (told,) = wire.predict(json.dumps(machine), [Job(name, ranks, ranks, size, [chain(b) for b in own])])
    return Curve(f"P = {ranks}", {block: told[chain(block)] for block in own})


def of_paper(ranks: int, flow: float | None = None) -> Curve:
    sci = Sci() if flow is None else Sci(flow=flow)
    return Curve(f"P = {ranks}", {block: sci.pcast(ranks, SIZE, block) for block in BLOCKS})


# --- tables ------------------------------------------------------------------------------------------


def block_table(curves: Sequence[Curve], size: int = SIZE) -> list[str]:
    """MB/s; the best block of each curve is bold."""
    rows = []
    for curve in curves:
        cells = [
            f"{size / curve.seconds[block] / 1e6:.3g}" if block in curve.seconds else "" for block in BLOCKS
        ]
        at = BLOCKS.index(curve.best)
        cells[at] = f"**{cells[at]}**"
        close = curve.near_best(1.10)
        rows.append((curve.title, *cells, f"{format_size(close[0])} to {format_size(close[-1])}"))
    head = ("MB/s", *map(format_size, BLOCKS), "within 10 %")
    return table(head, rows, (0,))


def against_trees(machine: Machine) -> list[str]:
    """Over the ranks: the pipeline with its best block, over the binomial tree's time."""
    rows = []
    for size in LENGTHS:
        row = [format_size(size)]
        for ranks in PREDICTED_RANKS:
            (tree,) = wire.predict(json.dumps(machine), [Job("bcast", ranks, ranks, size, ["binomial"])])
            own = predicted(machine, ranks, size)
            row.append(f"{tree['binomial'] / own.seconds[own.best]:.2f}")
        rows.append(row)
    return table(("generic / pcast", *(f"P = {ranks}" for ranks in PREDICTED_RANKS)), rows, ())


def of_paper_against_trees() -> list[str]:
    rows = []
    for size in LENGTHS:
        row = [format_size(size)]
        for ranks in PREDICTED_RANKS:
            block = min(BLOCKS, key=lambda one: Sci().pcast(ranks, size, one))
            row.append(f"{Sci().generic(ranks, size) / Sci().pcast(ranks, size, block):.2f}")
        rows.append(row)
    return table(("generic / pcast", *(f"P = {ranks}" for ranks in PREDICTED_RANKS)), rows, ())


# --- what should hold --------------------------------------------------------------------------------


def exactly(text: str, value: float, low: float, high: float, unit: str = "") -> Check:
    return Check(text, low <= value <= high, f"{value:.3g}{unit}")


def paper_checks() -> list[Check]:
    """Whether equation (2) with the parameters in the text gives what the text says of Figure 5."""
    made = []
    for ranks, block in paper.BEST_BLOCK.items():
        best = Sci().best_block(ranks, SIZE) / 1024
        claim = f"equation (2), P = {ranks}: the best block is {block >> 10} KB (within a factor of 2)"
        made.append(exactly(claim, best, block / 2048, block / 512, " KiB"))
    for ranks in (8, 128, 256):
        block = 8 << 10
        slower = 1 - Sci().pcast(ranks, SIZE, block) / Sci(flow=4 * Sci().flow).pcast(ranks, SIZE, block)
        claim = f"equation (2), P = {ranks}, 8 KB: four times the flow control costs 20 % (within 5 points)"
        made.append(exactly(claim, 100 * slower, 15, 25, " %"))
    ranks = 8
    gains = [
        Sci().generic(ranks, size) / min(Sci().pcast(ranks, size, block) for block in BLOCKS)
        for size in (paper.PCAST_FROM // 2, paper.PCAST_FROM * 2)
    ]
    claim = f"equation (2), P = {ranks}: pcast wins from 64 KB on (within a factor of 2)"
    made.append(Check(claim, gains[0] < 1 < gains[1], f"{gains[0]:.2f} at 32K, {gains[1]:.2f} at 128K"))
    return made


def model_checks(machine: Machine) -> list[Check]:
    """The shape of Figure 5 in the model of a machine that was measured here."""
    few, many = (predicted(machine, ranks, blocks=FINE) for ranks in (8, 256))
    texts = [format_size(curve.best) for curve in (few, many)]
    made = [
        Check(
            "model: the best block is shorter on 256 than on 8",
            many.best < few.best,
            f"{texts[1]}, {texts[0]}",
        )
    ]
    span = [curve.near_best(1.10)[-1] - curve.near_best(1.10)[0] for curve in (few, many)]
    claim = "model: fewer blocks are nearly optimal (10 %) on 256 than on 8"
    made.append(
        Check(claim, span[1] < span[0], f"{span[1] / 1024:.3g} KiB wide, {span[0] / 1024:.3g} KiB wide")
    )
    at = 8 << 10
    four = [predicted(delayed(machine, delay), 8, blocks=[at]).seconds[at] for delay in (5e-6, 20e-6)]
    claim = "model, P = 8, 8 KB: 20 us of flow control instead of 5 cost at most 20 %"
    made.append(exactly(claim, 100 * (1 - four[0] / four[1]), 0, 20, " %"))
    return made


@dataclass(frozen=True)
class Comparison:
    """Of one collective on one number of ranks: what was predicted, and what was measured."""

    point: Point
    seconds: dict[int, float]  # predicted at the line, by block
    fitted: dict[int, float]  # predicted as fitted

    @property
    def where(self) -> str:
        return f"{self.point.collective}, {self.point.ranks} ranks"

    def measured(self, block: int) -> Ratio | None:
        return self.point.time(chain(block))

    @property
    def blocks(self) -> list[int]:
        return [block for block in self.seconds if self.point.times.get(chain(block))]

    def errors(self, predicted: dict[int, float]) -> list[float]:
        times = [(block, self.measured(block)) for block in self.blocks]
        return [abs(predicted[block] / time.value - 1) for block, time in times if time]

    @property
    def best_predicted(self) -> int:
        least = min(self.seconds[block] for block in self.blocks)
        return max(block for block in self.blocks if self.seconds[block] <= ALIKE * least)

    @property
    def best_measured(self) -> int:
        best = self.point.best([chain(block) for block in self.blocks])
        return next(block for block in self.blocks if chain(block) == best)

    def loss(self) -> Ratio | None:
        """The time with the block that the model takes for the best, over that with the best one."""
        return self.point.ratio(chain(self.best_predicted), chain(self.best_measured))

    def row(self) -> tuple[str, ...]:
        loss = self.loss()
        best = [format_size(block) for block in (self.best_predicted, self.best_measured)]
        errors = [f"{100 * statistics.median(self.errors(way)):.1f} %" for way in (self.seconds, self.fitted)]
        return (self.where, *best, loss.text(3) if loss else "", *errors)

    def check(self) -> list[Check]:
        loss = self.loss()
        if not loss:
            return []
        claim = f"{self.where}: the model's best block is within 3 % of the best one measured"
        best = [format_size(block) for block in (self.best_predicted, self.best_measured)]
        same = self.best_predicted == self.best_measured
        answer = True if same else below(loss.low, loss.high, CLOSE)
        return [Check(claim, answer, f"{loss.text(3)} ({best[0]}, measured {best[1]})")]


HEAD = ("best block, predicted", "measured", "time with it, over the best", "median error", "as fitted")


def comparisons(
    points: Sequence[Point], machines: dict[str, Machine], bits: float | None
) -> list[Comparison]:
    """`machines`: by the number of ranks that they were calibrated with."""
    made = []
    for point in points:
        machine = machines.get(str(point.ranks))
        if machine:
            line, fitted = (
                predicted(way, point.ranks, point.bytes, MEASURED, point.collective).seconds
                for way in (at_the_line(machine, bits), machine)
            )
            made.append(Comparison(point, line, fitted))
    return made


def comparison_table(own: Sequence[Comparison]) -> list[str]:
    """Milliseconds, with the interval of what was measured."""
    rows = []
    for one in own:
        for block in one.blocks:
            time = one.point.time(chain(block), 1e-3)
            if time:
                ways = [f"{way[block] * 1e3:.1f}" for way in (one.seconds, one.fitted)]
                rows.append((one.where, format_size(block), *ways, time.text(1)))
    return table(("", "block", "at the line, ms", "as fitted", "measured, ms"), rows, (0,))


# --- measuring ---------------------------------------------------------------------------------------


def calibrated(bed: Real, ranks: int) -> Machine:
    harness.console.print(f"[dim]{bed.name}, {ranks} ranks: calibrating[/dim]", soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="unisono-calibrate-") as folder:
        file = calibrate.calibrate(bed.bed, bed.mpi, ranks, Path(folder) / "machine.json", seconds=0.05)
        machine: Machine = json.loads(file.read_text())
    return machine


def measure(given: argparse.Namespace) -> Json:
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    beds = [bed for bed in testbeds.parse(given.bed, mpis) if isinstance(bed, Real)]
    lab_only(beds)
    counts = [int(word) for word in given.ranks.split(",")]
    machines = {bed.name: {str(ranks): calibrated(bed, ranks) for ranks in counts} for bed in beds}
    described = {bed.name: bed.describe() for bed in beds}
    arms = [chain(block) for block in MEASURED]
    cells = [(name, str(SIZE), arms) for name in given.collectives.split(",")]
    jobs: list[Json] = []

    def one_round(turn: int) -> Iterator[Json]:
        for bed in beds:
            for ranks in counts:
                yield measuring.run(bed, Plan("blocks", ranks, cells, 1, calls=1), turn, given.fresh)

    for job in measuring.in_rounds(one_round, given.rounds, given.minutes):
        jobs.append(job)
        if given.json:
            write_json(measuring.document(EXPERIMENT, described, jobs, machines=machines), given.json)
    return {"beds": described, "machines": machines, "results": jobs}


def plot(curves: Sequence[Curve], own: Sequence[Comparison]) -> Figure:
    """Predicted by block, and measured beside predicted."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for curve in curves:
        left.plot(list(curve.seconds), [SIZE / s / 1e6 for s in curve.seconds.values()], label=curve.title)
    for one in own:
        there = one.blocks
        (line,) = right.plot(there, [SIZE / one.seconds[b] / 1e6 for b in there], label=f"{one.where}, model")
        times = [one.measured(block) for block in there]
        found = [SIZE / time.value / 1e6 for time in times if time]
        right.plot(there, found, "o", color=line.get_color(), label="measured")
    for axis in (left, right):
        axis.set(xscale="log", xlabel="bytes of a block", ylabel="MB/s", ylim=(0, None))
        axis.legend(fontsize="x-small")
    return figure


def section(
    name: str, machines: dict[str, Machine], points: Sequence[Point], bits: float | None
) -> tuple[str, list[Check]]:
    machine = at_the_line(machines[max(machines, key=int)], bits)
    curves = [predicted(machine, ranks) for ranks in PREDICTED_RANKS]
    by_delay = [
        Curve(f"+{delay * 1e6:g} us", predicted(delayed(machine, delay), 8).seconds) for delay in DELAYS
    ]
    own = comparisons(points, machines, bits)
    harness.save(plot(curves, own), f"pipelines-blocks-{name.replace(', ', '-')}")
    found = [*model_checks(machine), *(check for one in own for check in one.check())]
    lines = [f"### {name}", "", "Predicted at the line, Bcast of 1 MiB, by block.", "", *block_table(curves)]
    lines += ["Over the ranks, with the best block of each.", "", *against_trees(machine)]
    lines += ["8 ranks, 1 MiB, with so much more for each block.", "", *block_table(by_delay)]
    lines += ["1 MiB, predicted and measured.", "", *table(("", *HEAD), [one.row() for one in own], (0,))]
    lines += comparison_table(own)
    errors = [error for one in own for error in one.errors(one.seconds)]
    if errors:
        lines += [f"Median relative error: {100 * statistics.median(errors):.1f} %, {len(errors)} cells.", ""]
    return "\n".join([*lines, *verdicts(found)]), found


def paper_section() -> str:
    lines = ["### Equation (2), the paper's parameters", ""]
    lines += block_table([of_paper(ranks) for ranks in PREDICTED_RANKS])
    lines += [*of_paper_against_trees()]
    delays = [
        Curve(f"P = 128, {flow * 1e6:g} us", of_paper(128, flow).seconds)
        for flow in (5e-6, 10e-6, 20e-6, 40e-6)
    ]
    return "\n".join([*lines, *block_table(delays), *verdicts(paper_checks())])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.lab_parser(__doc__)
    add = parser.add_argument
    add("--ranks", default="8,16", help="measured, and calibrated for (8,16)")
    add("--collectives", default=COLLECTIVES, help=f"measured; all have a chain ({COLLECTIVES})")
    add("--rounds", type=int, default=6, help="jobs of each kind (6)")
    add("--minutes", type=float, default=4.0, help="for all rounds, after calibrating (4)")
    given = parser.parse_args(arguments)
    body = measuring.read(given.kept, EXPERIMENT) if given.kept else measure(given)
    points = measuring.points(body["results"])
    if not points:
        raise UnisonoError("nothing was measured")
    sections, found = [paper_section()], {"the paper's parameters": paper_checks()}
    for name, machines in body["machines"].items():
        own = [point for point in points if point.bed == name]
        text, found[name] = section(name, machines, own, body["beds"][name].get("bits_per_second"))
        sections.append(text)
    harness.report(found)
    if given.markdown:
        given.markdown.write_text("\n".join(sections))
    return 0


if __name__ == "__main__":
    harness.run(main)
