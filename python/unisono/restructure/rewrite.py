"""From decisions to text: requests before the loop, MPI_Start and MPI_Wait in it, MPI_Request_free behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from unisono.restructure.check import Accepted
from unisono.restructure.library import persistent
from unisono.restructure.tree import Node, Unit


@dataclass(frozen=True)
class Edit:
    start: int
    end: int
    text: str


class Rewriter:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.step = self.indentation()
        self.newline = "\r\n" if "\r\n" in unit.text else "\n"

    def text(self, accepted: list[Accepted]) -> str:
        edits: list[Edit] = []
        names = self.names(len(accepted))
        loops: dict[Node, list[tuple[Accepted, str]]] = {}
        for one, name in zip(accepted, names, strict=True):
            loops.setdefault(one.loop, []).append((one, name))
            edits.append(self.in_place(one, name))
        for loop, requests in loops.items():
            edits += self.around(loop, requests)
            moved = {id(m): m for one, _ in requests for m in one.moved}
            edits += [self.removed(statement) for statement in moved.values()]
        data = self.unit.bytes
        for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
            data = (
                data[: edit.start]
                + edit.text.replace("\r\n", "\n").replace("\n", self.newline).encode()
                + data[edit.end :]
            )
        return data.decode()

    def names(self, count: int) -> list[str]:
        used = set(re.findall(r"\bunisono_request_\d+\b", self.unit.text))
        found: list[str] = []
        number = 1
        while len(found) < count:
            name = f"unisono_request_{number}"
            if name not in used:
                found.append(name)
            number += 1
        return found

    # --- the call

    def init(self, one: Accepted, name: str) -> str:
        call = one.found.call
        begin = self.unit.behind(call.children[0].end, b"(")
        assert begin is not None, "what a macro opens is refused"
        inside = self.unit.bytes[begin : call.end - 1].decode().strip()
        if "//" in inside.rsplit("\n", 1)[-1]:
            inside += "\n" + self.indent(call)
        return f"{persistent(one.found.name)}({inside}, MPI_INFO_NULL, &{name});"

    def in_place(self, one: Accepted, name: str) -> Edit:
        statement = one.found.statement
        indent = self.indent(statement)
        lines = [f"MPI_Start(&{name});", f"MPI_Wait(&{name}, MPI_STATUS_IGNORE);"]
        if one.late:
            made = self.shifted(self.init(one, name), self.step)
            lines = [f"if ({name} == MPI_REQUEST_NULL)", self.step + made, *lines]
        if statement.parent is not None and statement.parent.kind != "COMPOUND_STMT":
            lines = ["{", *(self.step + line for line in lines), "}"]
        return Edit(statement.start, self.end(statement), f"\n{indent}".join(lines))

    # --- the loop

    def around(self, loop: Node, requests: list[tuple[Accepted, str]]) -> Iterator[Edit]:
        indent = self.indent(loop)
        before: list[str] = []
        after: list[str] = []
        for one, name in requests:
            perhaps = bool(one.late or one.guard)
            before.append(f"MPI_Request {name}{' = MPI_REQUEST_NULL' if perhaps else ''};")
            after += [f"if ({name} != MPI_REQUEST_NULL)"] if perhaps else []
            after.append(self.step * perhaps + f"MPI_Request_free(&{name});")
        before += self.made([(one, name) for one, name in requests if not one.late])
        bare = loop.parent is not None and loop.parent.kind != "COMPOUND_STMT"
        if bare:
            before.insert(0, "{")
            after.append("}")
        yield Edit(loop.start, loop.start, "".join(f"{line}\n{indent}" for line in before))
        end = self.end(loop)
        yield Edit(end, end, "".join(f"\n{indent}{line}" for line in after))

    def made(self, requests: list[tuple[Accepted, str]]) -> list[str]:
        """The requests, in the order of the calls, and what is computed for them; all under one condition."""
        lines: list[str] = []
        moved: set[Node] = set()
        for one, name in requests:
            for statement in one.moved:
                lines += self.lines(statement) if statement not in moved else []
                moved.add(statement)
            lines.append(self.init(one, name))
        guard = next((one.guard for one, _ in requests), "")
        if not guard:
            return lines
        body = [self.step + self.shifted(line, self.step) for line in lines]
        return [f"if ({guard})" + " {" * (len(body) > 1), *body, *(["}"] * (len(body) > 1))]

    def lines(self, statement: Node) -> list[str]:
        """A statement without the indentation that it has."""
        text = self.unit.bytes[statement.start : self.end(statement)].decode().splitlines()
        indent = self.indent(statement)
        return [line.removeprefix(indent) for line in text]

    def removed(self, statement: Node) -> Edit:
        """With its line, where it has it for itself."""
        data = self.unit.bytes
        start, end = statement.start, self.end(statement)
        line = data.rfind(b"\n", 0, start) + 1
        following = data.find(b"\n", end)
        alone = not data[line:start].strip() and following >= 0 and not data[end:following].strip()
        return Edit(line, following + 1, "") if alone else Edit(start, end, "")

    # --- places

    def indentation(self) -> str:
        """Of the file: how far a body is in."""
        for function in self.unit.functions:
            for node in function.body.children if function.body else ():
                if self.unit.bytes[: node.start].decode().rsplit("\n", 1)[-1].strip() == "" and self.indent(
                    node
                ):
                    return self.indent(node)
        return "    "

    def indent(self, node: Node) -> str:
        line = self.unit.bytes.rfind(b"\n", 0, node.start) + 1
        text = self.unit.bytes[line : node.start].decode()
        return text[: len(text) - len(text.lstrip())]

    @staticmethod
    def shifted(text: str, by: str) -> str:
        return text.replace("\n", "\n" + by)

    def end(self, node: Node) -> int:
        end = self.unit.end(node)
        assert end is not None, "what ends in a macro is refused"
        return end
