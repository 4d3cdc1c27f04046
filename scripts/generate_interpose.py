#!/usr/bin/env python3
"""Generates the entry points and the stub's symbols from one table: MPI-4.1's blocking collectives.

  generate_interpose.py           writes the files
  generate_interpose.py --check   compares them with what is checked in (CI); 1 if they differ

A collective is its list of parameters, and a parameter is of one of few kinds; all that is
generated (C entry points, their large-count forms, narrowing, Fortran) follows from the kinds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src/interpose"

# Parameters in the order of the standard. "@root": significant at the root only; "@leaf": at those
# who send to or receive from the root only. Displacements are named by the buffer they belong to.
COLLECTIVES = {
    "Barrier": "comm",
    "Bcast": "buffer count datatype root comm",
    "Gather": "sendbuf sendcount@leaf sendtype recvbuf recvcount@root recvtype root comm",
    "Gatherv": "sendbuf sendcount@leaf sendtype recvbuf recvcounts@root rdispls@root recvtype root comm",
    "Scatter": "sendbuf sendcount@root sendtype recvbuf recvcount@leaf recvtype root comm",
    "Scatterv": "sendbuf sendcounts@root sdispls@root sendtype recvbuf recvcount@leaf recvtype root comm",
    "Allgather": "sendbuf sendcount sendtype recvbuf recvcount recvtype comm",
    "Allgatherv": "sendbuf sendcount sendtype recvbuf recvcounts rdispls recvtype comm",
    "Alltoall": "sendbuf sendcount sendtype recvbuf recvcount recvtype comm",
    "Alltoallv": "sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype comm",
    "Alltoallw": "sendbuf sendcounts sdispls sendtypes recvbuf recvcounts rdispls recvtypes comm",
    "Reduce": "sendbuf recvbuf count datatype op root comm",
    "Allreduce": "sendbuf recvbuf count datatype op comm",
    "Reduce_scatter_block": "sendbuf recvbuf recvcount datatype op comm",
    "Reduce_scatter": "sendbuf recvbuf recvcounts datatype op comm",
    "Scan": "sendbuf recvbuf count datatype op comm",
    "Exscan": "sendbuf recvbuf count datatype op comm",
}

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
    where: str  # "", "root", "leaf"

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]


@dataclass(frozen=True)
class Collective:
    name: str
    parameters: list[Parameter]

    @property
    def enumerator(self) -> str:
        return self.name.lower()

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


def table() -> list[Collective]:
    result = []
    for name, text in COLLECTIVES.items():
        parameters = [Parameter(*(item + "@").split("@")[:2]) for item in text.split()]
        result.append(Collective(name, parameters))
    return result


def entry_point(c: Collective, large: bool) -> str:
    name = f"MPI_{c.name}{'_c' if large else ''}"
    fallback = f", narrow_{c.name}" if large and narrows(c) else ""
    call = f"call_of_{name}({c.arguments})"
    return f"""
static Call call_of_{name}({c.declare(large)}) {{
  return {c.call("{0}")};
}}

[[gnu::noinline]] static int look_at_{name}({c.declare(large)});

ENTRY int {name}({c.declare(large)}) {{
  using Native = Next<"{name}", decltype({name}){fallback}>;
  if (!is_candidate(Collective::{c.enumerator})) return Native::call({c.arguments});
  if (is_watched()) return watch<Native>({call}, __builtin_return_address(0), {c.arguments});
  return look_at_{name}({c.arguments});
}}

static int look_at_{name}({c.declare(large)}) {{
  using Native = Next<"{name}", decltype({name}){fallback}>;
  const CallInfo info = info_of({call});
  if (!info) return Native::call({c.arguments});
  if (ran_on_fast_path<Collective::{c.enumerator}>({call}, info)) return MPI_SUCCESS;
  return dispatch_or_pass_on<Native>({call}, info, {c.arguments});
}}
"""


def narrows(c: Collective) -> bool:
    return any(p.kind.narrows for p in c.parameters)


def significant(c: Collective, p: Parameter) -> str:
    """The condition under which the MPI library looks at this count at all."""
    conditions = []
    if "root" in c.names:
        conditions.append(f"narrow.{p.where or 'either'}()")
    side = {"s": "sendbuf", "r": "recvbuf"}.get(p.name[0])
    if side:
        conditions.append(f"{side} != MPI_IN_PLACE")
    return " && ".join(conditions) or "true"


def narrowing(c: Collective) -> str:
    """The large-count form in terms of the plain one."""
    lines, arguments = [], []
    for p in c.parameters:
        if p.kind.narrows:
            function = "count" if p.kind is COUNT else "array"
            local = ", true" if c.name == "Reduce_scatter" and function == "array" else ""
            call = f"narrow.{function}({p.name}, {significant(c, p)}{local})"
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
    out += '#include "interpose/narrowing.h"\n#include "interpose/next.h"\n#include "calls/fast_path.h"\n\n'
    out += "using namespace unisono;\n\nnamespace {\n"
    out += "".join(narrowing(c) for c in large)
    out += """
