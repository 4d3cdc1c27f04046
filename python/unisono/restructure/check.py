"""Which collectives can become persistent, where their requests are made, and why the others cannot."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from unisono.restructure import find, library
from unisono.restructure.effects import Effects, is_handle
from unisono.restructure.find import Candidate
from unisono.restructure.invariant import CONSTANTS, PLAIN, Invariance, is_buffer, traps
from unisono.restructure.moved import Mover
from unisono.restructure.tree import Decl, Node, Unit, is_array, is_pointer, kind_of
from unisono.restructure.uniform import Assumptions, Communicators, Uniform


@dataclass(eq=False)
class Accepted:
    found: Candidate
    loop: Node
    moved: list[Node] = field(default_factory=list)
    guard: str = ""  # a condition; empty: the loop surely runs
    late: str = ""  # why the request is made at the first execution; empty: before the loop


@dataclass(eq=False)
class Refused:
    found: Candidate
    reason: str


class Checker:
    def __init__(self, unit: Unit, assumed: Assumptions) -> None:
        self.unit, self.assumed = unit, assumed
        self.effects = Effects(unit)
        self.all = list(find.candidates(unit))

    @functools.cached_property
    def communicators(self) -> Communicators:
        return Communicators(self.unit, self.effects, self.assumed)

    def decide(self) -> list[Accepted | Refused]:
        """One decision for each collective that a loop repeats, in the order of the file."""
        made = [self.one(found) for found in self.all]
        return [decision for decision in made if decision]

    def one(self, found: Candidate) -> Accepted | Refused | None:
        if not found.loops:
            return self.helper(found)
        reason = find.refused_in_form(self.unit, found) or self.differs(found)
        if reason:
            return Refused(found, reason)
        best: Accepted | None = None
        for level, loop in enumerate(found.loops):
            decision = self.in_loop(found, loop, innermost=level == 0)
            if isinstance(decision, Refused):
                return best or decision
            best = decision
            if decision.moved:
                break
        return best

    def helper(self, found: Candidate) -> Refused | None:
        call = find.called_in_loop(self.unit, found.function)
        if call is None:
            return None
        name = found.function.name
        where = f"it is in no loop of {name}(), which is called in a loop, line {call.line}"
        return Refused(found, f"{where}: write the call itself there")

    # --- the same on all ranks

    def elsewhere(self, found: Candidate) -> str | None:
        """Whether ranks of a program that is not rewritten may take part."""
        if self.communicators.resolve(found.call.arguments[-1]) is not None:
            return None
        for call in self.unit.calls():
            if call.callee and library.base(call.callee.name) in library.OTHER_PROGRAMS:
                return (
                    f"its communicator may reach another program, by {call.callee.name}() at line {call.line}"
                )
        return None

    def uniform(self, found: Candidate) -> Uniform:
        return self.communicators.of(found.call.arguments[-1])

    def differs(self, found: Candidate) -> str | None:
        if reason := self.elsewhere(found):
            return reason
        if reason := self.uniform(found).path(found.call):
            return (
                f"whether all ranks make this call alike {reason}" if reason.startswith("depends") else reason
            )
        for decl in self.effects.addressed:
            if library.is_mpi(decl.name) and library.base(decl.name) == library.base(found.name):
                return f"{decl.name} may match it, called through a pointer: its address is taken"
        for call in self.unit.calls():
            name = call.callee.name if call.callee else ""
            if (
                call is found.call
                or not library.is_mpi(name)
                or library.base(name) != library.base(found.name)
            ):
                continue
            if reason := self.communicators.of(call.arguments[-1]).path(call):
                where = f"the {name} at line {call.line} may match it on another rank"
                return f"{where}: whether all ranks make that {reason}"
        return None

    # --- one loop

    def in_loop(self, found: Candidate, loop: Node, innermost: bool) -> Accepted | Refused:
        if reason := self.leaves(loop):
            return Refused(found, reason)
        reason = self.arguments(found, Invariance(self.effects, loop, self.assumed.whole_program, []))
        moved: list[Node] = []
        if reason and innermost:
            mover = Mover(self.effects, loop, self.assumed.whole_program)
            moved = mover.for_call(found.call, found.statement)
            if moved:
                kept = self.arguments(
                    found, Invariance(self.effects, loop, self.assumed.whole_program, moved)
                )
                reason = kept or mover.refused(moved)
        if reason:
            return Refused(found, reason)
        accepted = Accepted(found, loop, moved)
        accepted.late = self.late(found, loop) or self.guard(accepted)
        if moved and accepted.late:
            why = f"line {moved[0].line} computes what it needs, and cannot be moved: {accepted.late}"
            return Refused(found, why)
        return accepted

    def leaves(self, loop: Node) -> str | None:
        """What would pass by the end of the loop, where the request is freed."""
        for node in loop.walk():
            if node.kind == "RETURN_STMT":
                return f"the return at line {node.line} leaves the loop: the request would not be freed"
            if node.kind in {"CASE_STMT", "DEFAULT_STMT"}:
                switch = next(n for n in node.ancestors() if n.kind == "SWITCH_STMT")
                if not switch.within(loop):
                    return f"a case at line {node.line} jumps into the loop"
        if "MPI_Finalize" in find.names_called(loop):
            return "MPI_Finalize is called in the loop, before the request would be freed"
        if line := find.directive_in(self.unit, loop):
            return f"there is a directive of the preprocessor in the loop, line {line}"
        if self.pragma_above(loop):
            return f"a pragma stands above the loop at line {loop.line}"
        return None

    def pragma_above(self, loop: Node) -> bool:
        above = self.unit.bytes[: loop.start].decode().splitlines()
        lines = [line.strip() for line in above[:-1] if line.strip()]
        return bool(lines) and lines[-1].startswith("#") and "pragma" in lines[-1]

    def arguments(self, found: Candidate, invariance: Invariance) -> str | None:
        callee = found.call.callee
        assert callee is not None
        for argument, type_ in zip(found.call.arguments, callee.type.argument_types(), strict=True):
            reason = invariance.value(argument)
            if reason is None and (is_pointer(type_) or is_array(type_)) and not is_handle(type_):
                reason = invariance.freed(argument) if is_buffer(type_) else invariance.list_(argument)
            if reason:
                return reason
        return None

    # --- where the request is made

    def late(self, found: Candidate, loop: Node) -> str:
        """Why the request cannot be made before the loop. At its first execution it always can."""
        if loop is not found.loops[0]:
            return "the inner loop may not run at once"
        if any(traps(argument) for argument in found.call.arguments):
            return "its arguments are read from memory"
        child = found.statement
        for node in found.statement.ancestors():
            if node is loop:
                break
            if node.kind != "COMPOUND_STMT":
                return "it stands in a condition"
            child = node
        del child
        for node in loop.walk():
            if node.start >= found.call.start or node.role == "step":
                continue
            if node.kind in {"BREAK_STMT", "CONTINUE_STMT"}:
                return f"line {node.line} may leave it out"
            if node.kind == "CALL_EXPR" and (reason := self.communicates(node, found, loop)):
                return reason
        return ""

    def communicates(self, call: Node, found: Candidate, loop: Node) -> str:
        """A rank may wait before the loop for what another one does in it: there no request can be made."""
        callee = call.callee
        if callee and library.collective(callee.name) and self.same(call, found) and always(call, loop):
            return ""
        for name in find.names_called(call):
            if name in library.LEAVES:
                return f"{name}() may end the program before it, line {call.line}"
            known = name in library.QUIET or library.base(name) in library.LOCAL
            own = any(f.name == name for f in self.unit.functions)
            if not known and not own:
                return f"{name or 'a function'}() is called before it, line {call.line}"
        return ""

    def same(self, call: Node, found: Candidate) -> bool:
        """On the same communicator."""
        ours, theirs = found.call.arguments[-1], call.arguments[-1]
        if (resolved := self.communicators.resolve(ours)) is not None:
            return resolved is self.communicators.resolve(theirs) or resolved == self.communicators.resolve(
                theirs
            )
        return ours.decl is not None and ours.decl is theirs.decl

    def guard(self, accepted: Accepted) -> str:
        """Sets the condition under which the loop runs at all; or says why it cannot be told."""
        loop = accepted.loop
        condition, first = loop.part("condition"), loop.part("init")
        if loop.kind == "DO_STMT" or condition is None or (condition.value or 0) != 0:
            return ""
        counter, begin = counted(first)
        if first is not None and (counter is None or begin is None or not plain(begin)):
            return "whether the loop runs at all is not simple"
        if not plain(condition) or traps(condition):
            return "whether the loop runs at all is not simple"
        if (
            begin is not None
            and begin.value is not None
            and counter
            and runs(condition, counter, begin.value)
        ):
            return ""
        text = self.replaced(condition, counter, begin)
        if text is None:
            return "whether the loop runs at all is in a macro"
        accepted.guard = text
        return ""

    def converted(self, value: Node, type_: Any) -> str:
        """A value as the counter has it."""
        text = self.unit.source(value)
        simple = value.kind in {"DECL_REF_EXPR", "INTEGER_LITERAL"}
        if value.type.get_canonical().spelling == type_.get_canonical().spelling:
            return text if simple else f"({text})"
        return f"({type_.spelling}){text if simple else f'({text})'}"

    def replaced(self, condition: Node, counter: Decl | None, begin: Node | None) -> str | None:
        """The condition with what the loop begins with in place of its counter."""
        text = self.unit.source(condition).encode()
        names = [node for node in condition.walk() if counter is not None and node.decl is counter]
        for node in sorted(names, key=lambda n: -n.start):
            if self.unit.source(node) != node.decl.name or begin is None:  # type: ignore[union-attr]
                return None
            at = node.start - condition.start
            text = text[:at] + self.converted(begin, node.type).encode() + text[at + node.end - node.start :]
        return text.decode()


def always(call: Node, loop: Node) -> bool:
    """Whether each iteration makes the call."""
    for node in call.ancestors():
        if node is loop:
            return True
        if node.kind not in {"COMPOUND_STMT", "CSTYLE_CAST_EXPR"}:
            return False
    return False


def counted(first: Node | None) -> tuple[Decl | None, Node | None]:
    """The counter of a for, and what it begins with."""
    if first is None:
        return None, None
    if first.kind == "DECL_STMT" and len(first.children) == 1 and first.children[0].children:
        return first.children[0].decl, first.children[0].children[-1]
    if first.operator == "=" and first.children[0].kind == "DECL_REF_EXPR":
        return first.children[0].decl, first.children[1]
    return None, None


def plain(node: Node) -> bool:
    """Without effects and calls, but of sqrt() and its like."""
    for part in node.walk():
        effect = part.operator in {"++", "--", "="} or (
            part.operator.endswith("=") and part.operator not in {"==", "!=", "<=", ">="}
        )
        pure = part.callee is not None and part.callee.name in library.PURE
        if effect or not (pure or part.kind in CONSTANTS | PLAIN | {"DECL_REF_EXPR"}):
            return False
        if part.type.is_volatile_qualified():
            return False
    return True


def runs(condition: Node, counter: Decl, begin: int) -> bool:
    """`i < 10`, from a smaller constant on, whatever type of numbers i has."""
    if condition.operator not in {"<", "<=", ">", ">=", "!="} or condition.children[0].decl is not counter:
        return False
    end = condition.children[1].value
    if end is None or kind_of(counter.type) == "BOOL" or not (0 <= begin < 128 and end >= 0):
        return False
    return {
        "<": begin < end, "<=": begin <= end, ">": begin > end, ">=": begin >= end, "!=": begin != end,
    }[condition.operator]  # fmt: skip
