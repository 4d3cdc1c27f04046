"""A C file as a tree: what libclang says of it, without its implicit casts and parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

LOOPS = {"FOR_STMT", "WHILE_STMT", "DO_STMT"}
UNCLEAR = "unclear"  # the role of the parts of a loop that a macro makes
ASSIGNMENTS = {"=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="}
STEPS = {"++", "--"}
BINARY = "? .* ->* * / % + - << >> <=> < > <= >= == != & ^ | && || = *= /= %= += -= <<= >>= &= ^= |= ,"
UNARY = "? ++ -- ++ -- & * + - ~ ! real imag extension coawait"
OPERATORS = {"BINARY_OPERATOR": ["", *BINARY.split()[1:]], "UNARY_OPERATOR": ["", *UNARY.split()[1:]]}
NUMBERS = {
    *(
        "BOOL",
        "SHORT",
        "USHORT",
        "INT",
        "UINT",
        "LONG",
        "ULONG",
        "LONGLONG",
        "ULONGLONG",
        "INT128",
        "UINT128",
    ),
    *("FLOAT", "DOUBLE", "LONGDOUBLE", "COMPLEX", "HALF", "FLOAT128"),
}
# What may stand between two words of C.
SPACE = rb"(?:\s|\\\r?\n|/\*.*?\*/|//(?:\\\r?\n|[^\n])*)*"
POINTERS = {"POINTER", "BLOCKPOINTER"}
ARRAYS = {"CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY"}


class Kind:
    name = "POINTER"


class Decayed:
    """`int counts[]` of a parameter, which is a pointer: libclang tells what is written."""

    kind = Kind()

    def __init__(self, array: Any) -> None:
        self.pointee = array.get_canonical().element_type
        self.spelling = f"{self.pointee.spelling} *"

    def get_canonical(self) -> Decayed:
        return self

    def get_pointee(self) -> Any:
        return self.pointee

    def is_const_qualified(self) -> bool:
        return False

    is_volatile_qualified = is_restrict_qualified = is_const_qualified


@dataclass(eq=False)
class Decl:
    """A variable, parameter or function; one object of this class for each."""

    name: str
    kind: str  # VAR_DECL, PARM_DECL, FUNCTION_DECL, ENUM_CONSTANT_DECL
    type: Any
    offset: int
    line: int
    in_file: bool  # not in a header
    in_system: bool  # in one of the C library
    is_global: bool
    is_static: bool
    body: Node | None = None  # of a function
    parameters: list[Decl] = field(default_factory=list)
    node: Node | None = None  # where a variable of the file is defined

    @property
    def is_variable(self) -> bool:
        return self.kind in {"VAR_DECL", "PARM_DECL"}


@dataclass(eq=False)
class Node:
    kind: str
    start: int
    end: int
    line: int
    type: Any
    operator: str = ""
    decl: Decl | None = None  # what is named, called or declared here
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    value: int | None = None  # of an integer constant
    role: str = ""  # in a loop: init, condition, step, body; or UNCLEAR
    text: str = ""  # of a string, as C has it
    type_at: int = -1  # where in the file a type is declared that is named here

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def within(self, other: Node) -> bool:
        return self is other or any(node is other for node in self.ancestors())

    def part(self, role: str) -> Node | None:
        return next((child for child in self.children if child.role == role), None)

    @property
    def callee(self) -> Decl | None:
        """Of a call by name."""
        if self.kind != "CALL_EXPR" or not self.children:
            return None
        decl = self.children[0].decl
        return decl if decl and decl.kind == "FUNCTION_DECL" else None

    @property
    def arguments(self) -> list[Node]:
        return self.children[1:]


@dataclass(eq=False)
class Unit:
    """One file: its text, and what is in it."""

    path: str
    text: str
    functions: list[Decl]
    nodes: list[Node]  # functions' bodies and global variables, in the order of the file
    declared: set[str]  # every name of a function that is declared, in headers too
    macros: list[tuple[int, int]]  # where macros are expanded
    strict_aliasing: bool = True
    reached: str = ""  # what a function of a header names of this file

    def __post_init__(self) -> None:
        self.bytes = self.text.encode()  # libclang counts these

    def source(self, node: Node) -> str:
        return self.bytes[node.start : node.end].decode()

    def end(self, node: Node) -> int | None:
        """Behind the semicolon of a statement, where it has one; None: that is not in the text."""
        if ends_with_brace(node):
            return node.end if self.bytes[node.end - 1 : node.end] == b"}" else None
        return self.behind(node.end, b";")

    def behind(self, offset: int, sign: bytes) -> int | None:
        """The end of a sign, where it is the next that is not a comment."""
        found = re.compile(SPACE + re.escape(sign), re.DOTALL).match(self.bytes, offset)
        return found.end() if found else None

    def function_of(self, node: Node) -> Decl | None:
        top = next((n for n in (*node.ancestors(),) if n.parent is None), node)
        return next((f for f in self.functions if f.body is top), None)

    def walk(self) -> Iterator[Node]:
        for node in self.nodes:
            yield from node.walk()

    def calls(self) -> Iterator[Node]:
        return (node for node in self.walk() if node.kind == "CALL_EXPR")


def ends_with_brace(node: Node) -> bool:
    if node.kind == "COMPOUND_STMT":
        return True
    if node.kind in LOOPS - {"DO_STMT"} | {
        "IF_STMT",
        "SWITCH_STMT",
        "LABEL_STMT",
        "CASE_STMT",
        "DEFAULT_STMT",
    }:
        return bool(node.children) and ends_with_brace(node.children[-1])
    return False


def kind_of(type_: Any) -> str:
    return str(type_.get_canonical().kind.name)


def is_pointer(type_: Any) -> bool:
    return kind_of(type_) in POINTERS


def is_array(type_: Any) -> bool:
    return kind_of(type_) in ARRAYS


def is_computed(type_: Any) -> bool:
    """An array whose length is computed."""
    return kind_of(type_) == "VARIABLEARRAY"


def length(type_: Any) -> float:
    """How many elements an array has; infinitely many where that is computed."""
    number = 1.0
    type_ = type_.get_canonical()
    while type_.kind.name in ARRAYS:
        number *= type_.element_count if type_.kind.name == "CONSTANTARRAY" else float("inf")
        type_ = type_.element_type.get_canonical()
    return number


def element(type_: Any) -> str:
    """What is stored in an object of this type, for questions of aliases: `int`, `pointer`, `any`."""
    type_ = type_.get_canonical()
    while type_.kind.name in ARRAYS:
        type_ = type_.element_type.get_canonical()
    kind = type_.kind.name
    if kind in POINTERS:
        return "pointer"
    if kind == "ENUM":
        return "int"
    if kind not in NUMBERS:  # characters, structures, vectors
        return "any"
    spelling = str(type_.spelling)
    for word in ("const", "volatile", "restrict", "unsigned"):
        spelling = spelling.replace(word, "")
    return " ".join(spelling.split())


def pointee(type_: Any) -> Any:
    type_ = type_.get_canonical()
    return type_.element_type if type_.kind.name in ARRAYS else type_.get_pointee()


def may_alias(first: str, second: str) -> bool:
    """C11 6.5 p7: an object is reached through its own type, or characters."""
    return first == second or "any" in {first, second}
