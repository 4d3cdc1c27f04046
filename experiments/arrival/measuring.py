"""Collectives after computations that take the ranks differently long: unisono-arrival on a test bed."""

import argparse
import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scipy.stats import t as student_t
from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.core.files import read_json, write_json

from experiments import harness, testbeds
from experiments.testbeds import Json, Program, Real, Run, Testbed

SOURCE = testbeds.ROOT / "apps" / "arrival" / "main.cpp"
NATIVE = "native"
LIMIT = 300.0  # seconds for a job


@dataclass(frozen=True)
class Mean:
    """With half of its 95 % confidence interval, infinite for a single value."""

    value: float
    half: float
    count: int

    @property
    def low(self) -> float:
        return self.value - self.half

    @property
    def high(self) -> float:
        return self.value + self.half


def mean(values: Sequence[float]) -> Mean:
    n = len(values)
    if n < 2:
        return Mean(values[0], math.inf, n)
    half = float(student_t.ppf(0.975, n - 1)) * statistics.stdev(values) / math.sqrt(n)
    return Mean(statistics.fmean(values), half, n)


def paired_ratio(own: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """own / other of the same patterns or rounds: the geometric mean and its 95 % interval."""
    logs = mean([math.log(a / b) for a, b in zip(own, other, strict=False)])
    return math.exp(logs.value), math.exp(logs.low), math.exp(min(logs.high, 700.0))


@dataclass(frozen=True)
class Pattern:
    """One arrival pattern; a value for each call, in seconds."""

    mean_elapsed_s: tuple[float, ...]
    max_elapsed_s: tuple[float, ...]
    arrival_s: tuple[float, ...]
    exit_s: tuple[float, ...]
    computation_s: tuple[float, ...]
    by_unisono: tuple[float, ...]  # 1: Unisono ran it itself; 0: the MPI library did


@dataclass(frozen=True)
class Outcome:
    message_s: float  # the time T of one message
    clock_error_s: float
    patterns: tuple[tuple[int, tuple[Pattern, ...]], ...]  # by maximum, in the order of the arguments

    def at(self, max_if: int) -> tuple[Pattern, ...]:
        return next(patterns for maximum, patterns in self.patterns if maximum == max_if)


def outcome(raw: Json) -> Outcome:
    names = [one.name for one in dataclasses.fields(Pattern)]

    def patterns(found: list[Json]) -> tuple[Pattern, ...]:
        return tuple(Pattern(**{name: tuple(own[name]) for name in names}) for own in found)

    measured = tuple((one["max_if"], patterns(one["patterns"])) for one in raw["maxima"])
    return Outcome(raw["message_s"], raw["clock_error_s"], measured)


@dataclass(frozen=True)
class Place:
    """Where jobs run, with how many ranks."""

    testbed: Testbed
    ranks: int
    per_host: int | None = None
    fresh: bool = False

    @property
    def name(self) -> str:
        return f"{self.testbed.name}, {self.ranks} ranks"

    def run(self, arguments: Sequence[str], variables: Mapping[str, str], repetition: int = 0) -> Outcome:
        program = Program("unisono-arrival", SOURCE, with_unisono=bool(variables))
        run = Run(program, self.ranks, arguments, self.per_host, "--output", variables, repetition)
        return outcome(harness.measure(self.testbed, run, LIMIT, self.fresh))

    def message_seconds(self, size: int) -> float:
        """T, measured once, so that all arms have the same patterns."""
        arguments = ["--collective", "barrier", "--calls", "1", "--bytes", str(size)]
        return self.run(arguments, {}).message_s


def forced(collective: str, algorithm: str) -> dict[str, str]:
    """The variables of an arm."""
    return {} if algorithm == NATIVE else {f"UNISONO_{collective.upper()}": algorithm}


def parser(description: str, ranks: int = 16) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("--bed", default="node", help="node, lab, sim:PLATFORM, several by commas (node)")
    add("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    add("--ranks", type=int, default=ranks, help=f"({ranks})")
    add("--ppn", type=int, help="ranks on a host of the lab")
    add("--fresh", action="store_true", help="measure anew what is kept from before")
    add("--json", type=Path, help="write the numbers to this file")
    add("--markdown", type=Path, help="write the tables to this file")
    return made


def places_of(given: argparse.Namespace) -> list[Place]:
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    beds = testbeds.parse(given.bed, mpis)
    if given.ranks < 2:
        raise UnisonoError(f"--ranks {given.ranks}: two at least")
    return [
        Place(bed, given.ranks, given.ppn if isinstance(bed, Real) else None, given.fresh) for bed in beds
    ]


def numbers_of(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise UnisonoError(f"{option} {text}: write numbers with commas between") from None


def results_in(file: Path, experiment: str) -> Any:
    """The `results` of a file that write() made."""
    body = read_json(file)
    if body.get("experiment") != experiment:
        raise UnisonoError(f"--from {file}: holds no results of {experiment}")
    return body["results"]


def write(given: argparse.Namespace, experiment: str, results: Json, sections: Sequence[str]) -> None:
    """What --json and --markdown ask for."""
    if given.json:
        date = datetime.now(UTC).isoformat(timespec="seconds")
        body = {"experiment": experiment, "date": date, "results": results}
        write_json(body, given.json)
    if given.markdown:
        given.markdown.write_text("\n".join(sections))
