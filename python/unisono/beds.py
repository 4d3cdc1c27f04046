"""Test beds: where a job can be run. The node this is, and the lab."""

import os
from collections.abc import Sequence
from typing import Any, Protocol

from unisono import lab as lab_module
from unisono import machine
from unisono.errors import UnisonoError
from unisono.lab import layout, network
from unisono.places import Mpi

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
        return [*mpi.launcher(ranks), *command], {**os.environ, **mpi.environment()}

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
        ours = {name: value for name, value in os.environ.items() if name.startswith("UNISONO_")}
        return self.lab.command(mpi, ranks, per_host, command, ours)

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.lab.name,
            "plan": self.lab.plan.as_data(),
            "bits_per_second": self.lab.rate,
            "wire_efficiency": self.lab.wire_efficiency,
        }


def current_lab() -> Lab:
    """The lab that is up; an error when there is none, or when it may not be used."""
    lab = lab_module.current()
    network.demand_root_and_tools()
    return Lab(lab)
