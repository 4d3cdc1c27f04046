"""The two forms in which commands take a program: `-n 4 -- ./app`, and a launcher's whole line."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core import places
from unisono.core.errors import UnisonoError

OF_ANY_LIBRARY = r"(mpiexec|mpirun)([.-](hydra|mpich|openmpi|slurm|gforker).*)?|orterun|prterun|prun"
LAUNCHER = re.compile(rf"{OF_ANY_LIBRARY}|srun|jsrun|aprun|ibrun|lrun|flux|unisono")
# What runs the rest of its line in another way.
WRAPPERS = {
    "env",
    "nice",
    "nohup",
    "time",
    "timeout",
    "taskset",
    "stdbuf",
    "ionice",
    "chrt",
    "numactl",
    "setsid",
}
OF_WRAPPERS = re.compile(r"-.*|[\d.,:-]+[smhd]?|\w+=.*", re.DOTALL)  # options, numbers, assignments
# How many ranks there are, in the environment of a rank: of Hydra and srun, of Open MPI.
RANKS_AROUND = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE")


def launcher_at(command: Sequence[str]) -> int | None:
    """Which word starts ranks; None of a line that is a program itself."""
    for at, word in enumerate(command):
        name = Path(word).name
        if LAUNCHER.fullmatch(name):
            return at
        if name not in WRAPPERS and (at == 0 or not OF_WRAPPERS.fullmatch(word)):
            return None
    return None


def refuse_two_launchers(command: Sequence[str], ranks: int | None, ours: str, instead: str = "") -> None:
    """Every rank that one of them starts would start the ranks of the other. `ours` is the command
    as its user
    writes it, without what it runs; `instead` is what to write where it does not take a launcher's line."""
    around = next((name for name in RANKS_AROUND if os.environ.get(name, "1") not in {"", "1"}), None)
    if around:
        raise UnisonoError(
            f"{ours}: this is one of {os.environ[around]} ranks of a job ({around}), and would "
            f"start another job on "
            f"each: write unisono exec {shlex.join(command)} after the launcher"
        )
    at = launcher_at(command)
    if ranks is not None and at is not None:
        instead = instead or f"leave out -n, as in {ours} -- {shlex.join(command)}"
        raise UnisonoError(
            f"{command[at]} starts ranks itself, and each of the {ranks} of -n would start it: {instead}"
        )


def with_variables(command: Sequence[str], names: Sequence[str]) -> list[str]:
    """A launcher's line that hands these variables on. Open MPI's passes on to other nodes only
    what it is told
    to; the others, everything."""
    at = launcher_at(command)
    found = shutil.which(command[at]) if at is not None else None
    if found is None or at is None or not is_open_mpis(Path(found)):
        return list(command)
    options = [option for name in names for option in ("-x", name)]
    return [*command[: at + 1], *options, *command[at + 1 :]]


def is_open_mpis(launcher: Path) -> bool:
    return re.fullmatch(OF_ANY_LIBRARY, launcher.name) is not None and (
        places.flavour_of_mpiexec(launcher) == "openmpi"
    )


def handed_on(environment: Mapping[str, str]) -> list[str]:
    """What of an environment a rank needs from us."""
    return sorted(name for name in environment if places.is_ours(name) or name == "LD_PRELOAD")
