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
import re
import subprocess
import sys
from pathlib import Path

from interposed import (
    CALL_FIELDS,
    COUNT,
    Collective,
    Parameter,
    narrows,
    ran_the_short_way,
    table,
)
from interposed_fortran import fortran, fortran_names

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src"
MADE = OUTPUT / "interpose/made_communicator.cpp"
WINDOWS = OUTPUT / "interpose/windows.cpp"
WAITING = OUTPUT / "interpose/blocking.cpp"


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
    # No kernel of a node serves neighbours.
    short = "" if c.among_neighbours else f"\n  if ({ran_the_short_way(c, call)}) return MPI_SUCCESS;"
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
  if (!info) return Native::call({c.arguments});{short}
  return dispatch_or_pass_on<Native>({call}, info, {c.arguments});
}}
"""


def nonblocking_entry_point(c: Collective, large: bool) -> str:
    suffix = "_c" if large else ""
    name = f"MPI_I{c.enumerator}{suffix}"
    fallback = f", narrow_I{c.enumerator}" if large else ""
    call = f"call_of_MPI_{c.name}{suffix}({c.arguments})"
    return f"""
ENTRY int {name}({c.declare(large)}, MPI_Request* request) {{
  using Native = Next<"{name}", decltype({name}){fallback}>;
  if (!is_candidate(Collective::{c.enumerator})) return Native::call({c.arguments}, request);
  return start_or_pass_on<Native>({call}, {c.arguments}, request);
}}
"""


def persistent_entry_point(c: Collective, large: bool) -> str:
    suffix = "_c" if large else ""
    name, fallback = f"MPI_{c.name}_init{suffix}", f"{'narrow' if large else 'provide'}_{c.name}_init"
    return f"""
ENTRY int {name}({c.declare(large)}, MPI_Info info, MPI_Request* request) {{
  using Native = Next<"{name}", decltype({name}), {fallback}>;
  const auto code = make_persistent(call_of_MPI_{c.name}{suffix}({c.arguments}), info, request);
  return code ? *code : Native::call({c.arguments}, info, request);
}}
"""


def providing(c: Collective) -> str:
    """Where the MPI library has no persistent form: each start is a nonblocking call."""
    name = f"MPI_I{c.enumerator}"
    return f"""
int provide_{c.name}_init({c.declare(large=False)}, MPI_Info, MPI_Request* request) {{
  using Native = Next<"{name}", decltype({name})>;
  const auto start = [=](MPI_Request* started) {{ return Native::call({c.arguments}, started); }};
  return provide(start, comm, request);
}}
"""


def significant(c: Collective, p: Parameter) -> str:
    """The condition under which the MPI library looks at this count at all."""
    conditions = []
    if "root" in c.names:
        conditions.append(f"narrow.{p.where or 'either'}()")
    if p.side and c.row["in_place"] != "nowhere":
        conditions.append(f"{p.side} != MPI_IN_PLACE")
    return " && ".join(conditions) or "true"


def narrowing(c: Collective, form: str) -> str:
    """The large-count form in terms of the plain one. Of a nonblocking call the library may read arrays until
    it is done, of a persistent one ("init") until it is freed."""
    name = {"": c.name, "I": f"I{c.enumerator}", "init": f"{c.name}_init"}[form]
    array = "lasting_array" if form else "array"
    lines, arguments = [], []
    for p in c.parameters:
        if p.kind.narrows:
            function = "count" if p.kind is COUNT else array
            per = f", {c.per_peer(p)}" if function == array else ""
            call = f"narrow.{function}({p.name}, {significant(c, p)}{per})"
            lines.append(f"  const auto {p.name}_i = {call};")
            arguments.append(f"{p.name}_i")
        else:
            arguments.append(p.name)
    root = ", root" if "root" in c.names else ""
    last = {"": "", "I": ", MPI_Request* request", "init": ", MPI_Info info, MPI_Request* request"}[form]
    arguments += {"": [], "I": ["request"], "init": ["info", "request"]}[form]
    declared = f"provide_{name}" if form == "init" else f"MPI_{name}"
    fallback = f", provide_{name}" if form == "init" else ""
    call = f'Next<"MPI_{name}", decltype({declared}){fallback}>::call({", ".join(arguments)})'
    keep = {"": call, "I": f"narrow.keep({call}, request)", "init": f"narrow.keep_on({call}, request)"}[form]
    return f"""
int narrow_{name}({c.declare(large=True)}{last}) {{
  Narrowing narrow("MPI_{name}_c", comm{root});
{chr(10).join(lines)}
  if (narrow.failed()) return narrow.report();
  return {keep};
}}
"""


def entry_points(collectives: list[Collective]) -> str:
    out = "// The C entry points: Unisono runs the call, or the next definition does.\n"
    out += '#include "interpose/dispatch.h"\n#include "interpose/entry.h"\n'
    out += '#include "interpose/narrowing.h"\n#include "interpose/next.h"\n#include "calls/fast_path.h"\n'
    out += '#include "calls/persistent.h"\n\n#include <tuple>\n\n'
    out += "using namespace unisono;\n\nnamespace {\n"
    out += """
