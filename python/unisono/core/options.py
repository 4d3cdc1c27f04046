"""Options that several commands have: one name and one meaning each (docs/reference/cli/index.md)."""

import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from unisono.core import completion, places
from unisono.core.errors import UnisonoError


class Library(StrEnum):
    """Of --mpi."""

    AUTO = "auto"
    MPICH = "mpich"
    OPENMPI = "openmpi"
    INTEL = places.INTEL
    DEBIAN_MPICH = "debian-mpich"
    DEBIAN_OPENMPI = "debian-openmpi"

    @property
    def chosen(self) -> str | None:
        """None: whoever asks decides."""
        return None if self is Library.AUTO else self.value


LIBRARIES = "mpich, openmpi, intel, debian-mpich, debian-openmpi, or auto"

Json = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE|-", help="Write as JSON; -: to standard output, in place of the text."
    ),
]
Sizes = Annotated[str, typer.Option(metavar="S,S", help="Bytes: 8,64K; 8:1M doubles, 8:1M:4 quadruples.")]
Budget = Annotated[str, typer.Option(metavar="TIME", help="For all of it: 90s, 20m, 2h.")]
Collective = Annotated[
    str,
    typer.Option(metavar="NAME", help="bcast, allreduce, ...", autocompletion=completion.collectives),
]
Force = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLLECTIVE=ALGORITHM",
        help="Force an algorithm; may be repeated.",
        autocompletion=completion.force,
    ),
]
Log = Annotated[bool, typer.Option("--log", help="Say what was chosen for each call.")]
OutputFile = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")]


def collectives(standard: str) -> Any:
    """Of --collectives, where `standard` is measured otherwise."""
    return typer.Option(
        metavar="A,B",
        help=f"Or all; {standard.replace(',', ', ')} otherwise.",
        show_default=False,
        autocompletion=completion.collectives,
    )


def group(text: str, **settings: Any) -> typer.Typer:
    """A command that only has commands."""
    return typer.Typer(
        help=text,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def refuse_given(context: typer.Context, names: set[str], why: str) -> None:
    """An option that was given, and that would be ignored, is an error."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            raise UnisonoError(f"{parameter.opts[0]} {why}")


def demand_folder(path: Path | None) -> None:
    """Before anything is measured: the file can be written at its end."""
    if path is None or str(path) == "-":
        return
    if not path.absolute().parent.is_dir():
        raise UnisonoError(f"{path}: there is no such directory")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UnisonoError(f"{path}: is a folder: name a file in it")
    if target.exists() and not target.is_file():
        return  # a device or a pipe is written to
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise UnisonoError(f"{path}: cannot be written: {error.strerror}") from error
