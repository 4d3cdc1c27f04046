"""Gets what programs need: Debian's packages, PyPI's into an environment of their own, and what is built."""

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from unisono.core import places
from unisono.core.errors import UnisonoError

from experiments.programs import entries
from experiments.programs.program import DEBIAN, HOME, INPUTS, Program

WHEELS = HOME / "pypi"
MADE = "made"  # of a build that has ended well: its script
WAIT_FOR_APT = "-oDPkg::Lock::Timeout=600"


@cache
def all_programs() -> dict[str, Program]:
    """What the modules of entries/ list, by name."""
    found: dict[str, Program] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(entries.__path__)):
        for program in importlib.import_module(f"{entries.__name__}.{module}").PROGRAMS:
            if program.name in found:
                raise UnisonoError(f"two programs are called {program.name}")
            found[program.name] = program
    return found


def chosen(text: str) -> list[Program]:
    known = all_programs()
    for name in filter(None, text.split(",")):
        if name not in known:
            raise UnisonoError(f"{name}: no such program; there are {', '.join(known)}")
    return [known[name] for name in text.split(",")] if text else list(known.values())


def places_in(program: Program, mpi: places.Mpi, ranks: int = 0) -> dict[str, str]:
    """What stands for the names in braces."""
    compilers = {"cc": "mpicc", "cxx": "mpicxx"}
    if mpi.name.startswith("debian-"):
        found = {name: f"/usr/bin/{tool}.{mpi.flavour}" for name, tool in compilers.items()}
    else:
        found = {name: str(mpi.home / "bin" / tool) for name, tool in compilers.items()}
    home = program.home(mpi.name)
    found |= {"ranks": str(ranks), "flavour": mpi.flavour, "library": mpi.library.name}
    found |= {"apps": str(places.build_directory() / "apps")}
    return {**found, "inputs": str(INPUTS), "home": str(home), "wheels": str(WHEELS)}


def filled(text: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text


def checked(
    command: Sequence[str], folder: Path, what: str, variables: Mapping[str, str] | None = None
) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        telling = next((line for line in lines if "rror" in line), lines[-1] if lines else "no output")
        raise UnisonoError(f"{what}: {telling.strip()[:200]}")
    return done.stdout


def debian_versions(packages: Sequence[str]) -> dict[str, str]:
    """Of those that are installed."""
    if not packages:
        return {}
    query = ["dpkg-query", "--show", "--showformat=${Package} ${Version} ${db:Status-Status}\n", *packages]
    told = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    lines = [line.split() for line in told.splitlines()]
    return {words[0]: words[1] for words in lines if len(words) == 3 and words[2] == "installed"}


def install_debian(packages: Sequence[str]) -> None:
    missing = [name for name in packages if name not in debian_versions(packages)]
    if not missing:
        return
    if shutil.which("apt-get") is None:
        raise UnisonoError("no apt-get here")
    command = ["apt-get", "install", "--yes", "--no-install-recommends", WAIT_FOR_APT, *missing]
    checked(command, Path("/"), "apt-get", {"DEBIAN_FRONTEND": "noninteractive"})


def install_wheels(wheels: Sequence[str]) -> None:
    """Without what they depend on: each entry names all that it needs."""
    if not wheels:
        return
    python = WHEELS / "bin" / "python"
    if not python.exists():
        WHEELS.parent.mkdir(parents=True, exist_ok=True)
        checked([sys.executable, "-m", "venv", str(WHEELS)], WHEELS.parent, "venv")
    there = checked([str(python), "-m", "pip", "freeze", "--all"], WHEELS, "pip").lower().splitlines()
    if missing := [wheel for wheel in wheels if wheel.lower() not in there]:
        checked([str(python), "-m", "pip", "install", "--quiet", "--no-deps", *missing], WHEELS, "pip")


def install_sources(sources: Sequence[str], home: Path) -> None:
    for source in sources:
        with tempfile.TemporaryDirectory(prefix="unisono-source-") as folder:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--no-binary",
                ":all:",
            ]
            checked([*command, source], Path(folder), "pip")
            (archive,) = Path(folder).iterdir()
            with tarfile.open(archive) as packed:
                packed.extractall(home, filter="data")


def build(program: Program, mpi: places.Mpi) -> None:
    """Again when its script has changed."""
    home = program.home(mpi.name)
    script = filled(program.build, places_in(program, mpi))
    inputs = "".join((INPUTS / name).read_text() for name in sorted(inputs_of(program)))
    wanted = "\n".join([script, *program.sources, inputs])
    made = home / MADE
    if made.exists() and made.read_text() == wanted:
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    install_sources(program.sources, home)
    checked(["bash", "-euc", script], home, "building")
    made.write_text(wanted)


def inputs_of(program: Program) -> set[str]:
    """Files of ours that its scripts name."""
    return {path.name for path in INPUTS.iterdir() if f"{{inputs}}/{path.name}" in program.build}


def install(program: Program, mpi: places.Mpi) -> None:
    """Raises UnisonoError where something cannot be had."""
    install_debian(program.packages)
    install_wheels(program.wheels)
    if program.build or program.sources:
        build(program, mpi)


def versions(program: Program) -> dict[str, str]:
    found = debian_versions(program.packages)
    if DEBIAN in program.mpis:
        found |= debian_versions(["libopenmpi3"])
    for pinned in (*program.wheels, *program.sources):
        name, _, version = pinned.partition("==")
        found[name] = version
    return found
