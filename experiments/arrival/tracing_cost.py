"""What tracing costs, so that other programs on the machine do not decide it.

  .venv/bin/python -m experiments.arrival.tracing_cost --mpi openmpi --rounds 10

--parts event: a traced collective of one rank against the same by its PMPI name, in turn, in so many
processes: nanoseconds per event (two for a call), and instructions per call as valgrind counts them.
--parts programs: FT and LAMMPS with one rank, which waits for nobody: instructions with and without the
tracer, and processor time (user and system) of both, in turn, forwards and backwards.

Instructions and calls are of the main loop: those of a run less those of one with half as many iterations.
Shares of them are of what a rank of --ranks ranks has to do when the work is divided evenly and nobody waits,
which is the worst case: the instructions that tracing adds; the calls by the time that one takes (the upper
end of its interval). What comes once, at the beginning and the end, stands beside them.
"""

import argparse
import dataclasses
import math
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.trace.reader import read

from experiments import harness, markdown
from experiments.arrival import measuring
from experiments.arrival.applications import OVERHEAD, table
from experiments.arrival.measuring import Mean, mean
from experiments.arrival.programs import Program, before, chosen
from experiments.harness import Check, below
from experiments.testbeds import Json

PARTS = ("event", "programs")
DEAREST_EVENT, DEAREST = 60.0, 1.0  # nanoseconds; percent of a program
EVENTS = 2  # of a call
COUNTER = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")
COUNTED_CALLS = 100_000
LINE = re.compile(r"^(\w+) +\S+ +\S+ +(\S+) +\(\S+ \.\. \S+\) +(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Finished:
    output: str  # standard output, then standard error
    seconds: float  # of the processor, user and system


def start(command: Sequence[str], variables: Mapping[str, str]) -> Finished:
    """One rank, without a launcher."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            list(command), env={**os.environ, **variables}, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise UnisonoError(f"{command[0]}: ended with {process.returncode}: {text.strip()[-200:]}")
    return Finished(text, usage.ru_utime + usage.ru_stime)


def tracer(folder: str) -> dict[str, str]:
    return {"LD_PRELOAD": str(places.preload_library("unisono")), "UNISONO_TRACE": folder}


def start_traced(command: Sequence[str]) -> Finished:
    with tempfile.TemporaryDirectory(prefix="unisono-trace-") as folder:
        return start(command, tracer(folder))


def calls_of(command: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="unisono-trace-") as folder:
        start(command, tracer(folder))
        return read(Path(folder)).events


def instructions(found: Finished) -> int:
    counted = COUNTED.search(found.output)
    if not counted:
        raise UnisonoError("valgrind counted nothing: is it there?")
    return int(counted[1].replace(",", ""))


# --- an event -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Of one collective; nanoseconds more per event, a value for each process."""

    collective: str
    medians: tuple[float, ...]
    means: tuple[float, ...]  # of processor time: with the windows of the trace's file, now and then


def event_costs(program: str, rounds: int) -> list[Event]:
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for name, median, average in LINE.findall(start_traced([program]).output):
            found.setdefault(name, []).append((float(median) / EVENTS, float(average) / EVENTS))
    if not found:
        raise UnisonoError(f"{program}: printed no line that can be read")
    return [
        Event(name, tuple(one for one, _ in own), tuple(one for _, one in own)) for name, own in found.items()
    ]


def instructions_per_call(program: str) -> float:
    counts = [
        instructions(start_traced([*COUNTER, program, form, str(COUNTED_CALLS)])) for form in ("MPI", "PMPI")
    ]
    return (counts[0] - counts[1]) / COUNTED_CALLS


def event_checks(found: Sequence[Event]) -> list[Check]:
    checks = []
    for one in found:
        for what, values in (("median", one.medians), ("mean", one.means)):
            own = mean(values)
            claim = f"{one.collective}: an event costs {DEAREST_EVENT:g} ns at most, {what}"
            numbers = f"{own.value:.1f} ± {own.half:.1g} ns, {own.count} processes"
            checks.append(Check(claim, below(own.low, own.high, DEAREST_EVENT), numbers))
    return checks


# --- programs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """Of a run of a program with one rank."""

    calls: int
    plain: int  # instructions
    traced: int

    def __sub__(self, other: "Work") -> "Work":
        return Work(self.calls - other.calls, self.plain - other.plain, self.traced - other.traced)


@dataclass(frozen=True)
class Cost:
    program: str
    ranks: int  # of one of them are the shares, in percent
    loop: Work
    once: int  # instructions that tracing adds outside of the loop
    seconds: tuple[tuple[float, float], ...]  # of the processor, without and with the tracer, by round
    call_s: float | None  # what a traced call takes more, at most

    @property
    def counted(self) -> float:
        return 100 * self.ranks * (self.loop.traced / self.loop.plain - 1)

    @property
    def calculated(self) -> float | None:
        """The loop is half of the run, so its time is half of the run's at most."""
        if self.call_s is None:
            return None
        loop_s = min(plain for plain, _ in self.seconds) / 2
        return 100 * self.ranks * self.loop.calls * self.call_s / loop_s

    @property
    def timed(self) -> Mean:
        """Of one rank, by the logarithms of the ratios of the rounds."""
        logs = mean([math.log(traced / plain) for plain, traced in self.seconds])
        return Mean(100 * logs.value, 100 * logs.half, logs.count)

    def row(self) -> tuple[str, ...]:
        more = self.loop.traced - self.loop.plain
        work = (f"{self.loop.plain / 1e6:.0f}", f"{more / 1e6:.3g}", f"{self.once / 1e6:.3g}")
        calculated = "" if self.calculated is None else f"{self.calculated:.2g}"
        timed = f"{self.timed.value:.2g} ± {self.timed.half:.1g}"
        return (self.program, str(self.loop.calls), *work, f"{self.counted:.2g}", calculated, timed)


HEAD = (
    "program",
    "calls in the loop",
    "its instructions, 10^6",
    "more, 10^6",
    "more, once",
    "%, instructions",
    "%, calls by time",
    "%, processor time of one rank",
)


def work_of(command: list[str]) -> Work:
    counted = before(command, COUNTER)
    return Work(calls_of(command), instructions(start(counted, {})), instructions(start_traced(counted)))


def cost_of(
    half: Program, whole: Program, flavour: str, ranks: int, rounds: int, call_s: float | None
) -> Cost:
    command = whole.command(flavour)
    complete = work_of(command)
    loop = complete - work_of(half.command(flavour))
    once = complete.traced - complete.plain - 2 * (loop.traced - loop.plain)
    arms = (lambda: start(command, {}), lambda: start_traced(command))
    seconds = []
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        found = {arm: arms[arm]().seconds for arm in order}
        seconds.append((found[0], found[1]))
    return Cost(whole.name, ranks, loop, once, tuple(seconds), call_s)


def cost_checks(found: Sequence[Cost]) -> list[Check]:
    checks = []
    claim = f"tracing costs less than {DEAREST:g} %"
    for one in found:
        who = f"{one.program}, {one.ranks} ranks: {claim}"
        for how, share in (("instructions", one.counted), ("calls by time", one.calculated)):
            if share is not None:
                checks.append(Check(f"{who}, {how}", share < DEAREST, f"{share:.2g} %"))
        timed = one.timed
        numbers = f"{timed.value:.2g} % ({timed.low:.2g} to {timed.high:.2g}), {timed.count} rounds"
        answer = below(timed.low, timed.high, DEAREST)
        checks.append(Check(f"{one.program}, one rank: {claim}, by processor time", answer, numbers))
    return checks


# --- all together ---------------------------------------------------------------------------------


def examined(given: argparse.Namespace, flavour: str) -> tuple[Json, list[str], list[Check]]:
    body: Json = {}
    lines, checks = [f"### {flavour}", ""], []
    call_s: float | None = None
    if "event" in given.parts:
        program = str(places.build_directory() / "tests" / "interpose" / f"pass_on_cost_{flavour}")
        events, count = event_costs(program, given.rounds), instructions_per_call(program)
        call_s = max(mean(one.means).high for one in events) * EVENTS * 1e-9
        body["event"] = {"instructions_per_call": count, "ns": [vars(one) for one in events]}
        lines += [f"Barrier: {count:.0f} instructions more per call.", ""]
        checks += event_checks(events)
    if "programs" in given.parts:
        lengths = zip(*(chosen(given.programs, 1, given.scale / part) for part in (2, 1)), strict=True)
        costs = [
            cost_of(half, whole, flavour, given.ranks, given.rounds, call_s)
            for half, whole in lengths
            if flavour in whole.flavours
        ]
        rows = [one.row() for one in costs]
        harness.console.print(table(f"{flavour}, a rank of {given.ranks}", HEAD, rows, (0,)))
        lines += markdown.table(HEAD, rows, (0,))
        body["programs"] = [dataclasses.asdict(one) for one in costs]
        checks += cost_checks(costs)
    return body, [*lines, *markdown.verdicts(checks)], checks


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    add("--parts", default=",".join(PARTS), help="of event, programs")
    add("--programs", default=",".join(OVERHEAD), help=f"({','.join(OVERHEAD)})")
    add("--ranks", type=int, default=16, help="of how many ranks one is judged (16)")
    add("--rounds", type=int, default=10, help="processes of each kind (10)")
    add("--scale", type=float, default=1.0, help="multiplies the iterations (1)")
    add("--json", type=Path, help="write the numbers to this file")
    add("--markdown", type=Path, help="write the tables to this file")
    given = parser.parse_args(arguments)
    given.parts = given.parts.split(",")
    if not set(given.parts) <= set(PARTS):
        raise UnisonoError(f"--parts {','.join(given.parts)}: valid are {', '.join(PARTS)}")
    body: Json = {}
    sections, verdicts = [], {}
    for flavour in given.mpi.split(","):
        body[flavour], lines, verdicts[flavour] = examined(given, flavour)
        sections.append("\n".join(lines))
        measuring.write(given, "arrival-tracing-cost", body, sections)
    harness.report(verdicts)
    return 0


if __name__ == "__main__":
    harness.run(main)
