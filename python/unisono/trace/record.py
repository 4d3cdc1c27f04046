"""Runs a launch line with tracing on, and says what came of it."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core import places
from unisono.core.errors import SetupError, UnisonoError

LAUNCHERS = {"mpiexec", "mpirun", "orterun", "prterun", "mpiexec.openmpi", "mpirun.openmpi"}
PASSED_ON = ("LD_PRELOAD", "UNISONO_TRACE", "UNISONO_DISABLE")


def make_folder(folder: Path) -> Path:
    """Absolute, as ranks may start elsewhere. Refuses one that holds a trace."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("rank-*")):
            raise UnisonoError(f"--output {folder}: it holds a trace already: name another or remove it")
    except OSError as error:
        raise UnisonoError(f"--output {folder}: {error.strerror}") from error
    return folder.resolve()


def preloaded() -> str:
    """The stub before whatever is preloaded already. It does nothing in programs without MPI, such
    as the launcher, so that the whole line may run with it."""
    stub = places.preload_library().resolve()
    if not stub.exists():
        raise SetupError(f"{stub} is not built: run make")
    if " " in str(stub) or ":" in str(stub):
        raise SetupError(f"{stub}: cannot be preloaded from a path with a space or colon: move it")
    return ":".join([str(stub), *filter(None, [os.environ.get("LD_PRELOAD")])])


def variables(folder: Path, native: bool) -> dict[str, str]:
    added = {"LD_PRELOAD": preloaded(), "UNISONO_TRACE": str(folder)}
    return added | ({"UNISONO_DISABLE": "1"} if native else {})


def with_variables(command: Sequence[str], added: Mapping[str, str]) -> list[str]:
    """Open MPI's launcher hands on to other nodes only what it is told to."""
    path = shutil.which(command[0])
    if path is None:
        raise UnisonoError(f"{command[0]}: no such program: give its whole path, or put its folder in PATH")
    launcher = Path(path)
    if launcher.name not in LAUNCHERS or places.flavour_of_mpiexec(launcher) != "openmpi":
        return list(command)
    options = [option for name in PASSED_ON if name in added for option in ("-x", name)]
    return [command[0], *options, *command[1:]]


def run(command: Sequence[str], added: Mapping[str, str]) -> int:
    """Its exit status, as a shell gives it. Ctrl-C is the command's affair."""
    try:
        process = subprocess.Popen(with_variables(command, added), env={**os.environ, **added})
    except OSError as error:
        raise UnisonoError(f"{command[0]}: {error.strerror}") from error
    with contextlib.ExitStack() as restored:
        former = signal.signal(signal.SIGINT, signal.SIG_IGN)
        restored.callback(signal.signal, signal.SIGINT, former)
        status = process.wait()
    return status if status >= 0 else 128 - status


def outcome(folder: Path, launcher: str, status: int) -> tuple[str, bool]:
    """What was written, in one line; and whether there is a trace at all. `launcher` ended with `status`."""
    from unisono.trace import reader  # noqa: PLC0415 - NumPy takes a moment to load

    if not any(folder.glob("rank-*.jsonl")):
        if status:
            return f"no rank wrote a trace: {launcher} failed with status {status}, as it says above", False
        return (
            "no rank wrote a trace: either no program of the line called MPI_Init, or it is linked to its "
            "MPI library statically, or the launcher hands LD_PRELOAD and UNISONO_TRACE not on to other "
            f"nodes, or these do not share {folder}",
            False,
        )
    trace = reader.read(folder)
    text = f"{len(trace.ranks)} of {trace.size} ranks wrote {trace.events} events to {folder}"
    errors = [reading.error_ns for rank in trace.ranks.values() for reading in rank.readings]
    if any(errors):  # ranks of one node share a clock
        text += f"; clocks known within {max(errors) / 1000:.1f} us"
    ended = sum(rank.ended_ns is not None for rank in trace.ranks.values())
    if ended < len(trace.ranks):
        text += f"; {len(trace.ranks) - ended} did not reach MPI_Finalize"
    return text, True
