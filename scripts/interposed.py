"""The collectives of src/schedule/semantics.h as C and Fortran call them: their parameters and what each is.
For generate_interpose.py."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

# The fields of a Call, in the order of their declaration, and whose values go there.
CALL_FIELDS = {
    "sendbuf": ["sendbuf"],
    "sendcount": ["sendcount"],
    "sendcounts": ["sendcounts"],
    "sdispls": ["sdispls"],
    "sendtype": ["sendtype"],
    "sendtypes": ["sendtypes"],
    "recvbuf": ["recvbuf", "buffer"],
    "recvcount": ["recvcount", "count"],
    "recvcounts": ["recvcounts"],
    "rdispls": ["rdispls"],
    "recvtype": ["recvtype", "datatype"],
    "recvtypes": ["recvtypes"],
    "op": ["op"],
    "root": ["root"],
    "comm": ["comm"],
}


@dataclass(frozen=True)
class Kind:
    """What a parameter is in C, in the large-count form, and as a Call's value from Fortran."""

    plain: str
    large: str
    fortran: str = "*{0}"

    @property
    def narrows(self) -> bool:
        return self.plain != self.large


BUFFER_IN = Kind("const void*", "const void*", "fortran::buffer({0})")
BUFFER_OUT = Kind("void*", "void*", "fortran::buffer({0})")
COUNT = Kind("int", "MPI_Count")
COUNTS = Kind("const int*", "const MPI_Count*", "{0}")
# MPI_Neighbor_alltoallw has these in the plain form, too.
ADDRESSES = Kind("const MPI_Aint*", "const MPI_Aint*", "{0}")
DISPLACEMENTS = Kind("const int*", "const MPI_Aint*", "{0}")
DATATYPE = Kind("MPI_Datatype", "MPI_Datatype", "PMPI_Type_f2c(*{0})")
DATATYPES = Kind("const MPI_Datatype*", "const MPI_Datatype*", "{0}_c.get()")
OP = Kind("MPI_Op", "MPI_Op", "PMPI_Op_f2c(*{0})")
ROOT_RANK = Kind("int", "int")
COMM = Kind("MPI_Comm", "MPI_Comm", "fortran::comm({0})")

KINDS = {
    "sendbuf": BUFFER_IN,
    "recvbuf": BUFFER_OUT,
    "buffer": BUFFER_OUT,
    "count": COUNT,
    "sendcount": COUNT,
    "recvcount": COUNT,
    "sendcounts": COUNTS,
    "recvcounts": COUNTS,
    "sdispls": DISPLACEMENTS,
    "rdispls": DISPLACEMENTS,
    "datatype": DATATYPE,
    "sendtype": DATATYPE,
    "recvtype": DATATYPE,
    "sendtypes": DATATYPES,
    "recvtypes": DATATYPES,
    "op": OP,
    "root": ROOT_RANK,
    "comm": COMM,
}


@dataclass(frozen=True)
class Parameter:
    name: str
    where: str = ""  # significant at the "root" only, at the others ("leaf"), or on all: ""
    addresses: bool = False

    @property
    def kind(self) -> Kind:
        return ADDRESSES if self.addresses else KINDS[self.name]

    @property
    def side(self) -> str | None:
        return {"s": "sendbuf", "r": "recvbuf"}.get(self.name[0])


@dataclass(frozen=True)
class Collective:
    row: dict[str, Any]

    @property
    def enumerator(self) -> str:
        return str(self.row["name"])

    @property
    def name(self) -> str:
        """As in MPI's functions: "Reduce_scatter_block"."""
        return self.enumerator.capitalize()

    @property
    def among_neighbours(self) -> bool:
        return bool(self.row["peers"] == "neighbours")

    @cached_property
    def parameters(self) -> list[Parameter]:
        """In the order of the standard."""
        row = self.row
        last = [Parameter("root")] * row["rooted"] + [Parameter("comm")]
        if row["measure"] == "nothing":
            return last
        if row["one_buffer"]:
            return [Parameter(name) for name in ("buffer", "count", "datatype")] + last
        if row["combines"] != "nobody":
            count = {"block": "count", "blocks": "recvcount", "counts": "recvcounts"}[row["send"]["shape"]]
            return [Parameter(name) for name in ("sendbuf", "recvbuf", count, "datatype", "op")] + last
        return self.side("send") + self.side("recv", "receive") + last

    def side(self, prefix: str, key: str = "") -> list[Parameter]:
        side = self.row[key or prefix]
        where = "" if not self.row["rooted"] else "root" if side["who"] == "root" else "leaf"
        buffer, types = Parameter(f"{prefix}buf"), side["shape"] == "types"
        datatype = Parameter(f"{prefix}types" if types else f"{prefix}type")
        if side["shape"] in {"block", "blocks"}:
            return [buffer, Parameter(f"{prefix}count", where), datatype]
        displacements = Parameter(f"{prefix[0]}displs", where, types and self.among_neighbours)
        return [buffer, Parameter(f"{prefix}counts", where), displacements, datatype]

    def per_peer(self, p: Parameter) -> str:
        """What an array has an entry for."""
        if self.among_neighbours:
            return "PerPeer::sent_to" if p.side == "sendbuf" else "PerPeer::received_from"
        return "PerPeer::own_rank" if self.row["combines"] != "nobody" else "PerPeer::rank"

    @property
    def names(self) -> list[str]:
        return [p.name for p in self.parameters]

    @property
    def arguments(self) -> str:
        return ", ".join(self.names)

    def declare(self, large: bool) -> str:
        return ", ".join(f"{p.kind.large if large else p.kind.plain} {p.name}" for p in self.parameters)

    def call(self, value: str | None = None) -> str:
        """A Call; `value` formats the parameters, else their kind does."""
        fields = [f".collective = Collective::{self.enumerator}"]
        for field, sources in CALL_FIELDS.items():
            for p in self.parameters:
                if p.name in sources:
                    fields.append(f".{field} = {(value or p.kind.fortran).format(p.name)}")
        return f"Call{{{', '.join(fields)}}}"


def table(build: Path) -> list[Collective]:
    tool = build / "bin" / "unisono-schedule"
    if not tool.exists():
        raise SystemExit(f"{tool}: not there; ninja -C {build} unisono-schedule builds it")
    done = subprocess.run([tool, "list", "--json"], capture_output=True, text=True, check=True)
    return [Collective(row) for row in json.loads(done.stdout)["collectives"]]


def narrows(c: Collective) -> bool:
    return any(p.kind.narrows for p in c.parameters)


def ran_the_short_way(c: Collective, call: str) -> str:
    """The call stands in both: a copy that one of them alone needs is made there only."""
    kind = f"<Collective::{c.enumerator}>({call}, info)"
    return f"may_have_devices() ? ran_beside_devices{kind} : ran_on_fast_path{kind}"
