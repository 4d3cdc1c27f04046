"""A trace as an OTF2 archive, for Vampir, Scalasca and their kin: a process for each rank, a location for
each of its threads."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unisono.core.catalogue import all_collectives
from unisono.core.errors import UnisonoError
from unisono.trace.reader import Rank, Trace
from unisono.trace.schema import INTER
from unisono.trace.summary import collective_name
from unisono.trace.tables import COLUMNS, Tables, rows

NANOSECONDS = 1_000_000_000  # ticks of the clock in a second
NO_COMMUNICATOR = -1
TEXTS = ("algorithm", "site", "function", "inside")  # attributes of a call


def write(trace: Trace, path: Path) -> None:
    try:
        import otf2  # noqa: PLC0415 - optional
    except ImportError as error:
        raise UnisonoError("--to otf2 needs otf2: pip install otf2, or take --to csv") from error
    if not trace.events:
        raise UnisonoError(f"{trace.folder}: holds no event")
    path.mkdir()  # what is wrong with the place, Python says better than OTF2
    with otf2.writer.open(str(path), timer_resolution=NANOSECONDS) as archive:
        Archive(trace, otf2, archive).write()


@dataclass
class Archive:
    trace: Trace
    otf2: Any
    file: Any
    locations: dict[tuple[int, int], Any] = field(default_factory=dict)  # rank, thread
    groups: dict[int, Any] = field(default_factory=dict)  # of threads, by rank: a process
    communicators: dict[tuple[tuple[int, ...], int], Any] = field(default_factory=dict)
    members: dict[tuple[int, ...], Any] = field(default_factory=dict)
    regions: dict[str, Any] = field(default_factory=dict)  # by collective
    last: dict[tuple[int, int], int] = field(default_factory=dict)  # time on each location

    def write(self) -> None:
        self.machine()
        tables = Tables(self.trace)
        self.attributes = {name: self.file.definitions.attribute(name=name) for name in TEXTS}
        kind = self.otf2.Type.UINT32
        self.attributes["sequence"] = self.file.definitions.attribute(name="sequence", type=kind)
        for rank in self.trace.ranks.values():
            # A root of a group is no rank of both together.
            inter = (rank.events["flags"] & INTER) != 0
            numbers = iter(np.where(inter, NO_COMMUNICATOR, rank.events["communicator"]).tolist())
            for block in tables.blocks(rank):
                for row, number in zip(rows(block), numbers, strict=False):
                    self.call(rank, dict(zip(COLUMNS, row, strict=True)), number)
        if started := self.trace.first.start.started_unix_s:
            self.file._realtime_timestamp = started  # else the time of this conversion

    def machine(self) -> None:
        """Hosts, processes, and the ranks of MPI_COMM_WORLD: those without a trace, too."""
        made, paradigm = self.file.definitions, self.otf2.Paradigm.MPI
        root = made.system_tree_node("machine", class_name="machine")
        hosts = {
            name: made.system_tree_node(name, class_name="node", parent=root)
            for name in dict.fromkeys(rank.host for rank in self.trace.ranks.values())
        }
        for number in range(self.trace.size):
            known = self.trace.ranks.get(number)
            host = hosts[known.host] if known else root
            self.groups[number] = made.location_group(f"rank {number}", system_tree_parent=host)
            self.location(number, 0)
        made.group(
            "MPI",
            group_type=self.otf2.GroupType.COMM_LOCATIONS,
            paradigm=paradigm,
            members=[self.locations[number, 0] for number in range(self.trace.size)],
        )

    def location(self, rank: int, thread: int) -> Any:
        if (rank, thread) not in self.locations:
            made = self.file.definitions.location(f"thread {thread}", group=self.groups[rank])
            self.locations[rank, thread] = made
        return self.locations[rank, thread]

    def communicator(self, rank: Rank, number: int) -> Any:
        """One definition for all ranks; None where not all of its ranks are known."""
        known = rank.communicators.get(number)
        if known is None or not known.ranks:
            return None
        key = known.ranks, known.occurrence
        if key not in self.communicators:
            if known.ranks not in self.members:
                self.members[known.ranks] = self.file.definitions.group(
                    group_type=self.otf2.GroupType.COMM_GROUP,
                    paradigm=self.otf2.Paradigm.MPI,
                    members=[self.locations[member, 0] for member in known.ranks],
                )
            name = known.name or f"of {len(known.ranks)} ranks, {len(self.communicators)}"
            self.communicators[key] = self.file.definitions.comm(name, group=self.members[known.ranks])
        return self.communicators[key]

    def region(self, collective: str) -> Any:
        if collective not in self.regions:
            self.regions[collective] = self.file.definitions.region(
                collective_name(collective),
                region_role=self.role(collective),
                paradigm=self.otf2.Paradigm.MPI,
            )
        return self.regions[collective]

    def role(self, collective: str) -> Any:
        roles = self.otf2.RegionRole
        if collective == "barrier":
            return roles.BARRIER
        row = all_collectives().get(collective)
        if row is None:  # of a newer Unisono
            return roles.UNKNOWN
        if not row.rooted:
            return roles.COLL_ALL2ALL
        return roles.COLL_ONE2ALL if row.from_root else roles.COLL_ALL2ONE

    def call(self, rank: Rank, row: dict[str, Any], number: int) -> None:
        place = rank.rank, row["thread"]
        events = self.file.event_writer_from_location(self.location(*place))
        region, communicator = self.region(row["collective"]), self.communicator(rank, number)
        # OTF2 refuses times that go back, which a damaged trace may hold.
        begin = max(row["begin_ns"], self.last.get(place, 0))
        end = max(row["end_ns"], begin)
        self.last[place] = end
        attributes = {self.attributes[name]: row[name] for name in (*TEXTS, "sequence")}
        operation = getattr(self.otf2.CollectiveOp, row["collective"].upper(), None)
        known = communicator is not None and operation is not None
        events.enter(begin, region, attributes=attributes)
        if known:
            events.mpi_collective_begin(begin)
        if not row["end_ns"]:
            return
        if known:
            root = row["root"] if row["root"] >= 0 else self.otf2.enums.Undefined.UINT32.value
            events.mpi_collective_end(end, operation, communicator, root, row["bytes"], row["bytes"])
        events.leave(end, region)
