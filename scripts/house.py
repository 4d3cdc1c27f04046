#!/usr/bin/env python3
"""How the house is kept, counted from the tree: the longest function, the largest file, and how many files
an algorithm, a kernel and a collective touch. Prints the counts, and fails where one is over its limit, or
where a decision is made by functions that ranks may round in different ways.

house.py [--all]    --all: every function and file that is over half of its limit
"""

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "python", "scripts", "tests", "apps", "benchmarks", "experiments", "examples")
GENERATED = ("src/interpose/generated/", "src/mpi/functions.h")

# No more than this; a function that is over it is named here, by its file wherever that
# is, with what it may have; it may only shrink.
FUNCTION_LINES = 60
FILE_LINES = 500
LARGER = {
    # The options of a command, one a line, and what it does with them.
    "cli.py:compare": 101,
    "cli.py:sim": 92,
    "cli.py:tune": 73,
    "options.cpp:parse_command_line": 87,
    # One call, or one case, of each collective after the other.
    "environment.cpp:all_collectives": 94,
    "case_inter.cpp:Case::plan_inter": 80,
    "case_movement.cpp:Case::plan_movement": 80,
    "comms.cpp:Communicators::create": 66,
    "user_operations.cpp:main": 70,
    "complex_parts_test.cpp:layouts": 65,
}
ALGORITHM_FILES = 2  # its own and the catalogue
KERNEL_FILES = 3  # its own, the header of all, and whoever calls it
COLLECTIVE_FILES = 1  # the table; and its algorithms and tests


@dataclass
class Size:
    lines: int
    what: str  # "path" or "path:function"


def sources() -> list[Path]:
    found = [p for f in FOLDERS for s in ("h", "cpp", "c", "py") for p in (ROOT / f).rglob(f"*.{s}")]
    return sorted(p for p in found if not str(p.relative_to(ROOT)).startswith(GENERATED))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- lengths --------------------------------------------------------------------------------------

NO_FUNCTION = re.compile(
    r"^(namespace|class|struct|union|enum|extern|if|for|while|switch|else|do|try|return|#|\}|/|\*)\b|^[#}/*]"
)


def cxx_functions(path: Path) -> list[Size]:
    """Of clang-formatted text: the brace that ends a function is as far in as its first line."""
    lines = path.read_text().splitlines()
    found: list[Size] = []
    start, number = 0, 0
    while number < len(lines):
        line = lines[number]
        if not line.strip() or line.rstrip().endswith((";", "}", ":", ">")) or line.startswith(("#", "//")):
            start = number + 1
        elif line.endswith("{"):
            statement = " ".join(text.strip() for text in lines[start : number + 1])
            indent = re.match(r" *", lines[start])[0]  # type: ignore[index]
            begin, start = start, number + 1
            table = statement.endswith("= {")
            if table or ("(" in statement and not NO_FUNCTION.match(statement)):
                number = next(
                    (n for n in range(start, len(lines)) if lines[n].startswith(indent + "}")), number
                )
                start = number + 1
                called = re.search(r"([\w:~]+|operator\S+)\(", statement)
                if called and not table:
                    found.append(Size(number - begin + 1, f"{name_of(path)}:{called[1]}"))
        number += 1
    return found


