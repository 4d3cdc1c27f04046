"""Starts programs in SimGrid's SMPI."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono import jobs, places
from unisono.errors import UnisonoError
from unisono.sim.platforms import Platform

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")

# SMPI's standard factors are a fit to one old Ethernet cluster; these give latency + bytes / bandwidth.
# A polling program costs little time, and the program's own computing none.
CONFIGURATION = {
    "network/model": "SMPI",
    "network/crosstraffic": "0",
    "smpi/bw-factor": "0:1",
    "smpi/lat-factor": "0:1",
    "smpi/simulate-computation": "no",
    "smpi/test": "1e-7",
    "smpi/iprobe": "1e-7",
    "smpi/host-speed": "1Gf",  # not used; without it every run warns
    "smpi/display-timing": "yes",
}
LOGS = ("root.thresh:warning", "smpi_utils.thresh:info")

NOT_INSTALLED = (
    "SimGrid is not installed: apt-get install libsimgrid-dev, remove build/CMakeCache.txt, then make"
)

# smpirun ends with status 0 after these.
DEADLOCK = "Deadlock detected"
ABORT = "MPI_Abort was called"


@dataclass(frozen=True)
class Run:
    output: str
    problem: str  # one line; empty: it went well

    @property
    def simulated_seconds(self) -> float | None:
        found = re.search(r"Simulated time: (\S+) seconds", self.output)
        return float(found[1]) if found else None

    @property
    def program_output(self) -> str:
        """Without what SimGrid says about the simulation."""
        return re.sub(OF_SIMGRID, "", self.output).strip("\n")


OF_SIMGRID = re.compile(
    r"(?:\[[^\n]*\] \[smpi_utils/INFO\] )?Simulated time: .*?computation of the application\n", re.DOTALL
)


def smpirun() -> Path:
    found = shutil.which("smpirun")
    if not found:
        raise UnisonoError(NOT_INSTALLED)
    return Path(found)


def simgrid_version() -> str:
    text = subprocess.run([smpirun(), "-version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"version (\d+(?:\.\d+)*)", text)
    return found[1] if found else "unknown"


def built(name: str) -> Path:
    """A file in build/sim."""
    smpirun()
    path = places.build_directory() / "sim" / name
    if not path.exists():
        raise UnisonoError(f"{path} is not there: run make (SimGrid must be installed before)")
    return path


def environment(added: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Without the user's UNISONO_*, so that a command means the same everywhere. smpirun copies the
    program once per rank into TMPDIR."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("UNISONO_")}
    return kept | dict(added) | {"TMPDIR": str(scratch)}


def run(
    platform: Platform,
    ranks: int,
    command: Sequence[str],
    configuration: Mapping[str, str],
    variables: Mapping[str, str],
    sign_of_life: Callable[[], bool],
) -> Run:
    """`sign_of_life` is asked twice a second; what it raises ends the run."""
    with tempfile.TemporaryDirectory(prefix="unisono-sim-") as folder:
        scratch = Path(folder)
        (scratch / "platform.xml").write_text(platform.xml())
        (scratch / "hosts").write_text("\n".join(platform.host_names(ranks)) + "\n")
        line = [str(smpirun()), "-np", str(ranks)]
        line += ["-platform", str(scratch / "platform.xml"), "-hostfile", str(scratch / "hosts")]
        line += [f"--cfg={key}:{value}" for key, value in {**CONFIGURATION, **configuration}.items()]
        line += [f"--log={log}" for log in LOGS]
        outcome = jobs.run(
            [*line, *command], environment(variables, scratch), silence=10**9, sign_of_life=sign_of_life
        )
    problem = outcome.problem
    if DEADLOCK in outcome.output:
        problem = "deadlock: ranks wait for messages that nobody sends"
    elif ABORT in outcome.output:
        problem = "the program called MPI_Abort"
    return Run(outcome.output, problem)
