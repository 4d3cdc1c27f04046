"""Cells on a simulated network: what tune.bench.Bench measures, `unisono sim` simulates."""

from collections.abc import Sequence

from unisono.profile.document import Arm
from unisono.sim import runner
from unisono.sim.platforms import Platform
from unisono.sim.table import Cell, Question
from unisono.testbeds.bench import Entry, Point, Row


class Simulator:
    """Times are the same in every run, so that each arm runs once and no time is asked for."""

    def __init__(self, network: Platform, ranks: int, at_once: int | None = None) -> None:
        """`at_once` processes; otherwise as many as cores."""
        self.network, self.ranks, self.at_once = network, ranks, at_once

    def measure_all(self, entries: Sequence[Entry], _seconds: float) -> list[Row]:
        return [self.measure(entry.point, entry.arms) for entry in entries]

    def measure(self, point: Point, arms: Sequence[str]) -> Row:
        size = point.bytes
        question = Question(self.network, self.ranks, point.collective, 0, (size,))
        table = runner.simulate(question, arms, [], "4G", lambda _: None, self.at_once)
        cells = {row.algorithm: row.cells[size] for row in table.rows}
        for spec, cell in cells.items():
            if cell.is_error or not cell.correct:
                problem = f"{spec}: {cell.left_out or 'WRONG RESULT'}"
                return Row(point, problem=problem, wrong=not cell.correct)
        timed = [(spec, cell) for spec, cell in cells.items() if cell.seconds is not None]
        return Row(point, tuple(arm_of(*each) for each in timed), exact=True)


def arm_of(spec: str, cell: Cell) -> Arm:
    seconds = cell.seconds or 0.0
    return Arm(spec, seconds, seconds, seconds, 1)