def python_functions(path: Path) -> list[Size]:
    return [
        Size((node.end_lineno or node.lineno) - node.lineno + 1, f"{name_of(path)}:{node.name}")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def lengths() -> tuple[list[Size], list[Size]]:
    """Of functions and of files, the longest first."""
    functions: list[Size] = []
    files: list[Size] = []
    for path in sources():
        files.append(Size(len(path.read_text().splitlines()), name_of(path)))
        functions += python_functions(path) if path.suffix == ".py" else cxx_functions(path)
    return tuple(sorted(sizes, key=lambda size: -size.lines) for sizes in (functions, files))  # type: ignore[return-value]


# --- files touched --------------------------------------------------------------------------------


def written_for(pattern: str, name: str, texts: dict[str, str]) -> set[str]:
    """The files in which the pattern, which holds the name, is found."""
    expression = re.compile(pattern)
    return {file for file, text in texts.items() if name in text and expression.search(text)}


def touched() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The files in which an algorithm, and a kernel of src/node, must be written down to exist."""
    texts = {name_of(p): p.read_text() for p in sources()}
    texts = {name: text for name, text in texts.items() if name.startswith(("src/", "include/", "python/"))}
    catalogue = texts["src/algorithms/catalogue.cpp"]
    # An algorithm may be built from another; that is no list that it must be in.
    lists = {name: text for name, text in texts.items() if not re.match(r"src/algorithms/\w+/", name)}
    algorithms = {}
    for folder in sorted(p.name for p in (ROOT / "src" / "algorithms").iterdir() if p.is_dir()):
        own = {name: text for name, text in texts.items() if name.startswith(f"src/algorithms/{folder}/")}
        for function in sorted(set(re.findall(rf"[^\w:]{folder}::([a-z]\w*)", catalogue))):
            files = written_for(rf"(?m)^void {function}\(Builder& b\)", function, own)
            files |= written_for(rf"[^\w:]{folder}::{function}\b", function, lists)
            algorithms[f"{folder}::{function}"] = files
    kernels = {}
    headers = "".join(t for n, t in texts.items() if n.startswith("src/node/") and n.endswith(".h"))
    for kernel in sorted(set(re.findall(r"(?m)^void (\w+)\(Team& team, [^;{]*;", headers))):
        node = {name: text for name, text in texts.items() if name.startswith("src/node/")}
        files = written_for(rf"(?m)^void {kernel}\(Team& team", kernel, node)
        # A tool that uses one need not: it would do without.
        users = {name: text for name, text in texts.items() if not name.startswith("src/tools/")}
        files |= written_for(rf"\bnode::{kernel}\b", kernel, users)
        kernels[f"node::{kernel}"] = files
    return algorithms, kernels


def of_collectives() -> dict[str, set[str]]:
    """The files that name a collective: its enumerator, or its name in quotes. Beside what is generated and
    its algorithms; older ones stand in formulas and lists of algorithms, too."""
    folders = ("src/", "include/", "python/")
    texts = {name_of(p): p.read_text() for p in sources()}
    texts = {
        name: text
        for name, text in texts.items()
        if name.startswith(folders) and not name.startswith("src/algorithms/")
    }
    table = "src/schedule/semantics.h"
    names = re.findall(r"(?m)^\s*\{\w+, \"(\w+)\"", texts[table])
    pattern = r"Collective::{0}\b|[\"']{0}[\"']|\bcase {0}:|set_of\([^)]*\b{0}\b"
    return {name: {table} | written_for(pattern.format(name), name, texts) for name in names}


def most(files: dict[str, set[str]], limit: int, what: str) -> list[str]:
    """Prints the largest; returns a complaint for each that is over the limit."""
    worst = max(files, key=lambda name: len(files[name]))
    print(f"files of {what}: at most {len(files[worst])} ({worst}; {len(files)} looked at)")
    return [
        f"{name} is written down in {len(found)} files, {limit} are enough: {', '.join(sorted(found))}"
        for name, found in files.items()
        if len(found) > limit
    ]


# libm has variants by processor: hosts with others would decide differently, and wait for each other.
ROUNDED_VARIOUSLY = re.compile(r"\bstd::(log|log2|log10|log1p|exp|exp2|expm1|pow|cbrt|sin|cos|tan|tanh)\(")
DECIDES = ("src/select/", "src/runtime/", "src/comm/", "src/calls/")


def rounded_variously() -> list[str]:
    deciding = [path for path in sources() if name_of(path).startswith(DECIDES)]
    return [
        f"{name_of(path)} has {found[0]}...), which processors round in different ways: same_log() does not"
        for path in deciding
        if (found := ROUNDED_VARIOUSLY.search(path.read_text()))
    ]


def main() -> int:
    functions, files = lengths()
    everything = "--all" in sys.argv[1:]
    wrong: list[str] = []
    for sizes, limit, what in ((functions, FUNCTION_LINES, "function"), (files, FILE_LINES, "file")):
        print(f"longest {what}: {sizes[0].lines} lines ({sizes[0].what})")
        for size in sizes:
            if everything and size.lines > limit // 2:
                print(f"  {size.lines:4} {size.what}")
            enough = LARGER.get(size.what.rpartition("/")[2], limit)
            if size.lines > enough:
                wrong.append(f"{size.what} has {size.lines} lines, {enough} are enough")
    algorithms, kernels = touched()
    wrong += most(algorithms, ALGORITHM_FILES, "an algorithm")
    wrong += most(kernels, KERNEL_FILES, "a kernel")
    added = {name: files for name, files in of_collectives().items() if name.startswith("neighbor_")}
    wrong += most(added, COLLECTIVE_FILES, "a collective added since there is the table")
    wrong += rounded_variously()
    print("\n".join(wrong) or "all within their limits")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
