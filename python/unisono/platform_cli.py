"""The command `unisono platform`: what jobs keep for each other (docs/reference/memory.md)."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from unisono.errors import UnisonoError
from unisono.profile.terminal import left_table

FORMAT = "unisono-memory"
MOST_BYTES = 1 << 20

app = typer.Typer(
    help="Look at what jobs have found out about hosts and networks here, or forget it.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def folder() -> Path:
    """As src/base/cache.cpp finds it."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if chosen.startswith("/"):
        return Path(chosen) / "unisono"
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        raise UnisonoError("there is no home directory: set HOME or XDG_CACHE_HOME")
    return Path(home) / ".cache" / "unisono"


def files() -> list[Path]:
    try:
        return sorted(path for path in folder().glob("*.json"))
    except OSError as error:
        raise UnisonoError(f"{folder()}: {error.strerror}") from error


def read(path: Path) -> dict[str, Any]:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise UnisonoError(f"{path}: it is no small plain file; unisono platform forget removes it")
        document = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise UnisonoError(
            f"{path}: it cannot be read ({error}); unisono platform forget removes it"
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UnisonoError(f"{path}: it is no memory of Unisono; unisono platform forget removes it")
    return document


def network_text(document: dict[str, Any]) -> str:
    if not document["machine"]:
        return "the network will be measured by the next job"
    piece = document["machine"]["levels"]["between_nodes"]["one_way"][0]
    age = max(0.0, time.time() - document["measured"]) / 86400
    rate = 8e-6 / piece["beta_s_per_byte"]
    return f"between nodes {piece['alpha_s'] * 1e6:.1f} us, {rate:.0f} Mb/s; measured {age:.0f} days ago"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}" if seconds > 0 else ""


def show_one(document: dict[str, Any], console: Console) -> None:
    where = document["where"]
    host = where["host"]
    console.print(Text(where["mpi"]["library"], style="bold"), soft_wrap=True)
    console.print(
        Text(f"{host['processor']}, {host['cores']} cores; {where['network']}", style="dim"), soft_wrap=True
    )
    console.print(network_text(document), soft_wrap=True)
    if not document["choices"]:
        return
    made = left_table(
        "collective", "choice", "bytes", "ranks", "nodes", "took ms", "predicted", "native", left=2
    )
    for one in document["choices"]:
        made.add_row(
            one["collective"],
            one["choice"],
            str(one["bytes"]),
            str(one["ranks"]),
            str(one["nodes"]),
            milliseconds(one["seconds"]),
            milliseconds(one["predicted_seconds"]),
            milliseconds(one["native_seconds"]),
        )
    console.print(made)


def each(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in paths:
        yield path, read(path)


@app.command()
def show() -> None:
    """Show what is known of networks, and what was chosen there: predicted, measured, native."""
    out = Console(highlight=False)
    out = out if out.is_terminal else Console(highlight=False, width=150)
    found = files()
    if not found:
        out.print(f"{folder()}: nothing is remembered yet", soft_wrap=True)
    for path, document in each(found):
        out.print(str(path), soft_wrap=True)
        try:
            show_one(document, out)
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError) as error:
            raise UnisonoError(f"{path}: it is broken; unisono platform forget removes it") from error


@app.command()
def forget(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="Only this one, as show names it.")
    ] = None,
) -> None:
    """Remove it: the next jobs measure anew."""
    chosen = [path for path in files() if file is None or Path(file).name == path.name]
    if file is not None and not chosen:
        raise UnisonoError(f"{file}: nothing of this name is in {folder()}")
    for path in chosen:
        try:
            path.unlink()
        except OSError as error:
            raise UnisonoError(f"{path}: {error.strerror}") from error
    print(f"forgot {len(chosen)} file{'' if len(chosen) == 1 else 's'} in {folder()}")
