"""The files of examples/ for containers and CI: their steps run as they are written, in a shell.

No container engine is asked, and no network: apt-get and pip are stand-ins, which look at what they are asked
for, and /opt/unisono is a virtual environment with our wheel, beside the MPICH of the build.
"""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_install import PACKAGES, environment_of_wheel, library

__all__ = ["environment_of_wheel"]  # a fixture

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = ROOT / "examples" / "container" / "Containerfile"
WORKFLOW = ROOT / "examples" / "ci" / "github-actions.yml"
PREFIX = "/opt/unisono"
REQUIREMENTS = [ROOT / "requirements" / f"{name}.txt" for name in ("python", "mpich")]
# Of Debian 12: what any of the steps may install.
DEBIAN = {"python3", "python3-venv", "gcc", "libc6-dev"}
TIMEOUT = 120
LEAST_SHARED = 1 << 30  # bytes for 16 ranks


# --- a Containerfile ------------------------------------------------------------------------------


@dataclass
class Image:
    """What the instructions of a Containerfile come to."""

    base: str = ""
    steps: list[tuple[str, str]] = field(default_factory=list)  # RUN or COPY, and what follows
    variables: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    command: list[str] = field(default_factory=list)


def image_of(text: str) -> Image:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    found = Image()
    for line in filter(None, "\n".join(lines).replace("\\\n", " ").splitlines()):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.base = rest
        elif word == "ENV":
            name, _, value = rest.partition("=")
            found.variables[name] = value
        elif word == "WORKDIR":
            found.folder = rest
        elif word == "CMD":
            found.command = yaml.safe_load(rest)  # a list of JSON
        else:
            assert word in {"RUN", "COPY"}, f"{word}: no instruction that is known here"
            found.steps.append((word, rest))
    return found


# --- stand-ins ------------------------------------------------------------------------------------

APT = """#!/bin/sh
case $1 in
  update) exit ;;
  install) shift ;;
  *) echo "apt-get $*"; exit 100 ;;
esac
for word; do
  case $word in -y|--no-install-recommends) continue ;; esac
  case " {names} " in *" $word "*) ;; *) echo "Unable to locate package $word"; exit 100 ;; esac
done
"""
# Into an environment only, as Debian 12 has it.
PIP = """#!/bin/sh
[ -e {prefix}/bin/unisono ] || {{ echo "externally-managed-environment"; exit 1; }}
[ "$1" = install ] && shift || exit 1
for word; do
  case $word in
    --no-cache-dir) ;;
    *.whl) [ -f "$word" ] || {{ echo "$word: no such file"; exit 1; }} ;;
    *) case " {names} " in *" $word "*) ;; *) echo "No matching distribution for $word"; exit 1 ;; esac ;;
  esac
done
"""
PYTHON = """#!/bin/sh
[ "$1 $2 $3" = "-m venv {prefix}" ] && mkdir -p {above} && exec ln -s {environment} {prefix}
exec {python} "$@"
"""


def moved(text: str, root: Path) -> str:
    """Absolute paths are below that folder."""
    return re.sub(r"(?<![\w./*~$-])/(?=\w)", f"{root}/", text)


@dataclass
class Machine:
    """A folder that stands for a fresh machine, and for the context of a build."""

    root: Path
    variables: dict[str, str]

    def path(self, text: str, folder: str) -> Path:
        return self.root / (text if text.startswith("/") else f"{folder}/{text}").lstrip("/")

    def run(self, command: list[str], folder: str) -> str:
        place = self.path(folder, "/")
        place.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            command,
            cwd=place,
            env=self.variables,
            check=False,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, f"{shlex.join(command)}\n{said[-3000:]}"
        return said


