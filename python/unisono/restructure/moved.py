"""Statements that compute counts and displacements anew in each iteration, and always the same: they can
stand before the loop.

`counts[p] = block` and `displs[p] = displs[p - 1] + counts[p - 1]`, in loops over p and by themselves.
Anything else is refused; what is moved must not depend on what it has written in the iteration before."""

from __future__ import annotations

from unisono.restructure.effects import Effects, initializer, root, target
from unisono.restructure.invariant import Invariance, is_buffer
from unisono.restructure.tree import ASSIGNMENTS, STEPS, Decl, Node, element, is_array, is_pointer, pointee

FORMS = {
    *("FOR_STMT", "COMPOUND_STMT", "DECL_STMT", "VAR_DECL", "BINARY_OPERATOR", "UNARY_OPERATOR"),
    *("COMPOUND_ASSIGNMENT_OPERATOR", "DECL_REF_EXPR", "INTEGER_LITERAL", "ARRAY_SUBSCRIPT_EXPR"),
    *("CSTYLE_CAST_EXPR", "TYPE_REF", "CXX_UNARY_EXPR"),
}


class Mover:
    def __init__(self, effects: Effects, loop: Node, whole_program: bool) -> None:
        self.effects, self.loop, self.whole_program = effects, loop, whole_program

    def for_call(self, call: Node, before: Node) -> list[Node]:
        """The statements of the loop's body, ahead of the call, that set what its arguments name. What is in
        a buffer may be new each time."""
        body, callee = self.loop.part("body"), call.callee
        if body is None or body.kind != "COMPOUND_STMT" or callee is None:
            return []
        values: set[Decl] = set()
        lists: set[Decl] = set()
        for argument, type_ in zip(call.arguments, callee.type.argument_types(), strict=True):
            named = {part.decl for part in argument.walk() if part.decl}
            values |= {decl for decl in named if not is_array(decl.type)}
            lists |= named if not is_buffer(type_) else set()
        chosen: list[Node] = []
        for statement in reversed([s for s in body.children if s.end <= before.start]):
            if self.sets(statement, values, lists) and all(node.kind in FORMS for node in statement.walk()):
                chosen.insert(0, statement)
                used = {part.decl for part in statement.walk() if part.decl}
                values, lists = values | used, lists | used
        return chosen

    def sets(self, statement: Node, values: set[Decl], lists: set[Decl]) -> bool:
        """One of the variables, or what is in one of the lists."""
        own = self.counters(statement)
        return any(
            w.decl in lists or (w.what == "object" and w.decl in values)
            for w in self.effects.writes(statement)
            if w.decl not in own
        )

    def written(self, statement: Node) -> set[Decl]:
        inner = {n.decl for n in statement.walk() if n.kind == "VAR_DECL"}
        return {
            w.decl for w in self.effects.writes(statement) if w.decl is not None and w.decl not in inner
        } - self.counters(statement)

    def counters(self, statement: Node) -> set[Decl]:
        """Variables that a for sets wherever they are used: their old value is nobody's concern."""
        found = {n.decl for n in statement.walk() if n.kind == "VAR_DECL" and n.decl}
        for node in statement.walk():
            first = node.part("init") if node.kind == "FOR_STMT" else None
            if (
                first
                and first.operator == "="
                and first.children[0].decl
                and self.private(first.children[0].decl)
            ):
                found.add(first.children[0].decl)
        return found

    def private(self, decl: Decl) -> bool:
        if decl.is_global or decl.is_static or self.effects.object_exposed(decl):
            return False
        return all(any(sets(node, decl, use) for node in use.ancestors()) for use in self.effects.uses[decl])

    # --- whether they may go

    def refused(self, moved: list[Node]) -> str | None:
        """Why these statements must stay in the loop."""
        rest = Invariance(self.effects, self.loop, self.whole_program, moved)
        written: set[Decl] = set()
        for statement in moved:
            written |= self.written(statement)
        for statement in moved:
            if reason := self.statement(statement, rest, written, moved):
                return f"line {statement.line} computes it anew, and cannot be moved: {reason}"
        return None

    def statement(
        self, statement: Node, rest: Invariance, written: set[Decl], moved: list[Node]
    ) -> str | None:
        counters = self.counters(statement)
        if self.effects.unit.end(statement) is None:
            return "a macro ends it"
        if reason := rest.meant_inside(statement):
            return reason
        for node in statement.walk():
            if node.kind == "VAR_DECL" and node.parent and node.parent.role != "init":
                return f"{node.decl.name if node.decl else 'a variable'} is declared in the loop"
            decl = node.decl
            if node.kind != "DECL_REF_EXPR" or decl is None or not decl.is_variable or decl in counters:
                continue
            if decl.node is not None and decl.node.within(self.loop):
                return f"{decl.name} is declared in the loop"
            if reason := self.unchanged(decl, rest) or (self.seen(decl) if decl in written else None):
                return reason
            if decl in written and (
                reason := self.read_early(decl, moved) or self.depends(node, decl, moved)
            ):
                return reason
        return None

    @staticmethod
    def unchanged(decl: Decl, rest: Invariance) -> str | None:
        """By all that stays in the loop."""
        reason = rest.variable(decl)
        if reason is None and is_pointer(decl.type) and not is_array(decl.type):
            reason = rest.memory(decl, element(pointee(decl.type)), decl.name)
        return reason

    def seen(self, decl: Decl) -> str | None:
        """What is written may not be read under another name, or in another function, ahead of it."""
        alone = self.effects.owner(decl) if is_pointer(decl.type) else not self.effects.object_exposed(decl)
        if decl.is_global or decl.is_static or not alone:
            return f"{decl.name} may be read elsewhere"
        sinks = [*self.effects.sinks(decl), *self.effects.object_sinks(decl)]
        if lent := next((sink for sink in sinks if sink.kind in {"kept", "lent"}), None):
            return f"{decl.name} is handed to MPI at line {lent.node.line}"
        return None

    def read_early(self, decl: Decl, moved: list[Node]) -> str | None:
        """Ahead of the last statement that sets it another value may be meant: what an iteration before has
        left, or what one of the statements before has set."""
        last = max(m.start for m in moved if decl in self.written(m))
        for use in self.effects.uses[decl]:
            if use.within(self.loop) and use.start < last and not any(use.within(m) for m in moved):
                return f"{decl.name} is used before, at line {use.line}"
        return None

    def depends(self, use: Node, decl: Decl, moved: list[Node]) -> str | None:
        """On what the iteration before has left in it."""
        assigned = self.assignment_to(use)
        if assigned is not None and assigned.operator == "=":
            return None
        sets_ = [
            node
            for m in moved
            for node in m.walk()
            if (node.operator in ASSIGNMENTS | STEPS and target(node.children[0])[1] is decl)
            or (
                node.kind == "UNARY_OPERATOR" and node.operator in STEPS and root(node.children[0])[1] is decl
            )
        ]
        if not is_pointer(decl.type) and not is_array(decl.type):
            first = min(sets_, key=lambda node: node.start)
            reset = first.operator == "=" and first in moved and first.end <= use.start
            return None if reset else f"{decl.name} depends on its last value at line {use.line}"
        if assigned is not None:
            return f"{decl.name} depends on its last value at line {use.line}"
        own = next(m for m in moved if use.within(m))
        here = [node for node in sets_ if node.within(own)]
        if any(node.start > own.end for node in sets_):
            return f"{decl.name} is set again behind line {use.line}"
        if not here or self.follows(use, own, here):
            return None
        return f"{decl.name} depends on its last value at line {use.line}"

    @staticmethod
    def assignment_to(use: Node) -> Node | None:
        """The assignment whose left side this is the name in."""
        node = use
        while (
            node.parent is not None
            and node.parent.kind == "ARRAY_SUBSCRIPT_EXPR"
            and node.parent.children[0] is node
        ):
            node = node.parent
        parent = node.parent
        if parent is not None and parent.operator in ASSIGNMENTS | STEPS and parent.children[0] is node:
            return parent
        return None

    def follows(self, use: Node, own: Node, here: list[Node]) -> bool:
        """`a[p - 1]` where a for over p, from a constant upwards by one, sets a[p], and nothing else of a."""
        read = use.parent
        if len(here) != 1 or own.kind != "FOR_STMT" or read is None or read.kind != "ARRAY_SUBSCRIPT_EXPR":
            return False
        first, step = own.part("init"), own.part("step")
        counter = first.children[0].decl if first and first.children else None
        begin = None
        if first is not None and counter is not None:
            begin = initializer(first.children[0]) if first.kind == "DECL_STMT" else first.children[1]
        index = here[0].children[0].children[-1]
        if (
            here[0].operator != "="
            or begin is None
            or begin.value is None
            or step is None
            or step.operator != "++"
            or step.children[0].decl is not counter
            or index.decl is not counter
            or sum(1 for node in own.walk() if writes_to(node, counter)) > 2
            or any(node is not own and node.kind == "FOR_STMT" for node in own.walk())
        ):
            return False
        at = read.children[1]
        if at.decl is counter:
            return here[0].end <= use.start  # a[p], set just before
        return at.operator == "-" and at.children[0].decl is counter and at.children[1].value == 1


def writes_to(node: Node, decl: Decl | None) -> bool:
    if node.kind == "VAR_DECL":
        return node.decl is decl
    return node.operator in ASSIGNMENTS | STEPS and node.children[0].decl is decl


def sets(node: Node, decl: Decl, use: Node) -> bool:
    """Whether this for begins by setting the variable, the use being in it."""
    first = node.part("init") if node.kind == "FOR_STMT" else None
    if first is None or first.operator != "=" or first.children[0].decl is not decl:
        return False
    return not use.within(first.children[1])
