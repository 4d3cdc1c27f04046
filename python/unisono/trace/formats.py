"""Traces for other tools."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from unisono.core import files
from unisono.core.errors import SetupError, UnisonoError
from unisono.trace import otf2_archive
from unisono.trace.reader import Rank, Trace, read
from unisono.trace.tables import COLUMNS, Tables, rows

# A spreadsheet takes a cell that begins with one of these for a formula, and some run programs
# (OWASP, "CSV Injection"). A single quote before it makes it text again.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write(folder: Path, form: str, output: Path) -> int:
    """Writes `output`, as a whole or not at all. Returns the number of events."""
    writers: dict[str, Callable[[Trace, Path], None]] = {
        "parquet": write_parquet,
        "csv": write_csv,
        "perfetto": write_perfetto,
        "otf2": otf2_archive.write,
    }
    if form not in writers:
        raise UnisonoError(f"--to {form}: valid are {', '.join(writers)}")
    trace = read(folder)
    part = files.beside(output)
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


def write_csv(trace: Trace, path: Path) -> None:
    tables = Tables(trace)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for rank in trace.ranks.values():
            for block in tables.blocks(rank):
                writer.writerows(map(cells, rows(block)))


def cells(row: tuple[Any, ...]) -> list[Any]:
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in row]


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
        inside,
    ) = row
    drawn = f'"ph":"X","dur":{(end - begin) / 1000:.3f}' if end else '"ph":"B"'
    return (
        f'{{"name":{quoted("MPI_" + collective.capitalize())},{drawn},'
        f'"pid":{rank},"tid":{threads.number(rank, thread)},'
        f'"ts":{(begin - origin) / 1000:.3f},"args":{{"bytes":{size},"communicator":{quoted(communicator)},'
        f'"sequence":{sequence},"root":{root},"algorithm":{quoted(algorithm)},"site":{quoted(site)},'
        f'"function":{quoted(function)},"communicator_id":{communicator_id},"inside":{quoted(inside)}}}}}'
    )
