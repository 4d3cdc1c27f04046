"""Programs under the tracer: process arrival patterns, Tables 2 to 5."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from unisono.trace import document
from unisono.trace.analysis import analyse
from unisono.trace.reader import read
from unisono.trace.summary import summarise

from experiments.arrival.programs import Program, Times, run
from experiments.harness import Check
from experiments.testbeds import ROOT, Json, Real


@dataclass(frozen=True)
class Place:
    testbed: Real
    ranks: int

    @property
    def name(self) -> str:
        return f"{self.testbed.name}, {self.ranks} ranks"


@dataclass(frozen=True)
class Traced:
    """A program under the tracer; the report is docs/reference/schemas/report.json."""

    program: Program
    times: Times
    report: Json


def traced(place: Place, program: Program, variables: Mapping[str, str]) -> Traced:
    with tempfile.TemporaryDirectory(prefix="unisono-trace-") as folder:
        own = {**variables, "UNISONO_TRACE": folder}
        times = run(place.testbed, place.ranks, program, own)
        report = msgspec.to_builtins(document.document_of(summarise(analyse(read(Path(folder))))))
    report["trace"]["command"] = [without_place(word) for word in report["trace"]["command"]]
    return Traced(program, times, report)


def without_place(word: str) -> str:
    """A word of a command line, without where the repository and temporary files are on this machine."""
    path = Path(word)
    if not path.is_absolute():
        return word
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else f"DIR/{path.name}"


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def program_rows(found: Sequence[Traced]) -> list[tuple[str, ...]]:
    """Tables 2 and 4."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        whole = one.report["program"]["all_calls"] or {}
        lines = one.program.source_lines()
        collectives = whole.get("seconds_per_rank")
        rows.append(
            (
                one.program.name,
                one.program.description,
                str(lines) if lines else "",
                number(one.times.seconds),
                number(collectives),
                number(whole.get("average_imbalance_factor")),
                number(whole.get("worst_imbalance_factor")),
            )
        )
    return rows


PROGRAM_HEAD = ("program", "what", "lines", "s", "in collectives: s", "average factor", "worst factor")


def routine_rows(found: Sequence[Traced]) -> list[tuple[str, ...]]:
    """Tables 3, 5 and 11: * those of the main loop."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        for routine in one.report["routines"]:
            main = routine["main_loop"]
            sizes = routine["bytes"]
            span = (sizes["least"], sizes["most"])
            text = f"{span[0]:.0f}" if span[0] == span[1] else f"{span[0]:.0f}-{span[1]:.0f}"
            own: Mapping[str, Any] = main or routine
            rows.append(
                (
                    one.program.name,
                    routine["collective"] + (" *" if main else ""),
                    text,
                    str(routine["calls"]),
                    number(own["average_imbalance_factor"]),
                    number(own["worst_imbalance_factor"]),
                    number(own["share_balanced"]),
                )
            )
    return rows


ROUTINE_HEAD = ("program", "routine", "bytes", "calls", "average factor", "worst factor", "share balanced")


def checks(found: Sequence[Traced]) -> list[Check]:
    """What sections 4.4 and 4.5 say of all programs."""
    made = []
    for one in found:
        whole = one.report["program"]["all_calls"] or {}
        worst = whole.get("worst_imbalance_factor")
        if worst is not None:
            claim = f"{one.program.name}: arrivals are imbalanced on average"
            error, time = whole["clock_error_s"], whole["worst_imbalance_time_s"]
            numbers = f"worst-case factor {worst:.3g} (paper 17 at least), {time * 1e3:.3g} ms"
            if error > 0:
                numbers += f", clocks within {error * 1e3:.3g} ms"
            unknown = whole["below_clock_error"]  # how far apart they arrive cannot be told
            made.append(Check(claim, None if unknown else worst >= 1, numbers))
    return made


def algorithms(report: Json) -> dict[str, int]:
    """Calls by algorithm."""
    calls: dict[str, int] = {}
    for site in report["call_sites"]:
        for name, times in site["algorithms"].items():
            calls[name] = calls.get(name, 0) + times
    return calls
