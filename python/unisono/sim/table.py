"""One collective: algorithms and SMPI's selectors over sizes, with the network's limit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from unisono.core import documents
from unisono.core.limits import plain_form, wire_seconds
from unisono.sim import network
from unisono.sim.platforms import Platform

SMPI, FLOWS = "smpi", "flows"
ENGINES = (SMPI, FLOWS)

Json = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """What is simulated. `sizes` are bytes of what compare.limits.size_kind() says."""

    platform: Platform
    ranks: int
    collective: str
    root: int
    sizes: tuple[int, ...]
    placed: tuple[int, ...] = ()  # the host of each rank; empty: rank i on host i
    engine: str = SMPI
    shares: bool = False  # smpi: all ranks' buffers are the same memory, and no result is verified

    @property
    def hosts(self) -> tuple[int, ...]:
        return self.placed or tuple(range(self.ranks))

    @property
    def network_limits(self) -> network.Limits:
        # A scan's data begin at rank 0.
        root = 0 if plain_form(self.collective) == "scan" else self.root
        return network.limits(self.platform, self.hosts, root)

    def limit(self, size: int) -> float | None:
        """No implementation can take fewer seconds, whatever the routes; None where bytes set no limit."""
        ports = self.platform.ports(self.hosts, self.root)
        cuts = self.platform.inner_cuts(self.hosts, self.root)
        wire = wire_seconds(self.collective, size, self.ranks, ports, cuts)
        flow = self.network_limits.flow_seconds(self.collective, size)
        return max(filter(None, (wire, flow)), default=None)

    def routing_limit(self, size: int) -> float | None:
        """The same of messages that go the network's own routes; None where those restrict nothing."""
        most = max(Counter(self.hosts).values())
        return self.network_limits.route_seconds(self.collective, size, self.ranks, most)


@dataclass(frozen=True)
class Cell:
    seconds: float | None
    left_out: str = ""  # why there is no time
    correct: bool = True
    is_error: bool = False  # the simulation failed: no mere restriction
    network: Mapping[str, Any] | None = None  # flows: messages, and who met whom on which links


@dataclass(frozen=True)
class Row:
    """An algorithm of the catalogue, or what a selector of SMPI chooses."""

    algorithm: str
    selector: str  # empty: Unisono's
    cells: dict[int, Cell]

    @property
    def label(self) -> str:
        return f"native, {self.selector}" if self.selector else self.algorithm


def share(limit: float | None, seconds: float | None) -> float | None:
    return limit / seconds if seconds and limit else None


@dataclass(frozen=True)
class Table:
    question: Question
    rows: tuple[Row, ...]
    simgrid: str  # its version; empty: it took no part

    def best_selector(self, size: int) -> Row | None:
        timed = [row for row in self.rows if row.selector and row.cells[size].seconds is not None]
        return min(timed, key=lambda row: row.cells[size].seconds or 0, default=None)

    def share_of_limit(self, row: Row, size: int) -> float | None:
        return share(self.question.limit(size), row.cells[size].seconds)

    def share_of_routing_limit(self, row: Row, size: int) -> float | None:
        return share(self.question.routing_limit(size), row.cells[size].seconds)

    def ratio_to_best(self, row: Row, size: int) -> float | None:
        seconds, best = row.cells[size].seconds, self.best_selector(size)
        peer = best.cells[size].seconds if best else None
        return seconds / peer if seconds and peer else None

    def wrong(self) -> list[tuple[Row, int]]:
        return [(row, size) for row in self.rows for size, cell in row.cells.items() if not cell.correct]

    def failed(self) -> bool:
        """Whether a simulation of ours failed; some selectors fail on some networks."""
        return any(cell.is_error for row in self.rows if not row.selector for cell in row.cells.values())

    def by_time(self) -> Sequence[Row]:
        """The fastest at the largest size first."""
        last = self.question.sizes[-1]
        return sorted(self.rows, key=lambda row: row.cells[last].seconds or float("inf"))

    def document(self) -> "Document":
        question = self.question
        return Document(
            engine=question.engine,
            simgrid_version=self.simgrid or None,
            platform=question.platform.spec,
            ranks=question.ranks,
            hosts=list(question.placed) or None,
            collective=question.collective,
            root=question.root,
            limit_seconds={str(size): question.limit(size) for size in question.sizes},
            routing_limit_seconds={str(size): question.routing_limit(size) for size in question.sizes},
            rows=[
                RowOut(
                    row.algorithm,
                    row.selector or msgspec.UNSET,
                    [self.cell_out(row, size) for size in question.sizes],
                )
                for row in self.rows
            ],
        )

    def cell_out(self, row: Row, size: int) -> "CellOut":
        cell = row.cells[size]
        verifies = self.question.engine == SMPI and not self.question.shares
        if cell.seconds is None:
            return CellOut(size, left_out=cell.left_out, is_error=cell.is_error)
        return CellOut(
            size,
            seconds=cell.seconds,
            correct=cell.correct if verifies else None,
            share_of_limit=self.share_of_limit(row, size),
            share_of_routing_limit=self.share_of_routing_limit(row, size),
            ratio_to_best_selector=self.ratio_to_best(row, size),
            network=dict(cell.network) if cell.network else msgspec.UNSET,
        )


class CellOut(msgspec.Struct, omit_defaults=True):
    """One size: what it took, or why there is no time. `network`: of flows, who met whom on which links."""

    bytes: int
    seconds: float | msgspec.UnsetType = msgspec.UNSET
    left_out: str | msgspec.UnsetType = msgspec.UNSET
    is_error: bool | msgspec.UnsetType = msgspec.UNSET
    correct: bool | msgspec.UnsetType | None = msgspec.UNSET  # null: not verified
    share_of_limit: float | msgspec.UnsetType | None = msgspec.UNSET
    share_of_routing_limit: float | msgspec.UnsetType | None = msgspec.UNSET
    ratio_to_best_selector: float | msgspec.UnsetType | None = msgspec.UNSET
    network: Json | msgspec.UnsetType = msgspec.UNSET


class RowOut(msgspec.Struct):
    """An algorithm of the catalogue; with a selector, what that one of SMPI chooses."""

    algorithm: str
    selector: str | msgspec.UnsetType
    cells: list[CellOut]


class Document(documents.Document, tag="unisono.sim", kw_only=True):
    """Algorithms on a simulated network; limits by size in bytes, null where bytes set none."""

    schema_version: int = 2
    engine: str
    simgrid_version: str | None
    platform: str
    ranks: int
    hosts: list[int] | None
    collective: str
    root: int
    limit_seconds: dict[str, float | None]
    routing_limit_seconds: dict[str, float | None]
    rows: list[RowOut]
