import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import browser
import pytest

# The command, but for how long it looks at how fast this machine copies: what that says is not tested.
COMMAND = [sys.executable, str(Path(__file__).with_name("quick_unisono.py"))]


class Run(Protocol):
    def __call__(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]": ...


@pytest.fixture
def unisono(tmp_path: Path) -> Run:
    """The command as a user starts it who has never started it before: all of a test share a cache."""

    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*COMMAND, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ
            | {"COLUMNS": "150", "NO_COLOR": "1", "XDG_CACHE_HOME": str(tmp_path)}
            | environment,
        )

    return run


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One for all tests: it takes a second to start."""
    with browser.chromium() as started:
        yield started


SKIPPED = 77  # for ctest


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """All skipped is not passed, and an error among skipped tests is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and exitstatus == 0 and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = SKIPPED
