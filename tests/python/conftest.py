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
