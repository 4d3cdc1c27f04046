import os
import subprocess
import sys
from typing import Protocol

import pytest


class Run(Protocol):
    def __call__(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]": ...


@pytest.fixture
def unisono() -> Run:
    """The command as a user starts it."""

    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "unisono.cli", *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"COLUMNS": "120", "NO_COLOR": "1"} | environment,
        )

    return run


SKIPPED = 77  # for ctest


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """All skipped is not passed, and an error among skipped tests is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and exitstatus == 0 and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = SKIPPED
