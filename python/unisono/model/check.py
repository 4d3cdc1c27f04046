"""How well the cost model predicts: what it says of calls, beside what they take on the ranks it is for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import msgspec

from unisono.core import catalogue, cost_model, documents
from unisono.core.amounts import parse_size
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError
from unisono.core.estimates import Estimate, estimate_median
from unisono.profile.document import Arm
from unisono.testbeds.bench import Entry, Point, Row

CLOSE = 1.03  # a segment is as good as the best one up to here
LEAST_SEGMENT = 1024  # as in src/model/segment.h
CALIBRATED = tuple(4**power for power in range(11))  # the sizes that unisono-calibrate measures
AROUND = (0.25, 0.5, 2.0, 4.0)  # other segments, as factors of the model's
MOST_OTHERS, MOST_PIPELINES = 6, 4  # rows of the catalogue without a segment, and with one
SEGMENT = re.compile(r"(?<=segment=)\d+[KMGT]?")


class Measures(Protocol):
    """Runs cells: tune.bench.Bench on ranks, sim.bench.Simulator on a simulated network."""

    def measure_all(self, entries: Sequence[Entry], seconds: float, /) -> list[Row]: ...


@dataclass(frozen=True)
class Pipeline:
    """An algorithm with a segment, with the model's and with others."""

    chosen: str
    specs: tuple[str, ...]  # `chosen` is one of them


@dataclass(frozen=True)
class Plan:
    """What is measured of a cell."""

    point: Point
    others: tuple[str, ...]
    pipelines: tuple[Pipeline, ...]

    @property
    def specs(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys([*self.others, *(spec for pipeline in self.pipelines for spec in pipeline.specs)])
        )


@dataclass(frozen=True)
class Compared:
    point: Point
    arm: Arm
    predicted_s: float
    exact: bool = False  # simulated: without an interval

    @property
    def error(self) -> float:
        """Relative; above 0 where the model said too much."""
        return self.predicted_s / self.arm.median_s - 1

    @property
    def is_between(self) -> bool:
        """Not of a size that the machine was fitted to."""
        return self.point.bytes not in CALIBRATED


@dataclass(frozen=True)
class Verdict:
    """The model's segment against the fastest one that was measured."""

    point: Point
    chosen: str
    best: str
    ratio: Estimate | None  # of their times, in blocks; None: they are one, or ran in no block together
    apart: float = 1.0  # without enough blocks: the least quotient that their intervals allow, if above 1

    @property
    def text(self) -> str:
        if self.chosen == self.best:
            return "the best measured"
        if self.ratio is None or not self.ratio.is_sure:
            return f"{100 * (self.apart - 1):.0f} % slower at least" if self.apart > CLOSE else "undecided"
        if self.ratio.high <= CLOSE:
            return "within 3 %"
        return f"{100 * (self.ratio.median - 1):.0f} % slower" if self.ratio.low > CLOSE else "undecided"


@dataclass
class Report:
    compared: list[Compared] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def error(self, between: bool | None = None) -> float | None:
        """The median of the relative errors, whatever their sign."""
        of = [abs(one.error) for one in self.compared if between is None or one.is_between == between]
        return median(of) if of else None


class ComparedRow(msgspec.Struct):
    """What the model says of a call, and what it takes; a simulated time is exact. The error is relative."""

    bytes: int
    arm: Arm
    predicted_s: float
    exact: bool
    error: float
    is_between: bool


class VerdictRow(msgspec.Struct):
    """The model's segment against the fastest one that was measured."""

    bytes: int
    chosen: str
    best: str
    ratio: Estimate | None
    verdict: str


class Document(documents.Document, tag="unisono.model-check", kw_only=True):
    """How right the cost model is; errors are medians of the relative ones, whatever their sign."""

    error: float | None
    error_between: float | None
    compared: list[ComparedRow]
    verdicts: list[VerdictRow]
    problems: list[str]


class PredictedRow(msgspec.Struct):
    """What the model says of an algorithm; without a time the note says why."""

    algorithm: str
    bytes: int
    seconds: float | None
    note: str


class Predicted(documents.Document, tag="unisono.prediction", kw_only=True):
    """What calls would take, the fastest first for each size."""

    collective: str
    ranks: int
    nodes: int
    predictions: list[PredictedRow]


class Machines(documents.Document, tag="unisono.machines", kw_only=True):
    """What messages, reductions and copies cost (model.md), by where that is known from."""

    machines: dict[str, dict[str, Any]]


def document_of(report: Report) -> Document:
    return Document(
        error=report.error(),
        error_between=report.error(between=True),
        compared=[
            ComparedRow(one.point.bytes, one.arm, one.predicted_s, one.exact, one.error, one.is_between)
            for one in report.compared
        ],
        verdicts=[
            VerdictRow(found.point.bytes, found.chosen, found.best, found.ratio, found.text)
            for found in report.verdicts
        ],
        problems=list(report.problems),
    )


