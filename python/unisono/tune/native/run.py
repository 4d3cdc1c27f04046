"""Tunes, writes the file, verifies it, and says how to use it."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unisono.core import documents, places
from unisono.core.errors import RunError, UnisonoError
from unisono.core.limits import Sized, size_kind
from unisono.testbeds import beds
from unisono.testbeds import library as loaded
from unisono.tune.native import verify
from unisono.tune.native.bench import Bench
from unisono.tune.native.choose import Ratio
from unisono.tune.native.mpich import Mpich
from unisono.tune.native.openmpi import OpenMpi
from unisono.tune.native.record import DEFAULT, Cell, Record
from unisono.tune.native.rules import COLLECTIVES, Library, Rule
from unisono.tune.native.tuning import Tuning

TUNABLE = ("mpich", "openmpi")  # that read a file of their own


@dataclass(frozen=True)
class Options:
    bed: beds.Bed
    mpi: places.Mpi
    output: Path  # for MPICH there will be a second file beside it
    ranks: Sequence[int] = ()  # otherwise what fits the bed
    per_host: int | None = None
    collectives: Sequence[str] = tuple(COLLECTIVES)
    sizes: Sequence[int] = (8, 1 << 10, 16 << 10, 64 << 10, 1 << 20)  # bytes of a vector
    block_sizes: Sequence[int] = (8, 1 << 10, 16 << 10, 64 << 10)  # bytes of a block
    budget: float = 1200.0  # seconds; the verification may go beyond
    resume: bool = False  # where it was interrupted
    cell_seconds: float = 0.1  # for one cell in one job
    silence: float = 60.0  # seconds without a result after which a job is ended

    @property
    def work(self) -> Path:
        """Keeps the measurements until all is done."""
        return self.output.with_name(self.output.name + ".work")

    @property
    def report(self) -> Path:
        return self.output.with_name(self.output.name + ".result.json")


@dataclass(frozen=True)
class Row:
    """A measured cell: its times, what was chosen, and whether the check agrees."""

    cell: Cell
    default_us: float
    algorithm: str
    ratio: Ratio | None  # by the exported file, measured anew; None where nothing is exported


@dataclass(frozen=True)
class Result:
    rows: Sequence[Row]
    file: Path
    variables: Mapping[str, str]  # that make the library read the file
    rules: int
    notes: Sequence[str] = field(default_factory=tuple)  # a line for each thing that went otherwise
    complete: bool = True  # False: the budget was too small, more of it may change the file


class Document(documents.Document, tag="unisono.native-tuning", kw_only=True):
    """What tune --native-only measured, and the variables that make the library read its file."""

    created: str
    library: str
    mpi: str  # where it is
    bed: str
    per_host: int
    variables: dict[str, str]
    complete: bool
    notes: list[str]
    cells: list[Row]


def library_of(mpi: places.Mpi) -> Library:
    if mpi.name not in TUNABLE:
        raise UnisonoError(f"--mpi {mpi.name}: --native-only is for {' and '.join(TUNABLE)}")
    return OpenMpi(mpi) if mpi.flavour == "openmpi" else Mpich(mpi)


def cells_of(options: Options, ranks: Sequence[int]) -> list[Cell]:
    unknown = [name for name in options.collectives if name not in COLLECTIVES]
    if unknown:
        raise UnisonoError(f"--collectives {unknown[0]}: valid here are {', '.join(COLLECTIVES)}")
    found = []
    for p in ranks:
        for collective in options.collectives:
            kind = size_kind(collective)
            sizes = {Sized.NOTHING: (0,), Sized.VECTOR: options.sizes, Sized.BLOCK: options.block_sizes}[kind]
            found += [Cell(collective, p, size) for size in sorted(set(sizes))]
    return found


def bench_of(options: Options, library: Library, ranks: Sequence[int]) -> Bench:
    bed = options.bed
    per_host = {bed.per_host(p, options.per_host) for p in ranks}
    if len(per_host) > 1 and bed.kind == "lab":
        raise UnisonoError(
            "these numbers of ranks lie differently on the hosts: tune one at a time, or give --ppn"
        )
    most = max(per_host)
    if library.mpi.flavour == "openmpi" and bed.kind == "lab" and most > 1:
        raise UnisonoError(
            "with several ranks on each of several hosts Open MPI uses coll/han, which a rules file of "
            "coll/tuned does not steer: tune with --ppn 1"
        )
    return Bench(bed, library, most, options.cell_seconds, options.silence)


def run(options: Options, say: Callable[[str], None] = lambda _: None) -> Result:
    """Raises KeyboardInterrupt as it comes: what was measured is kept in `work`, and the same call
    goes on from there."""
    library = library_of(options.mpi)
    ranks = sorted(set(options.ranks)) or [options.bed.fitting_ranks()]
    if ranks[0] < 2:
        raise UnisonoError(f"-n {ranks[0]}: there is nothing to tune below 2 ranks")
    if not options.output.absolute().parent.is_dir():
        raise UnisonoError(f"{options.output}: there is no such directory")
    bench = bench_of(options, library, ranks)
    cells = [cell for cell in cells_of(options, ranks) if library.algorithms(cell.collective, cell.ranks)]
    if not cells:
        raise UnisonoError("of these collectives the library lets a file steer none")
    setup = {"mpi": str(library.mpi.home), "bed": options.bed.title(), "per_host": bench.per_host}
    record = Record(options.work, setup, options.resume)
    loaded.say(options.bed, options.mpi, ranks[-1], bench.per_host)
    tuning = Tuning(bench, record, cells, options.work, options.budget)
    tuning.say = say
    kept, checks, dropped = verified(tuning, tuning.run())
    result = Result(
        rows=rows_of(tuning, kept, checks),
        file=options.output,
        variables=library.write(kept, options.output),
        rules=len(kept),
        notes=[*tuning.notes, *dropped],
        complete=tuning.complete,
    )
    save(result, options, setup)
    if tuning.complete:
        Record.remove(options.work)
    return result


def verified(tuning: Tuning, rules: Sequence[Rule]) -> tuple[list[Rule], dict[Cell, Ratio | None], list[str]]:
    """The rules that the library takes and that no tuned cell is slower with."""
    if not rules:
        return [], {}, []
    trial = tuning.folder / "check.json"
    lost = verify.not_taken(tuning, rules, trial)
    dropped = [f"left out: {named(rule)}: the library does not take it" for rule in lost]
    kept = [rule for rule in rules if rule not in lost]
    disturbed = verify.disturbed(tuning, kept, trial)
    if disturbed:
        calls = ", ".join(f"{cell.collective} of {cell.bytes} bytes" for cell in disturbed)
        raise RunError(f"the file would also change {calls}, which it should not: nothing is exported")
    checks = verify.compare(tuning, kept, trial)
    slower = [
        rule
        for rule in kept
        if any(ratio and ratio.slower for cell, ratio in checks.items() if verify.holds(rule, cell))
    ]
    dropped += [f"left out: {named(rule)}: slower when measured anew" for rule in slower]
    return [rule for rule in kept if rule not in slower], checks, dropped


def named(rule: Rule) -> str:
    end = "" if rule.high is None else f" to {rule.high}"
    return f"{rule.collective}, {rule.ranks} ranks, from {rule.low}{end} bytes: {rule.algorithm.name}"


def rows_of(tuning: Tuning, rules: Sequence[Rule], checks: Mapping[Cell, Ratio | None]) -> list[Row]:
    rows = []
    for cell in tuning.cells:
        rule = next((rule for rule in rules if verify.holds(rule, cell)), None)
        times = [
            time
            for stage in ("screening", "final", "check")
            for time in tuning.record.times_us(stage, cell, DEFAULT)
        ]
        if times:
            chosen = rule.algorithm.name if rule else DEFAULT
            rows.append(Row(cell, statistics.median(times), chosen, checks.get(cell) if rule else None))
    return rows


def save(result: Result, options: Options, setup: Mapping[str, Any]) -> None:
    document = Document(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        library=options.mpi.name,
        **setup,
        variables=dict(result.variables),
        complete=result.complete,
        notes=list(result.notes),
        cells=list(result.rows),
    )
    documents.write(document, options.report)
