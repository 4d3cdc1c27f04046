#!/usr/bin/env python3
"""Static checks, one by one: lint.py layers|format|generated|ruff|mypy|house|tidy [--fix] [--build DIR]."""

import argparse
import difflib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent  # the virtual environment with the pinned tools
CXX_FOLDERS = ("src", "include", "tests", "benchmarks", "apps", "examples")
PYTHON_FOLDERS = ("python", "scripts", "examples", "tests", "apps", "experiments")


def run(*command: str | Path) -> int:
    return subprocess.run([str(c) for c in command], cwd=ROOT, check=False).returncode


def cxx_files(*suffixes: str) -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for folder in CXX_FOLDERS
        for suffix in suffixes
        for path in (ROOT / folder).rglob(f"*{suffix}")
    )


def layers(_build: Path, _fix: bool) -> int:
    return run(sys.executable, "scripts/check_layers.py")


def clang_format(_build: Path, fix: bool) -> int:
    mode = ["-i"] if fix else ["--dry-run", "--Werror"]
    status = run(BIN / "clang-format", *mode, *cxx_files(".h", ".cpp", ".c"))
    folders = [folder for folder in PYTHON_FOLDERS if (ROOT / folder).exists()]
    status |= run(BIN / "ruff", "format", *([] if fix else ["--check", "--quiet"]), *folders)
    if status:
        print("not as the formatter writes it: make format")
    return status


def generators(build: Path) -> list[tuple[str, list[str]]]:
    """The files in the repository that a command writes to standard output."""
    tool = str(build / "bin" / "unisono-schedule")
    return [
        ("docs/algorithms.md", [tool, "docs"]),
        ("docs/reference/environment.md", [tool, "variables"]),
    ]


def generated(build: Path, fix: bool) -> int:
    status = 0
    for name, command in generators(build):
        path = ROOT / name
        made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        present = path.read_text() if path.exists() else ""
        if made == present:
            continue
        if fix:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made)
            print(f"wrote {name}")
            continue
        status = 1
        print(f"{name} is out of date: make generate")
        difference = difflib.unified_diff(present.splitlines(), made.splitlines(), lineterm="", n=0)
        print("\n".join(list(difference)[:20]))
    # Generators that write several files look after their own --check.
    interpose = ["generate_interpose.py", "--build", str(build)]
    for command in (interpose, ["defaults.py", "derive"]):
        script = ROOT / "scripts" / command[0]
        if script.exists():
            status |= run(sys.executable, script, *command[1:], *([] if fix else ["--check"]))
    return status


def ruff(_build: Path, fix: bool) -> int:
    return run(BIN / "ruff", "check", *(["--fix"] if fix else ["--quiet"]), ".")


def mypy(_build: Path, _fix: bool) -> int:
    return run(BIN / "mypy", "--no-error-summary")


def house(_build: Path, _fix: bool) -> int:
    return run(sys.executable, "scripts/house.py")


def tidy(build: Path, _fix: bool) -> int:
    """Every source of src/ once; minutes, so not part of `make test`."""
    sources = [f for f in cxx_files(".cpp") if f.startswith("src/")]
    # A source that is compiled together with others has no command of its own.
    database = build / "tidy"
    configure = ["cmake", "-S", ".", "-B", str(database), "-G", "Ninja", "-DUNISONO_UNITY=OFF"]
    subprocess.run(configure, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    commands = (database / "compile_commands.json").read_text()
    # Options of GCC's that clang does not know.
    only_gcc = r" (-fno-gnu-unique|-Wno-restrict|-mmem(cpy|set)-strategy=[^ \"]+)"
    (database / "compile_commands.json").write_text(re.sub(only_gcc, "", commands))
    # The wheel of clang-tidy comes without the compiler's own headers (stddef.h).
    headers = subprocess.run(
        ["g++", "-print-file-name=include"], check=True, capture_output=True, text=True
    ).stdout.strip()
    tool = [str(BIN / "clang-tidy"), "--quiet", "-p", str(database), f"--extra-arg=-isystem{headers}"]

    def check(source: str) -> tuple[str, int, str]:
        command = [*tool, source]
        done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        return source, done.returncode, done.stdout

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, status, output in pool.map(check, sources):
            if status:
                failed += 1
                print(f"--- {source}\n{output}")
    print(f"clang-tidy: {len(sources) - failed} of {len(sources)} files clean")
    return 1 if failed else 0


CHECKS: dict[str, Callable[[Path, bool], int]] = {
    "layers": layers,
    "format": clang_format,
    "generated": generated,
    "ruff": ruff,
    "mypy": mypy,
    "house": house,
    "tidy": tidy,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    chosen = parser.parse_args(arguments)
    return CHECKS[chosen.check](chosen.build, chosen.fix)


if __name__ == "__main__":
    sys.exit(main())
