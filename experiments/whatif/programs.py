"""The programs of the verification, in the simulator: where they compute, no time passes, but in the last."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unisono.core.errors import UnisonoError
from unisono.sim import platforms, program, smpi
from unisono.trace import reader
from unisono.trace.reader import Trace
from unisono.whatif.scaling import STRONG, WEAK

INPUTS = Path(__file__).resolve().parent.parent / "inputs"


@dataclass(frozen=True)
class Application:
    """`main`: the collective that is run by other algorithms at the larger scale."""

    name: str
    arguments: str
    main: str
    scaling: str = STRONG

    @property
    def label(self) -> str:
        return f"{self.name} {self.arguments}"

    @property
    def file(self) -> str:
        return f"{self.name}-{self.main}"


APPLICATIONS = (
    Application("jacobi", "--form row-allgather --n 4096 --iterations 6", "allgather"),
    Application("jacobi", "--form column-allreduce --n 4096 --iterations 6", "allreduce"),
    Application("jacobi", "--form column-reduce-bcast --n 4096 --iterations 6", "bcast"),
    Application("is", "--keys 1048576 --iterations 4", "alltoallv"),
    Application("ft", "--box 64 64 64 --iterations 3", "alltoall"),
    Application("transpose", "--n 1024 --iterations 4", "alltoall"),
    Application("sweep", "--n 256 --steps 2", "allreduce"),
    Application("nbody", "--n 2048 --steps 4", "allgather"),
    Application("imbalanced", "8 65536 2000", "allreduce", WEAK),
)


def trace(application: Application, ranks: int, platform: str, variables: Mapping[str, str]) -> Trace:
    """One run in SMPI with the imitation of Open MPI, or with algorithms forced."""
    network = platforms.parse(platform)
    with tempfile.TemporaryDirectory(prefix="unisono-verify-") as folder:
        source = INPUTS / f"{application.name}.c"
        if source.is_file():
            plan = program.Plan(network, ranks, source, (), ("-O2",), (), {})
            compiled = program.compile_program(plan, Path(folder), with_unisono=True)
        else:
            compiled = smpi.built(f"apps/{application.name}")
        traced = Path(folder) / "trace"
        traced.mkdir()
        added = {"UNISONO_TRACE": str(traced), **(variables or {"UNISONO_DISABLE": "1"})}
        line = [str(compiled), *application.arguments.split()]
        run = smpi.run(network, range(ranks), line, {"smpi/coll-selector": "ompi"}, added, lambda: True)
        if run.problem:
            raise UnisonoError(f"{application.label} on {ranks} ranks: {run.problem}: {run.output[-300:]}")
        found = reader.read(traced)
        for rank in found.ranks.values():  # mapped files that are about to go
            rank.events = rank.events.copy()
    return found
