"""A profile and its JSON form (docs/reference/profile.md). Times in seconds, sizes in bytes."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from unisono import __version__
from unisono.core.estimates import Estimate
from unisono.core.files import write_json

SCHEMA = "unisono.profile"
VERSION = 1

Json = dict[str, Any]


@dataclass(frozen=True)
class Arm:
    spec: str
    median_s: float
    low_s: float  # with high_s: the interval of the median
    high_s: float
    blocks: int
    predicted_s: float | None = None
    ratio_to_native: Estimate | None = None  # below 1 is faster


@dataclass(frozen=True)
class Measured:
    bytes: int
    arms: tuple[Arm, ...]

    def arm(self, spec: str) -> Arm | None:
        return next((arm for arm in self.arms if arm.spec == spec), None)


@dataclass(frozen=True)
class Cell:
    collective: str
    least: int  # bytes, as most: both included
    most: int
    choice: str
    measured: tuple[Measured, ...] = ()

    def holds(self, size: int) -> bool:
        return self.least <= size <= self.most


@dataclass(frozen=True)
class Key:
    """Where cells hold."""

    flavour: str
    library: str
    place: str
    network_rate: float  # bit/s; 0: none, or unknown
    cores: int  # of a node
    ranks: int
    nodes: int

    @classmethod
    def from_json(cls, data: Json) -> "Key":
        mpi, machine, shape = data["mpi"], data["machine"], data["shape"]
        return cls(
            flavour=mpi["flavour"],
            library=mpi["library"],
            place=machine["place"],
            network_rate=machine["network_rate"],
            cores=machine["cores"],
            ranks=shape["ranks"],
            nodes=shape["nodes"],
        )

    def to_json(self) -> Json:
        return {
            "mpi": {"flavour": self.flavour, "library": self.library},
            "machine": {"place": self.place, "network_rate": self.network_rate, "cores": self.cores},
            "shape": {"ranks": self.ranks, "nodes": self.nodes},
        }

    def like(self, other: "Key") -> bool:
        """The same for a job: the rate of a network is measured, never twice the same."""
        rates = sorted((self.network_rate, other.network_rate))
        return replace(self, network_rate=0) == replace(other, network_rate=0) and rates[1] <= 1.5 * rates[0]

    def text(self) -> str:
        rate = f" at {self.network_rate / 1e6:.0f} Mb/s" if self.network_rate else ""
        nodes = f"{self.nodes} node{'s' if self.nodes > 1 else ''}"
        return f"{self.flavour}, {self.ranks} ranks on {nodes}, {self.place}{rate}"


@dataclass(frozen=True)
class Environment:
    key: Key
    cells: tuple[Cell, ...]

    def cell(self, collective: str, size: int) -> Cell | None:
        return next((c for c in self.cells if c.collective == collective and c.holds(size)), None)

    def points(self) -> Iterator[tuple[Cell, Measured]]:
        for cell in self.cells:
            for measured in cell.measured:
                yield cell, measured


@dataclass(frozen=True)
class Profile:
    environments: tuple[Environment, ...]
    created: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    unisono: str = __version__


def merge(former: Profile, latter: Profile) -> Profile:
    """All of both; what both have tuned (the same collective in a like environment) is the latter's."""
    merged = list(former.environments)
    for new in latter.environments:
        at = next((i for i, old in enumerate(merged) if old.key.like(new.key)), None)
        if at is None:
            merged.append(new)
            continue
        tuned = {cell.collective for cell in new.cells}
        kept = [cell for cell in merged[at].cells if cell.collective not in tuned]
        merged[at] = Environment(new.key, tuple(sort_cells([*kept, *new.cells])))
    return Profile(tuple(merged))


def sort_cells(cells: list[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda cell: (cell.collective, cell.least))


def estimate_of(data: Json) -> Estimate:
    return Estimate(*(data[name] for name in ("median", "low", "high", "coverage")))


def to_json(profile: Profile) -> Json:
    def cell_of(cell: Cell) -> Json:
        measured = [{"bytes": m.bytes, "arms": [asdict(arm) for arm in m.arms]} for m in cell.measured]
        return {
            "collective": cell.collective,
            "bytes": [cell.least, cell.most],
            "choice": cell.choice,
            "measured": measured,
        }

    return {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "unisono_version": profile.unisono,
        "created": profile.created,
        "environments": [
            {**env.key.to_json(), "cells": [cell_of(cell) for cell in env.cells]}
            for env in profile.environments
        ],
    }


def from_json(data: Json) -> Profile:
    """Of what the schema allows."""

    def cell_of(row: Json) -> Cell:
        measured = msgspec.convert(row.get("measured", []), tuple[Measured, ...])
        least, most = row["bytes"]
        return Cell(row["collective"], least, most, row["choice"], measured)

    environments = [
        Environment(Key.from_json(env), tuple(map(cell_of, env["cells"]))) for env in data["environments"]
    ]
    return Profile(tuple(environments), data.get("created", ""), data.get("unisono_version", ""))


def save(profile: Profile, path: Path) -> None:
    write_json(to_json(profile), path)
