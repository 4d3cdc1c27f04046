"""The command `unisono restructure`."""

import difflib
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unisono.core import files
from unisono.core.errors import RunError, UnisonoError
from unisono.restructure.check import Accepted, Checker, Refused
from unisono.restructure.parse import parse
from unisono.restructure.report import lines
from unisono.restructure.rewrite import Rewriter
from unisono.restructure.tree import Unit
from unisono.restructure.uniform import Assumptions


class Assumption(StrEnum):
    WHOLE_PROGRAM = "whole-program"
    SAME_ARGUMENTS = "same-arguments"


def restructure(
    file: Annotated[Path, typer.Argument(metavar="FILE.c", help="A C file.")],
    flags: Annotated[
        list[str] | None, typer.Argument(metavar="-- FLAGS...", help="For the compiler: -I, -D, -std.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the program there.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Write it over FILE.c.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the difference: without -o the default.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Give reasons for what is rewritten, too.")
    ] = False,
    assume: Annotated[
        list[Assumption] | None,
        typer.Option(help="What the file cannot show; may be repeated. See the guide."),
    ] = None,
    mpicc: Annotated[
        str, typer.Option(help="The MPI library's compiler, which knows where mpi.h is.")
    ] = "mpicc",
) -> None:
    """Rewrite collectives in loops to persistent ones: [bold]unisono restructure solver.c -o faster.c[/bold]

    Exit status: 0 rewritten, or nothing to do; 1 all refused, each with a reason; 2 the file or an option."""
    if output and in_place:
        raise UnisonoError("-o and --in-place: one of them says where the program goes")
    assumed = Assumptions(
        whole_program=Assumption.WHOLE_PROGRAM in (assume or []),
        same_arguments=Assumption.SAME_ARGUMENTS in (assume or []),
    )
    unit = parse(file, flags or [], mpicc)
    decisions = Checker(unit, assumed).decide()
    decisions = written(unit, decisions, flags or [], mpicc)
    accepted = [d for d in decisions if isinstance(d, Accepted)]
    text = Rewriter(unit).text(accepted) if accepted else unit.text
    for line in lines(str(file), decisions, explain):
        print(line, file=sys.stderr)
    if diff or not (output or in_place):
        shown = str(file).lstrip("/")
        old, new = unit.text.splitlines(keepends=True), text.splitlines(keepends=True)
        sys.stdout.writelines(difflib.unified_diff(old, new, f"a/{shown}", f"b/{shown}"))
    if where := file if in_place else output:
        files.write_text(text, where)
    if not accepted and any(isinstance(d, Refused) for d in decisions):
        raise typer.Exit(1)


def written(
    unit: Unit, decisions: list[Accepted | Refused], flags: list[str], mpicc: str
) -> list[Accepted | Refused]:
    """What does not compile is not written. One call that cannot be does not lose the others."""

    def wrong(*accepted: Accepted) -> UnisonoError | None:
        try:
            parse(Path(unit.path), flags, mpicc, Rewriter(unit).text(list(accepted)))
        except UnisonoError as error:
            return error
        return None

    accepted = [d for d in decisions if isinstance(d, Accepted)]
    if not accepted or not wrong(*accepted):
        return decisions
    why = {id(d): error for d in accepted if (error := wrong(d))}
    kept = [d for d in accepted if id(d) not in why]
    if kept and (error := wrong(*kept)):
        raise RunError(f"nothing is written: what it would be does not compile: {error}") from error
    refused = "what would be written does not compile"
    return [Refused(d.found, f"{refused}: {why[id(d)]}") if id(d) in why else d for d in decisions]
