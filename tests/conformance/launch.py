"""How the conformance tests in Python start MPI programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("UNISONO_BUILD", CHECKOUT / "build"))
DEPS = Path(os.environ.get("UNISONO_DEPS", CHECKOUT / ".deps"))
PROGRAMS = BUILD / "bin"
EXEC = BUILD / "bin/unisono-exec"
FLAVOURS = ("mpich", "openmpi")
# Seconds for a job of a test that runs nice beside others, whose ranks may spin for a minute meanwhile.
NICE_TIMEOUT = 200
# A rank's number, for shell commands that do different things on different ranks.
RANK = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"


def surroundings(**variables: str) -> dict[str, str]:
    """The environment of a run: nothing of UNISONO_* but what is given, and consent to be root."""
    kept = {k: v for k, v in os.environ.items() if k != "UNISONO" and not k.startswith("UNISONO_")}
    openmpi = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",  # 4
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    return {**kept, **openmpi, **variables}


def mpiexec(
    flavour: str, ranks: int, *command: str | Path, timeout: float = 60, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A job that may fail, but not run longer than `timeout` seconds: that is an exception."""
    launcher = [str(DEPS / flavour / "bin/mpiexec"), "-n", str(ranks)]
    # In a session of its own, so that a job that hangs leaves no process behind.
    with subprocess.Popen(
        launcher + [str(c) for c in command],
        env=surroundings(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as job:
        try:
            out, err = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            job.terminate()  # the launcher ends its processes
            try:
                job.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, 9)
            raise
        return subprocess.CompletedProcess(job.args, job.returncode, out, err)


def ours(text: str) -> list[str]:
    """The lines that Unisono wrote."""
    return [line for line in text.splitlines() if "unisono: " in line]
