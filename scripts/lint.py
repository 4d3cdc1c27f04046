#!/usr/bin/env python3
"""Static checks, one by one: lint.py layers|format|generated|ruff|mypy|house [--fix] [--build DIR]."""

import argparse
import difflib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
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
    """Of C++, and of the Python packages (the contracts in pyproject.toml)."""
    status = run(sys.executable, "scripts/check_layers.py")
    told = subprocess.run([BIN / "lint-imports"], cwd=ROOT, check=False, capture_output=True, text=True)
    if told.returncode:
        print(told.stdout + told.stderr)
    return status | told.returncode


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
    drawings = ["drawings.py", "--build", str(build)]
    for command in (interpose, drawings, ["defaults.py", "derive"], ["generate_cli.py"]):
        script = ROOT / "scripts" / command[0]
        if script.exists():
            status |= run(sys.executable, script, *command[1:], *([] if fix else ["--check"]))
    return status | pages(build, fix)


def pages(build: Path, fix: bool) -> int:
    """The tables of docs/results; which of them are written by hand is no news here."""
    done = subprocess.run(
        [sys.executable, "-m", "experiments.pages", *([] if fix else ["--check"])],
        cwd=ROOT,
        env=os.environ | {"UNISONO_BUILD": str(build.absolute())},
        check=False,
        capture_output=True,
        text=True,
    )
    changed = done.stdout.partition("tables made from raw results:")[0]
    print(changed + done.stderr, end="")
    return done.returncode


def ruff(_build: Path, fix: bool) -> int:
    return run(BIN / "ruff", "check", *(["--fix"] if fix else ["--quiet"]), ".")


def mypy(_build: Path, _fix: bool) -> int:
    return run(BIN / "mypy", "--no-error-summary")


def house(_build: Path, _fix: bool) -> int:
    return run(sys.executable, "scripts/house.py")


CHECKS: dict[str, Callable[[Path, bool], int]] = {
    "layers": layers,
    "format": clang_format,
    "generated": generated,
    "ruff": ruff,
    "mypy": mypy,
    "house": house,
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
