"""The Fortran entry points. For generate_interpose.py."""

from __future__ import annotations

from interposed import BUFFER_IN, BUFFER_OUT, DATATYPES, Collective, Parameter, ran_the_short_way


def fortran_names(c: Collective) -> list[str]:
    """Without mpi_."""
    return [c.enumerator, f"i{c.enumerator}", f"{c.enumerator}_init"]


def fortran_declaration(c: Collective) -> str:
    buffers = (BUFFER_IN, BUFFER_OUT)

    def declared(p: Parameter) -> str:
        return "void*" if p.kind in buffers else "const MPI_Aint*" if p.addresses else "const int*"

    return ", ".join(f"{declared(p)} {p.name}" for p in c.parameters)


def datatype_arrays(c: Collective) -> str:
    arrays = ""
    for p in c.parameters:
        if p.kind is DATATYPES:
            replaced = p.name == "sendtypes" and c.row["in_place"] != "nowhere"
            condition = "fortran::is_in_place(sendbuf)" if replaced else "false"
            arguments = f"{p.name}, comm, {condition}, {c.per_peer(p)}"
            arrays += f"  const fortran::Datatypes {p.name}_c({arguments});\n"
    return arrays


def spelled(name: str, parameters: str, body: str, shared: str, has_buffer: bool) -> str:
    """Its entry points, as Fortran programs call it. MPICH's library leads those with buffers to C.
    `body`: of NAME; `shared`: what they share."""
    f77, f08 = f"mpi_{name}_", f"mpi_{name}_f08_"
    plain = f"""
ENTRY void {f77}({parameters}) {body.replace("NAME", f77)}
FORTRAN_SPELLING(mpi_{name}, ({parameters}));
"""
    f2008 = f"""
ENTRY void {f08}({parameters}) {body.replace("NAME", f08)}
"""
    if not has_buffer:
        return shared + f2008 + "\n#ifdef OPEN_MPI\n" + plain + "\n#endif  // OPEN_MPI\n"
    return "\n#ifdef OPEN_MPI\n" + shared + plain + f2008 + "\n#endif  // OPEN_MPI\n"


def request_entry(c: Collective, name: str, call: str, extra: str) -> str:
    """Of a nonblocking or persistent form: what makes a request of a call. `extra`: its parameters before the
    request."""
    declaration = f"{fortran_declaration(c)}{extra}, int* request, int* ierror"
    arguments = f"{c.arguments}{', info' * bool(extra)}, request, ierror"
    shared = f"""
template <class Native>
[[gnu::noinline]] static void request_{name}({declaration}) {{
{datatype_arrays(c)}  const Call call = {c.call()};
  MPI_Request made = MPI_REQUEST_NULL;
  const auto code = {call};
  if (!fortran::finish(code, ierror)) return Native::call({arguments});
  if (*code == MPI_SUCCESS) *request = fortran::request(made);
}}
"""
    body = f"""{{
  using Native = Next<"NAME", decltype(NAME)>;
  if (!is_candidate(Collective::{c.enumerator})) return Native::call({arguments});
  request_{name}<Native>({arguments});
}}
"""
    return spelled(name, declaration, body, shared, c.arguments != "comm")


def fortran_entry(c: Collective) -> str:
    declaration = fortran_declaration(c)
    arrays = datatype_arrays(c)
    body = f"""{{
  using Native = Next<"NAME", decltype(NAME)>;
  if (is_candidate(Collective::{c.enumerator}))
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
    short = f"""  if (info && ({ran_the_short_way(c, "call")})) {{
    fortran::finish(MPI_SUCCESS, ierror);
    return;
  }}
"""
    run += f"""  if (is_watched()) {{
{watched}    return;
  }}
  const CallInfo info = info_of(call);
{"" if c.among_neighbours else short}  CallScope scope;
  if (!info || !fortran::finish(dispatch(call, info, scope), ierror))
    Native::call({c.arguments}, ierror);
}}
"""
    blocking = spelled(c.enumerator, f"{declaration}, int* ierror", body, run, c.arguments != "comm")
    persistent = "make_persistent(call, fortran::info(info), &made)"
    return (
        blocking
        + request_entry(c, f"i{c.enumerator}", "start(call, &made)", "")
        + request_entry(c, f"{c.enumerator}_init", persistent, ", const int* info")
    )


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
