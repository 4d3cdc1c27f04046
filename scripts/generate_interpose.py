#!/usr/bin/env python3
"""Generates the entry points, the stub's symbols and the table of MPI's functions.

  generate_interpose.py           writes the files
  generate_interpose.py --check   compares them with what is checked in (CI); 1 if they differ

What a collective is stands in src/schedule/semantics.h, which `unisono-schedule list --json` prints.
Its parameters follow from that, and a parameter is of one of few kinds; all that is generated (C
entry points, their large-count forms, narrowing, Fortran) follows from the kinds.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src"
MADE = OUTPUT / "interpose/made_communicator.cpp"

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


def entry_point(c: Collective, large: bool) -> str:
    name = f"MPI_{c.name}{'_c' if large else ''}"
    fallback = f", narrow_{c.name}" if large and narrows(c) else ""
    call = f"call_of_{name}({c.arguments})"
    call_of = f"""
static Call call_of_{name}({c.declare(large)}) {{
  return {c.call("{0}")};
}}
"""
    native = f'using Native = Next<"{name}", decltype({name}){fallback}>;'
    watched = f"return watch<Native>({call}, __builtin_return_address(0), {c.arguments});"
    if c.among_neighbours:
        return f"""{call_of}
ENTRY int {name}({c.declare(large)}) {{
  {native}
  if (is_watched()) {watched}
  return Native::call({c.arguments});
}}
"""
    return f"""{call_of}
[[gnu::noinline]] static int look_at_{name}({c.declare(large)});

ENTRY int {name}({c.declare(large)}) {{
  {native}
  if (!is_candidate(Collective::{c.enumerator})) return Native::call({c.arguments});
  if (is_watched()) {watched}
  return look_at_{name}({c.arguments});
}}

static int look_at_{name}({c.declare(large)}) {{
  {native}
  const CallInfo info = info_of({call});
  if (!info) return Native::call({c.arguments});
  if ({ran_the_short_way(c, call)}) return MPI_SUCCESS;
  return dispatch_or_pass_on<Native>({call}, info, {c.arguments});
}}
"""


def nonblocking_entry_point(c: Collective, large: bool) -> str:
    """Open MPI 5 has no large-count forms, and an array of counts must live until the call is over: there
    is no narrowing."""
    suffix = "_c" if large else ""
    name = f"MPI_I{c.enumerator}{suffix}"
    text = f"""
ENTRY int {name}({c.declare(large)}, MPI_Request* request) {{
  using Native = Next<"{name}", decltype({name})>;
  if (!is_candidate(Collective::{c.enumerator})) return Native::call({c.arguments}, request);
  return start_or_pass_on<Native>(call_of_MPI_{c.name}{suffix}({c.arguments}), {c.arguments}, request);
}}
"""
    return f"\n#ifndef OPEN_MPI{text}#endif\n" if large else text


def ran_the_short_way(c: Collective, call: str) -> str:
    """The call stands in both: a copy that one of them alone needs is made there only."""
    kind = f"<Collective::{c.enumerator}>({call}, info)"
    return f"may_have_devices() ? ran_beside_devices{kind} : ran_on_fast_path{kind}"


def narrows(c: Collective) -> bool:
    return any(p.kind.narrows for p in c.parameters)


def significant(c: Collective, p: Parameter) -> str:
    """The condition under which the MPI library looks at this count at all."""
    conditions = []
    if "root" in c.names:
        conditions.append(f"narrow.{p.where or 'either'}()")
    if p.side and c.row["in_place"] != "nowhere":
        conditions.append(f"{p.side} != MPI_IN_PLACE")
    return " && ".join(conditions) or "true"


def narrowing(c: Collective) -> str:
    """The large-count form in terms of the plain one."""
    lines, arguments = [], []
    for p in c.parameters:
        if p.kind.narrows:
            function = "count" if p.kind is COUNT else "array"
            per = f", {c.per_peer(p)}" if function == "array" else ""
            call = f"narrow.{function}({p.name}, {significant(c, p)}{per})"
            lines.append(f"  const auto {p.name}_i = {call};")
            arguments.append(f"{p.name}_i")
        else:
            arguments.append(p.name)
    root = ", root" if "root" in c.names else ""
    return f"""
int narrow_{c.name}({c.declare(large=True)}) {{
  Narrowing narrow("MPI_{c.name}_c", comm{root});
{chr(10).join(lines)}
  if (narrow.failed()) return narrow.report();
  return Next<"MPI_{c.name}", decltype(MPI_{c.name})>::call({", ".join(arguments)});
}}
"""


def entry_points(collectives: list[Collective]) -> str:
    large = [c for c in collectives if narrows(c)]
    out = "// The C entry points: Unisono runs the call, or the next definition does.\n"
    out += '#include "interpose/dispatch.h"\n#include "interpose/entry.h"\n'
    out += '#include "interpose/narrowing.h"\n#include "interpose/next.h"\n#include "calls/fast_path.h"\n'
    out += "\n#include <tuple>\n\n"
    out += "using namespace unisono;\n\nnamespace {\n"
    out += "".join(narrowing(c) for c in large)
    out += """
