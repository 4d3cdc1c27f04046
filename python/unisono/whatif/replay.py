"""The program at the new scale, run in the simulator: docs/reference/whatif.md has its file."""

import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from unisono.core import files
from unisono.core.catalogue import NATIVE
from unisono.core.errors import UnisonoError
from unisono.sim import smpi
from unisono.sim.platforms import Platform
from unisono.whatif.calls import Calls, Float, Kind, Shape
from unisono.whatif.scaling import Scale, Target


@dataclass(frozen=True, order=True)
class Cell:
    """What a profile chooses for: calls of several places in the program may share one."""

    collective: str
    bytes: int
    shape: Shape


@dataclass(frozen=True)
class Replayed:
    """Seconds by kind: of one call, the mean over calls and ranks."""

    in_call: tuple[float, ...]
    computing: tuple[float, ...]  # before it
    after_last: tuple[float, ...]  # from the last arrival to the last exit
    output: str

    def program(self, kinds: Sequence[Kind]) -> float:
        """All calls of the trace, those too that were not replayed, and the computing between them."""
        return sum(
            kind.calls * (own + computing)
            for kind, own, computing in zip(kinds, self.in_call, self.computing, strict=True)
        )

    def collectives(self, kinds: Sequence[Kind]) -> float:
        return sum(kind.calls * own for kind, own in zip(kinds, self.in_call, strict=True))


class SimulationError(UnisonoError):
    """A simulation that gave no times."""


@dataclass(frozen=True)
class Program:
    """The trace's calls at the new scale, of each kind `sample` of the middle."""

    calls: Calls
    target: Target
    platform: Platform
    selector: str
    sample: int

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Of each kind."""
        scale = Scale.of(self.calls, self.target)
        return tuple(
            Cell(
                kind.collective, scale.bytes(kind.collective, kind.bytes, kind.shape), scale.shape(kind.shape)
            )
            for kind in self.calls.kinds
        )

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Calls that are replayed, by their number in the trace."""
        seen = [0] * len(self.calls.kinds)
        found = []
        for call, kind in enumerate(self.calls.kind_of):
            spare = max(0, self.calls.kinds[kind].calls - self.sample)
            if spare // 2 <= seen[kind] < spare // 2 + self.sample:
                found.append(call)
            seen[kind] += 1
        return tuple(found)

    @cached_property
    def turns(self) -> dict[int, list[int]]:
        """The calls of each kind, by their number in the trace."""
        found: dict[int, list[int]] = {}
        for call, kind in enumerate(self.calls.kind_of):
            found.setdefault(kind, []).append(call)
        return found

    def computing(self, call: int) -> Float:
        """Before that call, of every rank. Of p traced ranks rank i lends its time to i, i + p, i + 2p, ...,
        but from another turn of the loop to each: of more ranks the latest is later."""
        turns = self.turns[self.calls.kind_of[call]]
        at = turns.index(call)
        copies = -(-self.target.ranks // self.calls.ranks)
        rows = [self.calls.computing[turns[(at + copy) % len(turns)]] for copy in range(copies)]
        return np.concatenate(rows)[: self.target.ranks]

    def document(self, specs: Mapping[Cell, str]) -> dict[str, object]:
        """`specs`: what runs a cell; of those that are not in it nothing is forced."""
        scale = Scale.of(self.calls, self.target)
        kinds = [
            {
                "collective": cell.collective,
                "bytes": cell.bytes,
                "ranks": cell.shape.ranks,
                "strided": cell.shape.strided,
                "algorithm": specs.get(cell, ""),
            }
            for cell in self.cells
        ]
        steps = []
        for call in self.kept:
            number = self.calls.kind_of[call]
            steps.append(
                {
                    "kind": number,
                    "root": scale.root(self.calls.roots[call], self.calls.kinds[number].shape),
                    "computing_seconds": np.round(scale.computing * self.computing(call), 9).tolist(),
                }
            )
        return {"repetitions": 1, "kinds": kinds, "steps": steps}

    def run(
        self,
        specs: Mapping[Cell, str],
        keep_on: Callable[[], bool],
        variables: Mapping[str, str] | None = None,
    ) -> Replayed:
        """`keep_on` may end it by an exception. `variables`: UNISONO_*."""
        native = not variables and all(spec == NATIVE for spec in specs.values())
        with tempfile.TemporaryDirectory(prefix="unisono-whatif-") as folder:
            file = Path(folder) / "program.json"
            file.write_text(json.dumps(self.document(specs)))
            run = smpi.run(
                self.platform,
                self.target.placed(),
                [str(smpi.built("unisono-sim")), "--replay", str(file)],
                {"smpi/coll-selector": self.selector},
                {"UNISONO_DISABLE": "1"} if native else dict(variables or {}),
                keep_on,
            )
        lines = [text for text in run.output.splitlines() if text.startswith("{") and '"after_last' in text]
        if run.problem or not lines:
            raise SimulationError(run.problem or "the simulation ended early")
        return self.replayed(files.decoded(lines[0]), run.output)

    def replayed(self, told: Mapping[str, list[float]], output: str) -> Replayed:
        counts = [0] * len(self.calls.kinds)
        for call in self.kept:
            counts[self.calls.kind_of[call]] += 1

        def means(name: str) -> tuple[float, ...]:
            return tuple(total / count for total, count in zip(told[name], counts, strict=True))

        found = Replayed(
            means("in_calls_seconds"),
            means("computing_seconds"),
            means("after_last_arrival_seconds"),
            output,
        )
        assert all(math.isfinite(value) for value in found.in_call)
        return found
