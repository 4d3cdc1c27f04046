"""Programs that others wrote, natively and under Unisono with nothing set: results and times.

  .venv/bin/python -m experiments.programs --list
  .venv/bin/python -m experiments.programs --programs cp2k,lammps-melt --json programs.json.zst
  sudo .venv/bin/unisono lab up --hosts 8 --rate 100mbit
  sudo .venv/bin/python -m experiments.programs --lab --ranks 8 --json lab.json.zst

Installs what a program needs: Debian's packages by apt-get (as root), those of PyPI into .deps/programs. Then
runs each natively and under Unisono in turn, and compares all numbers that it prints with those of its native
runs. Where these are near and not equal, native runs with other orders of sums follow, to say how far those
are. The entries are in experiments/programs/entries; what the last runs printed is in .deps/programs/output.
With --json, what the file has of the same build is not run again.
"""

import argparse
import hashlib
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text
from unisono.core import machine, places
from unisono.core.errors import UnisonoError
from unisono.core.files import read_json, write_json
from unisono.testbeds import beds

from experiments import harness
from experiments.programs import cells, installing, orders, running
from experiments.programs.cells import Cell
from experiments.programs.judge import Kind
from experiments.programs.program import Program, Ran

STYLES = {Kind.BITWISE: "green", Kind.SPREAD: "green", Kind.ORDER: "green", Kind.DIFFERENT: "bold red"}


def library_version() -> str:
    """Of the library under test, which need not be that of this checkout."""
    return subprocess.check_output([places.program("unisono-exec"), "--version"], text=True).split()[-1]


def library_digest() -> str:
    """Changes when Unisono does."""
    files = sorted(places.preload_library().parent.glob("libunisono*.so"))
    if not files:
        raise UnisonoError(f"{places.preload_library()} is not built: run make")
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def measure(program: Program, bed: beds.Bed, mpi: str, ranks: int, runs: int, lock: Path | None) -> Cell:
    try:
        library = places.find_mpi(mpi)
        installing.install(program, library)
        arms: tuple[list[Ran], list[Ran]] = ([], [])
        for _ in range(runs):
            for unisono, arm in enumerate(arms):
                arm.append(running.run(program, bed, library, ranks, bool(unisono), lock=lock))
            if arms[0][-1].problem:
                break  # no more of what does not run natively
        cell = Cell(program.name, mpi, ranks, tuple(arms[0]), tuple(arms[1]))
        if cells.verdict(cell, program).kind != Kind.NEAR:
            return cell
        others = orders.other_orders(mpi)
        return replace(
            cell,
            orders=tuple(
                running.run(program, bed, library, ranks, False, settings, lock) for settings in others
            ),
        )
    except UnisonoError as error:
        return Cell(program.name, mpi, ranks, (), (), missing=str(error))


def say(cell: Cell, program: Program) -> None:
    verdict = cells.verdict(cell, program)
    calls = f"{cell.unisono[0].own} own, {cell.unisono[0].left} left" if cell.unisono else ""
    where = f"{cell.program:24} {cell.mpi:15} {cell.ranks:3}"
    line = f"{where}  {verdict.kind.name.lower():10} {calls:28} {verdict.why}"
    harness.console.print(Text(line, style=STYLES.get(verdict.kind, "yellow")), soft_wrap=True)


def started(file: Path | None, about: dict[str, Any], fresh: bool) -> list[Cell]:
    """What is there of the same build and bed."""
    if file is None or fresh or not file.exists():
        return []
    former = read_json(file)
    same = all(former[key] == about[key] for key in ("bed", "library"))
    return [Cell.from_data(data) for data in former["cells"]] if same else []


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="experiments.programs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--programs", default="", help="names, by commas (all)")
    parser.add_argument("--list", action="store_true", help="print their names, and run nothing")
    parser.add_argument("--bed", choices=("node", "lab"), default="node", help="(node)")
    parser.add_argument("--lab", action="store_const", const="lab", dest="bed", help="as --bed lab")
    parser.add_argument("--mpi", default="", help="only with these MPI libraries, by commas")
    parser.add_argument("--ranks", default="2,4", help="(2,4)")
    parser.add_argument("--runs", type=int, default=3, help="natively, and as many under Unisono (3)")
    parser.add_argument("--json", type=Path, help="keep results in this file, and go on there")
    parser.add_argument("--fresh", action="store_true", help="run anew what is kept there")
    parser.add_argument(
        "--lock", type=Path, help="a file to lock during each job, on a machine that is shared"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    programs = installing.chosen(given.programs)
    if given.list:
        for program in programs:
            print(f"{program.name:24} {', '.join(program.mpis):28} {program.what}")
        return 0
    bed = beds.current_lab() if given.bed == "lab" else beds.Node()
    about: dict[str, Any] = {
        "bed": bed.describe(),
        "cores": machine.cores().usable,
        "version": library_version(),
        "library": library_digest(),
    }
    found = {cell.key: cell for cell in started(given.json, about, given.fresh)}
    wanted = [
        (program, mpi, int(ranks))
        for program in programs
        for mpi in program.mpis
        for ranks in given.ranks.split(",")
        if (not given.mpi or mpi in given.mpi.split(",")) and int(ranks) in (program.ranks or (int(ranks),))
    ]
    for program, mpi, ranks in wanted:
        key = (program.name, mpi, ranks)
        if key not in found:
            found[key] = measure(program, bed, mpi, ranks, given.runs, given.lock)
        say(found[key], program)
        if given.json:
            about["revision"] = harness.revision()
            about["versions"] = {
                of.name: installing.versions(of) for of in installing.all_programs().values()
            }
            write_json(about | {"cells": [cell.as_data() for cell in found.values()]}, given.json)
    judged = [cells.verdict(found[of.name, mpi, ranks], of).kind for of, mpi, ranks in wanted]
    print("; ".join(f"{judged.count(kind)} {kind.words}" for kind in Kind if kind in judged))
    return 1 if Kind.DIFFERENT in judged else 0


if __name__ == "__main__":
    harness.run(main)