/// Out of line, like the info: what passes a call on saves no registers and builds no Call.
template <class Native, class... Arguments>
[[gnu::noinline]] int dispatch_or_pass_on(const Call& call, const CallInfo& info,
                                          Arguments... arguments) {
  CallScope scope;
  const auto code = dispatch(call, info, scope);
  return code ? *code : Native::call(arguments...);
}

template <class Native, class... Arguments>
[[gnu::noinline, gnu::cold]] int watch(const Call& call, const void* site,
                                       Arguments... arguments) {
  CallScope scope(call, site);
  const auto code = dispatch(call, scope);
  return code ? *code : Native::call(arguments...);
}

/// The request is the last argument.
template <class Native, class... Arguments>
[[gnu::noinline]] int start_or_pass_on(const Call& call, Arguments... arguments) {
  MPI_Request* request = std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
  const auto code = start(call, request);
  return code ? *code : Native::call(arguments...);
}

}  // namespace
"""
    for c in collectives:
        for large in (False, True) if narrows(c) else (False,):
            out += entry_point(c, large)
            if not c.among_neighbours:
                out += nonblocking_entry_point(c, large)
    return out


def fortran_declaration(c: Collective) -> str:
    buffers = (BUFFER_IN, BUFFER_OUT)

    def declared(p: Parameter) -> str:
        return "void*" if p.kind in buffers else "const MPI_Aint*" if p.addresses else "const int*"

    return ", ".join(f"{declared(p)} {p.name}" for p in c.parameters)


def fortran_entry(c: Collective) -> str:
    declaration = fortran_declaration(c)
    arrays = ""
    for p in c.parameters:
        if p.kind is DATATYPES:
            replaced = p.name == "sendtypes" and c.row["in_place"] != "nowhere"
            condition = "fortran::is_in_place(sendbuf)" if replaced else "false"
            arguments = f"{p.name}, comm, {condition}, {c.per_peer(p)}"
            arrays += f"  const fortran::Datatypes {p.name}_c({arguments});\n"
    f08 = f"mpi_{c.enumerator}_f08_"
    f77 = f"mpi_{c.enumerator}_"
    body = f"""{{
  using Native = Next<"NAME", decltype(NAME)>;
  if ({"is_watched()" if c.among_neighbours else f"is_candidate(Collective::{c.enumerator})"})
    return run_{c.enumerator}<Native>(__builtin_return_address(0), {c.arguments}, ierror);
  Native::call({c.arguments}, ierror);
}}
"""
    watched = f"""    CallScope scope(call, site);
    if (!fortran::finish(dispatch(call, scope), ierror)) Native::call({c.arguments}, ierror);
"""
    run = f"""
template <class Native>
[[gnu::noinline]] static void run_{c.enumerator}(const void* site, {declaration}, int* ierror) {{
{arrays}  const Call call = {c.call()};
"""
    if c.among_neighbours:
        run += watched + "}\n"
    else:
        run += f"""  if (is_watched()) {{
{watched}    return;
  }}
  const CallInfo info = info_of(call);
  if (info && ({ran_the_short_way(c, "call")})) {{
    fortran::finish(MPI_SUCCESS, ierror);
    return;
  }}
  CallScope scope;
  if (!info || !fortran::finish(dispatch(call, info, scope), ierror))
    Native::call({c.arguments}, ierror);
}}
"""
    plain = f"""
ENTRY void {f77}({declaration}, int* ierror) {body.replace("NAME", f77)}
FORTRAN_SPELLINGS(mpi_{c.enumerator}, MPI_{c.name.upper()}, ({declaration}, int* ierror))
"""
    f2008 = f"""
ENTRY void {f08}({declaration}, int* ierror) {body.replace("NAME", f08)}
"""
    if c.arguments == "comm":  # no buffer
        return run + f2008 + "\n#ifdef OPEN_MPI\n" + plain + "\n#endif  // OPEN_MPI\n"
    return "\n#ifdef OPEN_MPI\n" + run + plain + f2008 + "\n#endif  // OPEN_MPI\n"


def fortran(collectives: list[Collective]) -> str:
    out = """// Fortran entry points, where the Fortran library calls PMPI_* itself: Open MPI's does
// so for everything, MPICH's in its mpi_f08 module for what has no buffer.
#include "interpose/fortran.h"

#include "interpose/dispatch.h"
#include "interpose/entry.h"
#include "interpose/next.h"
#include "calls/fast_path.h"

using namespace unisono;
"""
    out += "".join(fortran_entry(c) for c in collectives)
    return out.replace("\n#endif  // OPEN_MPI\n\n#ifdef OPEN_MPI\n", "")


def functions(collectives: list[Collective]) -> str:
    sources = {source: field for field, names in CALL_FIELDS.items() for source in names}

    def fields(c: Collective) -> str:
        return ", ".join(f"a.{sources[p.name]}{'_bytes' * p.addresses}" for p in c.parameters)

    members = "".join(f"  decltype(&MPI_{c.name}) {c.enumerator};\n" for c in collectives)
    cases = "".join(
        f"    case Collective::{c.enumerator}: return f.{c.enumerator}({fields(c)});\n" for c in collectives
    )
    names = {prefix: ", ".join(f"{prefix}_{c.name}" for c in collectives) for prefix in ("MPI", "PMPI")}
    among_all = [c for c in collectives if not c.among_neighbours]
    starting = "".join(f"  decltype(&MPI_I{c.enumerator}) {c.enumerator};\n" for c in among_all)
    starters = ", ".join(f"MPI_I{c.enumerator}" for c in among_all)
    starts = "".join(
        f"    case Collective::{c.enumerator}: return f.{c.enumerator}({fields(c)}, request);\n"
        for c in among_all
    )
    return f"""// The functions of an MPI library, and how each is called.
