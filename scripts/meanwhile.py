"""What else goes on in a lab while jobs are measured there."""

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

RECEIVER = """import socket
caller = socket.create_server(("", 7000)).accept()[0]
while caller.recv(1 << 18): pass"""
SENDER = """import socket
other = socket.create_connection(("h2", 7000))
while True: other.sendall(bytes(1 << 16))"""
BUSY = "while True: pass"

# In this order, each on its host: Python.
PROGRAMS = {"traffic": (("h2", RECEIVER), ("h1", SENDER)), "busy": (("h1", BUSY),)}


@contextmanager
def running(condition: str, shell: Sequence[str]) -> Iterator[None]:
    """Runs its programs; none where it has none. `shell`: what runs a command on a host, whose name follows.
    A program that ends before the jobs do is an error, as one of these is: CalledProcessError."""
    running = []
    try:
        for host, program in PROGRAMS.get(condition, ()):
            running.append(subprocess.Popen([*shell, host, shlex.join([sys.executable, "-c", program])]))
            time.sleep(1)  # the receiver listens before the sender connects
        yield
        for one in running:
            if one.poll() is not None:
                raise subprocess.CalledProcessError(
                    one.returncode, one.args, stderr="it ended before the jobs did"
                )
    finally:
        for one in running:
            one.kill()
            one.wait()
