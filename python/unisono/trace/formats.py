"""Traces for other tools: a row or an event for each call of each rank, streamed rank by rank."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono.core.errors import SetupError, UnisonoError
from unisono.trace.reader import IN_PLACE, Events, Rank, Trace, read
from unisono.trace.sites import Sites

BLOCK = 1 << 16  # events that are in memory
COLUMNS = (
    *("rank", "collective", "begin_ns", "end_ns", "clock_error_ns", "bytes", "communicator", "sequence"),
    *("root", "algorithm", "in_place", "thread", "site", "function", "communicator_id"),
)


def write(folder: Path, form: str, output: Path) -> int:
    """Writes `output`, as a whole or not at all. Returns the number of events."""
    writers: dict[str, Callable[[Trace, Path], None]] = {
        "parquet": write_parquet,
        "csv": write_csv,
        "perfetto": write_perfetto,
        "otf2": write_otf2,
    }
    if form not in writers:
        raise UnisonoError(f"--to {form}: valid are {', '.join(writers)}")
    trace = read(folder)
    part = output.with_name(output.name + ".part")
    try:
        writers[form](trace, part)
        part.replace(output)
    except OSError as error:
        raise UnisonoError(f"{output}: cannot be written: {error.strerror}") from error
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        elif part.exists():
            part.unlink()
    return trace.events


class Tables:
    """Columns of blocks of events, times in ns on rank 0's clock. `end_ns` 0: never left."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.sites = trace, Sites()
        self.communicators: dict[tuple[tuple[int, ...], int], int] = {}
        for rank in trace.ranks.values():
            for start in range(0, len(rank.events), BLOCK):
                self.sites.numbers(rank, rank.events["site"][start : start + BLOCK])
        self.places = self.sites.places(trace, self.sites.number.values())

    def blocks(self, rank: Rank) -> Iterator[dict[str, NDArray[Any] | list[Any]]]:
        for start in range(0, len(rank.events), BLOCK):
            yield self.block(rank, rank.events[start : start + BLOCK])

    def block(self, rank: Rank, events: Events) -> dict[str, NDArray[Any] | list[Any]]:
        begin = rank.clock.corrected(events["begin_ns"])
        left = events["end_ns"] > 0
        places = [self.places[int(n)] for n in self.sites.numbers(rank, events["site"])]
        return {
            "rank": np.full(len(events), rank.rank),
            "collective": named(self.trace.collectives, events["collective"]),
            "begin_ns": begin,
            "end_ns": np.where(left, rank.clock.corrected(events["end_ns"]), 0),
            "clock_error_ns": np.rint(rank.clock.error(events["begin_ns"])).astype(np.int64),
            "bytes": events["bytes"],
            "communicator": [communicator_text(rank, int(n)) for n in events["communicator"]],
            "sequence": events["sequence"],
            "root": events["root"],
            "algorithm": [rank.algorithms.get(int(n), "native") for n in events["algorithm"]],
            "in_place": (events["flags"] & IN_PLACE) != 0,
            "thread": events["thread"],
            "site": [place.text for place in places],
            "function": [place.function for place in places],
            "communicator_id": self.communicator_ids(rank, events["communicator"]),
        }

    def communicator_ids(self, rank: Rank, numbers: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The same on all ranks, as names need not be, and of one communicator only; -1: not known."""
        unique, inverse = np.unique(numbers, return_inverse=True)
        return np.array([self.communicator_id(rank, int(n)) for n in unique], np.int64)[inverse]

    def communicator_id(self, rank: Rank, number: int) -> int:
        known = rank.communicators.get(number)
        if known is None or not known.ranks:
            return -1
        return self.communicators.setdefault((known.ranks, known.occurrence), len(self.communicators))


def named(names: Sequence[str], numbers: NDArray[Any]) -> list[str]:
    return [names[n] if n < len(names) else f"collective {n}" for n in map(int, numbers)]


def communicator_text(rank: Rank, number: int) -> str:
    known = rank.communicators.get(number)
    if known is None:
        return f"{number}"
    return known.name or f"{number} of {len(known.ranks)} ranks"


def rows(columns: dict[str, NDArray[Any] | list[Any]]) -> Iterator[tuple[Any, ...]]:
    plain = (c if isinstance(c, list) else c.tolist() for c in (columns[name] for name in COLUMNS))
    return zip(*plain, strict=True)


def write_csv(trace: Trace, path: Path) -> None:
    tables = Tables(trace)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for rank in trace.ranks.values():
            for block in tables.blocks(rank):
                writer.writerows(rows(block))


def write_parquet(trace: Trace, path: Path) -> None:
    try:
        import pyarrow  # noqa: PLC0415 - optional, and large
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise SetupError("--to parquet needs pyarrow: pip install pyarrow, or take --to csv") from error
    tables = Tables(trace)
    writer = None
    try:
        for rank in trace.ranks.values():
            for block in tables.blocks(rank):
                table = pyarrow.table(block)
                writer = writer or parquet.ParquetWriter(path, table.schema)
                writer.write_table(table)
        if writer is None:
            raise UnisonoError(f"{trace.folder}: holds no event")
    finally:
        if writer is not None:
            writer.close()


def write_otf2(trace: Trace, path: Path) -> None:
    from unisono.trace import otf2_archive  # noqa: PLC0415 - it uses this module

    otf2_archive.write(trace, path)


def write_perfetto(trace: Trace, path: Path) -> None:
    """Chrome's trace event format, which ui.perfetto.dev reads: a process per rank, a track per thread."""
    tables, threads = Tables(trace), Threads(trace.size)
    ranks = [rank for rank in trace.ranks.values() if len(rank.events)]
    origin = min((int(rank.clock.corrected(rank.events["begin_ns"][:1])[0]) for rank in ranks), default=0)
    with path.open("w") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[')
        comma = ""
        for rank in ranks:
            for name in threads.names(rank):
                file.write(comma + json.dumps(name))
                comma = ",\n"
            for block in tables.blocks(rank):
                file.writelines(comma + perfetto_event(row, origin, threads) for row in rows(block))
        file.write("]}\n")


class Threads:
    """Perfetto takes thread numbers for those of an operating system: no two processes have the same, and the
    first thread has that of its process."""

    def __init__(self, ranks: int) -> None:
        self.next, self.numbers = ranks, dict[tuple[int, int], int]()

    def number(self, rank: int, thread: int) -> int:
        if (rank, thread) not in self.numbers:
            self.numbers[rank, thread] = self.next if thread else rank
            self.next += bool(thread)
        return self.numbers[rank, thread]

    def names(self, rank: Rank) -> Iterator[dict[str, Any]]:
        told = {"ph": "M", "pid": rank.rank}
        yield told | {"name": "process_name", "args": {"name": f"rank {rank.rank}"}}
        for thread in np.unique(rank.events["thread"]).tolist():
            number = self.number(rank.rank, thread)
            yield told | {"tid": number, "name": "thread_name", "args": {"name": f"thread {thread}"}}


@cache
def quoted(text: str) -> str:
    return json.dumps(text)


def perfetto_event(row: tuple[Any, ...], origin: int, threads: Threads) -> str:
    """Begin without end for a call that was never left: it is drawn to the end of the trace."""
    (
        rank,
        collective,
        begin,
        end,
        _,
        size,
        communicator,
        sequence,
        root,
        algorithm,
        _,
        thread,
        site,
        function,
        communicator_id,
    ) = row
    drawn = f'"ph":"X","dur":{(end - begin) / 1000:.3f}' if end else '"ph":"B"'
    return (
        f'{{"name":{quoted("MPI_" + collective.capitalize())},{drawn},'
        f'"pid":{rank},"tid":{threads.number(rank, thread)},'
        f'"ts":{(begin - origin) / 1000:.3f},"args":{{"bytes":{size},"communicator":{quoted(communicator)},'
        f'"sequence":{sequence},"root":{root},"algorithm":{quoted(algorithm)},"site":{quoted(site)},'
        f'"function":{quoted(function)},"communicator_id":{communicator_id}}}}}'
    )
