"""The commands `unisono info` and `unisono doctor`: what is here, and whether it works."""

import os
from typing import Annotated

import typer
from rich.text import Text

from unisono import __version__
from unisono import doctor as doctor_module
from unisono.core import answers, catalogue, documents, options, places
from unisono.core.console import output, table
from unisono.core.errors import FAILED

MARKS = {
    doctor_module.Level.OK: ("ok", "green"),
    doctor_module.Level.NOTE: ("note", "yellow"),
    doctor_module.Level.PROBLEM: ("PROBLEM", "bold red"),
}


def info(json: options.Json = None) -> None:
    """Show the version, where things are, and every environment variable."""
    console = output(json)
    console.print(Text(f"Unisono {__version__}", style="bold"))
    console.print(f"build  {places.build_directory()}", soft_wrap=True)
    libraries = places.all_mpis()
    for mpi in libraries:
        console.print(f"MPI    {mpi.flavour}, {mpi.home}", soft_wrap=True)
    made = table("variable", "default", "now", "meaning", left=4)
    made.columns[0].no_wrap = True
    settings = [
        answers.Setting(variable.name, variable.default, os.environ.get(variable.name), variable.meaning)
        for variable in catalogue.variables()
    ]
    for one in settings:
        now = Text("-", style="dim") if one.now is None else Text(one.now, style="yellow")
        made.add_row(one.name, one.default, now, one.meaning)
    console.print(made)
    told = answers.Info(
        build=str(places.build_directory()),
        libraries=[answers.Library(mpi.flavour, str(mpi.home)) for mpi in libraries],
        variables=settings,
    )
    documents.write(told, json)


def doctor(
    program: Annotated[str | None, typer.Argument(help="Also look at this program.")] = None,
    json: options.Json = None,
) -> None:
    """Look for what would keep Unisono from working, and say what to do."""
    console = output(json)
    found = []
    for finding in doctor_module.examine(program):
        word, style = MARKS[finding.level]
        found.append(answers.Found(finding.level.value, finding.what, finding.advice))
        console.print(Text(f"{word:>7}  ", style=style) + Text(finding.what), soft_wrap=True)
        if finding.advice:
            console.print(Text(f"{'':9}{finding.advice}", style="dim"), soft_wrap=True)
    problems = sum(one.level == doctor_module.Level.PROBLEM.value for one in found)
    documents.write(answers.Diagnosis(problems=problems, findings=found), json)
    if problems:
        console.print(f"\n{problems} problem{'s' if problems > 1 else ''}")
        raise typer.Exit(FAILED)
