"""What is tried at the new scale, in the order in which a budget of seconds is spent.

First the program as it is, with the simulator's imitation of the MPI library. Then every algorithm of the
catalogue for the calls that take longest, timed alone as flows (docs/reference/sim.md#flows). The best of
these run the whole program, all places in it at once; and last what was best of each, together."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from unisono.core.amounts import parse_size
from unisono.core.catalogue import NATIVE, format_size
from unisono.sim.arms import parse_algorithms
from unisono.sim.runner import flows_cell
from unisono.sim.table import FLOWS, Question
from unisono.whatif.replay import Cell, Program, Replayed, SimulationError

SCREENING, REPLAYING = 0.35, 0.9  # shares of the budget after which these begin nothing more
GAIN = 0.98  # of native's time: as unisono tune, what is chosen must be worth it
SEGMENT = re.compile(r"segment=\w+")
SEGMENTS = ("4K", "16K", "64K", "256K")
PIPELINES = 2  # of each cell, which are tried with these
MEMORY = "2G"  # of the schedules that are timed as flows
BY_ITSELF = {"UNISONO_ONLINE": "auto", "UNISONO_LOG": "decision"}
LEARNED = re.compile(r"unisono: (\w+) of (\S+)B on (\d+) ranks: (\S+) \((.*)\)")


@dataclass
class Arm:
    spec: str
    screened: float | None = None  # seconds of one call alone, all ranks arriving together
    replayed: float | None = None  # seconds in a call of the program, the mean over calls and ranks
    problem: str = ""


@dataclass
class CellStudy:
    cell: Cell
    native: float  # seconds in a call of the program
    total: float  # of all calls of the trace
    arms: list[Arm] = field(default_factory=list)
    chosen: str = NATIVE
    left_out: int = 0  # arms that the budget did not reach
    by_itself: str = ""  # what ran in the run of Unisono alone; empty: it was not run

    def best(self) -> Arm | None:
        timed = [arm for arm in self.arms if arm.replayed is not None]
        return min(timed, key=lambda arm: arm.replayed or 0.0, default=None)


@dataclass
class Study:
    program: Program
    native: Replayed
    cells: dict[Cell, CellStudy]
    best: Replayed | None = None  # the program with what was chosen
    by_itself: Replayed | None = None
    notes: list[str] = field(default_factory=list)

    def seconds(self, run: Replayed) -> float:
        return run.program(self.program.calls.kinds)


class BudgetError(Exception):
    """The budget is."""


@dataclass
class Budget:
    seconds: float
    began: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        return time.monotonic() - self.began

    def is_past(self, share: float) -> bool:
        return self.spent > share * self.seconds

    def keep_on(self) -> bool:
        """For jobs.run(): ends what runs when the budget is over."""
        if self.is_past(1.0):
            raise BudgetError
        return True


Say = Callable[[str], None]


def study(program: Program, seconds: float, finalists: int, online: bool, say: Say) -> Study:
    budget = Budget(seconds)
    say("the program as it is")
    found = first(program, budget)
    screen(found, budget, say)
    finals(found, finalists, budget, say)
    choose(found)
    if any(cell.chosen != NATIVE for cell in found.cells.values()):
        say("what was best of each, together")
        confirm(found, budget)
    if online:
        say("Unisono by itself")
        run_by_itself(found, budget)
    return found


def first(program: Program, budget: Budget) -> Study:
    """Native: what all else is compared with. Where the sample takes too long one call of each kind."""
    native = dict.fromkeys(program.cells, NATIVE)
    notes = []
    limited = Budget(SCREENING * budget.seconds, budget.began)
    try:
        run = program.run(native, limited.keep_on)
    except BudgetError:
        notes.append(f"{program.sample} calls of each kind took too long: one of each was replayed")
        program = replace(program, sample=1)
        run = program.run(native, lambda: True)
    cells: dict[Cell, CellStudy] = {}
    for cell in dict.fromkeys(program.cells):
        calls, total = calls_of(program, run, cell)
        cells[cell] = CellStudy(cell, total / calls, total)
    return Study(program, run, cells, notes=notes)


def calls_of(program: Program, run: Replayed, cell: Cell) -> tuple[int, float]:
    """Calls of the trace that are the cell's, and the seconds in all of them."""
    own = [
        (kind.calls, kind.calls * seconds)
        for kind, its, seconds in zip(program.calls.kinds, program.cells, run.in_call, strict=True)
        if its == cell
    ]
    return sum(calls for calls, _ in own), sum(total for _, total in own)


def weightiest(found: Study) -> list[CellStudy]:
    """Those that leave a host, the longest first: the simulator has no memory of a node."""
    per_host = found.program.target.per_host
    leaving = [
        cell
        for cell in found.cells.values()
        if cell.cell.shape.ranks > 1 and (cell.cell.shape.strided or cell.cell.shape.ranks > per_host)
    ]
    return sorted(leaving, key=lambda cell: -cell.total)


def question_of(found: Study, cell: Cell) -> Question:
    """Of the group of rank 0, on its hosts."""
    program = found.program
    placed = program.target.placed()
    stride = program.target.ranks // cell.shape.ranks if cell.shape.strided else 1
    hosts = tuple(placed[rank * stride] for rank in range(cell.shape.ranks))
    return Question(
        program.platform, cell.shape.ranks, cell.collective, 0, (cell.bytes,), placed=hosts, engine=FLOWS
    )


