"""Process arrival patterns, Tables 2 to 5, 11 and 12: whole programs, traced and sped up.

  sudo .venv/bin/python -m experiments.arrival.applications --bed lab --ranks 16 --mpi openmpi
  .venv/bin/python -m experiments.arrival.applications --bed node --ranks 2 --parts overhead

--parts trace: each program once under the tracer; its collectives, their imbalance (Tables 2 to 5).
--parts gain: natively, with online selection, with --profile (`tuned`: what is fastest when all arrive at
once) and with what --aware forces, in turn in several rounds (Table 12).
--parts overhead: FT and LAMMPS with and without the tracer in turn; a gain below 0 is what it costs.
Gains are medians over the rounds, with their 95 % interval. Times in collectives are those of all iterations,
with the search and with lost packets in them.
--from evaluates what --json wrote, and measures nothing.
LAMMPS is Debian's, which scripts/fetch_programs.sh lammps brings, and runs on Open MPI only.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from unisono.core import launch
from unisono.core.errors import UnisonoError

from experiments import harness, markdown
from experiments.arrival import measuring
from experiments.arrival import traced as tracing
from experiments.arrival.programs import Program, Times, chosen, run
from experiments.arrival.traced import Place, number, traced
from experiments.harness import Check, above, below
from experiments.orthogonal.applications import gain
from experiments.testbeds import Json, Real

EXPERIMENT = "arrival-applications"
PARTS = ("trace", "gain", "overhead")
NATIVE, TRACED = "native", "traced"
OVERHEAD = ("ft", "lammps-copper", "lammps-melt")
DEAREST = 1.0  # percent that tracing may cost


# --- gains ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arms:
    """Of one program: the times of every round by arm; the algorithms that ran where it is known."""

    program: str
    times: Mapping[str, tuple[Times, ...]]
    algorithms: Mapping[str, Mapping[str, int]]

    def seconds(self, arm: str) -> list[float]:
        return [one.seconds for one in self.times[arm]]

    def collectives(self, arm: str) -> list[float]:
        return [one.in_collectives for one in self.times[arm] if one.in_collectives is not None]

    def rows(self) -> list[tuple[str, ...]]:
        rows = []
        for arm in self.times:
            communication = self.collectives(arm)
            cells = [self.program, arm, number(statistics.median(communication)) if communication else ""]
            cells.append(f"{statistics.median(self.seconds(arm)):.3f}")
            if arm == NATIVE:
                cells += ["", ""]
            else:
                own = gain(self.collectives(NATIVE), communication).text() if communication else ""
                cells += [own, gain(self.seconds(NATIVE), self.seconds(arm)).text()]
            ran = sorted(self.algorithms.get(arm, {}).items(), key=lambda item: -item[1])
            cells.append(", ".join(f"{name} {calls}" for name, calls in ran[:3]))
            rows.append(tuple(cells))
        return rows


GAIN_HEAD = (
    "program",
    "arm",
    "in collectives: s",
    "s",
    "gain in collectives: %",
    "gain: %",
    "calls by algorithm",
)
GAIN_WORDS = (0, 1, 6)


def measured(
    place: Place,
    programs: Sequence[Program],
    arms: Mapping[str, Mapping[str, str]],
    rounds: int,
    end: float = math.inf,
) -> list[Arms]:
    """Every program with every arm once in each round, forwards and backwards in turn; no round begins
    after `end`."""
    times: dict[str, dict[str, list[Times]]] = {one.name: {arm: [] for arm in arms} for one in programs}
    for number_ in range(rounds):
        if number_ > 0 and time.monotonic() > end:
            break
        for program in programs:
            for arm in list(arms) if number_ % 2 == 0 else reversed(list(arms)):
                times[program.name][arm].append(run_arm(place, program, arm, arms[arm]))
        harness.console.print(f"[dim]{place.name}: round {number_ + 1}[/dim]")
    found = []
    for program in programs:
        algorithms = {
            arm: tracing.algorithms(traced(place, program, variables).report)
            for arm, variables in arms.items()
            if "UNISONO_ONLINE" in variables and time.monotonic() < end  # once more, for what was chosen
        }
        own = {arm: tuple(all_) for arm, all_ in times[program.name].items()}
        found.append(Arms(program.name, own, algorithms))
    return found


def run_arm(place: Place, program: Program, arm: str, variables: Mapping[str, str]) -> Times:
    if arm != TRACED:
        return run(place.testbed, place.ranks, program, variables)
    with tempfile.TemporaryDirectory(prefix="unisono-trace-") as folder:
        return run(place.testbed, place.ranks, program, {"UNISONO_TRACE": folder})


def gain_checks(found: Sequence[Arms]) -> list[Check]:
    checks = []
    for one in found:
        for arm in one.times:
            if arm in (NATIVE, TRACED):
                continue
            whole = gain(one.seconds(NATIVE), one.seconds(arm))
            answer = above(whole.low, whole.high, 0)
            checks.append(Check(f"{one.program}: {arm} gains", answer, f"{whole.text()} %"))
    return checks


def overhead_checks(found: Sequence[Arms]) -> list[Check]:
    checks = []
    for one in found:
        whole = gain(one.seconds(NATIVE), one.seconds(TRACED))
        claim = f"{one.program}: tracing costs less than {DEAREST:g} %"
        numbers = f"{-whole.median:.2f} % ({-whole.high:.2f} to {-whole.low:.2f})"
        checks.append(Check(claim, below(-whole.high, -whole.low, DEAREST), numbers))
    return checks


def arms_of(online: str, profile: Path | None, aware: Sequence[str] = ()) -> dict[str, dict[str, str]]:
    arms: dict[str, dict[str, str]] = {NATIVE: {}}
    for name in online.split(",") if online else ():
        arms[name] = {"UNISONO_ONLINE": name}
    if profile:
        arms["tuned"] = {"UNISONO_PROFILE": launch.profile_path(profile)}
    if aware:
        arms["aware"] = dict(launch.forced(aware))
    return arms


# --- all together ---------------------------------------------------------------------------------


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    for position, column in enumerate(head):
        made.add_column(column, justify="left" if position in words else "right")
    for row in rows:
        made.add_row(*row)
    return made


class Findings:
    """What one place shows, printed at once and kept for the files."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines = [f"### {name}", ""]
        self.checks: list[Check] = []
        self.body: Json = {}

    def add(
        self, head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int], title: str = ""
    ) -> None:
        harness.console.print(table(title or self.name, head, rows, words))
        self.lines += markdown.table(head, rows, words)

    def judge(self, checks: Sequence[Check]) -> None:
        self.checks += checks
        self.lines += markdown.verdicts(checks)


