"""Test beds: where a job can be run. The node this is, the lab, or wherever a launcher puts it."""

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from unisono import lab as lab_module
from unisono.core import machine, places
from unisono.core.errors import SetupError, UnisonoError
from unisono.core.options import LIBRARIES, Library
from unisono.core.places import Mpi
from unisono.lab import layout, network

# What earlier jobs have learned is no part of a measurement.
FORGETFUL = {"XDG_CACHE_HOME": os.devnull}
CommandLine = tuple[list[str], dict[str, str]]  # what to start, in which environment


class Bed(Protocol):
    @property
    def kind(self) -> str: ...
    def title(self) -> str: ...
    def fitting_ranks(self) -> int:
        """So many that each has what the bed calls a place of its own: a core, a host."""
        ...

    def per_host(self, ranks: int, chosen: int | None) -> int:
        """Ranks on a host, blocks of neighbours; an error when they do not fit."""
        ...

    def command(self, mpi: Mpi, ranks: int, per_host: int, command: Sequence[str]) -> CommandLine: ...
    def describe(self) -> dict[str, Any]: ...


class Node:
    kind = "node"

    def __init__(self) -> None:
        self.cores = machine.cores().usable

    def title(self) -> str:
        return f"this node, {self.cores} usable core{'s' if self.cores != 1 else ''}"

    def fitting_ranks(self) -> int:
        return max(2, self.cores)

    def per_host(self, ranks: int, chosen: int | None) -> int:
        if chosen is not None and chosen < ranks:
            raise UnisonoError("--ppn is for --lab: this node is one host")
        return ranks

    def command(self, mpi: Mpi, ranks: int, per_host: int, command: Sequence[str]) -> CommandLine:
        return [*mpi.launcher(ranks), *command], mpi.shell(ranks) | FORGETFUL

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "cores": self.cores}


class Lab:
    kind = "lab"

    def __init__(self, lab: lab_module.Lab) -> None:
        self.lab = lab

    def title(self) -> str:
        return f"lab {self.lab.name}, {self.lab.plan.describe()}"

    def fitting_ranks(self) -> int:
        return len(self.lab.hosts)

    def per_host(self, ranks: int, chosen: int | None) -> int:
        return layout.ranks_per_host(ranks, len(self.lab.hosts), chosen)

    def command(self, mpi: Mpi, ranks: int, per_host: int, command: Sequence[str]) -> CommandLine:
        ours = {name: value for name, value in os.environ.items() if places.is_ours(name)}
        return self.lab.command(mpi, ranks, per_host, command, {**ours, **FORGETFUL})

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.lab.name,
            "plan": self.lab.plan.as_data(),
            "bits_per_second": self.lab.rate,
            "wire_efficiency": self.lab.wire_efficiency,
        }


class Launcher:
    """A cluster, by whatever starts jobs there: srun, or an mpiexec with its host file. The folder for
    temporary files must be one that rank 0 sees too."""

    kind = "launcher"

    def __init__(self, prefix: str) -> None:
        self.prefix = shlex.split(prefix)
        if not self.prefix:
            raise UnisonoError('--launch: write what starts the ranks, as in "srun -n 16"')
        if shutil.which(self.prefix[0]) is None:
            raise SetupError(f"--launch {prefix}: there is no command {self.prefix[0]}")

    def own_mpi(self) -> Mpi | None:
        """That of an mpiexec; of other launchers nobody can tell."""
        found = shutil.which(self.prefix[0])
        mpiexec = Path(found) if found else None
        return places.mpi_of(mpiexec) if mpiexec and mpiexec.name.startswith("mpiexec") else None

    def title(self) -> str:
        return shlex.join(self.prefix)

    def fitting_ranks(self) -> int:
        raise UnisonoError("-n: say how many ranks --launch starts")

    def per_host(self, ranks: int, chosen: int | None) -> int:
        if chosen is not None:
            raise UnisonoError("--ppn is for --lab: --launch itself says where its ranks go")
        return ranks

    def command(self, mpi: Mpi, ranks: int, per_host: int, command: Sequence[str]) -> CommandLine:
        return [*self.prefix, *command], {**os.environ, **mpi.environment(), **FORGETFUL}

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "command": self.prefix}


def find_mpi(bed: Bed, name: str) -> Mpi:
    """The MPI library that an option --mpi names, if it can be used on the bed; auto: that of --launch if it
    is an mpiexec, else the one on PATH."""
    if name not in set(Library):
        raise UnisonoError(f"--mpi {name}: valid are {LIBRARIES}")
    if name == Library.AUTO and isinstance(bed, Launcher) and (mpi := bed.own_mpi()):
        return mpi
    return places.find_mpi(Library(name).chosen)


def current_lab() -> Lab:
    """The lab that is up; an error when there is none, or when it may not be used."""
    lab = lab_module.own()
    network.demand_root_and_tools()
    return Lab(lab)
