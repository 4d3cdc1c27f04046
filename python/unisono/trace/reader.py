"""Reads a trace: a folder with rank-N.events and rank-N.jsonl. docs/reference/trace.md.

A trace may come from anybody: what it says is checked before anything is reserved for it, and nothing in its
folder is waited for or leads out of it."""

import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from unisono.core import catalogue, files
from unisono.core.errors import UnisonoError
from unisono.core.shown import line
from unisono.trace import schema
from unisono.trace.clock import Clock, Reading
from unisono.trace.events import read_events
from unisono.trace.schema import FORMAT, Events, Start

MOST_RANKS = 1 << 16  # that are believed where no communicator has as many
MOST_FILES = 1 << 20
MOST_LINE_BYTES = 64 << 20  # of one rank
MOST_ALL_BYTES = 512 << 20
MOST_WRONG = 100  # lines of a file that are no JSON: then it is something else
MOST_MODULES = 1 << 14
MOST_NOTES = 20
LONGEST_COMMAND = 200  # letters of it that are shown


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
    start: Start
    events: Events
    modules: dict[Module, None] = field(default_factory=dict)  # in order: the latest of a place counts
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
        return self.start.host


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
        return line(" ".join(self.first.start.command), LONGEST_COMMAND)

    @cached_property
    def known(self) -> list[bool]:
        """Of each collective, whether this version knows it."""
        return [name in catalogue.all_collectives() for name in self.collectives]


def read(folder: Path) -> Trace:
    """Raises UnisonoError if nothing of it can be used; what is only partly there becomes a note."""
    try:
        opened = os.open(folder, files.OPEN | os.O_DIRECTORY)
    except FileNotFoundError:
        raise UnisonoError(
            f"{folder}: no such folder; unisono trace --output {folder} -- CMD makes a trace"
        ) from None
    except NotADirectoryError:
        raise UnisonoError(f"{folder}: a trace is a folder, and this is none") from None
    except OSError as error:
        raise UnisonoError(f"{folder}: {error.strerror}") from error
    try:
        return Reader(folder, opened).read()
    finally:
        os.close(opened)