def screen(found: Study, budget: Budget, say: Say) -> None:
    """Every algorithm with its usual parameters; then the best pipelines with other segments."""
    for cell in weightiest(found):
        cell.arms = [Arm(spec) for spec in parse_algorithms("all", cell.cell.collective)]
    say(f"{sum(len(cell.arms) for cell in found.cells.values())} algorithms, each call alone")
    screen_arms(found, budget, SCREENING)
    for cell in weightiest(found):
        cell.arms += [Arm(spec) for spec in other_segments(cell)]
    screen_arms(found, budget, SCREENING + 0.1)
    for cell in found.cells.values():
        cell.left_out = sum(arm.screened is None and not arm.problem for arm in cell.arms)
        cell.arms = [arm for arm in cell.arms if arm.screened is not None or arm.problem]
        cell.arms.sort(key=lambda arm: arm.screened if arm.screened is not None else float("inf"))


def other_segments(cell: CellStudy) -> list[str]:
    timed = sorted((arm for arm in cell.arms if arm.screened), key=lambda arm: arm.screened or 0.0)
    known = {arm.spec for arm in cell.arms}
    specs = []
    for arm in [arm for arm in timed if SEGMENT.search(arm.spec)][:PIPELINES]:
        for segment in SEGMENTS:
            spec = SEGMENT.sub(f"segment={segment}", arm.spec)
            # A segment as long as the message is the same schedule as any longer one.
            if spec not in known and parse_size(segment, "segment") < cell.cell.bytes:
                specs.append(spec)
    return specs


def screen_arms(found: Study, budget: Budget, until: float) -> None:
    """Those not timed yet, the weightiest cells first; begins none after that share of the budget."""

    def time_one(job: tuple[CellStudy, Arm]) -> None:
        cell, arm = job
        if budget.is_past(until):
            return
        # Most schedules are timed in a fraction of a second; others are not waited for.
        own = Budget(max(1.0, budget.seconds / 20))
        question = question_of(found, cell.cell)
        try:
            timed = flows_cell(question, arm.spec, cell.cell.bytes, MEMORY, own.keep_on)
        except BudgetError:
            arm.problem = f"not timed within {own.seconds:.0f} s"
            return
        arm.screened, arm.problem = timed.seconds, timed.left_out

    new = [(c, arm) for c in weightiest(found) for arm in c.arms if arm.screened is None and not arm.problem]
    with ThreadPoolExecutor(2) as pool:
        try:
            list(pool.map(time_one, new))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def finals(found: Study, most: int, budget: Budget, say: Say) -> None:
    """The n-th best of every cell run in the n-th run: each is measured where the others are as well."""
    native = dict.fromkeys(found.cells, NATIVE)
    for number in range(most):
        forced = {
            cell.cell: cell.arms[number].spec
            for cell in found.cells.values()
            if number < len(cell.arms) and cell.arms[number].screened is not None
        }
        if not forced:
            return
        if budget.is_past(REPLAYING):
            found.notes.append(f"the budget was over before run {number + 1} of {most} with algorithms")
            return
        say(f"the program with algorithms, {number + 1} of {most}")
        try:
            run = found.program.run({**native, **forced}, budget.keep_on)
        except BudgetError:
            found.notes.append(f"the budget was over in run {number + 1} of {most} with algorithms")
            return
        except SimulationError as error:
            found.notes.append(f"run {number + 1} with algorithms failed: {error}")
            continue
        for cell in forced:
            calls, total = calls_of(found.program, run, cell)
            found.cells[cell].arms[number].replayed = total / calls


def choose(found: Study) -> None:
    for cell in found.cells.values():
        best = cell.best()
        if best and best.replayed is not None and best.replayed < GAIN * cell.native:
            cell.chosen = best.spec


def confirm(found: Study, budget: Budget) -> None:
    """The program with all choices; where it gains nothing, nothing is chosen."""
    native = dict.fromkeys(found.cells, NATIVE)
    chosen = {cell.cell: cell.chosen for cell in found.cells.values()}
    try:
        found.best = found.program.run({**native, **chosen}, budget.keep_on)
    except BudgetError:
        found.notes.append("the budget was over before the choices ran together: they are each one's own")
        return
    if found.seconds(found.best) >= found.seconds(found.native):
        found.notes.append("all choices together are no faster than native: nothing is chosen")
        for cell in found.cells.values():
            cell.chosen = NATIVE


def run_by_itself(found: Study, budget: Budget) -> None:
    if budget.is_past(0.7):
        found.notes.append("the budget left no time for Unisono by itself")
        return
    try:
        run = found.program.run({}, budget.keep_on, BY_ITSELF)
    except (BudgetError, SimulationError) as error:
        why = "had no time to end" if isinstance(error, BudgetError) else f"failed: {error}"
        found.notes.append(f"Unisono by itself {why}")
        return
    found.by_itself = run
    said = dict(decisions(run.output))
    for cell in found.cells.values():
        key = cell.cell.collective, format_size(cell.cell.bytes), cell.cell.shape.ranks
        cell.by_itself = said.get(key, "")


Call = tuple[str, str, int]


def decisions(output: str) -> Iterator[tuple[Call, str]]:
    """The last word of each kind of call."""
    for line in output.splitlines():
        if said := LEARNED.match(line):
            yield (said[1], said[2], int(said[3])), said[4]


def totals(found: Study) -> Mapping[str, float]:
    """Seconds of the whole program."""
    runs: Sequence[tuple[str, Replayed | None]] = (
        (NATIVE, found.native),
        ("best", found.best),
        ("by_itself", found.by_itself),
    )
    return {name: found.seconds(run) for name, run in runs if run is not None}
