"""What statements write: variables, and memory through pointers.

It errs to one side only: what may be written counts as written. Order within a function is not looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from unisono.restructure import library
from unisono.restructure.tree import (
    ARRAYS,
    ASSIGNMENTS,
    POINTERS,
    STEPS,
    Decl,
    Node,
    Unit,
    element,
    is_array,
    is_pointer,
    kind_of,
    pointee,
)


@dataclass(frozen=True)
class Write:
    node: Node  # the statement of the function that is looked at
    what: str  # object: into a variable; memory: through a pointer; unknown, mpi: by what a call may do
    decl: Decl | None = None  # the variable, or the pointer
    type: str = "any"
    frees: bool = False
    name: str = ""  # of the function that does it
    inner: bool = False  # the write itself is in that function, and is counted there


@dataclass(frozen=True)
class Sink:
    """Where an address goes."""

    kind: str  # read, write, free, escape; of MPI, beyond the call: kept (to be written), lent (to be read)
    node: Node


def initializer(node: Node) -> Node | None:
    """Of a declared variable."""
    children = [child for child in node.children if child.kind not in {"TYPE_REF", "PARM_DECL"}]
    if not children or node.kind != "VAR_DECL":
        return None
    last = children[-1]
    return None if is_array(node.type) and last.kind not in {"INIT_LIST_EXPR", "STRING_LITERAL"} else last


def target(node: Node) -> tuple[str, Decl | None]:
    """What an lvalue is part of: a variable, or memory behind a pointer."""
    if node.kind == "DECL_REF_EXPR" and node.decl:
        return "object", node.decl
    if node.kind == "MEMBER_REF_EXPR" and node.children:
        inner = node.children[0]
        return root(inner) if is_pointer(inner.type) else target(inner)
    if node.kind == "ARRAY_SUBSCRIPT_EXPR":
        base = node.children[0]
        return root(base) if is_pointer(base.type) or is_array(base.type) else target(base)  # of a vector
    if node.kind == "UNARY_OPERATOR" and node.operator == "*":
        return root(node.children[0])
    if node.kind == "UNARY_OPERATOR" and node.operator in {"real", "imag", "extension"}:
        return target(node.children[0])
    return "memory", None


def root(node: Node) -> tuple[str, Decl | None]:
    """What a pointer points into: an array by its name, `&x`, or whatever is behind the pointer variable."""
    if is_array(node.type):
        return target(node)
    if node.kind == "DECL_REF_EXPR":
        return "memory", node.decl
    if node.kind == "UNARY_OPERATOR" and node.operator == "&":
        return target(node.children[0])
    if node.kind == "BINARY_OPERATOR" and node.operator in {"+", "-"}:
        inner = next((c for c in node.children if is_pointer(c.type) or is_array(c.type)), None)
        return root(inner) if inner else ("memory", None)
    if node.kind in {"CSTYLE_CAST_EXPR", "UNARY_OPERATOR"} and node.children and node.operator != "*":
        return root(node.children[-1])
    return "memory", None


def whole(node: Node) -> Node:
    """From the name of a variable to the part of it that is meant: `a` of `a[i].x`."""
    while (parent := node.parent) is not None and parent.children[0] is node:
        part = parent.kind == "MEMBER_REF_EXPR" and not is_pointer(node.type)
        if not part and not (parent.kind == "ARRAY_SUBSCRIPT_EXPR" and is_array(node.type)):
            break
        node = parent
    return node


def different(writes: Iterable[Write]) -> list[Write]:
    """One of each kind, wherever it stands."""
    kinds = {(w.what, w.decl, w.type, w.frees, w.name, w.inner): w for w in writes}
    return list(kinds.values())


def is_function(node: Node) -> bool:
    return any("FUNCTION" in kind_of(t) for t in (node.type, pointee(node.type)))


def is_handle(type_: Any) -> bool:
    """MPI_Comm and its like, which are pointers in Open MPI."""
    return str(type_.spelling).startswith("MPI_") and type_.kind.name not in POINTERS | ARRAYS


def to_constant(type_: Any) -> bool:
    """Of the type of a parameter. libclang's element of `const int[]` is `int`: there the name is asked."""
    if type_.kind.name in ARRAYS:
        return str(type_.spelling).startswith("const ") and "*" not in type_.spelling
    what = pointee(type_)
    return bool(what.is_const_qualified() or what.get_canonical().is_const_qualified())


