"""Runs a launch line with tracing on, and says what came of it."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core import launch, launchers
from unisono.core.errors import UnisonoError


def make_folder(folder: Path) -> Path:
    """Absolute, as ranks may start elsewhere. Refuses one that holds a trace."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("rank-*")):
            raise UnisonoError(f"--output {folder}: it holds a trace already: name another or remove it")
    except OSError as error:
        raise UnisonoError(f"--output {folder}: {error.strerror}") from error
    return folder.resolve()


def variables(folder: Path, native: bool) -> dict[str, str]:
    added = {"LD_PRELOAD": launch.preloaded(), "UNISONO_TRACE": str(folder)}
    return added | ({"UNISONO_DISABLE": "1"} if native else {})


def line_of(command: Sequence[str], ranks: int | None, mpi: str | None) -> tuple[list[str], dict[str, str]]:
    """What to start, and its environment: a launcher's whole line, or a program and its number of ranks."""
    launchers.refuse_two_launchers(command, ranks, "unisono trace -o DIR")
    if ranks is not None:
        library = launch.choose_mpi(mpi, command[0])
        return [*library.launcher(ranks), *command], library.shell(ranks)
    if mpi:
        raise UnisonoError(f"--mpi {mpi}: it is for -n: without it the line says what starts the ranks")
    if launchers.launcher_at(command) is None and launch.flavour_needed_by(command[0]):
        raise UnisonoError(
            f"{command[0]} alone would be one rank: say how many, as in unisono trace -n 4 -o DIR -- "
            f"{shlex.join(command)}, or put its launcher before it"
        )
    return list(command), dict(os.environ)


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Its exit status, as a shell gives it. Ctrl-C is the command's affair."""
    if shutil.which(command[0]) is None:
        raise UnisonoError(f"{command[0]}: {launch.why_no_program(command[0])}")
    try:
        line = launchers.with_variables(command, launchers.handed_on(environment))
        process = subprocess.Popen(line, env=environment)
    except OSError as error:
        raise UnisonoError(f"{command[0]}: {error.strerror}") from error
    with contextlib.ExitStack() as restored:
        former = signal.signal(signal.SIGINT, signal.SIG_IGN)
        restored.callback(signal.signal, signal.SIGINT, former)
        status = process.wait()
    return status if status >= 0 else 128 - status


def outcome(folder: Path, command: Sequence[str], status: int) -> tuple[str, bool]:
    """What was written, in one line; and whether there is a trace at all. `command` ended with `status`."""
    ranks = len(list(folder.glob("rank-*.jsonl")))
    if not ranks:
        if status:
            return f"no rank wrote a trace: {command[0]} failed with status {status}, as it says above", False
        return (
            "no rank wrote a trace: either no program of the line called MPI_Init, or it is linked to its "
            "MPI library statically, or the launcher does not hand LD_PRELOAD and UNISONO_TRACE on to other "
            f"nodes, or these do not share {folder}",
            False,
        )
    try:
        from unisono.trace import reader  # noqa: PLC0415 - NumPy takes a moment to load
    except ModuleNotFoundError as error:
        return f"{ranks} ranks wrote a trace to {folder}; what reads it needs the package {error.name}", True
    trace = reader.read(folder)
    text = f"{len(trace.ranks)} of {trace.size} ranks wrote {trace.events} events to {folder}"
    errors = [reading.error_ns for rank in trace.ranks.values() for reading in rank.readings]
    if any(errors):  # ranks of one node share a clock
        text += f"; clocks known within {max(errors) / 1000:.1f} us"
    if trace.size == 1 and launchers.launcher_at(command) is None:
        text += "; the line has no launcher, so that this is one rank: unisono trace -n 4 starts four"
    ended = sum(rank.ended_ns is not None for rank in trace.ranks.values())
    if ended < len(trace.ranks):
        text += f"; {len(trace.ranks) - ended} did not reach MPI_Finalize"
    return text, True
