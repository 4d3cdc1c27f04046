"""Whether an exported file does what it should: it is taken, and it is no slower."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from unisono.core import catalogue
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


def probe_of(rule: Rule, cells: Sequence[Cell]) -> Cell:
    """A call of the rule of an unusual size: libraries and the bench call collectives themselves while
    they start, and those must not be taken for it."""
    cell = next(cell for cell in cells if holds(rule, cell))
    if rule.high is None:
        return cell
    element = 4  # bytes; each rank of reduce_scatter keeps whole ones
    step = 5 * element * (cell.ranks if catalogue.collective(cell.collective).counts_all_blocks else 1)
    tried = [replace(cell, bytes=cell.bytes + step), replace(cell, bytes=cell.bytes - step)]
    return next((probe for probe in tried if holds(rule, probe)), cell)


def trapped(library: Library, rules: Sequence[Rule], rule: Rule, probe: Cell) -> list[Rule]:
    """The rules, but the probe's size is a tripwire: a job that calls it ends with an error."""
    if rule.high is None:
        return [library.tripwire(one) if one == rule else one for one in rules]
    trap = library.tripwire(replace(rule, low=probe.bytes, high=probe.bytes))
    around = [replace(rule, high=probe.bytes - 1), trap, replace(rule, low=probe.bytes + 1)]
    pieces = [piece for piece in around if piece.high is not None and piece.low <= piece.high]
    return [one for other in rules for one in (pieces if other == rule else [other])]


def not_taken(tuning: Tuning, rules: Sequence[Rule], file: Path) -> list[Rule]:
    """Rules that the library does not follow: their tripwires are not felt."""
    library, found = tuning.bench.library, []
    for rule in rules:
        probe = probe_of(rule, tuning.cells)
        tuning.say(f"is it taken? {probe.collective}, {probe.bytes} bytes")
        variables = library.write(trapped(library, rules, rule, probe), file)
        if tuning.bench.run([probe], variables, ONCE).times_us:
            found.append(rule)
    return found


def disturbed(tuning: Tuning, rules: Sequence[Rule], file: Path) -> list[Cell]:
    """Measured calls that meet a tripwire of another size or collective."""
    library, traps, found = tuning.bench.library, list(rules), []
    for rule in rules:
        if rule.high is not None:
            traps = trapped(library, traps, rule, probe_of(rule, tuning.cells))
    variables = library.write(traps, file)
    for group in jobs_of(tuning.cells):
        tuning.say("do other calls run as before?")
        cells = group
        while cells:
            rest = tuning.bench.run(cells, variables, ONCE).rest(cells)
            if rest and not tuning.bench.run(rest[:1], variables, ONCE).times_us:
                found.append(rest[0])
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
