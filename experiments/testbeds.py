"""Where an experiment's programs run: a test bed with an MPI library, or a simulated network."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from unisono.core import jobs, places
from unisono.core.errors import UnisonoError
from unisono.sim import platforms, smpi
from unisono.sim import program as simulated_program
from unisono.testbeds import beds

ROOT = Path(__file__).resolve().parent.parent
Json = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """build/bin/NAME-FLAVOUR, made from one source, which the simulator compiles by itself."""

    name: str
    source: Path
    with_unisono: bool = False  # what it prints depends on Unisono's library too
    is_linked: bool = False  # to that library: variables are enough


@dataclass(frozen=True)
class Run:
    """So many ranks of a program, which prints one JSON object."""

    program: Program
    ranks: int
    arguments: Sequence[str]
    per_host: int | None = None  # otherwise few
    into: str = ""  # on real beds, the option that names a file for that object instead
    variables: Mapping[str, str] = field(default_factory=dict)  # UNISONO_*; with any, under Unisono
    repetition: int = 0  # tells runs of the same apart that are kept


def prefix(variables: Mapping[str, str], is_linked: bool = False) -> list[str]:
    """Of a command that these variables put under Unisono; without any, nothing."""
    if not variables:
        return []
    settings = (f"{name}={value}" for name, value in variables.items())
    return ["env", *settings, *([] if is_linked else [str(places.program("unisono-exec"))])]


class Testbed(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def line_rate(self) -> float | None:
        """Bits a second, where there is a line."""
        ...

    def describe(self) -> Json: ...
    def files(self, program: Program) -> list[Path]:
        """What a result depends on."""
        ...

    def execute(self, run: Run, silence: float) -> jobs.Outcome: ...


@dataclass(frozen=True)
class Real:
    bed: beds.Bed
    mpi: places.Mpi

    @property
    def name(self) -> str:
        return f"{self.bed.kind}, {self.mpi.flavour}"

    @property
    def line_rate(self) -> float | None:
        return self.bed.lab.rate if isinstance(self.bed, beds.Lab) else None

    def describe(self) -> Json:
        return {**self.bed.describe(), "mpi": self.mpi.flavour}

    def executable(self, program: Program) -> Path:
        return places.program(f"{program.name}-{self.mpi.flavour}")

    def files(self, program: Program) -> list[Path]:
        found = [self.executable(program), self.mpi.library]
        if program.with_unisono:
            found.append(places.preload_library(f"unisono-{self.mpi.flavour}"))
        return found

    def execute(self, run: Run, silence: float) -> jobs.Outcome:
        put = prefix(run.variables, run.program.is_linked)
        command = [*put, str(self.executable(run.program)), *run.arguments]
        return self.start(command, run.ranks, silence, run.per_host, run.into)

    def start(
        self, command: Sequence[str], ranks: int, silence: float, per_host: int | None = None, into: str = ""
    ) -> jobs.Outcome:
        """Any program; what it writes into the file that it is given by the option `into` comes first."""
        with tempfile.TemporaryDirectory(prefix="unisono-experiment-") as folder:
            file = Path(folder) / "result.json"
            complete = [*command, into, str(file)] if into else command
            fitting = self.bed.per_host(ranks, per_host)
            line, environment = self.bed.command(self.mpi, ranks, fitting, complete)
            outcome = jobs.run(line, environment, silence)
            written = file.read_text() if file.exists() else ""
            return jobs.Outcome(written + outcome.output, outcome.problem)


@dataclass(frozen=True)
class Simulated:
    platform: platforms.Platform
    selector: str = smpi.SELECTORS[0]

    @property
    def name(self) -> str:
        return f"sim, {self.platform.kind}:{self.platform.shape}"

    @property
    def line_rate(self) -> float | None:
        return self.platform.link_bits

    def describe(self) -> Json:
        return {
            "kind": "sim",
            "platform": self.platform.spec,
            "selector": self.selector,
            "simgrid": smpi.simgrid_version(),
        }

    def files(self, program: Program) -> list[Path]:
        return [program.source, *([smpi.built("libunisono-smpi.a")] if program.with_unisono else [])]

    def execute(self, run: Run, silence: float) -> jobs.Outcome:
        plan = simulated_program.Plan(
            platform=self.platform,
            ranks=run.ranks,
            source=run.program.source,
            arguments=run.arguments,
            flags=["-O2", f"-I{ROOT}", "-DUNISONO_FLAVOUR_SMPI=1"],
            selectors=[] if run.variables else [self.selector],
            force=run.variables,
        )
        (done,) = simulated_program.simulate(plan, {}, Console(stderr=True))
        return jobs.Outcome(done.output, done.problem)


def parse(text: str, mpis: Sequence[places.Mpi]) -> list[Testbed]:
    """ "node", "lab", "sim:ethernet:16"; several by spaces or commas before one of these words."""
    words = text.replace(",node", " node").replace(",lab", " lab").replace(",sim:", " sim:").split()
    found: list[Testbed] = []
    for word in words:
        if word == "node":
            node = beds.Node()
            found += [Real(node, mpi) for mpi in mpis]
        elif word == "lab":
            lab = beds.current_lab()
            found += [Real(lab, mpi) for mpi in mpis]
        elif word.startswith("sim:"):
            found.append(Simulated(platforms.parse(word.removeprefix("sim:"))))
        else:
            raise UnisonoError(f"--bed {word}: valid are node, lab and sim:PLATFORM, as in sim:ethernet:16")
    return found
