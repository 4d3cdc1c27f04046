"""The documents of commands that only look: info, doctor, list, show, schedule, platform."""

from typing import Any

import msgspec

from unisono.core.catalogue import Algorithm, Collective, GridForm
from unisono.core.documents import Document
from unisono.core.memory import Learned

Json = dict[str, Any]


class Library(msgspec.Struct):
    """An MPI library that was found."""

    flavour: str
    home: str


class Setting(msgspec.Struct):
    """A variable of the environment."""

    name: str
    default: str
    now: str | None  # None: not set
    meaning: str


class Info(Document, tag="unisono.info", kw_only=True):
    """Where Unisono is, and what the environment says."""

    build: str
    libraries: list[Library]
    variables: list[Setting]


class Found(msgspec.Struct):
    """What doctor has looked at: ok, note or problem."""

    level: str
    what: str
    advice: str


class Diagnosis(Document, tag="unisono.doctor", kw_only=True):
    """What would keep Unisono from working."""

    problems: int
    findings: list[Found]


class Listing(Document, tag="unisono.list", kw_only=True):
    """The catalogue: collectives, algorithms, and what grids are made of."""

    collectives: list[Collective]
    algorithms: list[Algorithm]
    grid_dimensions: list[str]
    grid_forms: list[GridForm]


class Schedule(Document, tag="unisono.schedule", kw_only=True):
    """What every rank does in one call; count in units of unit_bytes."""

    collective: str
    algorithm: str
    size: int
    root: int
    count: int
    unit_bytes: int
    metrics: dict[str, int]
    ranks: list[Json]


class Order(Document, tag="unisono.order", kw_only=True):
    """An order of the messages of an MPI_Alltoallv, as its file has it, and what its check says."""

    summary: str
    order: Json


class Trees(Document, tag="unisono.trees", kw_only=True):
    """The trees of a collective on a torus: parents, and the hosts on the way to them."""

    summary: str
    torus: list[int]
    wraps: list[bool]
    root: int
    members: list[int]
    links: dict[str, int]
    trees: list[Json]


class MemoryFile(msgspec.Struct):
    """What jobs keep for each other of one platform; times in seconds."""

    path: str
    where: Json
    learned: list[Learned]
    machine: Json | None  # of the cost model


class Memory(Document, tag="unisono.memory", kw_only=True):
    """What jobs have found out here."""

    schema_version: int = 2
    folder: str
    files: list[MemoryFile]
