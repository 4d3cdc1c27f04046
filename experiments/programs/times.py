"""Programs that others wrote, with nothing set: the same results, and what they take beside native.

  .venv/bin/python -m experiments.programs.times --ranks 2,4 --programs lammps-melt,hpcc --json times.json
  sudo .venv/bin/unisono lab up --hosts 8 --rate 100mbit
  sudo .venv/bin/python -m experiments.programs.times --bed lab --ranks 8 --programs lammps-melt,hpcc,fftw

Every round runs each program natively and under Unisono, the one first that was second in the round
before; the rounds of all programs are mixed. The time is the program's own, of its main part, or that of the
job where it prints none. Per program the median of time / native's of the same round, and its interval. A
result that differs from native's ends the measurement. Whether results stay equal with other algorithms:
same_results.py.
"""

import argparse
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unisono.core import machine, places
from unisono.core.errors import UnisonoError
from unisono.core.estimates import estimate_median
from unisono.core.files import write_json
from unisono.testbeds import beds

from experiments import harness, markdown
from experiments.programs import installing
from experiments.programs.judge import Kind, judge
from experiments.programs.program import Program, Ran
from experiments.programs.running import run, succeeded

MAY_LOSE = 0.02
USUAL = "lammps-melt,lammps-copper,hpcc,espresso,fftw,petsc-pipecg"

Key = tuple[str, int]


def seconds(ran: Ran) -> float:
    return ran.wall if ran.seconds is None else ran.seconds


def compared(program: Program, bed: beds.Bed, ranks: int, order: Sequence[bool]) -> tuple[float, float]:
    """Seconds natively and under Unisono."""
    mpi = places.find_mpi(program.mpis[0])
    ran = {unisono: succeeded(program, run(program, bed, mpi, ranks, unisono)) for unisono in order}
    verdict = judge(program.quantities, [ran[False]], [ran[True]])
    if verdict.kind >= Kind.DIFFERENT:
        raise UnisonoError(f"{program.name}: {verdict.why}")
    return seconds(ran[False]), seconds(ran[True])


def measure(bed: beds.Bed, cells: Sequence[Key], rounds: int) -> dict[Key, list[tuple[float, float]]]:
    """Seconds natively and under Unisono."""
    found: dict[Key, list[tuple[float, float]]] = {cell: [] for cell in cells}
    for number, (name, ranks) in itertools.product(range(rounds), cells):
        order = (False, True) if number % 2 == 0 else (True, False)
        times = compared(installing.all_programs()[name], bed, ranks, order)
        found[name, ranks].append(times)
        harness.console.print(f"[dim]{name} {ranks}: {times[0]:.3f} {times[1]:.3f}[/dim]")
    return found


def verdict(low: float, high: float) -> str:
    if low > 1 + MAY_LOSE:
        return "slower"
    if high <= 1 + MAY_LOSE:
        return "faster" if high < 1 else "as fast"
    return "undecided"


HEAD = ("program", "ranks", "rounds", "native s", "Unisono s", "time / native", "95 %", "by more than 2 %")


def rows(found: Mapping[Key, Sequence[tuple[float, float]]]) -> list[tuple[str, ...]]:
    made: list[tuple[str, ...]] = []
    for (name, ranks), times in found.items():
        native, ours = (estimate_median([pair[i] for pair in times]).median for i in (0, 1))
        ratio = estimate_median([pair[1] / pair[0] for pair in times])
        told = verdict(ratio.low, ratio.high) if ratio.is_sure else "too few rounds"
        interval = f"{ratio.low:.3f} to {ratio.high:.3f}"
        seconds = (f"{native:.3f}", f"{ours:.3f}")
        made.append((name, str(ranks), str(len(times)), *seconds, f"{ratio.median:.3f}", interval, told))
    return made


def table(found: Mapping[Key, Sequence[tuple[float, float]]]) -> list[str]:
    return markdown.table(HEAD, rows(found), (0, 7))


def found_in(told: Any) -> dict[Key, list[tuple[float, float]]]:
    """Of what --json wrote."""
    return {
        (row["program"], row["ranks"]): list(map(tuple, row["native_and_ours_s"])) for row in told["programs"]
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bed", choices=("node", "lab"), default="node")
    parser.add_argument("--ranks", default="2", help="2, or 2,4 (2)")
    parser.add_argument(
        "--programs", default=USUAL, help=f"of python -m experiments.programs --list ({USUAL})"
    )
    parser.add_argument("--rounds", type=int, default=8, help="of every program, natively and not (8)")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    programs = installing.chosen(given.programs)
    for program in programs:
        installing.install(program, places.find_mpi(program.mpis[0]))
    bed = beds.current_lab() if given.bed == "lab" else beds.Node()
    cells = [(program.name, int(ranks)) for program in programs for ranks in given.ranks.split(",")]
    found = measure(bed, cells, given.rounds)
    print("\n".join(table(found)))
    if given.json:
        told = [
            {"program": name, "ranks": n, "native_and_ours_s": times} for (name, n), times in found.items()
        ]
        write_json({"bed": bed.describe(), "processor": machine.cores().usable, "programs": told}, given.json)
    return 0


if __name__ == "__main__":
    harness.run(main)