def unknown(node: Node) -> bool:
    """libclang has no kind for it: atomic operations, for one."""
    return node.kind.startswith("UNEXPOSED")


def through_union(node: Node) -> bool:
    return any(part.operator == "union" for part in node.walk() if part.kind == "MEMBER_REF_EXPR")


class Effects:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.uses: dict[Decl, list[Node]] = {}
        self.addressed: set[Decl] = set()  # functions that are named without being called
        for node in unit.walk():
            if node.kind == "DECL_REF_EXPR" and node.decl:
                self.uses.setdefault(node.decl, []).append(node)
                called = node.parent and node.parent.kind == "CALL_EXPR" and node.parent.children[0] is node
                if node.decl.kind == "FUNCTION_DECL" and not called:
                    self.addressed.add(node.decl)
        self.summaries: dict[Decl, list[Write]] = {}
        self.sunk: dict[Decl, list[Sink]] = {}
        self.active: set[Decl] = set()
        self.allocating: set[Decl] = set()
        self.cyclic = False
        self.back: list[Write] | None = None
        if self.addressed:  # first of all: what is known of other functions rests on it
            list(self.callbacks(unit.nodes[0]))

    # --- writes

    def writes(self, tree: Node) -> Iterator[Write]:
        for node in tree.walk():
            if node.operator in ASSIGNMENTS or (node.operator in STEPS and node.kind == "UNARY_OPERATOR"):
                what, decl = target(node.children[0])
                type_ = "any" if through_union(node.children[0]) else element(node.children[0].type)
                yield Write(node, what, decl, type_)
            elif node.kind == "VAR_DECL" and initializer(node):
                yield Write(node, "object", node.decl, element(node.type))
            elif node.kind == "CALL_EXPR":
                yield from self.call(node)
            elif "ASM" in node.kind:
                named = {part.decl for part in node.walk() if part.decl and part.decl.is_variable}
                yield from (Write(node, "object", decl, name="assembler") for decl in named)
                yield Write(node, "unknown", name="what is not understood there")
            elif node.kind == "StmtExpr" or (unknown(node) and len(node.children) > 1):
                yield Write(node, "unknown", name="what is not understood there")

    def call(self, node: Node) -> Iterator[Write]:
        callee = node.callee
        if callee is None:
            yield Write(node, "unknown", name="a function through a pointer")
            yield from self.callbacks(node)
        elif callee.body:
            yield from self.called(node, callee)
        else:
            yield from self.foreign(node, callee)

    def foreign(self, node: Node, callee: Decl) -> Iterator[Write]:
        """A function of MPI, of the C library, or of another file."""
        known = callee.name in library.QUIET or library.is_mpi(callee.name) or callee.in_system
        for number, argument in enumerate(node.arguments):
            if self.written_by(callee, number, node) and (
                is_pointer(argument.type) or is_array(argument.type)
            ):
                what, decl = root(argument)
                # MPI fills what it is given as what the program calls it.
                type_ = element(pointee(argument.type)) if library.is_mpi(callee.name) else "any"
                yield Write(node, what, decl, type_, callee.name in library.FREE, callee.name)
        if library.is_mpi(callee.name):
            if library.completes(callee.name):
                yield Write(node, "mpi", name=callee.name)
            yield from self.callbacks(node)  # operations of the program, error handlers
        elif not known or any(is_function(a) for a in node.arguments):
            yield Write(node, "unknown", name=callee.name)
            yield from self.callbacks(node)

    @staticmethod
    def written_by(callee: Decl, number: int, call: Node) -> bool:
        types = list(callee.type.argument_types()) if callee.type.kind.name == "FUNCTIONPROTO" else []
        if number >= len(types):
            return not (
                callee.name in library.READS and library.only_reads(call.arguments[len(types) - 1].text)
            )
        type_ = types[number]
        if is_handle(type_) or not (is_pointer(type_) or is_array(type_)):
            return False
        return not to_constant(type_)

    def callbacks(self, node: Node) -> Iterator[Write]:
        """What functions do whose address is taken: any that the file does not show may call them."""
        if self.back is None:
            self.back = []  # while they are looked at, they are not called back
            calls = (self.called(node, function, direct=False) for function in self.addressed)
            self.back = different(write for writes in calls for write in writes)
            self.summaries.clear()
        return (replace(write, node=node) for write in self.back)

    def called(self, node: Node, callee: Decl, direct: bool = True) -> Iterator[Write]:
        """What a function of the file does to what its caller can see."""
        for write in self.summary(callee):
            decl = write.decl
            moved = replace(write, node=node, name=write.name or callee.name)
            if decl in callee.parameters:
                index = callee.parameters.index(decl)
                same = direct and index < len(node.arguments) and not self.assigned(decl)
                what, decl = root(node.arguments[index]) if same else ("memory", None)
                yield replace(moved, what=what, decl=decl, inner=False)
            elif write.what == "memory" and decl is not None and not decl.is_global:
                yield replace(moved, decl=None)
            else:
                yield replace(moved, inner=moved.what == "object")

    def summary(self, callee: Decl) -> list[Write]:
        if callee in self.active or not callee.body:
            self.cyclic |= callee in self.active
            return []  # recursion: the writes of the outer call are all there are
        if callee not in self.summaries:
            self.active.add(callee)
            body = callee.body
            found = different(w for w in self.writes(body) if not self.dies(w, callee))
            self.active.discard(callee)
            if self.cyclic and self.active:
                return found  # perhaps of a part of a cycle
            self.cyclic = False
            self.summaries[callee] = found
        return self.summaries[callee]

    def dies(self, write: Write, callee: Decl) -> bool:
        """A variable of the function itself, or memory that it alone has."""
        decl = write.decl
        if decl is None or decl.is_global or decl.is_static:
            return False
        if write.what == "object":
            return decl.body is None
        return write.what == "memory" and decl not in callee.parameters and self.owner(decl)

    def assigned(self, decl: Decl) -> bool:
        """Anywhere, its declaration apart; or its own address is taken, by which it may be."""
        return any(
            use.parent is not None
            and use.parent.children[0] is use
            and use.parent.operator in ASSIGNMENTS | STEPS | {"&"}
            for use in self.uses.get(decl, [])
        )

    # --- addresses

    def sinks(self, decl: Decl) -> list[Sink]:
        """Where the address of a variable goes, or of an array; and of a pointer, its value."""
        if decl not in self.sunk:
            self.sunk[decl] = [Sink("escape", use) for use in self.uses.get(decl, [])[:1]]  # to itself
            self.sunk[decl] = [sink for use in self.uses.get(decl, []) for sink in self.sink_of(use, decl)]
        return self.sunk[decl]

    def sink_of(self, use: Node, decl: Decl) -> Iterator[Sink]:
        yield from self.place_goes(use)
        if is_pointer(use.type):
            yield from self.goes(use)

    def place_goes(self, node: Node) -> Iterator[Sink]:
        """Of an object: where its address goes, or that of a part of it. A value that is read is none."""
        node = whole(node)
        parent = node.parent
        if parent and parent.kind == "UNARY_OPERATOR" and parent.operator == "&":
            yield from self.goes(parent)
        elif is_array(node.type):
            yield from self.goes(node)
        elif parent and "GENERIC" in parent.kind:
            yield Sink("escape", node)  # it may be what that stands for

    def goes(self, node: Node) -> Iterator[Sink]:
        """Of an address that is a value."""
        parent = node.parent
        if parent is None:
            return
        kind, operator = parent.kind, parent.operator
        first = parent.children[0] is node
        if kind == "CALL_EXPR":
            if not first:
                yield from self.handed(parent, parent.children.index(node) - 1)
        elif kind == "MEMBER_REF_EXPR" or (kind == "ARRAY_SUBSCRIPT_EXPR" and first) or operator == "*":
            yield from self.place_goes(parent)
        elif kind == "CSTYLE_CAST_EXPR" or (is_pointer(parent.type) and operator in {"+", "-", "++", "--"}):
            yield from self.goes(parent)
        elif not self.forgotten(node, parent):
            yield Sink("escape", node)

    @staticmethod
    def forgotten(node: Node, parent: Node) -> bool:
        """What is done with an address here keeps nothing of it."""
        first = parent.children[0] is node
        if parent.operator in ASSIGNMENTS:
            return first or (parent.children[0].decl is not None and parent.children[0].decl is node.decl)
        return (
            (parent.kind.endswith("_STMT") and parent.kind not in {"RETURN_STMT", "DECL_STMT"})
            or parent.kind == "CXX_UNARY_EXPR"
            or parent.operator in {"==", "!=", "<", ">", "<=", ">=", "&&", "||", "!", "-"}
            or (parent.kind == "UNARY_OPERATOR" and parent.operator == "&")
            or (parent.kind == "CONDITIONAL_OPERATOR" and first)
        )

    def handed(self, call: Node, number: int) -> Iterator[Sink]:
        callee = call.callee
        used = call.parent is not None and not call.parent.kind.endswith("_STMT")
        if callee is None:
            yield Sink("escape", call)
        elif callee.body:
            if number >= len(callee.parameters) or callee in self.addressed:
                yield Sink("escape", call)
            else:
                yield from (Sink(s.kind, call) for s in self.sinks(callee.parameters[number]))
        elif library.is_mpi(callee.name):
            written = self.written_by(callee, number, call)
            if library.gives_back(callee.name):
                yield Sink("escape", call)
            if library.keeps_address(callee.name):
                yield Sink("kept" if written else "lent", call)
            else:
                yield Sink("write" if written else "read", call)
        elif callee.name in library.FREE:
            yield Sink("free", call)
        elif callee.name in library.QUIET and not (callee.name in library.RETURNS_ARGUMENT and used):
            yield Sink("write" if self.written_by(callee, number, call) else "read", call)
        else:
            reads = not callee.in_system and not self.written_by(callee, number, call)
            yield Sink("read" if reads else "escape", call)

    def exposed(self, decl: Decl) -> Sink | None:
        """Where its address went out of sight."""
        return next((sink for sink in self.sinks(decl) if sink.kind == "escape"), None)

    def kept(self, decl: Decl) -> Sink | None:
        return next((sink for sink in self.sinks(decl) if sink.kind == "kept"), None)

    def object_sinks(self, decl: Decl) -> Iterator[Sink]:
        """The same of the variable itself: the value of a pointer may go where it likes."""
        return (sink for use in self.uses.get(decl, []) for sink in self.place_goes(use))

    def object_exposed(self, decl: Decl) -> Sink | None:
        return next((sink for sink in self.object_sinks(decl) if sink.kind == "escape"), None)

    def object_kept(self, decl: Decl) -> Sink | None:
        return next((sink for sink in self.object_sinks(decl) if sink.kind == "kept"), None)

    def owner(self, decl: Decl) -> bool:
        """A pointer to memory of its own: all it is given is fresh, and nothing of it is given away."""
        if decl.kind == "PARM_DECL":
            fresh = decl.type.is_restrict_qualified() and not self.assigned(decl)
        else:
            visible = not decl.is_global or decl.is_static
            fresh = (
                visible and all(self.fresh(v) for v in self.values(decl)) and not self.object_exposed(decl)
            )
        return fresh and not self.exposed(decl) and not self.kept(decl)

    def values(self, decl: Decl) -> Iterator[Node | None]:
        """What a pointer is set to; None for what is not an assignment."""
        if decl.node is not None and (first := initializer(decl.node)) is not None:
            yield first
        for use in self.uses.get(decl, []):
            parent = use.parent
            if parent is not None and parent.operator in ASSIGNMENTS | STEPS and parent.children[0] is use:
                yield parent.children[1] if parent.operator == "=" else None
            elif parent is not None and parent.operator == "&" and parent.kind == "UNARY_OPERATOR":
                call = next((n for n in parent.ancestors() if n.kind == "CALL_EXPR"), None)
                callee = call.callee if call else None
                if not (callee and callee.name in library.ALLOCATE_INTO):
                    yield None

    def fresh(self, node: Node | None) -> bool:
        """Of malloc, or NULL, or of a function of the file that gives back nothing else."""
        while node is not None and node.kind == "CSTYLE_CAST_EXPR" and node.children:
            node = node.children[-1]
        callee = node.callee if node else None
        if node is None or callee is None:
            return node is not None and node.value == 0
        return callee.name in library.ALLOCATE or self.allocates(callee)

    def allocates(self, function: Decl) -> bool:
        if not function.body or function in self.allocating:
            return False
        self.allocating.add(function)
        try:
            returned = [r.children[0] for r in function.body.walk() if r.kind == "RETURN_STMT" and r.children]
            return bool(returned) and all(self.fresh(r) or self.made_here(r.decl) for r in returned)
        finally:
            self.allocating.discard(function)

    def made_here(self, decl: Decl | None) -> bool:
        """A variable that holds what malloc gave, and goes nowhere but to the caller."""
        if decl is None or decl.kind != "VAR_DECL" or decl.is_global or decl.is_static:
            return False
        sinks = [sink for sink in self.sinks(decl) if sink.kind in {"escape", "kept"}]
        back = all(s.node.parent is not None and s.node.parent.kind == "RETURN_STMT" for s in sinks)
        return back and all(self.fresh(value) for value in self.values(decl))
