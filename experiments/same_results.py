"""Programs that others wrote, under Debian's Open MPI 4.1: what they compute with other algorithms.

  .venv/bin/python -m experiments.same_results --ranks 2,4 --json programs.json

Every program runs natively twice, under Unisono with nothing set, with two sets of algorithms forced for all
collectives, blocking and nonblocking, and twice with UNISONO_REPRODUCIBLE=1, the second time on two nodes
that are not there. Its numbers are compared with those of the first native run: words must be equal, numbers
agree to a part in a million. *Digits* are those in which all agree: `all` where every printed one does.
Whether sums have the same bits everywhere is asked of the last two runs: there everything must be equal.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from unisono.core import catalogue, places
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.testbeds import beds

from experiments import harness, markdown
from experiments.programs import installing
from experiments.programs.judge import Kind, judge, number
from experiments.programs.program import DEBIAN, Program, Ran
from experiments.programs.running import run, succeeded
from experiments.programs.times import USUAL

NATIVE = "native"
REPRODUCIBLE = "reproducible"
ELSEWHERE = "reproducible, two nodes"
FORCED = (0, 2)  # of catalogue.forced_sets(): mostly other algorithms for every collective
MADE_UP_NODES = places.preload_library("made_up_nodes_openmpi")


@dataclass(frozen=True)
class Row:
    """`own`, `left`: collectives of rank 0 that ran in Unisono, and in the MPI library."""

    program: str
    ranks: int
    arm: str
    own: int
    left: int
    numbers: int
    digits: float | None  # None: all


def arms() -> dict[str, dict[str, str]]:
    sets = catalogue.forced_sets()
    fixed = {"UNISONO_REPRODUCIBLE": "1"}
    forced = {f"forced, set {i}": sets[i] for i in FORCED}
    return {NATIVE: {}, "native again": {}, "default": {}, **forced, REPRODUCIBLE: fixed, ELSEWHERE: fixed}


def values(ran: Ran) -> list[str]:
    return [text for row in ran.values.values() for text in row]


def equal_digits(a: Ran, b: Ran) -> float | None:
    pairs = [(number(x), number(y)) for x, y in zip(values(a), values(b), strict=True) if x != y]
    apart = [abs(x - y) / max(abs(x), abs(y)) for x, y in pairs if x is not None and y is not None and x != y]
    return round(-math.log10(max(apart)), 1) if apart else None


def measured(program: Program, ranks: int, arm: str, variables: dict[str, str]) -> tuple[Ran, Row]:
    mpi = places.find_mpi(DEBIAN)
    unisono = not arm.startswith(NATIVE)
    beside = [MADE_UP_NODES] if arm == ELSEWHERE else []
    ran = succeeded(program, run(program, beds.Node(), mpi, ranks, unisono, variables, beside=beside))
    if unisono and ran.own == 0:
        raise UnisonoError(f"{program.name}, {ranks} ranks, {arm}: no collective ran in Unisono")
    return ran, Row(program.name, ranks, arm, ran.own, ran.left, len(values(ran)), None)


def compare(program: Program, ranks: int) -> list[Row]:
    native: Ran | None = None
    reproducible: Ran | None = None
    rows = []
    for arm, variables in arms().items():
        ran, row = measured(program, ranks, arm, variables)
        native = native or ran
        if arm == REPRODUCIBLE:
            reproducible = ran
        expected = reproducible if arm == ELSEWHERE and reproducible else native
        verdict = judge(program.quantities, [expected], [ran])
        digits = equal_digits(expected, ran) if verdict.kind in (Kind.BITWISE, Kind.NEAR, Kind.IDLE) else 0
        if digits == 0 or (digits and arm == ELSEWHERE):
            raise UnisonoError(f"{program.name}, {ranks} ranks, {arm}: differ: {verdict.why}")
        rows.append(Row(**asdict(row) | {"digits": digits}))
        harness.console.print(f"[dim]{rows[-1]}[/dim]")
    return rows


def table(rows: Sequence[Row]) -> list[str]:
    names = [arm for arm in arms() if arm != NATIVE]
    made = []
    for program, ranks in dict.fromkeys((row.program, row.ranks) for row in rows):
        of = {row.arm: row for row in rows if (row.program, row.ranks) == (program, ranks)}
        cells = []
        for arm in names:
            digits = "all" if of[arm].digits is None else f"{of[arm].digits:g}"
            cells.append(digits if arm.startswith(NATIVE) else f"{digits}; {of[arm].own}, {of[arm].left}")
        made.append((program, str(ranks), str(of[NATIVE].numbers), *cells))
    return markdown.table(("program", "ranks", "numbers", *names), made, (0,))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="2,4", help="(2,4)")
    parser.add_argument(
        "--programs", default=USUAL, help=f"of python -m experiments.programs --list ({USUAL})"
    )
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    if not MADE_UP_NODES.exists():
        raise UnisonoError(f"{MADE_UP_NODES} is not built: run make")
    for program in installing.chosen(given.programs):
        installing.install(program, places.find_mpi(DEBIAN))
        for ranks in given.ranks.split(","):
            rows += compare(program, int(ranks))
    print("\n".join(table(rows)))
    if given.json:
        write_json([asdict(row) for row in rows], given.json)
    return 0


if __name__ == "__main__":
    harness.run(main)
