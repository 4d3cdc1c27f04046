"""`if (rank == 0) n = ...; MPI_Bcast(&n, ...)`: behind the MPI_Bcast n is the same everywhere.

Order is that of the text, within one function: of a block whose statements come one after the other."""

from __future__ import annotations

from collections.abc import Collection

from unisono.restructure.tree import LOOPS, Node


def healed(use: Node, bad: Collection[Node], heals: Collection[Node], body: Node) -> bool:
    """Whether each way to the use leads through one of the calls `heals`, without one of the writes `bad`
    behind it. All are of a variable of this function, of which `body` is the whole."""
    if any(node.kind in {"GOTO_STMT", "INDIRECT_GOTO_STMT", "LABEL_STMT"} for node in body.walk()):
        return False
    if not all(node.within(body) for node in bad):
        return False
    return any(before(use, bad, heal) or ends_iteration(use, bad, heal) for heal in heals)


def block_of(heal: Node) -> Node | None:
    """The block that it is a statement of: not one that a switch jumps into."""
    parent = heal.parent
    if parent is not None and parent.kind == "CSTYLE_CAST_EXPR":
        parent = parent.parent
    if parent is None or parent.kind != "COMPOUND_STMT":
        return None
    for node in parent.walk():
        if node.kind in {"CASE_STMT", "DEFAULT_STMT"}:
            switch = next(n for n in node.ancestors() if n.kind == "SWITCH_STMT")
            if parent.within(switch):
                return None
    return parent


def before(use: Node, bad: Collection[Node], heal: Node) -> bool:
    """The use stands behind it in the same block; nothing between, or around the use, spoils it."""
    block = block_of(heal)
    if block is None or not use.within(block) or use.start < heal.end:
        return False
    statement = next(child for child in block.children if use.within(child))
    return not any(heal.end <= node.start < statement.end for node in bad)


def ends_iteration(use: Node, bad: Collection[Node], heal: Node) -> bool:
    """`while (!done) { ...; MPI_Bcast(&done, ...); }`: the use is the loop's condition. What is spoilt in the
    loop's body is healed at its end, and no `continue` passes by."""
    block = block_of(heal)
    loop = block.parent if block else None
    if block is None or loop is None or loop.kind not in LOOPS or block.role != "body":
        return False
    condition = loop.part("condition")
    if condition is None or not use.within(condition):
        return False
    if any(node.kind == "CONTINUE_STMT" for node in block.walk()):
        return False
    return all(node.within(block) and node.start < heal.start for node in bad)