class Asker:
    """Asks the model about one collective on ranks that are on so many nodes."""

    def __init__(self, machine: Path, collective: str, ranks: int, nodes: int) -> None:
        self.machine, self.collective, self.ranks, self.nodes = machine, collective, ranks, nodes

    def __call__(self, size: int, specs: Sequence[str]) -> list[cost_model.Prediction]:
        return cost_model.predict(
            self.machine, [cost_model.Job(self.collective, self.ranks, self.nodes, size, list(specs))]
        )[0]


def rows_of(collective: str) -> tuple[list[str], list[str]]:
    """Those that send messages of themselves: without a segment, and with one."""
    rows = [
        row
        for row in catalogue.algorithms()
        if collective in row.collectives and row.transports and not row.composed and not row.predicts
    ]
    cut = [row.name for row in rows if any(parameter.name == "segment" for parameter in row.parameters)]
    return [row.name for row in rows if row.name not in cut], cut


def standard_specs(collective: str) -> list[str]:
    """Of every row that sends messages, those with a segment with the model's and with their own."""
    whole, cut = rows_of(collective)
    return [*whole, *cut, *(f"{name}:segment=auto" for name in cut)]


def around(chosen: str, size: int, factors: Sequence[float] = AROUND) -> tuple[str, ...]:
    """The same pipeline with other segments, the model's first."""
    match = SEGMENT.search(chosen)
    if match is None:
        return (chosen,)
    segment = parse_size(match[0], "segment")
    other = [int(segment * factor) for factor in factors]
    kept = [one for one in other if LEAST_SEGMENT <= one <= max(size, segment)]
    return (chosen, *(SEGMENT.sub(format_size(one), chosen) for one in kept))


def plan(point: Point, specs: Sequence[str], ask: Asker) -> Plan:
    """Without specs: the fastest rows without a segment, and the fastest with one, which run with their own
    as well."""
    told = [each for each in ask(point.bytes, specs or standard_specs(point.collective)) if not each.unmet]
    priced = [each for each in told if each.seconds is not None]
    pipelines = [Pipeline(each.chosen, around(each.chosen, point.bytes)) for each in priced if each.chosen]
    others = [each.spec for each in priced if not each.chosen]
    if specs:
        return Plan(point, tuple(others), tuple(pipelines))
    _, cut = rows_of(point.collective)
    with_own = [replace(p, specs=(*p.specs, p.chosen.partition(":")[0])) for p in pipelines]
    whole = [spec for spec in others if spec not in cut]
    return Plan(point, tuple(whole[:MOST_OTHERS]), tuple(with_own[:MOST_PIPELINES]))


def verdict(of: Plan, pipeline: Pipeline, row: Row) -> Verdict | None:
    """Nothing where not all of it was measured."""
    arms = {arm.spec: arm for arm in row.arms}
    measured = [arms[spec] for spec in pipeline.specs if spec in arms]
    if pipeline.chosen not in arms or len(measured) < 2:
        return None
    chosen, best = arms[pipeline.chosen], min(measured, key=lambda arm: arm.median_s)
    pairs = zip(row.blocks.get(chosen.spec, ()), row.blocks.get(best.spec, ()), strict=False)
    ratios = [mine / other for mine, other in pairs if other > 0]
    ratio = estimate_median(ratios) if ratios and best != chosen else None
    if row.exact:
        quotient = chosen.median_s / best.median_s
        ratio = Estimate(quotient, quotient, quotient, 1.0)
    return Verdict(of.point, chosen.spec, best.spec, ratio, max(1.0, chosen.low_s / best.high_s))


def compare(of: Plan, row: Row, ask: Asker, report: Report) -> None:
    if row.problem:
        report.problems.append(f"{of.point.text()}: {row.problem}")
        return
    said = {each.spec: each.seconds for each in ask(of.point.bytes, of.specs)}
    for arm in row.arms:
        seconds = said.get(arm.spec)
        if seconds is not None:
            report.compared.append(Compared(of.point, arm, seconds, row.exact))
    for pipeline in of.pipelines:
        found = verdict(of, pipeline, row)
        if found:
            report.verdicts.append(found)


def check(
    bench: Measures,
    ask: Asker,
    sizes: Sequence[int],
    specs: Sequence[str],
    seconds: float,
    begins: Callable[[Plan], None] = lambda of: None,
) -> Report:
    """A job for each size, all together within about so many seconds."""
    catalogue.refuse_neighbours(ask.collective)
    plans = [plan(Point(ask.collective, size), specs, ask) for size in sizes]
    plans = [of for of in plans if of.specs]
    if not plans:
        raise UnisonoError(f"{ask.collective}: the model has a price for nothing that was asked for")
    report = Report()
    for of in plans:
        begins(of)
        row = bench.measure_all([Entry(of.point, of.specs)], seconds / len(plans))[0]
        compare(of, row, ask, report)
    return report
