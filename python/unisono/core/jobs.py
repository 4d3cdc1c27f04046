"""Runs a job so that it ends: by itself, or when it says nothing for too long; nothing stays behind."""

import contextlib
import os
import re
import select
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "JOB_OF_UNISONO"  # in the environment of every process of a job, on whatever way it started
LOOK_SECONDS = 0.5  # between two looks for a sign of life: seldom, the ranks need the cores
GRACE_SECONDS = 5.0  # for mpiexec to end its ranks after SIGTERM


@dataclass(frozen=True)
class Outcome:
    output: str  # both streams, in the order written
    problem: str = ""  # one line; empty: the job ended well

    @property
    def ok(self) -> bool:
        return not self.problem


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    silence: float,
    sign_of_life: Callable[[], bool] | None = None,
) -> Outcome:
    """Ends the job when there was no sign of life for `silence` seconds; without that function, that
    many seconds after its start. On KeyboardInterrupt the job is ended before it is passed on."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                env={**environment, MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us, we end the job
            )
        except OSError as error:
            return Outcome("", f"{command[0]}: {error.strerror}")
        try:
            problem = watch(process, silence, sign_of_life)
        finally:
            end(process, mark)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if not problem and process.returncode:
        problem = f"{how_it_ended(process.returncode)}: {telling_line(text)}"
    return Outcome(text, problem)


def watch(process: "subprocess.Popen[bytes]", silence: float, sign_of_life: Callable[[], bool] | None) -> str:
    last = time.monotonic()
    ended = os.pidfd_open(process.pid)
    with os.fdopen(ended):
        while True:
            select.select([ended], [], [], min(LOOK_SECONDS, silence))
            process.poll()
            # Asked once more after the end: for what was written between two looks.
            if sign_of_life and sign_of_life():
                last = time.monotonic()
            if process.returncode is not None:
                return ""
            if time.monotonic() - last > silence:
                return f"no result within {silence:g} s, ended"


def end(process: "subprocess.Popen[bytes]", mark: str) -> None:
    if process.poll() is None:
        process.terminate()  # mpiexec passes it on to its ranks
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    # Again until none is left: one may be starting another just now.
    deadline = time.monotonic() + GRACE_SECONDS
    while (survivors := marked(mark)) and time.monotonic() < deadline:
        for survivor in survivors:
            with contextlib.suppress(ProcessLookupError):
                os.kill(survivor, signal.SIGKILL)
        time.sleep(0.02)
    process.wait()


def marked(mark: str) -> list[int]:
    """Daemons of a launcher leave its process group, so the mark is looked for."""
    needle = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if needle in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def how_it_ended(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


BOX = re.compile(r"^-{20,}\n(.*?)(?:^-{20,}$|\Z)", re.DOTALL | re.MULTILINE)  # Open MPI's messages


def telling_line(text: str) -> str:
    """Of a failed job's output what says most: a program's own message, else the launcher's, else
    the last line."""
    lines = [line.strip() for line in BOX.sub("", text).splitlines() if any(c.isalpha() for c in line)]
    for wanted in (r"unisono", r".*\berror\b", r".*EXIT STRING: "):  # the last is Hydra's
        for line in lines:
            if re.match(wanted, line, re.IGNORECASE):
                return line
    for box in BOX.findall(text):
        first, _, rest = box.partition("\n\n")
        told = f"{first} {rest.partition(chr(10) * 2)[0]}" if first.endswith(":") else first
        return " ".join(told.split())
    return lines[-1] if lines else "no output"
