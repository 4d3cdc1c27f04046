"""What a trace consists of (docs/reference/trace.md): the records of its events and the kinds of its lines.

A trace may come from anybody. Whatever a number is used for, its limits stand here."""

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

FORMAT = 1
EVENT = np.dtype(
    [
        ("begin_ns", "<i8"),
        ("end_ns", "<i8"),
        ("bytes", "<u8"),
        ("site", "<u8"),
        ("communicator", "<u4"),
        ("sequence", "<u4"),
        ("root", "<i4"),
        ("collective", "<u2"),
        ("algorithm", "<u2"),
        ("flags", "<u4"),
        ("thread", "<u4"),
        ("program", "<u8"),
    ]
)
assert EVENT.itemsize == 64
IN_PLACE, INTER = 1, 2
Events = NDArray[np.void]

LATEST = 1 << 60  # ns, 36 years: no machine has been up for so long, and a few times as much fits 64 bits
MOST_BYTES = 1 << 56  # of a call

Rank = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
Time = Annotated[int, Meta(ge=0, le=LATEST)]
Name = Annotated[str, Meta(max_length=4096)]  # PATH_MAX
Hexadecimal = Annotated[str, Meta(pattern="^0x[0-9a-f]{1,16}$")]


class Head(msgspec.Struct):
    """What all lines have in common."""

    kind: str = ""
    format: int = FORMAT  # of a start line


class Start(msgspec.Struct, kw_only=True):
    format: int = FORMAT
    rank: Rank
    size: Annotated[int, Meta(ge=1, le=1 << 31)]
    host: Name = ""
    command: list[str] = []
    mpi: str = ""
    unisono: Name = ""
    collectives: list[Name] = []
    started_unix_s: Annotated[float, Meta(ge=0, le=1e12)] = 0.0  # 0: not known


class Mapping(msgspec.Struct):
    path: Name
    start: Hexadecimal
    end: Hexadecimal
    offset: Hexadecimal


class Modules(msgspec.Struct):
    modules: list[Mapping]


class Communicator(msgspec.Struct):
    id: Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
    ranks: tuple[Rank, ...]
    occurrence: Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
    name: Name = ""


class Algorithm(msgspec.Struct):
    id: Annotated[int, Meta(ge=1, le=(1 << 16) - 1)]
    spec: Name


class Clock(msgspec.Struct):
    at_ns: Time
    offset_ns: Annotated[float, Meta(ge=-LATEST, le=LATEST)]
    error_ns: Annotated[float, Meta(ge=0, le=LATEST)]


class OneWay(msgspec.Struct):
    bytes: Annotated[int, Meta(ge=0, le=MOST_BYTES)]
    seconds: Annotated[float, Meta(gt=0, le=1e6)]


class End(msgspec.Struct):
    at_ns: Time


Line = Start | Modules | Communicator | Algorithm | Clock | OneWay | End
KINDS: dict[str, type[Line]] = {
    "start": Start,
    "modules": Modules,
    "communicator": Communicator,
    "algorithm": Algorithm,
    "clock": Clock,
    "one_way": OneWay,
    "end": End,
}
