"""Writes traces as docs/reference/trace.md describes them, for the tests."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from unisono.trace.schema import EVENT

COLLECTIVES = (
    *("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall"),
    *("alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan"),
    *("exscan", "neighbor_allgather"),
)
START_NS = 1_000_000_000  # local clocks begin here
APP = {"path": "/nowhere/app", "start": "0x1000", "end": "0x9000", "offset": "0x0"}
ONE_WAY = {1: 10e-6, 1024: 20e-6, 1048576: 10e-3}
Json = dict[str, Any]


@dataclass
class Writer:
    """One trace in the making. Times are seconds on rank 0's clock."""

    folder: Path
    size: int
    offsets_ns: Sequence[int] = ()  # rank 0's clock less the rank's
    drift_ns: Sequence[int] = ()  # by how much the offset is more at the last reading, after 100 s
    error_ns: float = 1000
    hosts: Sequence[str] = ()
    one_way: dict[int, float] = field(default_factory=lambda: dict(ONE_WAY))
    modules: list[Json] = field(default_factory=lambda: [APP])
    ended: bool = True
    spec: str = "ring:segment=256K"  # of algorithm 1
    events: dict[int, list[Any]] = field(default_factory=dict)
    communicators: dict[int, list[tuple[tuple[int, ...], int]]] = field(default_factory=dict)
    sequences: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rank in range(self.size):
            self.events[rank], self.communicators[rank] = [], []
            self.communicator(rank, tuple(range(self.size)))

    def offset(self, rank: int) -> int:
        return self.offsets_ns[rank] if self.offsets_ns else 0

    def communicator(self, rank: int, ranks: tuple[int, ...]) -> int:
        known = self.communicators[rank]
        known.append((ranks, sum(1 for other, _ in known if other == ranks)))
        return len(known) - 1

    def call(
        self,
        collective: str,
        arrivals: Sequence[float],
        exits: Sequence[float],
        size: float | Sequence[int] = 0,
        ranks: Sequence[int] | None = None,
        ids: Sequence[int] | None = None,
        site: int | Sequence[int] = 0x2000,
        root: int = -1,
        flags: int = 0,
        algorithm: int = 0,
        thread: int = 0,
        program: int = 0,
    ) -> None:
        """By default on MPI_COMM_WORLD. An exit of 0: never left."""
        members = list(range(self.size)) if ranks is None else ranks
        for at, rank in enumerate(members):
            number = ids[at] if ids else 0
            sequence = self.sequences.get((rank, number), 0)
            self.sequences[rank, number] = sequence + 1
            begin, end = (self.local(rank, times[at]) for times in (arrivals, exits))
            own_site = site[at] if isinstance(site, Sequence) else site
            own_size = size[at] if isinstance(size, Sequence) else size
            self.events[rank].append(
                (
                    *(begin, end if exits[at] else 0, own_size, own_site, number, sequence, root),
                    *(COLLECTIVES.index(collective), algorithm, flags, thread, program),
                )
            )

    def local(self, rank: int, seconds: float) -> int:
        return START_NS + round(1e9 * seconds) - self.offset(rank)

    def lines(self, rank: int) -> list[Json]:
        host = self.hosts[rank] if self.hosts else f"host{rank}"
        start = {"kind": "start", "format": 1, "rank": rank, "size": self.size, "host": host, "pid": 1}
        start |= {"command": ["./app", "x"], "mpi": "Some MPI 1.0", "unisono": "0.1.0"}
        start |= {"collectives": list(COLLECTIVES), "started_unix_s": 2e9}
        said: list[Json] = [start, {"kind": "modules", "modules": self.modules}]
        for number, (ranks, occurrence) in enumerate(self.communicators[rank]):
            line = {"kind": "communicator", "id": number, "size": len(ranks), "ranks": list(ranks)}
            said.append(line | {"occurrence": occurrence, "name": "" if number else "MPI_COMM_WORLD"})
        said.append({"kind": "algorithm", "id": 1, "spec": self.spec})
        clock = {"kind": "clock", "offset_ns": self.offset(rank), "error_ns": self.error_ns}
        said.append(clock | {"at_ns": self.local(rank, 0)})
        if self.ended:
            last = self.offset(rank) + (self.drift_ns[rank] if self.drift_ns else 0)
            said.append(clock | {"at_ns": self.local(rank, 100), "offset_ns": last})
            for size, seconds in self.one_way.items() if rank == 0 else ():
                said.append({"kind": "one_way", "bytes": size, "seconds": seconds})
            said.append({"kind": "end", "events": len(self.events[rank]), "at_ns": self.local(rank, 100)})
        return said

    def write(self) -> Path:
        self.folder.mkdir(exist_ok=True)
        for rank in range(self.size):
            text = "".join(json.dumps(line) + "\n" for line in self.lines(rank))
            (self.folder / f"rank-{rank:05}.jsonl").write_text(text)
            np.array(self.events[rank], EVENT).tofile(self.folder / f"rank-{rank:05}.events")
        return self.folder
