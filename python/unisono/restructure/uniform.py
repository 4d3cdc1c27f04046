"""Which conditions are the same on all ranks of a communicator.

Making a request is collective: a rank that does not come along leaves the others waiting. So all that decides
whether, how often and in which order a collective is called must be equal on all ranks. What is proven here
rests on this: ranks that compute the same from the same get the same."""

from __future__ import annotations

import itertools

from unisono.restructure import arguments, library
from unisono.restructure.effects import Effects, Write, initializer, root, unknown
from unisono.restructure.healed import healed
from unisono.restructure.tree import (
    LOOPS,
    UNCLEAR,
    Decl,
    Node,
    Unit,
    element,
    is_array,
    is_computed,
    is_pointer,
    length,
)

WORLD = "MPI_COMM_WORLD"
LEAVES_LOOP = {"BREAK_STMT", "CONTINUE_STMT", "RETURN_STMT"}


class Assumptions:
    def __init__(self, whole_program: bool = False, same_arguments: bool = False) -> None:
        self.whole_program, self.same_arguments = whole_program, same_arguments


class Communicators:
    """What each communicator of the file can be said to share."""

    def __init__(self, unit: Unit, effects: Effects, assumed: Assumptions) -> None:
        self.unit, self.effects, self.assumed = unit, effects, assumed
        self.all_writes = [w for node in unit.nodes for w in effects.writes(node)]
        self.known: dict[Decl | None, Uniform] = {}
        self.calls: dict[Decl, list[Node]] = {}
        for call in unit.calls():
            if call.callee:
                self.calls.setdefault(call.callee, []).append(call)

    def of(self, argument: Node) -> Uniform:
        """For the communicator that a call names. What it is not proven to be it is not taken for."""
        found = self.resolve(argument)
        decl = found if isinstance(found, Decl) else None
        if decl not in self.known:
            self.known[decl] = Uniform(self, decl)
            self.known[decl].solve()
        return self.known[decl]

    def resolve(self, node: Node, depth: int = 0) -> Decl | str | None:
        """Which communicator an argument is: MPI_COMM_WORLD (or one with its ranks), the variable that holds
        it for the whole run and that is no inter-communicator; None: not known."""
        if self.unit.source(node) == WORLD:
            return WORLD
        decl = node.decl if node.kind == "DECL_REF_EXPR" else None
        if decl is None or depth > 8 or self.effects.object_exposed(decl):
            return None
        writes = [w for w in self.all_writes if w.what == "object" and w.decl is decl]
        writes = [w for w in writes if w.name != "MPI_Comm_free" and not self.of_nothing(w.node)]
        if decl.kind == "PARM_DECL":
            return None if writes else self.handed(decl, depth)
        if len(writes) != 1 or (decl.is_global and not decl.is_static and not self.assumed.whole_program):
            return None
        made = writes[0].node
        function = self.unit.function_of(made)
        if function is None or function.name != "main" or any(n.kind in LOOPS for n in made.ancestors()):
            return None
        short = library.base(made.callee.name) if made.callee else ""
        if short in library.MAKES_COMMUNICATOR:
            parent = self.resolve(made.arguments[0], depth + 1)
            return parent if short.startswith("Comm_dup") or parent is None else decl
        value = made.children[1] if made.operator == "=" else initializer(made)
        return self.resolve(value, depth + 1) if value else None

    def of_nothing(self, node: Node) -> bool:
        """`MPI_Comm comm = MPI_COMM_NULL;`"""
        first = initializer(node)
        return first is not None and self.unit.source(first) == "MPI_COMM_NULL"

    def handed(self, parameter: Decl, depth: int) -> Decl | str | None:
        """What all callers of a function give it."""
        function = next((f for f in self.unit.functions if parameter in f.parameters), None)
        if function is None or self.reachable_from_elsewhere(function):
            return None
        index = function.parameters.index(parameter)
        calls = [call for call in self.calls.get(function, []) if index < len(call.arguments)]
        found = {self.resolve(call.arguments[index], depth + 1) for call in calls}
        return found.pop() if len(found) == 1 else None

    def reachable_from_elsewhere(self, function: Decl) -> str | None:
        if function.name == "main":
            return None
        if function in self.effects.addressed:
            return f"the address of {function.name}() is taken: who calls it is not known"
        if not (function.is_static or self.assumed.whole_program):
            return (
                f"{function.name}() is not static: another file may call it on some ranks only "
                "(make it static, or say --assume whole-program)"
            )
        return None


