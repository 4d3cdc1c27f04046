"""The documents of commands that only look: info, doctor, list, show, schedule, lab, platform, profile."""

from typing import Any

import msgspec

from unisono.catalogue import Algorithm, Collective, GridForm
from unisono.documents import Document
from unisono.memory import Learned
from unisono.profile.document import Cell, Environment, Key

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


class LabHost(msgspec.Struct):
    """One host of the lab; loss is a share of frames."""

    name: str
    address: str
    switch: int
    bits_per_second: float
    loss: float
    processes: int | None  # None: only root may see them


class LabStatus(Document, tag="unisono.lab-status", kw_only=True):
    """The lab that is up."""

    name: str
    plan: str
    hosts: list[LabHost]
    other_labs: list[str]


class LabTest(msgspec.Struct):
    """One test of the lab by itself."""

    what: str
    good: bool
    seen: str


class LabCheck(Document, tag="unisono.lab-check", kw_only=True):
    """Whether the lab is the cluster that its plan says."""

    name: str
    failed: int
    tests: list[LabTest]


class MemoryFile(msgspec.Struct):
    """What jobs keep for each other of one platform; times in seconds."""

    path: str
    where: Json
    learned: list[Learned]
    machine: Json | None  # of the cost model


class Memory(Document, tag="unisono.memory", kw_only=True):
    """What jobs have found out here."""

    folder: str
    files: list[MemoryFile]


class ProfileShown(Document, tag="unisono.profile-shown", kw_only=True):
    """What a profile chooses, and what was measured."""

    created: str
    environments: list[Environment]


class Difference(msgspec.Struct):
    """A size at which two profiles choose differently; -: one says nothing about it."""

    where: Key
    collective: str
    bytes: int
    before: str
    after: str


class ProfileDifference(Document, tag="unisono.profile-difference", kw_only=True):
    """Where two profiles choose differently."""

    only_in_first: list[Key]
    only_in_second: list[Key]
    differences: list[Difference]


class ProfileCheck(Document, tag="unisono.profile-check", kw_only=True):
    """What is wrong with a profile; no problem: it is good."""

    profile: str
    problems: list[str]


class Explanation(Document, tag="unisono.explanation", kw_only=True):
    """Why a call runs as it does: by a profile's cell, or by what earlier jobs have found out."""

    collective: str
    bytes: int | None
    profile: str | None = None
    where: Key | None = None
    cell: Cell | None = None
    remembered: list[Learned] = msgspec.field(default_factory=list)
    decision: Json | None = None  # with --here: the rules that apply, in their order


class Decisions(Document, tag="unisono.decisions", kw_only=True):
    """The last word of each kind of call, as a job has logged it."""

    calls: list[Json]
