"""What a loop may change. A question is answered with a reason, or with None: it surely does not."""

from __future__ import annotations

from collections.abc import Iterator

from unisono.restructure.effects import Effects, Write, root, target
from unisono.restructure.tree import (
    Decl,
    Node,
    element,
    is_array,
    is_computed,
    is_pointer,
    kind_of,
    may_alias,
    pointee,
)

CONSTANTS = {
    *("INTEGER_LITERAL", "FLOATING_LITERAL", "STRING_LITERAL", "CHARACTER_LITERAL", "TYPE_REF"),
    *("CXX_UNARY_EXPR", "GNU_NULL_EXPR"),
}
PLAIN = {"BINARY_OPERATOR", "UNARY_OPERATOR", "CSTYLE_CAST_EXPR", "CONDITIONAL_OPERATOR"}
MEMORY = {"ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR"}


class Invariance:
    """Of one loop; `moved` are statements that will stand before it."""

    def __init__(self, effects: Effects, loop: Node, whole_program: bool, moved: list[Node]) -> None:
        self.effects, self.loop, self.whole_program = effects, loop, whole_program
        self.writes = [w for w in effects.writes(loop) if not any(w.node.within(m) for m in moved)]

    # --- variables and memory

    def may_alias(self, write: Write, type_: str) -> bool:
        return not self.effects.unit.strict_aliasing or may_alias(write.type, type_)

    def exposed(self, decl: Decl) -> bool:
        foreign = decl.is_global and not decl.is_static and not self.whole_program
        return foreign or self.effects.object_exposed(decl) is not None

    def owned(self, decl: Decl | None) -> bool:
        return decl is not None and self.effects.owner(decl)

    def variable(self, decl: Decl) -> str | None:
        type_ = element(decl.type)
        for write in self.writes:
            if write.what == "object" and write.decl is decl:
                return said(decl.name, write)
        if self.exposed(decl):
            for write in self.writes:
                hits = write.what == "memory" and self.may_alias(write, type_) and not self.owned(write.decl)
                if hits or write.what == "unknown":
                    return said(f"{decl.name}, whose address is known elsewhere,", write, "may be")
        if kept := self.effects.object_kept(decl):
            for write in self.writes:
                if write.what in {"mpi", "unknown"}:  # another file may have the request
                    return said(f"{decl.name}, handed to MPI at line {kept.node.line},", write, "may be")
        return self.called_back(decl)

    def called_back(self, decl: Decl) -> str | None:
        """A function of another file may call those of this one."""
        if not (decl.is_global or decl.is_static):
            return None
        for write in self.writes:
            if write.what == "unknown":
                for function in self.effects.unit.functions:
                    changes = any(w.decl is decl for w in self.effects.summary(function))
                    if changes and not function.is_static and function.name != "main":
                        return said(f"{decl.name}, which {function.name}() changes,", write, "may be")
        return None

    def memory(self, pointer: Decl | None, type_: str, name: str) -> str | None:
        """What is behind a pointer."""
        alone = pointer is not None and self.owned(pointer)
        for write in self.writes:
            if write.what == "memory" and write.decl is pointer and pointer is not None:
                return said(f"what {name} points to", write)
            if alone or (write.what in {"memory", "object"} and not self.may_alias(write, type_)):
                continue
            elsewhere = write.what == "memory" and not self.owned(write.decl)
            object_ = write.what == "object" and write.decl is not None and self.exposed(write.decl)
            if elsewhere or object_ or write.what in {"unknown", "mpi"}:
                return said(f"what {name} points to", write, "may be")
        return None

    # --- expressions

    def value(self, node: Node) -> str | None:
        """Of an expression, which may also not have effects."""
        if reason := self.meant_inside(node):
            return reason
        if node.kind == "CXX_UNARY_EXPR":
            return None if self.constant_size(node) else f"{self.text(node)} is not understood"
        if node.kind in CONSTANTS:
            return None
        if volatile(node.type):
            return f"{self.text(node)} is volatile"
        if node.kind == "DECL_REF_EXPR" and node.decl is not None:
            return self.named(node.decl)
        if node.kind == "UNARY_OPERATOR" and node.operator == "&":
            return self.place(node.children[0])
        if node.kind in MEMORY or (node.kind == "UNARY_OPERATOR" and node.operator == "*"):
            return self.place(node) or (None if is_array(node.type) else self.stored(node))
        if node.kind == "CALL_EXPR":
            return f"{self.text(node)} is called in an argument"
        writes = node.operator in {"++", "--"} or (
            node.operator.endswith("=") and node.operator not in COMPARE
        )
        if writes:
            return f"{self.text(node)} has an effect"
        if node.kind in PLAIN:
            return next((reason for child in node.children if (reason := self.value(child))), None)
        return f"{self.text(node)} is not understood"

    def constant_size(self, node: Node) -> bool:
        """Of sizeof: not of a type with a computed length. Of a type libclang shows its lengths only."""
        if any(is_computed(part.type) for part in node.walk()):
            return False
        text = self.effects.unit.source(node)
        operand = node.end - len(text.removeprefix("sizeof").lstrip(" ("))
        return "[" not in text or any(child.start == operand for child in node.children)

    def named(self, decl: Decl) -> str | None:
        if decl.kind in {"ENUM_CONSTANT_DECL", "FUNCTION_DECL"}:
            return None
        if reason := self.born_inside(decl):
            return reason
        return None if is_array(decl.type) else self.variable(decl)

    def meant_inside(self, node: Node) -> str | None:
        """A type or an enumerator that the loop declares: before it the name is unknown, or another's."""
        for part in node.walk():
            at, name = part.type_at, self.text(part)
            if part.kind == "DECL_REF_EXPR" and part.decl is not None and part.decl.in_file:
                enumerator = part.decl.kind == "ENUM_CONSTANT_DECL"
                sized = any(n.kind == "CXX_UNARY_EXPR" and n.within(node) for n in part.ancestors())
                at, name = part.decl.offset if enumerator or sized else -1, part.decl.name
            if self.loop.start <= at < self.loop.end and not node.start <= at < node.end:
                return f"{name} is declared in the loop: outside it means something else"
        return None

    def born_inside(self, decl: Decl) -> str | None:
        if decl.node is not None and decl.node.within(self.loop):
            first = self.loop.part("init")
            if first is not None and decl.node.within(first):
                return f"{decl.name} is set by the loop at line {self.loop.line}"
            what = "block" if is_array(decl.type) else "value"
            ends = f"its {what} ends with each iteration"
            return f"{decl.name} is declared in the loop at line {decl.line}: {ends}"
        return None

    def place(self, node: Node) -> str | None:
        """The address of an lvalue."""
        if node.kind == "DECL_REF_EXPR" and node.decl is not None:
            return self.born_inside(node.decl)
        if node.kind == "ARRAY_SUBSCRIPT_EXPR":
            base, index = node.children
            return self.value(index) or (self.place(base) if is_array(base.type) else self.value(base))
        if node.kind == "MEMBER_REF_EXPR" and node.children:
            base = node.children[0]
            return self.value(base) if is_pointer(base.type) else self.place(base)
        if node.kind == "UNARY_OPERATOR" and node.operator == "*":
            return self.value(node.children[0])
        return f"{self.text(node)} is not understood"

    def stored(self, node: Node) -> str | None:
        """What is read from an lvalue that is no variable."""
        what, decl = target(node)
        if what == "object" and decl is not None:
            return self.variable(decl)
        return self.memory(decl, element(node.type), self.text(node))

    # --- what a collective is given

    def list_(self, node: Node) -> str | None:
        """Counts, displacements, types: the request may read them until it is freed."""
        what, decl = root(node)
        if what == "object" and decl is not None:
            return self.variable(decl)
        if node.value is not None or (
            node.kind == "CSTYLE_CAST_EXPR" and node.children[-1].value is not None
        ):
            return None  # NULL
        return self.memory(decl, element(pointee(node.type)), self.text(node))

    def freed(self, node: Node) -> str | None:
        _, decl = root(node)
        for write in self.writes:
            if write.frees and (write.decl is decl or not (self.owned(decl) or self.owned(write.decl))):
                return f"{self.text(node)} may be freed in the loop at line {write.node.line}"
        return None

    def text(self, node: Node) -> str:
        return " ".join(self.effects.unit.source(node).split()) or "an argument"


