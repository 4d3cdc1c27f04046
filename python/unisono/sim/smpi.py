"""Starts programs in SimGrid's SMPI."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.core import jobs, places
from unisono.core.errors import SetupError
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

NOT_INSTALLED = "SimGrid is not installed: apt-get install libsimgrid-dev, then make"

# smpirun ends with status 0 after these.
DEADLOCK = "Deadlock detected"
ABORT = "MPI_Abort was called"

# What smpirun adds to the output of a program that failed: its own command line and this.
POSTSCRIPT = re.compile(r"(?:^\S+ --cfg=smpi/privatization:[^\n]*\n)?Execution failed with code \d+\.", re.M)


@dataclass(frozen=True)
class Run:
    output: str  # the program's
    simulated_seconds: float | None  # from MPI_Init to the end
    problem: str  # one line; empty: it went well


def smpirun() -> Path:
    found = shutil.which("smpirun")
    if not found:
        raise SetupError(NOT_INSTALLED)
    return Path(found)


def simgrid_version() -> str:
    text = subprocess.run([smpirun(), "-version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"version (\d+(?:\.\d+)*)", text)
    return found[1] if found else "unknown"


def built(name: str) -> Path:
    """A file in build/sim."""
    smpirun()
    path = places.simulator(name)
    if not path.exists():
        raise SetupError(
            f"{path} is not there: build Unisono where SimGrid is installed (make), "
            "and install the component simulator"
        )
    return path


def environment(added: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Without the user's UNISONO_*, so that a command means the same everywhere. smpirun copies the
    program once per rank into TMPDIR."""
    kept = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    return kept | dict(added) | {"TMPDIR": str(scratch)}


def run(
    platform: Platform,
    hosts: Sequence[int],
    command: Sequence[str],
    configuration: Mapping[str, str],
    variables: Mapping[str, str],
    sign_of_life: Callable[[], bool],
) -> Run:
    """Rank i is on hosts[i]. `sign_of_life` is asked twice a second; what it raises ends the run."""
    variables = dict(variables)
    with tempfile.TemporaryDirectory(prefix="unisono-sim-") as folder:
        scratch = Path(folder)
        log = scratch / "simgrid.log"
        (scratch / "platform.xml").write_text(platform.xml())
        (scratch / "hosts").write_text("\n".join(platform.host_names(hosts)) + "\n")
        if topology := platform.topology_file():
            (scratch / "topology").write_text(topology)
            variables["UNISONO_TOPOLOGY"] = str(scratch / "topology")
        line = [str(smpirun()), "-np", str(len(hosts))]
        line += ["-platform", str(scratch / "platform.xml"), "-hostfile", str(scratch / "hosts")]
        line += [f"--cfg={key}:{value}" for key, value in {**CONFIGURATION, **configuration}.items()]
        line += [f"--log={setting}" for setting in (*LOGS, f"root.app:file:{log}")]
        outcome = jobs.run(
            [*line, *command], environment(variables, scratch), silence=10**9, sign_of_life=sign_of_life
        )
        said = log.read_text(errors="replace") if log.exists() else ""
    output = POSTSCRIPT.sub("", outcome.output).strip("\n")
    found = re.search(r"Simulated time: (\S+) seconds", said)
    return Run(output, float(found[1]) if found else None, problem_of(outcome, output, said))


def problem_of(outcome: jobs.Outcome, output: str, said: str) -> str:
    if DEADLOCK in said:
        return "deadlock: ranks wait for messages that nobody sends"
    if ABORT in said:
        return "the program called MPI_Abort"
    if outcome.ok:
        return ""
    critical = re.search(r"/CRITICAL\] ([^\n]*)", said)
    why = f"SimGrid: {critical[1]}" if critical else jobs.telling_line(output)
    return f"{outcome.problem.partition(':')[0]}: {why}"