/// Out of line, like the info: what passes a call on saves no registers and builds no Call.
template <class Native, class... Arguments>
[[gnu::noinline]] int dispatch_or_pass_on(const Call& call, const CallInfo& info,
                                          Arguments... arguments) {
  const auto code = dispatch(call, info);
  return code ? *code : Native::call(arguments...);
}

template <class Native, class... Arguments>
[[gnu::noinline, gnu::cold]] int watch(const Call& call, const void* site,
                                       Arguments... arguments) {
  CallScope scope(call, site);
  const auto code = dispatch(call, scope);
  return code ? *code : Native::call(arguments...);
}

}  // namespace
"""
    for c in collectives:
        out += entry_point(c, large=False)
        if narrows(c):
            out += entry_point(c, large=True)
    return out


def fortran_declaration(c: Collective) -> str:
    buffers = (BUFFER_IN, BUFFER_OUT)
    return ", ".join(f"{'void*' if p.kind in buffers else 'const int*'} {p.name}" for p in c.parameters)


def fortran_entry(c: Collective) -> str:
    declaration = fortran_declaration(c)
    arrays = ""
    for p in c.parameters:
        if p.kind is DATATYPES:
            condition = "fortran::is_in_place(sendbuf)" if p.name == "sendtypes" else "false"
            arrays += f"  const fortran::Datatypes {p.name}_c({p.name}, comm, {condition});\n"
    f08 = f"mpi_{c.enumerator}_f08_"
    f77 = f"mpi_{c.enumerator}_"
    body = f"""{{
  using Native = Next<"NAME", decltype(NAME)>;
  if (is_candidate(Collective::{c.enumerator}))
    return run_{c.enumerator}<Native>(__builtin_return_address(0), {c.arguments}, ierror);
  Native::call({c.arguments}, ierror);
}}
"""
    run = f"""
template <class Native>
[[gnu::noinline]] static void run_{c.enumerator}(const void* site, {declaration}, int* ierror) {{
{arrays}  const Call call = {c.call()};
  if (is_watched()) {{
    CallScope scope(call, site);
    if (!fortran::finish(dispatch(call, scope), ierror)) Native::call({c.arguments}, ierror);
    return;
  }}
  const CallInfo info = info_of(call);
  if (info && ran_on_fast_path<Collective::{c.enumerator}>(call, info)) {{
    fortran::finish(MPI_SUCCESS, ierror);
    return;
  }}
  if (!info || !fortran::finish(dispatch(call, info), ierror)) Native::call({c.arguments}, ierror);
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


def api_functions() -> list[str]:
    header = (ROOT / "include/unisono/unisono.h").read_text()
    return re.findall(r"^UNISONO_API .*?(\w+)\(", header, re.MULTILINE)


def symbols(collectives: list[Collective]) -> str:
    """All that the stub exports, as UNISONO_SYMBOL(name) lines."""
    names = ["MPI_Init", "MPI_Init_thread", "MPI_Finalize"]
    for c in collectives:
        names += [f"MPI_{c.name}"] + ([f"MPI_{c.name}_c"] if narrows(c) else [])
    for f in ["init", "init_thread", "finalize"] + [c.enumerator for c in collectives]:
        names += [f"mpi_{f}", f"mpi_{f}_", f"mpi_{f}__", f"MPI_{f.upper()}", f"mpi_{f}_f08_"]
    names += api_functions()
    return "// What the stub exports.\n" + "".join(f"UNISONO_SYMBOL({n})\n" for n in names)


def formatted(text: str, name: str) -> str:
    banner = "// Generated by scripts/generate_interpose.py: change that.\n"
    if not name.endswith(".cpp"):
        return banner + text
    pinned = Path(sys.executable).parent / "clang-format"
    tool = str(pinned) if pinned.exists() else "clang-format"
    command = [tool, f"--assume-filename={OUTPUT / name}"]
    return subprocess.run(command, input=banner + text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    collectives = table()
    files = {
        "generated/entry_points.cpp": entry_points(collectives),
        "generated/fortran.cpp": fortran(collectives),
        "stub/symbols.inc": symbols(collectives),
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