COMPARE = {"==", "!=", "<=", ">="}


def volatile(type_: object) -> bool:
    """Or atomic: something else may write it at any time."""
    name = str(type_.get_canonical().spelling)  # type: ignore[attr-defined]
    return bool(type_.is_volatile_qualified()) or "_Atomic" in name  # type: ignore[attr-defined]


def said(what: str, write: Write, verb: str = "is") -> str:
    by = (
        f" by {write.name}()"
        if write.name and " " not in write.name
        else f" by {write.name}" * bool(write.name)
    )
    return f"{what} {verb} written in the loop at line {write.node.line}{by}"


def traps(node: Node) -> bool:
    """Whether to evaluate it may go wrong where the program would not have come to it."""
    if node.kind == "CXX_UNARY_EXPR":
        return False
    if node.operator in {"/", "%"} and not (
        node.children[1].value or node.children[1].kind == "CXX_UNARY_EXPR"
    ):
        return True
    if node.kind == "UNARY_OPERATOR" and node.operator == "*":
        return True
    if node.kind == "UNARY_OPERATOR" and node.operator == "&":
        return any(traps(child) for part in node.children for child in part.children)  # only an address
    if node.kind == "ARRAY_SUBSCRIPT_EXPR" and not is_array(node.type):
        return True
    if node.kind == "MEMBER_REF_EXPR" and node.children and is_pointer(node.children[0].type):
        return True
    return any(traps(child) for child in node.children)


def calls_of(node: Node) -> Iterator[Node]:
    return (part for part in node.walk() if part.kind == "CALL_EXPR")


def is_buffer(type_: object) -> bool:
    return is_pointer(type_) and kind_of(pointee(type_)) == "VOID"
