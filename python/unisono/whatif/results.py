"""What was found as JSON: docs/reference/whatif.md."""

from typing import Any

import msgspec

from unisono.core import documents
from unisono.sim import smpi
from unisono.whatif.scaling import RULES
from unisono.whatif.study import CellStudy, Study, totals


class SiteRow(msgspec.Struct):
    """A place in the program; `cell` counts the cells of the document from 0."""

    site: str
    collective: str
    calls: int
    traced_bytes: float
    traced_seconds: float
    cell: int
    native_seconds: float
    computing_seconds: float


class ArmRow(msgspec.Struct):
    """One algorithm of a cell; null where it was not run."""

    algorithm: str
    alone_seconds: float | None
    seconds_per_call: float | None
    problem: str | None


class CellRow(msgspec.Struct):
    """Calls that are alike at the new scale."""

    collective: str
    bytes: int
    ranks: int
    strided: bool
    native_seconds_per_call: float
    chosen: str
    by_itself: str | None
    arms_left_out: int
    arms: list[ArmRow]


class Document(documents.Document, tag="unisono.whatif", kw_only=True):
    """A traced program at another scale (whatif.md)."""

    simgrid_version: str
    traced: dict[str, Any]
    platform: str
    ranks: int
    hosts: int
    ranks_per_host: int
    scaling: str
    rule: str
    selector: str
    calls: int
    calls_replayed: int
    program_seconds: dict[str, float]
    sites: list[SiteRow]
    cells: list[CellRow]
    notes: list[str]


def document_of(found: Study) -> Document:
    program = found.program
    calls, target = program.calls, program.target
    numbers = {cell: number for number, cell in enumerate(found.cells)}
    kinds = zip(calls.kinds, program.cells, found.native.in_call, found.native.computing, strict=True)
    return Document(
        simgrid_version=smpi.simgrid_version(),
        traced={"ranks": calls.ranks, "ranks_per_host": calls.per_host, "mpi": calls.mpi},
        platform=program.platform.spec,
        ranks=target.ranks,
        hosts=target.hosts,
        ranks_per_host=target.per_host,
        scaling=target.scaling,
        rule=RULES[target.scaling],
        selector=program.selector,
        calls=len(calls.kind_of),
        calls_replayed=len(program.kept),
        program_seconds=dict(totals(found)),
        sites=[
            SiteRow(
                site=kind.place,
                collective=kind.collective,
                calls=kind.calls,
                traced_bytes=kind.bytes,
                traced_seconds=kind.seconds,
                cell=numbers[cell],
                native_seconds=kind.calls * seconds,
                computing_seconds=kind.calls * computing,
            )
            for kind, cell, seconds, computing in kinds
        ],
        cells=[cell_row(cell) for cell in found.cells.values()],
        notes=found.notes,
    )


def cell_row(one: CellStudy) -> CellRow:
    return CellRow(
        collective=one.cell.collective,
        bytes=one.cell.bytes,
        ranks=one.cell.shape.ranks,
        strided=one.cell.shape.strided,
        native_seconds_per_call=one.native,
        chosen=one.chosen,
        by_itself=one.by_itself or None,
        arms_left_out=one.left_out,
        arms=[ArmRow(arm.spec, arm.screened, arm.replayed, arm.problem or None) for arm in one.arms],
    )
