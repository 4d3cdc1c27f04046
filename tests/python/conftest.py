import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import browser
import pytest
from unisono_server import Server

# The command, but for how long it looks at how fast this machine copies: what that says is not tested.
COMMAND = [sys.executable, str(Path(__file__).with_name("quick_unisono.py"))]
TIMEOUT = 120


class Run(Protocol):
    def __call__(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]": ...


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.close()


@pytest.fixture
def unisono(tmp_path: Path, server: Server) -> Run:
    """The command as a user starts it who has never started it before: all of a test share a cache."""

    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        ours = {"COLUMNS": "150", "NO_COLOR": "1", "XDG_CACHE_HOME": str(tmp_path)}
        variables = os.environ | ours | environment
        if server.serves(variables):
            return server.run(arguments, variables, TIMEOUT)
        command = [*COMMAND, *arguments]
        return subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=TIMEOUT, env=variables
        )

    return run


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One for all tests: it takes a second to start."""
    with browser.chromium() as started:
        yield started


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m mpi` or `-m "lab and ..."` a file in which that word is missing has no such test. To load all
    files takes seconds, and ctest asks for one mark after the other."""
    wanted = str(config.getoption("-m")).partition(" ")[0]
    if collection_path.suffix != ".py" or wanted in {"", "not"}:
        return None
    return wanted not in collection_path.read_text() or None


SKIPPED = 77  # for ctest


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """All skipped is not passed, and an error among skipped tests is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and exitstatus == 0 and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = SKIPPED
