"""The documents of unisono lab."""

import msgspec

from unisono.core.documents import Document


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
    made: str
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