#pragma once
#include <mpi.h>

#include "schedule/collective.h"

namespace unisono {{

struct Functions {{
{members}}};

/// MPI_X, as a program calls it: Unisono's, where it is there.
inline constexpr Functions kProgramFunctions = {{{names["MPI"]}}};
/// PMPI_X: the MPI library's own, whatever lies over it.
inline constexpr Functions kLibraryFunctions = {{{names["PMPI"]}}};

/// As the forms with int counts take them. Those that a collective does not have are not looked at.
/// Bcast and reductions: as in a Call.
struct IntArguments {{
  const void* sendbuf = nullptr;
  int sendcount = 0;
  const int *sendcounts = nullptr, *sdispls = nullptr;
  const MPI_Aint* sdispls_bytes = nullptr;  ///< MPI_Neighbor_alltoallw
  MPI_Datatype sendtype = MPI_DATATYPE_NULL;
  const MPI_Datatype* sendtypes = nullptr;
  void* recvbuf = nullptr;
  int recvcount = 0;
  const int *recvcounts = nullptr, *rdispls = nullptr;
  const MPI_Aint* rdispls_bytes = nullptr;
  MPI_Datatype recvtype = MPI_DATATYPE_NULL;
  const MPI_Datatype* recvtypes = nullptr;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
}};

inline int call_function(const Functions& f, Collective collective, const IntArguments& a) {{
  switch (collective) {{
{cases}  }}
  return MPI_ERR_INTERN;
}}

/// The nonblocking forms of the collectives of all ranks.
struct NonblockingFunctions {{
{starting}}};
inline constexpr NonblockingFunctions kProgramNonblocking = {{{starters}}};

inline int start_function(const NonblockingFunctions& f, Collective collective,
                          const IntArguments& a, MPI_Request* request) {{
  switch (collective) {{
{starts}    default: return MPI_ERR_INTERN;
  }}
}}

}}  // namespace unisono
"""


def api_functions() -> list[str]:
    header = (ROOT / "include/unisono/unisono.h").read_text()
    return re.findall(r"^UNISONO_API .*?(\w+)\(", header, re.MULTILINE)


def symbols(collectives: list[Collective]) -> str:
    """All that the stub exports, as UNISONO_SYMBOL(name) lines."""
    others = ["Init", "Init_thread", "Session_init", "Op_free"]
    # Of these Fortran's libraries call PMPI_*.
    of_comms = ["Comm_free", "Comm_disconnect", "Comm_idup", "Comm_idup_with_info"]
    making = re.findall(r"^MAKES\(MPI_(\w+)", MADE.read_text(), re.MULTILINE)
    names = [f"MPI_{name}" for name in others + of_comms + making]
    names += [f"PMPI_{name}" for name in of_comms]
    for c in collectives:
        forms = [c.name] if c.among_neighbours else [c.name, f"I{c.enumerator}"]
        names += [f"MPI_{form}{suffix}" for form in forms for suffix in (("", "_c") if narrows(c) else ("",))]
    for f in [name.lower() for name in others] + [c.enumerator for c in collectives]:
        names += [f"mpi_{f}", f"mpi_{f}_", f"mpi_{f}__", f"MPI_{f.upper()}", f"mpi_{f}_f08_"]
    names += api_functions()
    return "// What the stub exports.\n" + "".join(f"UNISONO_SYMBOL({n})\n" for n in names)


def formatted(text: str, name: str) -> str:
    banner = "// Generated by scripts/generate_interpose.py: change that.\n"
    if name.endswith(".inc"):
        return banner + text
    pinned = Path(sys.executable).parent / "clang-format"
    tool = str(pinned) if pinned.exists() else "clang-format"
    command = [tool, f"--assume-filename={OUTPUT / name}"]
    return subprocess.run(command, input=banner + text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="has unisono-schedule")
    options = parser.parse_args()
    check = options.check
    collectives = table(options.build)
    files = {
        "interpose/generated/entry_points.cpp": entry_points(collectives),
        "interpose/generated/fortran.cpp": fortran(collectives),
        "interpose/stub/symbols.inc": symbols(collectives),
        "mpi/functions.h": functions(collectives),
    }
    status = 0
    for name, text in files.items():
        path, wanted = OUTPUT / name, formatted(text, name)
        if not check:
            path.write_text(wanted)
        elif not path.exists() or path.read_text() != wanted:
            print(f"{path.relative_to(ROOT)} differs: run scripts/generate_interpose.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
