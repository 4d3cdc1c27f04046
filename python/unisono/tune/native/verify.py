"""Whether an exported file does what it should: it is taken, and it is no slower."""

from collections.abc import Sequence
from pathlib import Path

from unisono.tune.native import choose
from unisono.tune.native.record import DEFAULT, Cell, Measured
from unisono.tune.native.rules import Library, Rule
from unisono.tune.native.tuning import Tuning, jobs_of

ONCE = ("--max-blocks", "1")
CHECK_ROUNDS = 8
EXPORTED = "exported"


def holds(rule: Rule, cell: Cell) -> bool:
    inside = rule.low <= cell.bytes and (rule.high is None or cell.bytes <= rule.high)
    return inside and (rule.collective, rule.ranks) == (cell.collective, cell.ranks)


def trapped(library: Library, rules: Sequence[Rule], which: Sequence[Rule]) -> list[Rule]:
    return [library.tripwire(rule) if rule in which else rule for rule in rules]


def not_taken(tuning: Tuning, rules: Sequence[Rule], file: Path) -> list[Rule]:
    """Rules that the library does not follow.

    A tripwire is a copy of the file in which a rule names an algorithm that cannot serve the call. A
    job with a call of this rule must then end with an error; if it does not, the rule is not reached.
    """
    found = []
    for rule in rules:
        cell = next(cell for cell in tuning.cells if holds(rule, cell))
        tuning.say(f"is it taken? {cell.collective}, {cell.bytes} bytes")
        variables = tuning.bench.library.write(trapped(tuning.bench.library, rules, [rule]), file)
        if tuning.bench.run([cell], variables, ONCE).times_us:
            found.append(rule)
    return found


def reach_too_far(tuning: Tuning, rules: Sequence[Rule], file: Path) -> list[Cell]:
    """Measured calls without a rule that a rule is applied to nevertheless."""
    found = []
    variables = tuning.bench.library.write(trapped(tuning.bench.library, rules, rules), file)
    outside = [cell for cell in tuning.cells if not any(holds(rule, cell) for rule in rules)]
    for group in jobs_of(outside):
        tuning.say("do other calls run as before?")
        cells = group
        while cells:
            read = tuning.bench.run(cells, variables, ONCE)
            rest = read.rest(cells)
            found += rest[:1]
            cells = rest[1:]
    return found


def compare(tuning: Tuning, rules: Sequence[Rule], file: Path) -> dict[Cell, choose.Ratio | None]:
    """The tuned cells anew, with the file itself and without it."""
    variables = tuning.bench.library.write(rules, file)
    cells = [cell for cell in tuning.cells if any(holds(rule, cell) for rule in rules)]
    for round_ in range(CHECK_ROUNDS):
        arms = [(EXPORTED, variables), (DEFAULT, {})]
        for name, own in arms if round_ % 2 else reversed(arms):
            tuning.say(f"check: round {round_ + 1} of {CHECK_ROUNDS}, {name}")
            for group in jobs_of(cells):
                for cell, microseconds in tuning.bench.run(group, own).times_us.items():
                    tuning.record.add(Measured("check", round_, cell, name, microseconds))
    return {cell: choose.interval(tuning.record.ratios("check", cell, EXPORTED)) for cell in cells}
