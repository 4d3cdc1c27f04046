"""The collectives in the loops of a file, and what keeps one from being looked at at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from unisono.restructure import library
from unisono.restructure.tree import LOOPS, Decl, Node, Unit

STATEMENTS = {"COMPOUND_STMT", "IF_STMT", "CASE_STMT", "DEFAULT_STMT", "LABEL_STMT", *LOOPS}
LABELS = {"CASE_STMT", "DEFAULT_STMT"}
ENDS = {"BREAK_STMT", "RETURN_STMT", "CONTINUE_STMT"}
WORDS = {"FOR_STMT": "for", "WHILE_STMT": "while", "DO_STMT": "do"}
DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w+)[^\n]*", re.MULTILINE)
CLEANUP = re.compile(rb"__attribute__\s*\(\([^;{]*?\b_*cleanup_*\s*\(")
TASK = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+omp\b[^\n]*\b(task|taskloop|target)\b", re.MULTILINE)


@dataclass(eq=False)
class Candidate:
    call: Node
    name: str
    function: Decl
    loops: list[Node] = field(default_factory=list)  # the innermost first

    @property
    def statement(self) -> Node:
        """The call, with a cast to void around it."""
        parent = self.call.parent
        assert parent is not None
        return parent if parent.kind == "CSTYLE_CAST_EXPR" else self.call


def candidates(unit: Unit) -> Iterator[Candidate]:
    for call in unit.calls():
        callee, function = call.callee, unit.function_of(call)
        if callee and function and library.collective(callee.name) and not callee.body:
            loops = [node for node in call.ancestors() if node.kind in LOOPS]
            yield Candidate(call, callee.name, function, loops)


def called_in_loop(unit: Unit, function: Decl, seen: frozenset[Decl] = frozenset()) -> Node | None:
    """A call of the function that a loop repeats, directly or by a function between."""
    for call in unit.calls():
        if call.callee is function and function not in seen:
            if any(node.kind in LOOPS for node in call.ancestors()):
                return call
            caller = unit.function_of(call)
            if caller and (found := called_in_loop(unit, caller, seen | {function})):
                return found
    return None


def recursive(unit: Unit, function: Decl) -> bool:
    seen: set[Decl] = set()
    open_ = [function]
    while open_:
        body = open_.pop().body
        for node in body.walk() if body else ():
            callee = node.callee
            if callee is function:
                return True
            if callee and callee.body and callee not in seen:
                seen.add(callee)
                open_.append(callee)
    return False


def names_called(tree: Node, seen: frozenset[Decl] = frozenset()) -> Iterator[str]:
    """Of all functions, in functions of the file too; `` through a pointer."""
    for node in tree.walk():
        if node.kind == "CALL_EXPR":
            callee = node.callee
            yield callee.name if callee else ""
            if callee and callee.body and callee not in seen:
                yield from names_called(callee.body, seen | {callee})


def refused_in_form(unit: Unit, found: Candidate) -> str | None:
    """What can be seen without asking what anything is worth."""
    call, name = found.call, found.name
    inside = any(start <= call.start and call.end <= end for start, end in unit.macros)
    if inside or not unit.source(call).startswith(name):
        return "a macro makes the call"
    if not is_statement(found):
        return "its result is used, or it is a part of an expression"
    if library.persistent(name) not in unit.declared:
        return f"this mpi.h does not declare {library.persistent(name)}: that needs MPI 4"
    if unit.behind(call.children[0].end, b"(") is None:
        return "a macro opens its parenthesis"
    for loop in found.loops:
        if not unit.source(loop).startswith(WORDS[loop.kind]):
            return f"a macro makes the loop at line {loop.line}"
    for node in (found.statement, *found.loops):
        if unit.end(node) is None:
            return f"a macro ends the statement at line {node.line}"
    if recursive(unit, found.function):
        return f"{found.function.name}() is recursive"
    return refused_for_jumps(unit, found) or refused_for_threads(unit, found)


def is_statement(found: Candidate) -> bool:
    statement = found.statement
    parent = statement.parent
    if parent is None or parent.kind not in STATEMENTS or statement.role in {"init", "condition", "step"}:
        return False
    return not (parent.kind == "IF_STMT" and parent.children[0] is statement)


def refused_for_jumps(unit: Unit, found: Candidate) -> str | None:
    body = found.function.body
    assert body is not None
    if line := included(unit):
        return f"a file is included in the midst of a function, line {line}: it is not looked at"
    if unit.reached:
        return unit.reached
    if CLEANUP.search(unit.bytes):
        return "a variable has a function for its cleanup, which is called where no call stands"
    for node in body.walk():
        if node.kind in {"GOTO_STMT", "INDIRECT_GOTO_STMT"}:
            return f"a goto at line {node.line}: paths through it are not followed"
        if node.kind == "StmtExpr" or "ASM" in node.kind:
            return f"assembler, or a statement in an expression, at line {node.line}"
    names = (call.callee.name for call in unit.calls() if call.callee)
    if jump := next((name for name in names if name in library.JUMPS), None):
        return f"{jump}() is called: a jump may pass by the end of the loop, or by what decides on it"
    child = found.call
    for node in found.call.ancestors():
        if node.kind == "SWITCH_STMT" and (case := falls_through(node, child)):
            return f"the switch at line {node.line} falls through to it at line {case.line}"
        child = node
    return None


def included(unit: Unit) -> int | None:
    for function in unit.functions:
        if function.body:
            for made in DIRECTIVE.finditer(unit.bytes, function.body.start, function.body.end):
                if made[1] == b"include":
                    return line_of(unit, made.start())
    return None


def falls_through(switch: Node, child: Node) -> Node | None:
    """The case that a statement of a switch stands in, where control may come to it from the one before."""
    statements = child.children if child.kind == "COMPOUND_STMT" else []
    if not statements:
        return child
    above: Node | None = None
    for statement in statements:
        if statement.kind in LABELS and above is not None and above.kind not in ENDS:
            return statement
        above = statement
        while above.kind in LABELS | {"LABEL_STMT", "COMPOUND_STMT"} and above.children:
            above = above.children[-1]
    return next((label for label in child.walk() if into_a_statement(label, switch, child)), None)


def into_a_statement(label: Node, switch: Node, block: Node) -> bool:
    """A case that does not stand in the block of its switch itself."""
    if (
        label.kind not in LABELS
        or next(n for n in label.ancestors() if n.kind == "SWITCH_STMT") is not switch
    ):
        return False
    return next((n for n in label.ancestors() if n.kind not in LABELS), None) is not block


def refused_for_threads(unit: Unit, found: Candidate) -> str | None:
    for call in unit.calls():
        if call.callee and call.callee.name in library.THREADS:
            return f"{call.callee.name}() at line {call.line}: something else may run at any time"
    if task := TASK.search(unit.bytes):
        return f"OpenMP may run a task at any time, line {line_of(unit, task.start())}"
    return in_region(unit, found.call, frozenset())


def in_region(unit: Unit, call: Node, seen: frozenset[Decl]) -> str | None:
    """Whether a pragma, above it or above a call of its function, says how it runs."""
    function = unit.function_of(call)
    if function is None or function.body is None or function in seen:
        return None
    if "_Pragma" in unit.source(function.body):
        return f"_Pragma in {function.name}()"
    for made in DIRECTIVE.finditer(unit.bytes, function.body.start, function.body.end):
        following = next_statement(function.body, made.end()) if made[1] == b"pragma" else None
        if following and call.within(following):
            kind = "an OpenMP region" if re.search(rb"pragma\s+omp", made[0]) else "a pragma"
            return f"it stands in {kind}, line {line_of(unit, made.start())}"
    callers = (other for other in unit.calls() if other.callee is function)
    return next((r for other in callers if (r := in_region(unit, other, seen | {function}))), None)


def line_of(unit: Unit, offset: int) -> int:
    return unit.bytes.count(b"\n", 0, offset) + 1


def next_statement(body: Node, offset: int) -> Node | None:
    after = [node for node in body.walk() if node.start >= offset and node.parent is not None]
    return min(after, key=lambda node: (node.start, -node.end), default=None)


def directive_in(unit: Unit, loop: Node) -> int | None:
    """The line of a directive in the loop: what is not compiled here would be another program."""
    for made in DIRECTIVE.finditer(unit.bytes, loop.start, loop.end):
        if made[1] != b"pragma":
            return line_of(unit, made.start())
    return None
