"""Reads a trace: a folder with rank-N.events and rank-N.jsonl. docs/reference/trace.md."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono.core.errors import UnisonoError
from unisono.trace.clock import Clock, Reading

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
        ("reserved", "<u8"),
    ]
)
assert EVENT.itemsize == 64
IN_PLACE, INTER = 1, 2
MOST_COMMUNICATORS = 1 << 26  # a larger number is damage
Events = NDArray[np.void]
Json = dict[str, Any]


@dataclass(frozen=True)
class Module:
    """An executable mapping of a process."""

    path: str
    start: int
    end: int
    offset: int


@dataclass(frozen=True)
class Communicator:
    ranks: tuple[int, ...]  # of the world; empty: not all are in it
    occurrence: int
    name: str = ""


@dataclass
class Rank:
    rank: int
    size: int
    start: Json
    events: Events
    modules: list[Module] = field(default_factory=list)
    communicators: dict[int, Communicator] = field(default_factory=dict)
    algorithms: dict[int, str] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    one_way: dict[int, float] = field(default_factory=dict)  # bytes: seconds
    ended_ns: int | None = None  # local; None: aborted

    @cached_property
    def clock(self) -> Clock:
        return Clock(self.readings)

    @property
    def host(self) -> str:
        return str(self.start.get("host", ""))


@dataclass
class Trace:
    folder: Path
    size: int  # of MPI_COMM_WORLD
    ranks: dict[int, Rank]
    collectives: list[str]
    one_way: dict[int, float]  # seconds by bytes, ascending; empty: not measured
    notes: list[str]  # what a reader must know, a line each

    @property
    def first(self) -> Rank:
        return self.ranks[min(self.ranks)]

    @property
    def events(self) -> int:
        return sum(len(rank.events) for rank in self.ranks.values())

    def command(self) -> str:
        return " ".join(map(str, self.first.start.get("command", [])))


def read(folder: Path) -> Trace:
    """Raises UnisonoError if nothing of it can be used; what is only partly there becomes a note."""
    if not folder.is_dir():
        if folder.exists():
            raise UnisonoError(f"{folder}: a trace is a folder, and this is none")
        raise UnisonoError(f"{folder}: no such folder; unisono trace --output {folder} -- CMD makes a trace")
    notes: list[str] = []
    ranks = {}
    for number, path in numbered(folder):
        rank = read_rank(number, path, notes)
        if rank:
            ranks[number] = rank
    if not ranks:
        why = f": {notes[0]}" if notes else " (no rank-N.jsonl in it)"
        raise UnisonoError(f"{folder}: not a trace{why}; unisono trace --output DIR -- CMD makes one")
    trace = Trace(folder, 0, ranks, [], {}, notes)
    trace.size = max(trace.first.size, max(ranks) + 1)
    trace.collectives = list(map(str, trace.first.start.get("collectives", [])))
    trace.one_way = dict(sorted(ranks[0].one_way.items())) if 0 in ranks else {}
    notes += shortcomings(trace)
    return trace


def numbered(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in sorted(folder.glob("rank-*.jsonl")):
        found = re.fullmatch(r"rank-(\d+)\.jsonl", path.name)
        if found:
            yield int(found[1]), path


def read_rank(number: int, path: Path, notes: list[str]) -> Rank | None:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError as error:
        notes.append(f"rank {number} is left out: {path.name}: {error.strerror}")
        return None
    said = list(parsed(lines, path.name, notes))
    start = next((line for line in said if line.get("kind") == "start"), None)
    if start is None:
        notes.append(f"rank {number} is left out: {path.name} has no start line")
        return None
    if start.get("format") != FORMAT:
        raise UnisonoError(
            f"{path}: trace format {start.get('format')}, this Unisono reads {FORMAT}: "
            "use the version that wrote it"
        )
    rank = Rank(number, int(start.get("size", 0)), start, read_events(path.with_suffix(".events"), notes))
    for line in said:
        try:
            take_line(rank, line)
        except (KeyError, TypeError, ValueError):
            notes.append(f"{path.name}: a line of kind {line.get('kind')} is incomplete and left out")
    return rank


def parsed(lines: list[str], name: str, notes: list[str]) -> Iterator[Json]:
    wrong = 0
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield value
        else:
            wrong += 1
    if wrong:
        notes.append(f"{name}: {wrong} line(s) are no JSON and left out")


def take_line(rank: Rank, line: Json) -> None:
    """Raises KeyError, TypeError or ValueError where something is missing."""
    takers: dict[str, Callable[[Rank, Json], None]] = {
        "modules": take_modules,
        "communicator": take_communicator,
        "algorithm": lambda r, x: r.algorithms.update({int(x["id"]): str(x["spec"])}),
        "clock": lambda r, x: r.readings.append(
            Reading(int(x["at_ns"]), float(x["offset_ns"]), float(x["error_ns"]))
        ),
        "one_way": take_one_way,
        "end": lambda r, x: setattr(r, "ended_ns", int(x["at_ns"])),
    }
    taker = takers.get(str(line.get("kind")))
    if taker:
        taker(rank, line)


def take_modules(rank: Rank, line: Json) -> None:
    for one in line["modules"]:
        place = (int(one[key], 16) for key in ("start", "end", "offset"))
        rank.modules.append(Module(str(one["path"]), *place))


def take_communicator(rank: Rank, line: Json) -> None:
    ranks = tuple(map(int, line["ranks"]))
    number = int(line["id"])
    if any(not 0 <= member < max(rank.size, 1) for member in ranks) or not 0 <= number < MOST_COMMUNICATORS:
        raise ValueError
    rank.communicators[number] = Communicator(ranks, int(line["occurrence"]), str(line.get("name", "")))


def take_one_way(rank: Rank, line: Json) -> None:
    if float(line["seconds"]) > 0 and int(line["bytes"]) >= 0:
        rank.one_way[int(line["bytes"])] = float(line["seconds"])


def read_events(path: Path, notes: list[str]) -> Events:
    """Mapped, not loaded. Without a last part record, and without the zeros of a killed process."""
    nothing: Events = np.empty(0, EVENT)
    try:
        size = path.stat().st_size
        if size % EVENT.itemsize:
            notes.append(f"{path.name}: cut off in a record, which is left out")
        if size < EVENT.itemsize:
            return nothing
        events = np.memmap(path, EVENT, mode="r", shape=(size // EVENT.itemsize,))
    except OSError as error:
        notes.append(f"{path.name}: {error.strerror}")
        return nothing
    return events[: written(events)]


def written(events: Events) -> int:
    """The records before the zeros at the end, found from the end in blocks."""
    end = len(events)
    while end:
        start = max(0, end - 16384)
        used = np.flatnonzero(events["begin_ns"][start:end])
        if len(used):
            return start + int(used[-1]) + 1
        end = start
    return 0


def shortcomings(trace: Trace) -> Iterator[str]:
    missing = [rank for rank in range(trace.size) if rank not in trace.ranks]
    if missing:
        yield f"no trace of {ranks_text(missing)}: calls are judged by the ranks that are there"
    aborted = [rank.rank for rank in trace.ranks.values() if rank.ended_ns is None]
    if aborted:
        yield f"{ranks_text(aborted)} did not end in MPI_Finalize: the trace holds what came before"
    unknown = [rank.rank for rank in trace.ranks.values() if not rank.clock.known]
    if unknown and trace.size > 1:
        yield f"{ranks_text(unknown)}: clock never compared, so that no imbalance of its calls is known"
    if not trace.one_way:
        why = "MPI_Finalize was not reached, or a message took too long there"
        yield f"no one-way times ({why}): no imbalance factors, no transfer times"


def ranks_text(ranks: list[int], most: int = 4) -> str:
    """`rank 3`, `ranks 0, 12-15`; many runs are cut short."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in runs]
    told = ", ".join(texts[:most]) + (" and others" if len(texts) > most else "")
    return f"rank{'' if len(ranks) == 1 else 's'} {told}"
