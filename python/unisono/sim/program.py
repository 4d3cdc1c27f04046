"""A whole program on a simulated network: under each selector, and with algorithms of Unisono."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from unisono.core import documents
from unisono.core.console import table
from unisono.core.errors import UnisonoError
from unisono.core.words import number
from unisono.sim import smpi
from unisono.sim.platforms import Platform

COMPILERS = {".c": "smpicc", ".cc": "smpicxx", ".cpp": "smpicxx", ".cxx": "smpicxx", ".C": "smpicxx"}

# Every rank loads a copy of the program, and with it its own globals; unique symbols would be shared.
CXX_FLAGS = ("-std=gnu++20", "-fno-gnu-unique")


@dataclass(frozen=True)
class Plan:
    platform: Platform
    ranks: int
    source: Path
    arguments: Sequence[str]
    flags: Sequence[str]
    selectors: Sequence[str]
    force: Mapping[str, str]  # UNISONO_*; empty: no run with Unisono
    placed: Sequence[int] = ()  # the host of each rank; empty: rank i on host i

    @property
    def hosts(self) -> Sequence[int]:
        return self.placed or range(self.ranks)

    @property
    def base_selector(self) -> str:
        """Serves what Unisono leaves to the MPI library."""
        return self.selectors[0] if self.selectors else smpi.SELECTORS[0]


@dataclass(frozen=True)
class ProgramRun:
    label: str
    is_peer: bool
    seconds: float | None  # simulated, from MPI_Init to the end
    output: str
    problem: str


def compile_program(plan: Plan, folder: Path, with_unisono: bool) -> Path:
    compiler = COMPILERS.get(plan.source.suffix)
    if compiler is None:
        raise UnisonoError(f"{plan.source}: no C or C++ source ({', '.join(COMPILERS)})")
    if not plan.source.is_file():
        raise UnisonoError(f"{plan.source}: no such file")
    smpi.smpirun()
    program, compiled = folder / ("with_unisono" if with_unisono else "plain"), folder / "program.o"
    own = CXX_FLAGS if compiler == "smpicxx" else ()
    compile_step(plan, [compiler, *own, *plan.flags, "-c", str(plan.source), "-o", str(compiled)])
    # SMPI declares MPI_* weak, so that a linker would take nothing from an archive for them; and
    # without -Bsymbolic the program's calls would find SMPI's own definitions first.
    library = str(smpi.built("libunisono-smpi.a")) if with_unisono else ""
    needed = str(smpi.built("libsodium.a")) if with_unisono else ""
    added = ["-Wl,--whole-archive", library, "-Wl,--no-whole-archive", needed, "-Wl,-Bsymbolic"]
    link = ["smpicxx", str(compiled), *(added if with_unisono else []), *plan.flags, "-o", str(program)]
    compile_step(plan, link)
    return program


def compile_step(plan: Plan, line: list[str]) -> None:
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise UnisonoError(f"{plan.source} does not compile for the simulator: {line[0]} says why above")


def simulate(plan: Plan, configuration: Mapping[str, str], console: Console) -> list[ProgramRun]:
    runs = []
    with tempfile.TemporaryDirectory(prefix="unisono-sim-") as folder:
        jobs: list[tuple[str, str, Path, Mapping[str, str]]] = []
        if plan.selectors:
            program = compile_program(plan, Path(folder), False)
            jobs = [(name, name, program, {}) for name in plan.selectors]
        if plan.force:
            program = compile_program(plan, Path(folder), True)
            jobs.append((forced_label(plan), plan.base_selector, program, plan.force))
        if not jobs:
            raise UnisonoError("nothing to run: give --selectors or --force")
        for label, selector, program, variables in jobs:
            with console.status(f"{plan.source.name}: {label}"):
                line = [str(program), *plan.arguments]
                settings = {**configuration, "smpi/coll-selector": selector}
                run = smpi.run(plan.platform, plan.hosts, line, settings, variables, lambda: True)
            seconds = None if run.problem else run.simulated_seconds
            runs.append(ProgramRun(label, not variables, seconds, run.output, run.problem))
    return runs


def forced_label(plan: Plan) -> str:
    specs = [f"{name.removeprefix('UNISONO_').lower()}={spec}" for name, spec in plan.force.items()]
    return f"unisono, {' '.join(specs)}, else {plan.base_selector}"


def best_peer(runs: Sequence[ProgramRun]) -> float | None:
    return min((run.seconds for run in runs if run.is_peer and run.seconds), default=None)


def ratio(run: ProgramRun, runs: Sequence[ProgramRun]) -> float | None:
    best = best_peer(runs)
    return run.seconds / best if run.seconds and best else None


def failed(runs: Sequence[ProgramRun]) -> bool:
    """Whether Unisono's run failed, or every run; some selectors fail in some programs."""
    return any(run.problem for run in runs if not run.is_peer) or all(run.problem for run in runs)


def title(plan: Plan) -> str:
    return f"{plan.source.name} on {plan.ranks} ranks, {plan.platform.spec}"


def show(plan: Plan, runs: Sequence[ProgramRun], console: Console) -> None:
    for run in runs:
        console.print(Text(f"--- {run.label}", style="dim"))
        if run.output:
            console.print(Text(run.output), soft_wrap=True)
    console.print(Text(f"\n{title(plan)}", style="bold"), soft_wrap=True)
    drawn = table("run", "simulated ms", "ratio")
    for run in runs:
        time = "failed" if run.seconds is None else f"{run.seconds * 1e3:.3f}"
        drawn.add_row(run.label, time, number(ratio(run, runs)))
    console.print(drawn)
    for run in runs:
        if run.problem:
            console.print(Text(f"{run.label}: {run.problem}", style="bold red"), soft_wrap=True)
    console.print(Text("The whole program. ratio: time / best selector's time, below 1 is faster.", "dim"))


class RunRow(msgspec.Struct):
    """One run of the program; a peer is what a selector of SMPI chooses."""

    run: str
    is_peer: bool
    seconds: float | None
    ratio_to_best_selector: float | None
    problem: str
    output: str


class Document(documents.Document, tag="unisono.sim-program", kw_only=True):
    """A whole program on a simulated network, from MPI_Init to its end."""

    simgrid_version: str
    platform: str
    ranks: int
    program: list[str]
    runs: list[RunRow]


def document_of(plan: Plan, runs: Sequence[ProgramRun]) -> Document:
    return Document(
        simgrid_version=smpi.simgrid_version(),
        platform=plan.platform.spec,
        ranks=plan.ranks,
        program=[plan.source.name, *plan.arguments],
        runs=[
            RunRow(run.label, run.is_peer, run.seconds, ratio(run, runs), run.problem, run.output)
            for run in runs
        ],
    )
