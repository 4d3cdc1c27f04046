"""`--assume same-arguments`: argv[1] is the same on all ranks, as long as the program leaves it as it is."""

from __future__ import annotations

from unisono.restructure import library
from unisono.restructure.effects import Effects, to_constant
from unisono.restructure.tree import Decl, Node


def changed(effects: Effects, argv: Decl) -> str | None:
    """Whether the program may write what argv points to. (Whether argv itself is set is asked elsewhere.)"""
    for use in effects.uses.get(argv, []):
        parent = use.parent
        element = parent is not None and parent.kind == "ARRAY_SUBSCRIPT_EXPR"
        read = parent is not None and (only_read(parent) if element else given_to_init(parent))
        if not read:
            return f"{argv.name}, whose strings may be changed by way of line {use.line}"
    return None


def given_to_init(address: Node) -> bool:
    callee = address.parent.callee if address.parent and address.operator == "&" else None
    return callee is not None and callee.name in {"MPI_Init", "MPI_Init_thread"}


def only_read(string: Node) -> bool:
    """argv[1] is given to atoi(), or to what takes a `const char *`, or compared."""
    user = string.parent
    if user is None:
        return False
    if user.kind == "CALL_EXPR" and user.callee and string in user.arguments:
        name, number = user.callee.name, user.arguments.index(string)
        gives_end = name.startswith("strto") and user.arguments[-1 if name == "strtod" else 1].value != 0
        gives_back = name not in library.QUIET and user.callee.in_system  # strchr()
        return not (gives_end or gives_back or Effects.written_by(user.callee, number, user))
    if user.kind == "VAR_DECL":
        return to_constant(user.type)
    return user.operator in {"==", "!=", "!", "&&", "||"} or user.kind in {"IF_STMT", "WHILE_STMT"}
