"""Measures the MPI library's own algorithms: all of them roughly, then the best beside the default.

An algorithm is chosen by the same file that is exported in the end, one job per line-up. A line-up
gives each cell an algorithm, so that a job measures one algorithm of every collective. Jobs of a round
run in an order drawn anew and are compared with that round's job of the library's own decision.
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from unisono.core import catalogue
from unisono.core.errors import RunError
from unisono.tune.native import choose
from unisono.tune.native.bench import Bench
from unisono.tune.native.record import DEFAULT, Cell, Measured, Record
from unisono.tune.native.rules import Algorithm, Rule, intervals

LineUp = dict[Cell, str]  # names of algorithms
SCREENING_ROUNDS = 2
FINAL_ROUNDS = 8
# Of the budget, at most: when a stage ends, and when another round of the screening begins. The rest is
# for the verification.
SCREENING_SHARE, FINAL_SHARE, AGAIN_SHARE = 0.5, 0.85, 0.2
HOPELESS = 1.5  # times the default's time in one round of the screening: not in the next
NOT_COMMUTATIVE = ("--op", "left", "--max-blocks", "1")


class Tuning:
    def __init__(
        self, bench: Bench, record: Record, cells: Sequence[Cell], folder: Path, budget: float
    ) -> None:
        self.bench, self.record, self.cells, self.folder = bench, record, cells, folder
        self.budget, self.begun = budget, time.monotonic()
        self.say: Callable[[str], None] = lambda _: None
        self.notes: list[str] = []  # what the user must know of in the end
        self.complete = True  # nothing was left out because of the budget
        self.algorithms: dict[tuple[str, int], dict[str, Algorithm]] = {}
        for cell in cells:
            known = bench.library.algorithms(cell.collective, cell.ranks)
            self.algorithms[cell.collective, cell.ranks] = {one.name: one for one in known}

    def run(self) -> list[Rule]:
        """The rules that the measurements justify."""
        self.screening()
        candidates = {cell: names for cell, names in self.finalists().items() if names}
        self.orders(candidates)
        self.final(candidates)
        chosen: LineUp = {}
        for own in self.alike(candidates):
            together = self.together(own[0])
            names = choose.winners(self.record, own, [candidates[cell] for cell in own], together)
            chosen |= dict(zip(own, names, strict=True))
        return self.rules(chosen)

    def together(self, cell: Cell) -> bool:
        return not self.bench.library.tells_sizes(cell.collective)

    def alike(self, cells: Iterable[Cell]) -> list[list[Cell]]:
        """By collective and ranks."""
        groups: dict[tuple[str, int], list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.collective, cell.ranks), []).append(cell)
        return list(groups.values())

    def rules(self, chosen: Mapping[Cell, str]) -> list[Rule]:
        found = []
        for own in self.alike(self.cells):
            collective, ranks = own[0].collective, own[0].ranks
            known = self.algorithms[collective, ranks]
            tuned = {cell.bytes: known[chosen[cell]] for cell in own if chosen.get(cell, DEFAULT) != DEFAULT}
            if tuned and self.together(own[0]):
                found.append(Rule(collective, ranks, 0, None, next(iter(tuned.values()))))
            else:
                ends = intervals([cell.bytes for cell in own], tuned)
                found += [Rule(collective, ranks, low, high, algorithm) for low, high, algorithm in ends]
        return found

    def screening(self) -> None:
        most = max(len(known) for known in self.algorithms.values())
        line_ups: list[LineUp] = [dict.fromkeys(self.cells, DEFAULT)]
        for i in range(most):
            line_up = {}
            for cell in self.cells:
                names = list(self.algorithms[cell.collective, cell.ranks])
                if i < len(names):
                    line_up[cell] = names[i]
            line_ups.append(line_up)
        self.rounds("screening", line_ups, 1, SCREENING_SHARE)
        if self.spent() < AGAIN_SHARE:
            again = [
                {cell: name for cell, name in one.items() if self.hopeful(cell, name)} for one in line_ups
            ]
            self.rounds("screening", again, SCREENING_ROUNDS, SCREENING_SHARE)

    def hopeful(self, cell: Cell, name: str) -> bool:
        return name == DEFAULT or min(self.record.ratios("screening", cell, name), default=1) < HOPELESS

    def spent(self) -> float:
        """Of the budget."""
        return (time.monotonic() - self.begun) / self.budget

    def finalists(self) -> dict[Cell, list[str]]:
        found: dict[Cell, list[str]] = {}
        for own in self.alike(self.cells):
            names = self.algorithms[own[0].collective, own[0].ranks]
            candidates = choose.finalists(self.record, own, names, self.together(own[0]))
            found |= dict(zip(own, candidates, strict=True))
        return found

    def line_ups(self, candidates: Mapping[Cell, Sequence[str]]) -> list[LineUp]:
        return [
            {cell: names[i] for cell, names in candidates.items() if i < len(names)}
            for i in range(choose.FINALISTS)
        ]

    def orders(self, candidates: Mapping[Cell, Sequence[str]]) -> None:
        """A rules file cannot ask whether an operation is commutative: an algorithm that is wrong for
        one that is not (it fails here) is out."""
        for line_up in self.line_ups(
            {c: names for c, names in candidates.items() if catalogue.collective(c.collective).reduces}
        ):
            self.play("order", 0, line_up, NOT_COMMUTATIVE)

    def final(self, candidates: Mapping[Cell, Sequence[str]]) -> None:
        line_ups = [dict.fromkeys(candidates, DEFAULT), *self.line_ups(candidates)]
        self.rounds("final", line_ups, FINAL_ROUNDS, FINAL_SHARE)

    def rounds(self, stage: str, line_ups: Sequence[LineUp], rounds: int, share: float) -> None:
        line_ups = [line_up for line_up in line_ups if line_up]
        for round_ in range(rounds):
            order = list(line_ups)
            random.Random(f"{stage} {round_}").shuffle(order)
            for i, line_up in enumerate(order):
                if self.spent() > share:
                    self.notes.append(f"{stage}: ended by the budget in round {round_ + 1} of {rounds}")
                    self.complete = False
                    return
                self.say(f"{stage}: round {round_ + 1} of {rounds}, job {i + 1} of {len(order)}")
                self.play(stage, round_, line_up)

    def play(self, stage: str, round_: int, line_up: Mapping[Cell, str], extra: Sequence[str] = ()) -> None:
        """Measures what of the line-up is not in the record yet."""
        missing = [
            cell
            for cell, name in line_up.items()
            if not self.record.has(stage, round_, cell, name) and not self.record.failed(cell, name)
        ]
        for group in jobs_of(missing):
            cells = group
            while cells:
                cells = self.job(stage, round_, {cell: line_up[cell] for cell in cells}, extra)

    def job(self, stage: str, round_: int, line_up: LineUp, extra: Sequence[str]) -> list[Cell]:
        """What is left to be measured, without the collective that ended the job early."""
        cells = list(line_up)
        rules = self.rules(line_up)
        variables = self.bench.library.write(rules, self.folder / "line-up.json") if rules else {}
        read = self.bench.run(cells, variables, extra)
        if len(read.rest(cells)) == len(cells) and not read.wrong:  # it may not be the algorithm's fault
            read = self.bench.run(cells, variables, extra)
        for cell, microseconds in read.times_us.items():
            self.record.add(Measured(stage, round_, cell, line_up[cell], microseconds))
        for cell, reason in read.left_out.items():
            self.record.add(Measured(stage, round_, cell, line_up[cell], None, reason))
        rest = read.rest(cells)
        if not rest:
            return []
        guilty = read.wrong or rest[0]
        problem = read.problem
        if read.wrong:
            problem = "wrong result" + (" of an operation that does not commute" if extra else "")
        if line_up[guilty] == DEFAULT:
            raise RunError(f"{guilty.collective}, {guilty.bytes} bytes, as the MPI library is: {problem}")
        self.record.add(Measured(stage, round_, guilty, line_up[guilty], None, problem))
        self.notes.append(f"{guilty.collective}, {guilty.bytes} bytes: {line_up[guilty]} is out: {problem}")
        return [cell for cell in rest if cell.collective != guilty.collective]


def jobs_of(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Collectives with the same sizes share a job."""
    sizes: dict[tuple[str, int], list[Cell]] = {}
    for cell in cells:
        sizes.setdefault((cell.collective, cell.ranks), []).append(cell)
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for (_, ranks), own in sizes.items():
        groups.setdefault((ranks, *(cell.bytes for cell in own)), []).extend(own)
    return list(groups.values())