def write_program(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def machine(environment_of_wheel: Path, tmp_path: Path) -> Machine:
    root, programs = tmp_path / "root", tmp_path / "programs"
    prefix = Path(f"{root}{PREFIX}")
    wanted = " ".join(line for file in REQUIREMENTS for line in file.read_text().splitlines() if "==" in line)
    write_program(programs / "apt-get", APT.format(names=" ".join(DEBIAN)))
    write_program(programs / "pip", PIP.format(names=wanted, prefix=prefix))
    write_program(
        programs / "python3",
        PYTHON.format(
            prefix=prefix, above=prefix.parent, environment=environment_of_wheel, python=sys.executable
        ),
    )
    (wheel,) = environment_of_wheel.parent.glob("*.whl")
    assert "--wheel-dir build/wheels" in (ROOT / "Makefile").read_text()
    context = tmp_path / "context"
    (context / "build" / "wheels").mkdir(parents=True)
    shutil.copy(wheel, context / "build" / "wheels")
    shutil.copytree(ROOT / "examples", context / "examples")
    path = f"{programs}:{library('mpich').home / 'bin'}:/usr/bin:/bin"
    return Machine(root, {"HOME": str(tmp_path / "home"), "PATH": path, "PYTHONPATH": PACKAGES})


# --- what is asked of them ------------------------------------------------------------------------


def copied(machine: Machine, text: str, folder: str) -> None:
    *sources, to = text.split()
    assert to.endswith("/"), f"COPY {text}: into a folder"
    target = machine.path(to, folder)
    target.mkdir(parents=True, exist_ok=True)
    context = machine.root.with_name("context")
    for source in sources:
        files = [file for file in context.rglob("*") if fnmatch(str(file.relative_to(context)), source)]
        assert files, f"COPY {text}: {source} is not in the context"
        for file in files:
            shutil.copy(file, target)


def built_and_run(machine: Machine, text: str) -> str:
    image = image_of(text)
    assert image.base.endswith("debian:12-slim"), "DEBIAN has the names of that distribution's packages"
    for name, value in image.variables.items():
        machine.variables[name] = moved(value, machine.root).replace("$PATH", machine.variables["PATH"])
    for word, rest in image.steps:
        if word == "COPY":
            copied(machine, rest, image.folder)
        else:
            machine.run(["sh", "-c", moved(rest, machine.root)], "/")
    return machine.run(image.command, image.folder)


def enough_shared_memory(text: str) -> None:
    sizes = re.findall(r"--shm-size=(\d+)([mg])", text)
    assert sizes, "engines give 64 MB"
    for number, unit in sizes:
        assert int(number) << (20 if unit == "m" else 30) >= LEAST_SHARED, f"--shm-size={number}{unit}"


def workflow_run(machine: Machine, text: str) -> None:
    """Each step as a fresh user in a checkout; also those that run after a failure."""
    jobs: dict[str, Any] = yaml.safe_load(text)["jobs"]
    for job in jobs.values():
        enough_shared_memory(job["container"]["options"])
        for step in job["steps"]:
            if "run" in step:
                assert "ok" in machine.run(["bash", "-e", "-c", step["run"]], "/checkout").lower()
                continue
            assert re.fullmatch(r"actions/(checkout|cache)@v\d+", step["uses"])
            if "cache" in step["uses"]:
                kept = step["with"]["path"].replace("~", machine.variables["HOME"])
                ask = "from unisono.core import memory; print(memory.folder())"
                assert machine.run(["python3", "-c", ask], "/") == f"{kept}\n"


@pytest.fixture
def installed(machine: Machine, environment_of_wheel: Path) -> Machine:
    """The image, as a job has it."""
    machine.variables["PATH"] = f"{environment_of_wheel / 'bin'}:{machine.variables['PATH']}"
    (machine.root / "checkout").mkdir(parents=True)
    shutil.copytree(ROOT / "examples", machine.root / "checkout" / "examples")
    return machine


@pytest.mark.mpi
def test_the_image_is_built_and_runs(machine: Machine) -> None:
    text = CONTAINER.read_text()
    enough_shared_memory(text)
    assert "OK" in built_and_run(machine, text)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("python3-venv", "python-venv", "Unable to locate package python-venv"),
        ("COPY build/wheels/", "COPY build/packages/", "is not in the context"),
        ("mpich==5.0.2", "mpich==5.0", "No matching distribution for mpich==5.0"),
        ("/tmp/wheels/unisono-*.whl mpich", "/tmp/unisono-*.whl mpich", "no such file"),
        ("ENV PATH=/opt/unisono/bin", "ENV PATH=/opt/unisono", "unisono"),
        ("venv /opt/unisono", "venv /opt/another", "externally-managed"),
        ("RUN unisono doctor", "RUN unisono doctor --all", "No such option"),
        ('"run", "-n"', '"run", "--ranks"', "No such option"),
        ("examples/ci/test_collectives.py examples", "examples/test_collectives.py examples", "context"),
    ],
)
def test_a_wrong_step_of_the_image_is_found(machine: Machine, right: str, wrong: str, said: str) -> None:
    text = CONTAINER.read_text()
    assert right in text
    with pytest.raises(AssertionError, match=re.escape(said)):
        built_and_run(machine, text.replace(right, wrong))


@pytest.mark.mpi
def test_the_workflow_runs(installed: Machine) -> None:
    workflow_run(installed, WORKFLOW.read_text())


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("--shm-size=1g", "--shm-size=64m", "--shm-size=64m"),
        ("path: ~/.cache/unisono", "path: ~/.cache/another", ".cache/unisono"),
        ("run: unisono doctor", "run: unisono doctors", "No such command"),
        ("unisono run -n 16", "unisono run --ranks 16", "No such option"),
        ("test_collectives.py", "test_collective.py", "test_collective"),
        ("actions/cache@v4", "actions/cash@v4", "actions"),
    ],
)
def test_a_wrong_step_of_the_workflow_is_found(installed: Machine, right: str, wrong: str, said: str) -> None:
    text = WORKFLOW.read_text()
    assert right in text
    with pytest.raises(AssertionError, match=re.escape(said)):
        workflow_run(installed, text.replace(right, wrong))