class Uniform:
    """What is equal on all ranks of one communicator; None: of MPI_COMM_WORLD."""

    def __init__(self, communicators: Communicators, communicator: Decl | None) -> None:
        self.all, self.communicator = communicators, communicator
        self.unit, self.effects = communicators.unit, communicators.effects
        self.assumed = communicators.assumed
        self.bad: dict[Decl, dict[Node, str]] = {}  # writes that may differ
        self.bad_parameters: dict[Decl, str] = {}
        self.returning: set[Decl] = set()
        self.entering: set[Decl] = set()
        self.paths: dict[Node, str | None] = {}  # of what was asked since the last change
        self.leaving: dict[Node, list[Node]] = {}
        self.jumping: dict[Decl, Node | None] = {}
        self.writes: dict[Decl, list[Write]] = {}
        for write in communicators.all_writes:
            if write.what == "object" and write.decl is not None and not write.inner:
                self.writes.setdefault(write.decl, []).append(write)

    def solve(self) -> None:
        """All is equal until it is shown that it may not be."""
        changed = True
        while changed:
            self.paths.clear()
            changed = self.more_parameters()
            for decl, writes in self.writes.items():
                for write in writes:
                    known = self.bad.setdefault(decl, {})
                    if write.node not in known and (reason := self.write_differs(write)):
                        known[write.node] = reason
                        changed = True

    def more_parameters(self) -> bool:
        changed = False
        for function in self.unit.functions:
            for parameter in function.parameters:
                reason = self.parameter_differs(function, parameter)
                if reason and parameter not in self.bad_parameters:
                    self.bad_parameters[parameter] = reason
                    changed = True
        return changed

    def write_differs(self, write: Write) -> str | None:
        node = write.node
        if reason := self.path(node):
            return reason
        if node.kind == "VAR_DECL":
            first = initializer(node)
            return self.expression(first) if first else None
        if "ASM" in node.kind:
            return f"assembler at line {node.line}"
        if node.kind == "CALL_EXPR":
            name = node.callee.name if node.callee else ""
            given = self.assumed.same_arguments and name in {"MPI_Init", "MPI_Init_thread"}
            return None if given or self.same_result(write) else f"line {node.line}"
        value = None if node.operator in {"++", "--"} else self.expression(node.children[1])
        return value or self.place(node.children[0])

    def place(self, node: Node) -> str | None:
        """Why it may be another part of a variable on another rank."""
        if node.kind == "DECL_REF_EXPR":
            return None
        if node.kind == "ARRAY_SUBSCRIPT_EXPR":
            return self.expression(node.children[1]) or self.place(node.children[0])
        if node.kind == "BINARY_OPERATOR" and node.operator in {"+", "-"}:
            reaching = [is_pointer(c.type) or is_array(c.type) for c in node.children]
            parts = zip(node.children, reaching, strict=True)
            found = (self.place(part) if reaches else self.expression(part) for part, reaches in parts)
            return next((reason for reason in found if reason), None)
        within = node.kind in {"MEMBER_REF_EXPR", "CSTYLE_CAST_EXPR"} or (
            node.kind == "UNARY_OPERATOR" and node.operator in {"&", "*"}
        )
        return self.place(node.children[-1]) if within and node.children else f"a place at line {node.line}"

    def same_result(self, write: Write) -> bool:
        """A function that gives the same to all, on this communicator or on one with more ranks. What says
        where, and how much of it, is the same, too."""
        call, callee = write.node, write.node.callee
        short = library.base(callee.name) if callee else ""
        if short not in library.SAME_RESULT or len(call.arguments) <= library.SAME_RESULT[short]:
            return False
        given = call.arguments[library.SAME_RESULT[short]]
        if root(given)[1] is not write.decl or self.place(given):
            return False
        if any(self.expression(call.arguments[n]) for n in library.SAME_IF[short]):
            return False
        if short == "Dims_create":
            return True
        over = self.all.resolve(call.arguments[0 if short == "Comm_size" else -1])
        return over == WORLD or (over is not None and over is self.communicator)

    def parameter_differs(self, function: Decl, parameter: Decl) -> str | None:
        if function.name == "main":
            return None if self.assumed.same_arguments else "of main, which may differ between ranks"
        if reason := self.all.reachable_from_elsewhere(function):
            return reason
        index = function.parameters.index(parameter)
        for call in self.all.calls.get(function, []):
            if index < len(call.arguments) and (reason := self.expression(call.arguments[index])):
                return reason
        return None

    # --- expressions

    def expression(self, node: Node) -> str | None:
        """Why its value may differ."""
        if node.operator in {"==", "!="} and self.is_null_test(node):
            return None
        if self.is_address(node):
            return f"an address at line {node.line}"
        if node.kind == "DECL_REF_EXPR" and node.decl is not None:
            return self.variable(node.decl, node)
        if node.kind == "CALL_EXPR":
            return self.call(node)
        if node.kind == "UNARY_OPERATOR" and node.operator == "&":
            decl = node.children[0].decl  # of a header's: one of MPI's handles
            return None if decl and not decl.in_file else f"an address at line {node.line}"
        if (node.kind == "ARRAY_SUBSCRIPT_EXPR" and not is_array(node.children[0].type)) or (
            node.kind == "UNARY_OPERATOR" and node.operator == "*"
        ):
            return self.argument_of_main(node)
        if node.kind == "MEMBER_REF_EXPR" and node.children and is_pointer(node.children[0].type):
            return self.behind(node)
        if node.kind == "CXX_UNARY_EXPR":  # sizeof
            computed = any(is_computed(part.type) for part in node.walk()) or "[" in self.unit.source(node)
            return f"a size at line {node.line}" if computed else None
        if node.kind == "StmtExpr":
            return f"a statement in an expression at line {node.line}"
        return next((reason for child in node.children if (reason := self.expression(child))), None)

    def is_null_test(self, node: Node) -> bool:
        texts = [self.unit.source(child) for child in node.children]
        found = [self.all.resolve(child) for child in node.children]
        return "MPI_COMM_NULL" in texts and self.communicator is not None and self.communicator in found

    @staticmethod
    def is_address(node: Node) -> bool:
        """An array or function that stands for its address: each process has its own."""
        if node.decl is not None and node.decl.kind == "FUNCTION_DECL" and node.kind == "DECL_REF_EXPR":
            return True
        if (
            node.kind == "CSTYLE_CAST_EXPR"
            and is_pointer(node.children[-1].type)
            and not is_pointer(node.type)
        ):
            return True  # as a number
        if not is_array(node.type) or node.parent is None or node.kind == "INIT_LIST_EXPR":
            return False
        if node.kind == "STRING_LITERAL":
            return node.parent.kind not in {"VAR_DECL", "INIT_LIST_EXPR", "CALL_EXPR"}
        parents = {"ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR", "CALL_EXPR"}
        return node.parent.kind not in parents

    def behind(self, node: Node) -> str:
        return f"{self.unit.source(node)}, which is in memory"

    def argument_of_main(self, node: Node) -> str | None:
        """argv[1], where all ranks are said to have the same."""
        if node.kind == "ARRAY_SUBSCRIPT_EXPR" and self.assumed.same_arguments:
            name, index = node.children
            main = next((f for f in self.unit.functions if f.name == "main"), None)
            if main and name.decl in main.parameters:
                changed = self.variable(name.decl, name) or arguments.changed(self.effects, name.decl)
                return changed or self.expression(index)
        return self.behind(node)

    def variable(self, decl: Decl, use: Node) -> str | None:
        if not decl.is_variable:
            return None
        if decl.type.is_volatile_qualified():
            return f"{decl.name}, which is volatile"
        if decl in self.bad_parameters:
            return f"{decl.name} ({self.bad_parameters[decl]})"
        if decl.is_global and not decl.is_static and not self.assumed.whole_program:
            return f"{decl.name}, which other files may set"
        if not decl.in_file:
            return f"{decl.name}, which is not of this file"
        if exposed := self.effects.object_exposed(decl) or self.effects.object_kept(decl):
            return f"{decl.name}, whose address goes elsewhere at line {exposed.node.line}"
        bad = self.bad.get(decl)
        if not bad or self.is_healed(decl, bad, use):
            return None
        node, reason = next(iter(bad.items()))
        return f"{decl.name}, set at line {node.line}" + ("" if reason.startswith("line") else f" ({reason})")

    def is_healed(self, decl: Decl, bad: dict[Node, str], use: Node) -> bool:
        """Whether a collective has given it the same value everywhere since."""
        function = self.unit.function_of(use)
        if function is None or function.body is None or decl.is_global or decl.is_static:
            return False
        heals = [w.node for w in self.writes[decl] if w.node not in bad and self.whole(w, decl)]
        return healed(use, bad, heals, function.body)

    def whole(self, write: Write, decl: Decl) -> bool:
        """Whether the call gives all of the variable another value, and not a part of it."""
        call = write.node
        name = library.base(call.callee.name) if call.callee else ""
        if name not in {"Comm_size", "Bcast", "Allreduce"}:
            return False
        given = call.arguments[library.SAME_RESULT[name]]
        while given.kind == "CSTYLE_CAST_EXPR":
            given = given.children[-1]
        if given.operator == "&" and not is_array(decl.type):
            given = given.children[0]
        if given.kind != "DECL_REF_EXPR" or given.decl is not decl:
            return False
        if name == "Comm_size":
            return element(decl.type) == "int" and not is_array(decl.type)
        number = 1 if name == "Bcast" else 2
        types = library.TYPES.get(self.unit.source(call.arguments[number + 1]))
        return (call.arguments[number].value or 0) >= length(decl.type) and types == element(decl.type)

    def call(self, node: Node) -> str | None:
        callee = node.callee
        if callee is not None and callee.body:
            return self.returned(callee)
        if callee is not None and callee.name in library.PURE | library.PARSES:
            return next((r for a in node.arguments if (r := self.expression(a))), None)
        name = callee.name if callee else "a function through a pointer"
        return f"the result of {name}() at line {node.line}"

    def returned(self, function: Decl) -> str | None:
        if function in self.returning or not function.body:
            return f"the result of {function.name}(), which is recursive"
        if jump := self.jumps(function):
            return jump
        self.returning.add(function)
        try:
            for node in function.body.walk():
                if node.kind == "RETURN_STMT":
                    for child in node.children:
                        if reason := self.expression(child):
                            return reason
                    if reason := self.conditions(node):
                        return reason
        finally:
            self.returning.discard(function)
        return None

    # --- control

    def path(self, node: Node) -> str | None:
        """Why some ranks may come to a statement more often than others."""
        if self.entering or self.returning or node.parent is None:
            return self.new_path(node)  # a part of another question
        if node not in self.paths:
            self.paths[node] = self.new_path(node)
        return self.paths[node]

    def new_path(self, node: Node) -> str | None:
        if reason := self.conditions(node):
            return reason
        function = self.unit.function_of(node)
        if function is None:
            return None
        return self.jumps(function) or self.left_before(node, function) or self.entry(function)

    def jumps(self, function: Decl) -> str | None:
        """Where paths are not followed."""
        assert function.body is not None
        if function not in self.jumping:
            found = (n for n in function.body.walk() if n.kind in {"GOTO_STMT", "INDIRECT_GOTO_STMT"})
            self.jumping[function] = next(found, None)
        goto = self.jumping[function]
        return f"depends on a goto in {function.name}(), line {goto.line}" if goto else None

    def conditions(self, node: Node) -> str | None:
        """Of what stands around it in its function; of loops and switches also what leaves them."""
        chain = [node, *node.ancestors()]
        for child, parent in reversed(list(itertools.pairwise(chain))):  # the outermost says most
            if reason := self.branch(parent, child):
                return reason
            if parent.kind in LOOPS | {"SWITCH_STMT"} and (reason := self.left(parent)):
                return reason
        return None

    def branch(self, parent: Node, child: Node) -> str | None:
        decides: list[Node] = []
        chooses = parent.kind in {"IF_STMT", "SWITCH_STMT", "CONDITIONAL_OPERATOR"}
        # `a ?: b` has no kind of its own in libclang.
        if chooses or parent.operator in {"&&", "||"} or unknown(parent):
            decides = parent.children[:1] if parent.children[0] is not child else []
        elif parent.kind in LOOPS and child.role == UNCLEAR:
            decides = parent.children[:-1]
        elif parent.kind in LOOPS and child.role != "init":
            decides = [part for part in parent.children if part.role == "condition"]
        reason = next((reason for part in decides if (reason := self.expression(part))), None)
        return f"depends on {reason}" if reason and not reason.startswith("depends") else reason

    def left(self, loop: Node) -> str | None:
        found = (self.until(node, loop) for node in self.leaves(loop))
        return next((reason for reason in found if reason), None)

    def leaves(self, tree: Node) -> list[Node]:
        if tree not in self.leaving:
            self.leaving[tree] = [node for node in tree.walk() if node.kind in LEAVES_LOOP]
        return self.leaving[tree]

    def until(self, node: Node, end: Node) -> str | None:
        child = node
        for parent in node.ancestors():
            if parent is end:
                return None
            if reason := self.branch(parent, child):
                return reason
            child = parent
        return None

    def left_before(self, node: Node, function: Decl) -> str | None:
        """Returns that stand before it. In main one without MPI_Finalize is an error that ends the job."""
        body = function.body
        assert body is not None
        for other in self.leaves(body):
            if other.kind != "RETURN_STMT" or other.start > node.start:
                continue
            if function.name == "main" and not finalized(other):
                continue
            if reason := self.until(other, body):
                return f"{reason}, as the return at line {other.line} does"
        return None

    def entry(self, function: Decl) -> str | None:
        """Whether all ranks come into the function alike."""
        if function.name == "main":
            return None
        if reason := self.all.reachable_from_elsewhere(function):
            return reason
        if function in self.entering:
            return f"{function.name}() is recursive"
        self.entering.add(function)
        try:
            for call in self.all.calls.get(function, []):
                if reason := self.path(call):
                    return f"{reason} (where line {call.line} calls {function.name}())"
        finally:
            self.entering.discard(function)
        return None


def finalized(node: Node) -> bool:
    """A call of MPI_Finalize in the same block, or of what may call it."""
    block = node.parent
    if block is None or block.parent is None:
        return True
    calls = [part.callee for part in block.walk() if part.kind == "CALL_EXPR"]
    return any(
        c is None or c.name == "MPI_Finalize" or not (c.name in library.QUIET or library.is_mpi(c.name))
        for c in calls
    )