class Reader:
    """Of the folder that is `opened`."""

    def __init__(self, folder: Path, opened: int) -> None:
        self.folder, self.opened = folder, opened
        self.notes: list[str] = []
        self.read_bytes = 0
        self.groups: dict[tuple[int, ...], tuple[int, ...]] = {}  # ranks of communicators: each is kept once

    def read(self) -> Trace:
        found = [self.rank(number, name) for number, name in self.numbered()]
        ranks = self.of_one_run([rank for rank in found if rank])
        if not ranks:
            why = f": {self.notes[0]}" if self.notes else " (no rank-N.jsonl in it)"
            raise UnisonoError(
                f"{self.folder}: not a trace{why}; unisono trace --output DIR -- CMD makes one"
            )
        first = ranks[min(ranks)]
        trace = Trace(self.folder, first.size, ranks, list(first.start.collectives), {}, self.notes)
        trace.one_way = dict(sorted(ranks[0].one_way.items())) if 0 in ranks else {}
        if len(self.notes) > MOST_NOTES:
            self.notes[MOST_NOTES:] = [f"and {len(self.notes) - MOST_NOTES} more such lines"]
        self.notes += shortcomings(trace)
        return trace

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Ranks by their number, and the names of their lines."""
        found: dict[int, str] = {}
        with os.scandir(self.opened) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(".jsonl")]
        for name in sorted(names):
            number = re.fullmatch(r"rank-([0-9]{1,10})\.jsonl", name)
            if number and found.setdefault(int(number[1]), name) != name:
                self.notes.append(f"{name} is left out: {found[int(number[1])]} is of the same rank")
        if len(found) > MOST_FILES:
            raise UnisonoError(f"{self.folder}: holds files of more than {MOST_FILES} ranks")
        yield from sorted(found.items())

    def rank(self, number: int, name: str) -> Rank | None:
        try:
            lines, problem = self.lines(name), ""
        except OSError as error:
            lines, problem = [], f"{error.strerror}"
        start = next((each for each in lines if isinstance(each, Start)), None)
        if start is None:
            self.notes.append(
                f"rank {number} is left out: {name}{': ' + problem if problem else ' has no start line'}"
            )
            return None
        if wrong := contradiction(number, start, lines):
            self.notes.append(f"rank {number} is left out: {name} says {wrong}")
            return None
        events = read_events(name.replace(".jsonl", ".events"), self.opened, self.notes)
        rank = Rank(number, start.size, start, events)
        unusable = Counter(type(each).__name__ for each in lines if not self.take(rank, each))
        self.note_incomplete(name, unusable)
        return rank

    def lines(self, name: str) -> list[schema.Line]:
        """Raises OSError."""
        data = files.read_bytes(name, MOST_LINE_BYTES, self.opened)
        self.read_bytes += len(data)
        if self.read_bytes > MOST_ALL_BYTES:
            raise OSError(0, f"the lines of the ranks before have more than {MOST_ALL_BYTES >> 20} MiB")
        found: list[schema.Line] = []
        wrong, incomplete = 0, Counter[str]()
        for each in io.BytesIO(data):
            kind = ""
            try:
                head = files.decoded(each, schema.Head)
                kind = head.kind
                if head.format != FORMAT:
                    raise UnisonoError(
                        f"{self.folder / name}: trace format {head.format}, this Unisono reads {FORMAT}: "
                        "use the version that wrote it"
                    )
                if known := schema.KINDS.get(kind):
                    found.append(files.decoded(each, known))
            except ValueError:
                if kind in schema.KINDS:
                    incomplete[kind] += 1
                else:
                    wrong += 1
            if wrong + incomplete.total() >= MOST_WRONG:
                self.notes.append(f"{name}: is read up to its {MOST_WRONG}th line that cannot be used")
                break
        if wrong:
            self.notes.append(f"{name}: {wrong} line(s) are no JSON and left out")
        self.note_incomplete(name, incomplete)
        return found

    def note_incomplete(self, name: str, counted: Counter[str]) -> None:
        for kind, number in counted.items():
            which = (
                f"a line of kind {kind.lower()} is"
                if number == 1
                else f"{number} lines of kind {kind.lower()} are"
            )
            self.notes.append(f"{name}: {which} incomplete and left out")

    def take(self, rank: Rank, told: schema.Line) -> bool:
        """False where it contradicts what is known."""
        match told:
            case schema.Modules():
                for one in told.modules[: MOST_MODULES - len(rank.modules)]:
                    place = (int(text, 16) for text in (one.start, one.end, one.offset))
                    made = Module(one.path, *place)
                    rank.modules.pop(made, None)
                    rank.modules[made] = None
            case schema.Communicator():
                return self.take_communicator(rank, told)
            case schema.Algorithm():
                rank.algorithms.setdefault(told.id, told.spec)
            case schema.Clock():
                rank.readings.append(Reading(told.at_ns, told.offset_ns, told.error_ns))
            case schema.OneWay():
                rank.one_way[told.bytes] = told.seconds
            case schema.End():
                rank.ended_ns = told.at_ns
        return True

    def take_communicator(self, rank: Rank, told: schema.Communicator) -> bool:
        ranks = self.groups.setdefault(told.ranks, told.ranks)
        if (
            ranks and (max(ranks) >= rank.size or len(set(ranks)) < len(ranks))
        ) or told.id in rank.communicators:
            return False
        rank.communicators[told.id] = Communicator(ranks, told.occurrence, told.name)
        return True

    def of_one_run(self, found: list[Rank]) -> dict[int, Rank]:
        """Those that agree on how many they are; the others are of another run."""
        sizes = Counter(rank.size for rank in found)
        size = max(sizes, key=lambda size: sizes[size], default=0)
        for rank in found:
            if rank.size != size:
                self.notes.append(
                    f"rank {rank.rank} is left out: it is one of {rank.size} ranks, and the others of {size}"
                )
        return {rank.rank: rank for rank in found if rank.size == size}


def contradiction(number: int, start: Start, lines: list[schema.Line]) -> str:
    """What cannot be in a rank's own lines; empty: nothing."""
    if start.rank != number:
        return f"that it is rank {start.rank}"
    if number >= start.size:
        return f"that there are {start.size} ranks"
    named = max((len(each.ranks) for each in lines if isinstance(each, schema.Communicator)), default=0)
    if start.size > max(MOST_RANKS, named):
        return f"that there are {start.size} ranks, and no communicator has more than {named}"
    return ""


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
    if not all(trace.known):
        names = [name for name, known in zip(trace.collectives, trace.known, strict=True) if not known]
        yield f"left out: {len(names)} collective(s) that this Unisono does not know, as {line(names[0], 40)}"


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
