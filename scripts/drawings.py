#!/usr/bin/env python3
"""The drawings of the pages, each by the command that stands above it:

<!-- drawn by: unisono show bcast binomial -n 8 -->
![What is to be seen](drawings/bcast-binomial.svg)

drawings.py [--build DIR]           draw them anew
drawings.py [--build DIR] --check   compare; 1 where one is another, or nobody draws it"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
DRAWN = re.compile(r"<!-- drawn by: unisono (?P<command>.+) -->\n!\[[^\]]+\]\((?P<file>[^)]+\.svg)\)")
SHOWN = re.compile(r"!\[[^\]]*\]\((?P<file>[^)]+\.svg)\)")


def drawings(docs: Path = DOCS) -> tuple[dict[Path, str], set[Path]]:
    """The command for each drawing, and what is shown or lies there without one. Those of the results are
    experiments.pages' to draw."""
    commands: dict[Path, str] = {}
    shown = set(docs.rglob("*.svg"))
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text()
        commands |= {page.parent / found["file"]: found["command"] for found in DRAWN.finditer(text)}
        shown |= {page.parent / found["file"] for found in SHOWN.finditer(text)}
    others = shown - set(commands)
    return commands, {path for path in others if docs / "results" not in path.parents}


def draw(command: str, build: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drawing.svg"
        line = [sys.executable, "-m", "unisono.cli", *shlex.split(command), "--svg", str(file)]
        environment = os.environ | {"UNISONO_BUILD": str(build)}
        subprocess.run(line, check=True, stdout=subprocess.PIPE, env=environment)
        return file.read_text()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    commands, others = drawings()
    wrong = [f"{path.relative_to(ROOT)}: no command above it says who draws it" for path in sorted(others)]
    for path, command in sorted(commands.items()):
        made = draw(command, chosen.build.resolve())
        if path.exists() and path.read_text() == made:
            continue
        if chosen.check:
            wrong.append(f"{path.relative_to(ROOT)} is not what `unisono {command}` draws: make generate")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(made)
            print(f"wrote {path.relative_to(ROOT)}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
