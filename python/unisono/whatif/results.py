"""What was found as JSON: docs/reference/whatif.md. Seconds and bytes."""

from typing import Any

from unisono import __version__
from unisono.sim import smpi
from unisono.whatif.scaling import RULES
from unisono.whatif.study import CellStudy, Study, totals

SCHEMA = "unisono.whatif"
SCHEMA_VERSION = 1

Json = dict[str, Any]


def to_json(found: Study) -> Json:
    program = found.program
    calls, target = program.calls, program.target
    numbers = {cell: number for number, cell in enumerate(found.cells)}
    kinds = zip(calls.kinds, program.cells, found.native.in_call, found.native.computing, strict=True)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "unisono_version": __version__,
        "simgrid_version": smpi.simgrid_version(),
        "traced": {"ranks": calls.ranks, "ranks_per_host": calls.per_host, "mpi": calls.mpi},
        "platform": program.platform.spec,
        "ranks": target.ranks,
        "hosts": target.hosts,
        "ranks_per_host": target.per_host,
        "scaling": target.scaling,
        "rule": RULES[target.scaling],
        "selector": program.selector,
        "calls": len(calls.kind_of),
        "calls_replayed": len(program.kept),
        "program_seconds": dict(totals(found)),
        "sites": [
            {
                "site": kind.place,
                "collective": kind.collective,
                "calls": kind.calls,
                "traced_bytes": kind.bytes,
                "traced_seconds": kind.seconds,
                "cell": numbers[cell],
                "native_seconds": kind.calls * seconds,
                "computing_seconds": kind.calls * computing,
            }
            for kind, cell, seconds, computing in kinds
        ],
        "cells": [cell_json(cell) for cell in found.cells.values()],
        "notes": found.notes,
    }


def cell_json(one: CellStudy) -> Json:
    return {
        "collective": one.cell.collective,
        "bytes": one.cell.bytes,
        "ranks": one.cell.shape.ranks,
        "strided": one.cell.shape.strided,
        "native_seconds_per_call": one.native,
        "chosen": one.chosen,
        "by_itself": one.by_itself or None,
        "arms_left_out": one.left_out,
        "arms": [
            {
                "algorithm": arm.spec,
                "alone_seconds": arm.screened,
                "seconds_per_call": arm.replayed,
                "problem": arm.problem or None,
            }
            for arm in one.arms
        ],
    }
