"""Starts `unisono` for tests in processes that have loaded the libraries it runs on.

To load them takes a short command most of its time. Unisono itself is loaded by each process, with the
environment that it is given. As a program this serves the socket whose descriptor is its argument, and forks
for each request.
"""

import contextlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

PROGRAM = str(Path(__file__).with_name("quick_unisono.py"))
LIBRARIES = ("msgspec", "numpy", "rich.progress", "typer.main")
# What an interpreter reads at its start, and nowhere else.
AT_START = ("PYTHON", "LC_", "LANG")


class Server:
    """Ends with who holds it."""

    def __init__(self) -> None:
        self.environment = dict(os.environ)
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            one_thread = os.environ | {
                "OPENBLAS_NUM_THREADS": "1"
            }  # NumPy's, which a fork would leave behind
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=one_thread)

    def serves(self, environment: dict[str, str]) -> bool:
        """Whether an interpreter that has started already can stand for one with this environment."""
        names = {name for name in (*self.environment, *environment) if name.startswith(AT_START)}
        return all(self.environment.get(name) == environment.get(name) for name in names)

    def run(
        self, arguments: Sequence[str], environment: dict[str, str], timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        """As subprocess.run(text=True), of `unisono` with these arguments."""
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, answers:
            request = {"arguments": arguments, "environment": environment, "folder": str(Path.cwd())}
            with theirs:
                fds = [out.fileno(), err.fileno(), theirs.fileno()]
                socket.send_fds(self.channel, [json.dumps(request).encode()], fds)
            pid = int(answers.recv(20))
            answers.settimeout(timeout)
            try:
                status = int(answers.recv(20))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["unisono", *arguments], timeout) from None
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(["unisono", *arguments], status, out.read(), err.read())

    def close(self) -> None:
        self.channel.close()
        self.process.wait()


def start(text: bytes, out: int, err: int, answers: int) -> bool:
    """Whether this process is the one that is to run `unisono`. The one that answers for it never returns."""
    pid = os.fork()
    if pid:
        return False
    pid = os.fork()
    if pid:
        os.write(answers, str(pid).encode())
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            os.write(answers, str(status).encode())
        os._exit(0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    request = json.loads(text)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [PROGRAM, *request["arguments"]]
    return True


def serve(channel: socket.socket) -> None:
    while True:
        text, fds, *_ = socket.recv_fds(channel, 1 << 20, 3)
        with contextlib.suppress(ChildProcessError):  # there is none
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not text:
            return
        is_ours = start(text, *fds)
        for fd in fds:
            os.close(fd)
        if is_ours:
            channel.close()
            runpy.run_path(PROGRAM, run_name="__main__")
            return


if __name__ == "__main__":
    for library in LIBRARIES:
        import_module(library)
    serve(socket.socket(fileno=int(sys.argv[1])))
