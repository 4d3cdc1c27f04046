"""Programs of apps/ on a test bed, or simulated: once, with or without Unisono."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.sim import program as simulated
from unisono.sim import smpi

from experiments import harness, testbeds
from experiments.orthogonal.measuring import LAM, LAM_ALGORITHMS
from experiments.testbeds import ROOT, Json, Real, Simulated

LIMIT = 120.0  # seconds for a run
COMMON = ("common/application.cpp", "common/command_line.cpp", "common/loop_timer.cpp", "common/team.cpp")
SOURCES = {
    "jacobi": ("jacobi/forms.cpp", "jacobi/system.cpp", "jacobi/main.cpp"),
    "adams": (*(f"adams/{name}.cpp" for name in ("brusselator", "method", "solver", "forms", "main")),),
}
# Computing takes no time: what is left is the collectives, and the same in every run.
COMMUNICATION_ONLY = {"smpi/simulate-computation": "no"}


class Runs(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def is_exact(self) -> bool:
        """Whether every run takes the same time."""
        ...

    def once(self, program: str, arguments: Sequence[str], with_unisono: bool) -> Json: ...


@dataclass(frozen=True)
class RealRuns:
    testbed: Real
    ranks: int
    variables: Mapping[str, str]  # with Unisono
    is_exact: bool = False

    @property
    def name(self) -> str:
        return f"{self.testbed.name}, {self.ranks} ranks"

    def once(self, program: str, arguments: Sequence[str], with_unisono: bool) -> Json:
        executable = places.build_directory() / "apps" / f"{program}-{self.testbed.mpi.flavour}"
        prefix = testbeds.prefix(self.variables) if with_unisono else []
        command = [*prefix, str(executable), *arguments]
        result = self.testbed.start(command, self.ranks, LIMIT, into="--json")
        if not result.ok:
            raise UnisonoError(f"{self.name}: {program}: {result.problem}")
        for line in result.output.splitlines():
            if line.startswith("unisono"):  # that a profile does not hold here, say
                harness.console.print(f"[dim]{line}[/dim]", soft_wrap=True)
        return harness.printed_object(result.output, self.name)


@dataclass(frozen=True)
class SimulatedRuns:
    """SMPI's selector stands for the MPI library; `lam` for what the paper's LAM-MPI ran, from Unisono's
    catalogue, natively and in the phases of grids."""

    testbed: Simulated
    selector: str
    ranks: int
    variables: Mapping[str, str]
    folder: TemporaryDirectory[str] = field(
        default_factory=lambda: TemporaryDirectory(prefix="unisono-simulated-")
    )
    is_exact: bool = True

    @property
    def name(self) -> str:
        return f"{self.testbed.name}, {self.selector}, {self.ranks} ranks"

    def settings(self, with_unisono: bool) -> dict[str, str]:
        if self.selector != LAM:
            return dict(self.variables) if with_unisono else {}
        known = {f"UNISONO_{name.upper()}": algorithm for name, algorithm in lam_algorithms().items()}
        if not with_unisono:
            return known
        return {name: spec.replace("=native", f"={known[name]}") for name, spec in self.variables.items()}

    def compiled(self, program: str, with_unisono: bool) -> Path:
        folder = Path(self.folder.name) / program
        made = folder / ("with_unisono" if with_unisono else "plain")
        if made.exists():
            return made
        folder.mkdir(exist_ok=True)
        source = folder / f"{program}.cpp"
        # SMPI's macro exit takes one argument, and CLI11 has a function of that name.
        lines = ["#undef exit", *(f'#include "apps/{name}"' for name in (*COMMON, *SOURCES[program]))]
        source.write_text("\n".join(lines) + "\n")
        flags = ["-O2", f"-I{ROOT}", "-fopenmp-simd", "-lfmt"]
        plan = simulated.Plan(self.testbed.platform, self.ranks, source, (), flags, (), {})
        return simulated.compile_program(plan, folder, with_unisono)

    def once(self, program: str, arguments: Sequence[str], with_unisono: bool) -> Json:
        variables = self.settings(with_unisono)
        executable = self.compiled(program, bool(variables))
        output = Path(self.folder.name) / "result.json"
        output.unlink(missing_ok=True)
        selector = smpi.SELECTORS[0] if self.selector == LAM else self.selector
        configuration = {**COMMUNICATION_ONLY, "smpi/coll-selector": selector}
        line = [str(executable), *arguments, "--json", str(output)]
        done = smpi.run(
            self.testbed.platform, range(self.ranks), line, configuration, variables, lambda: True
        )
        if done.problem or not output.exists():
            raise UnisonoError(f"{self.name}: {program}: {done.problem or 'wrote no result'}")
        result: Json = json.loads(output.read_text())
        return result


def lam_algorithms() -> dict[str, str]:
    return {**LAM_ALGORITHMS, "allgatherv": LAM_ALGORITHMS["allgather"]}


def on(
    testbed: testbeds.Testbed, selectors: Sequence[str], ranks: int, variables: Mapping[str, str]
) -> list[Runs]:
    if isinstance(testbed, Simulated):
        return [SimulatedRuns(testbed, selector, ranks, variables) for selector in selectors]
    if isinstance(testbed, Real):
        return [RealRuns(testbed, ranks, variables)]
    raise UnisonoError(f"{testbed.name}: no programs run there")
