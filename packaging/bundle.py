#!/usr/bin/env python3
"""Puts the command line of a prefix together: Unisono's modules, and the packages that they need.

  python3 packaging/bundle.py FOLDER light|all|none

FOLDER/python gets the package unisono, and FOLDER/packages what it depends on (pyproject.toml), copied from
the Python that runs this, with the licence of each. `light` leaves out what a distribution has anyway or what
is large: numpy, scipy, matplotlib, which reports and plots need. The file FOLDER/packages/abi says which
Python the compiled modules among them are for. All is compiled, so that Python never writes into the prefix.
Where a package is not installed, none is bundled, and a line says so.
"""

import compileall
import re
import shutil
import sys
import sysconfig
import tomllib
from importlib import metadata
from pathlib import Path
from py_compile import PycInvalidationMode

ROOT = Path(__file__).resolve().parent.parent
LARGE = {"numpy", "scipy", "matplotlib"}
LEFT_OUT = {"tests", "test", "__pycache__"}  # folders of packages


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed_by(requirements: list[str]) -> list[str]:
    """Names of the packages, without those of optional parts."""
    return [
        canonical(re.split(r"[^\w.-]", one, maxsplit=1)[0]) for one in requirements if "extra ==" not in one
    ]


def closure(names: list[str], without: set[str]) -> list[metadata.Distribution]:
    """The distributions of these names and of all that they need; raises PackageNotFoundError."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [name for name in names if name not in without]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = metadata.distribution(name)
            applies = [one for one in found[name].requires or [] if ";" not in one]
            waiting += [one for one in needed_by(applies) if one not in without]
    return list(found.values())


def copy(distribution: metadata.Distribution, folder: Path) -> None:
    for file in distribution.files or []:
        parts = set(file.parts[:-1])
        if ".." in parts or parts & LEFT_OUT or file.name in {"RECORD", "direct_url.json"}:
            continue  # scripts, which name this Python, lie outside
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(str(distribution.locate_file(file))), target)


def compiled(folder: Path) -> None:
    # By content: a file system's times decide nothing. Paths are relative to the prefix.
    mode = PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder, quiet=2, workers=0, invalidation_mode=mode, stripdir=folder.parent)


def bundle(folder: Path, how_much: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(
        ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    names = needed_by(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    (folder / "python" / "requirements.txt").write_text("".join(f"{name}\n" for name in names))
    compiled(folder / "python")
    packages = folder / "packages"
    packages.mkdir()
    if how_much == "none":
        return
    try:
        found = closure(names, LARGE if how_much == "light" else set())
    except metadata.PackageNotFoundError as error:
        print(f"unisono: the Python packages are not bundled: {sys.executable} has no {error.name}")
        return
    for distribution in found:
        copy(distribution, packages)
    compiled(packages)
    (packages / "abi").write_text(
        f"{sys.version_info[0]}.{sys.version_info[1]} {sysconfig.get_config_var('SOABI')}\n"
    )


if __name__ == "__main__":
    bundle(Path(sys.argv[1]), sys.argv[2])