def examine(
    place: Place, programs: Sequence[Program], parts: Sequence[str], rounds: int, arms: Any, end: float
) -> Findings:
    found = Findings(place.name)
    own = [program for program in programs if place.testbed.mpi.flavour in program.flavours]
    if "trace" in parts:
        traces = [traced(place, program, {}) for program in own]
        found.add(tracing.PROGRAM_HEAD, tracing.program_rows(traces), (0, 1))
        found.add(tracing.ROUTINE_HEAD, tracing.routine_rows(traces), (0, 1))
        found.judge(tracing.checks(traces))
        found.body["trace"] = {one.program.name: one.report for one in traces}
    for part, wanted, compared in (
        ("gain", own, arms),
        ("overhead", [p for p in own if p.name in OVERHEAD], {NATIVE: {}, TRACED: {}}),
    ):
        if part not in parts:
            continue
        judge_arms(found, part, measured(place, wanted, compared, rounds, end))
    return found


def judge_arms(found: Findings, part: str, results: Sequence[Arms]) -> None:
    found.add(GAIN_HEAD, [row for one in results for row in one.rows()], GAIN_WORDS)
    found.judge(gain_checks(results) if part == "gain" else overhead_checks(results))
    found.body[part] = {
        one.program: {arm: [vars(times) for times in all_] for arm, all_ in one.times.items()}
        for one in results
    }
    found.body[f"{part}_algorithms"] = {one.program: one.algorithms for one in results if one.algorithms}


def kept(name: str, body: Json) -> Findings:
    found = Findings(name)
    for part in ("gain", "overhead"):
        if part not in body:
            continue
        algorithms = body.get(f"{part}_algorithms", {})
        results = [
            Arms(
                program,
                {arm: tuple(Times(**times) for times in all_) for arm, all_ in arms.items()},
                algorithms.get(program, {}),
            )
            for program, arms in body[part].items()
        ]
        judge_arms(found, part, results)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.parser(__doc__ or "")
    add = parser.add_argument
    add(
        "--programs", default="", help="of ft, fft2d, transpose, sweep, is, nbody, lammps-copper, lammps-melt"
    )
    add("--parts", default=",".join(PARTS), help="of trace, gain, overhead")
    add("--rounds", type=int, default=6, help="runs of every arm (6)")
    add("--seconds", type=float, default=math.inf, help="after which no round begins (no limit)")
    add("--scale", type=float, default=1.0, help="multiplies the iterations (1)")
    add("--side", type=int, default=1, help="multiplies the sides of the problems; not of LAMMPS' (1)")
    add("--online", default="auto", help="auto, star with its settings, or nothing (auto)")
    add("--profile", type=Path, help="of unisono tune: one more arm")
    add(
        "--aware",
        action="append",
        default=[],
        metavar="COLLECTIVE=SPEC",
        help="one more arm, which forces this",
    )
    add("--from", dest="kept", type=Path, help="evaluate what --json wrote to this file: gains and overheads")
    given = parser.parse_args(arguments)
    if given.kept:
        raw = measuring.results_in(given.kept, EXPERIMENT)
        return shown(given, [kept(name, body) for name, body in raw.items()])
    parts = given.parts.split(",")
    if not set(parts) <= set(PARTS):
        raise UnisonoError(f"--parts {given.parts}: valid are {', '.join(PARTS)}")
    programs = chosen(given.programs, given.ranks, given.scale, given.side)
    results = []
    end = time.monotonic() + given.seconds
    for place in measuring.places_of(given):
        if not isinstance(place.testbed, Real):
            raise UnisonoError(f"--bed {given.bed}: valid are node and lab")
        here = Place(place.testbed, place.ranks)
        arms = arms_of(given.online, given.profile, given.aware)
        results.append(examine(here, programs, parts, given.rounds, arms, end))
    return shown(given, results)


def shown(given: argparse.Namespace, results: Sequence[Findings]) -> int:
    harness.report({one.name: one.checks for one in results})
    body = {one.name: one.body for one in results}
    measuring.write(given, EXPERIMENT, body, ["\n".join(one.lines) for one in results])
    return 0


if __name__ == "__main__":
    harness.run(main)
