"""What ends a command, and with which exit status (docs/reference/cli/index.md)."""

import os
from typing import ClassVar

DONE, FAILED, USAGE, SETUP = 0, 1, 2, 3
INTERRUPTED = 130  # as shells say it of a program that Ctrl-C ended


class UnisonoError(Exception):
    """What was given cannot be used: an option, an argument, a file. Says what is wrong and what to do."""

    status: ClassVar[int] = USAGE


class RunError(UnisonoError):
    """What was asked for was tried, and did not succeed."""

    status = FAILED


class SetupError(UnisonoError):
    """Something around the command is missing: an MPI library, a tool, a lab, permission."""

    status = SETUP


def refused(error: OSError) -> str:
    """What the system says, of which file."""
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{os.fsdecode(error.filename)}: {reason}"
