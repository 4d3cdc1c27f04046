"""The documents of unisono profile and explain."""

from typing import Any

import msgspec

from unisono.core.documents import Document
from unisono.core.memory import Learned
from unisono.profile.document import Cell, Environment, Key

Json = dict[str, Any]


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

    schema_version: int = 2
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