/// Nothing may be thrown into the program.
template <class Start>
int provide(const Start& start, MPI_Comm comm, MPI_Request* request) {
  try {
    return provide_persistent(start, comm, request);
  } catch (const std::bad_alloc&) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
}
"""
    out += "".join(providing(c) for c in collectives)
    for form in ["", "I", "init"]:
        out += "".join(narrowing(c, form) for c in collectives if narrows(c))
    out += """
/// Out of line, like the info: what passes a call on saves no registers and builds no Call.
template <class Native, class... Arguments>
[[gnu::noinline]] int dispatch_or_pass_on(const Call& call, CallInfo info,
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
        for is_large in [False, True] if narrows(c) else [False]:
            out += entry_point(c, is_large)
            out += nonblocking_entry_point(c, is_large) + persistent_entry_point(c, is_large)
    return out


def fields(c: Collective) -> str:
    """Its arguments, of IntArguments."""
    sources = {source: field for field, names in CALL_FIELDS.items() for source in names}
    return ", ".join(f"a.{sources[p.name]}{'_bytes' * p.addresses}" for p in c.parameters)


def request_function(collectives: list[Collective], function: str, form: str, extra: str = "") -> str:
    case = "    case Collective::{0}: return {1}({2}{3}, request);\n"
    cases = "".join(
        case.format(c.enumerator, form.format(c.enumerator, c.name), fields(c), extra) for c in collectives
    )
    return f"""inline int {function}(Collective collective, const IntArguments& a, MPI_Request* request) {{
  switch (collective) {{
{cases}    default: return MPI_ERR_INTERN;
  }}
}}
"""


def request_functions(collectives: list[Collective]) -> str:
    start = request_function(collectives, "start_function", "MPI_I{0}")
    make = request_function(collectives, "make_function", "MPI_{1}_init", ", MPI_INFO_NULL")
    return f"""/// The nonblocking forms, as a program calls them; and the persistent ones.
{start}
// Open MPI 5 has them, though it says MPI 3.
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
{make}#endif

"""


def functions(collectives: list[Collective]) -> str:
    members = "".join(f"  decltype(&MPI_{c.name}) {c.enumerator};\n" for c in collectives)
    cases = "".join(
        f"    case Collective::{c.enumerator}: return f.{c.enumerator}({fields(c)});\n" for c in collectives
    )
    names = {prefix: ", ".join(f"{prefix}_{c.name}" for c in collectives) for prefix in ("MPI", "PMPI")}
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

{request_functions(collectives)}}}  // namespace unisono
"""


def api_functions() -> list[str]:
    header = (ROOT / "include/unisono/unisono.h").read_text()
    return re.findall(r"^UNISONO_API .*?(\w+)\(", header, re.MULTILINE)


def symbols(collectives: list[Collective]) -> str:
    """All that the stub exports, as UNISONO_SYMBOL(name) lines."""
    others = ["Init", "Init_thread", "Session_init", "Op_free"]
    # Of these Fortran's libraries call PMPI_*.
    called = ["Comm_free", "Comm_disconnect", "Comm_idup", "Comm_idup_with_info", "Session_finalize"]
    called += ["Finalize", "Start", "Startall", "Request_free", "Waitall"]
    called += re.findall(r"^UNISONO_WAITS\w*\((\w+)", WAITING.read_text(), re.MULTILINE)
    called += [f"{name}_c" for name in called if name.lower().endswith(("send", "recv", "_replace"))]
    called += [*re.findall(r"^UNISONO_WINDOW\((\w+)", WINDOWS.read_text(), re.MULTILINE), "Win_free"]
    large = re.findall(r"^UNISONO_LARGE_WINDOW\((\w+)", WINDOWS.read_text(), re.MULTILINE)
    called += [f"{name}_c" for name in large]
    making = re.findall(r"^MAKES\(MPI_(\w+)", MADE.read_text(), re.MULTILINE)
    names = [f"MPI_{name}" for name in others + called + making]
    names += [f"PMPI_{name}" for name in called] + ["ucp_worker_progress"]
    for c in collectives:
        forms = [f"MPI_{c.name}", f"MPI_I{c.enumerator}", f"MPI_{c.name}_init"]
        names += forms + [f"{form}_c" for form in forms if narrows(c)]
    for f in [name.lower() for name in others] + [n for c in collectives for n in fortran_names(c)]:
        names += [f"mpi_{f}_", f"mpi_{f}__", f"mpi_{f}_f08_"]
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
