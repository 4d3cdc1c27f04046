"""The command line and environment that run a program under Unisono."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core import catalogue, launchers, places
from unisono.core.errors import SetupError, UnisonoError

RANKS = 2  # that unisono run starts where nothing is said


def forced(settings: Sequence[str]) -> dict[str, str]:
    """COLLECTIVE=SPEC as environment variables, checked before anything is started."""
    environment = {}
    for setting in settings:
        collective, separator, spec = setting.partition("=")
        if not separator:
            raise UnisonoError(f"--force {setting}: write COLLECTIVE=ALGORITHM, as in bcast=chain")
        collective = catalogue.collective_named(collective)
        catalogue.complete_spec(collective, spec)
        environment[f"UNISONO_{collective.upper()}"] = spec
    return environment


def profile_path(profile: Path) -> str:
    """Absolute, as ranks may start elsewhere. Whether it holds here, only the job itself can tell."""
    if not profile.is_file():
        raise UnisonoError(f"--profile {profile}: no such file; unisono tune makes one")
    return str(profile.resolve())


def why_no_program(command: str) -> str:
    """Of what PATH does not have, nor the file system as a program."""
    if Path(command).is_dir():
        return "it is a folder: name the program in it"
    if not Path(command).is_file():
        return "no such program"
    if os.access(command, os.X_OK):
        return f"it is not in PATH: write ./{command}"
    return f"it is no executable file: chmod +x {command}, or if it is a script, name what runs it"


def flavour_needed_by(command: str) -> str | None:
    """The flavour a compiled program is linked to; None when it does not say (scripts)."""
    path = shutil.which(command)
    if path is None:
        raise UnisonoError(f"{command}: {why_no_program(command)}")
    from unisono.core import elf  # noqa: PLC0415 - no other command reads programs

    linked = elf.linked(Path(path))
    flavour = next(iter(linked.libraries), None) if linked else None
    return "mpich" if flavour == "abi" else flavour


def choose_mpi(flavour: str | None, command: str) -> places.Mpi:
    needed = flavour_needed_by(command)
    if flavour and needed and places.FLAVOURS.get(flavour, flavour) != needed:
        raise UnisonoError(f"{command} is linked to {needed}: it cannot run under --mpi {flavour}")
    return places.find_mpi(flavour or needed)


def command_line(mpi: places.Mpi, ranks: int, command: Sequence[str]) -> list[str]:
    """Without the variables that Open MPI must be told to pass on; see with_variables."""
    return [*mpi.launcher(ranks), str(places.program("unisono-exec")), *command]


def with_variables(mpi: places.Mpi, line: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Open MPI forwards to other nodes only what it is told to; Hydra forwards everything."""
    if mpi.flavour != "openmpi":
        return list(line)
    names = sorted(name for name in environment if places.is_ours(name))
    options = [option for name in names for option in ("-x", name)]
    return [line[0], *options, *line[1:]]


def preloaded() -> str:
    """The stub before whatever is preloaded already. It does nothing in programs without MPI, such as the
    launcher, so that the whole line may run with it."""
    stub = places.preload_library().resolve()
    if not stub.exists():
        raise SetupError(f"{stub} is not built: run make")
    if " " in str(stub) or ":" in str(stub):
        raise SetupError(f"{stub}: cannot be preloaded from a path with a space or colon: move it")
    return ":".join([str(stub), *filter(None, [os.environ.get("LD_PRELOAD")])])


def run(
    command: Sequence[str],
    ranks: int | None,
    flavour: str | None,
    force: Sequence[str],
    profile: Path | None,
    log: bool,
) -> None:
    """Replaces this process by mpiexec, or by the launcher that the command begins with."""
    launchers.refuse_two_launchers(command, ranks, "unisono run")
    ours = forced(force)
    if profile:
        ours["UNISONO_PROFILE"] = profile_path(profile)
    if log:
        ours["UNISONO_LOG"] = "decision"
    if launchers.launcher_at(command) is not None:
        if flavour:
            raise UnisonoError(f"--mpi {flavour}: the launcher of the line decides: leave out --mpi, or it")
        if shutil.which(command[0]) is None:
            raise UnisonoError(f"{command[0]}: {why_no_program(command[0])}")
        environment = {**os.environ, **ours, "LD_PRELOAD": preloaded()}
        line = launchers.with_variables(command, launchers.handed_on(environment))
        os.execvpe(line[0], line, environment)
    mpi = choose_mpi(flavour, command[0])
    environment = mpi.shell(ranks or RANKS) | ours
    line = with_variables(mpi, command_line(mpi, ranks or RANKS, command), environment)
    os.execve(line[0], line, environment)
