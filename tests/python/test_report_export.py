"""unisono trace export: what other tools get."""

import csv
import json
import sys
from pathlib import Path

import pytest
from traces import START_NS, Writer
from unisono.core.errors import UnisonoError
from unisono.trace import formats, tables
from unisono.trace.schema import INTER


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rank 1's clock is a second behind; its last call is never left."""
    writer = Writer(tmp_path / "trace", 2, offsets_ns=[0, 10**9])
    writer.call("bcast", [1, 1.5], [2, 2], 64, root=0, algorithm=1)
    writer.call("barrier", [3, 3.25], [4, 0], site=0x3000, flags=1)
    return writer.write()


def test_csv_has_a_row_for_each_event_on_rank_0_s_clock(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "trace.csv"
    assert formats.write(folder, "csv", output) == 4
    rows = list(csv.DictReader(output.open()))
    assert [row["rank"] for row in rows] == ["0", "0", "1", "1"]
    assert [int(row["begin_ns"]) - START_NS for row in rows] == [
        10**9,
        3 * 10**9,
        1_500_000_000,
        3_250_000_000,
    ]
    assert [row["end_ns"] for row in rows][2:] == [str(START_NS + 2 * 10**9), "0"]
    assert rows[0]["algorithm"] == "ring:segment=256K"
    assert rows[1] | {"collective": "barrier", "algorithm": "native", "in_place": "True"} == rows[1]
    assert rows[0]["site"] == "app+0x1000"
    assert rows[0]["communicator"] == "MPI_COMM_WORLD"


def test_communicators_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Rows of a grid, all without a name, and the same ranks again: each rank's first but its world."""
    writer = Writer(tmp_path / "trace", 4)
    for pair in ((0, 1), (2, 3), (2, 3)):
        ids = [writer.communicator(rank, pair) for rank in pair]
        writer.call("barrier", [1, 1], [2, 2], ranks=pair, ids=ids)
    output = tmp_path / "trace.csv"
    formats.write(writer.write(), "csv", output)
    rows = list(csv.DictReader(output.open()))
    assert {row["communicator"] for row in rows} == {"1 of 2 ranks", "2 of 2 ranks"}
    calls: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        calls.setdefault((row["communicator_id"], row["sequence"]), []).append(row["rank"])
    assert sorted(calls.values()) == [["0", "1"], ["2", "3"], ["2", "3"]]


def test_parquet_holds_the_same(folder: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    formats.write(folder, "parquet", tmp_path / "trace.parquet")
    formats.write(folder, "csv", tmp_path / "trace.csv")
    table = parquet.read_table(tmp_path / "trace.parquet")
    assert table.column_names == list(tables.COLUMNS)
    rows = list(csv.reader((tmp_path / "trace.csv").open()))[1:]
    assert [[str(value) for value in row.values()] for row in table.to_pylist()] == rows


def test_perfetto_has_a_track_for_each_rank(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "trace.json"
    formats.write(folder, "perfetto", output)
    events = json.loads(output.read_text())["traceEvents"]
    named = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert named == ["rank 0", "thread 0", "rank 1", "thread 0"]
    complete = [event for event in events if event["ph"] == "X"]
    assert [(event["pid"], event["name"]) for event in complete] == [
        (0, "MPI_Bcast"), (0, "MPI_Barrier"), (1, "MPI_Bcast"),
    ]  # fmt: skip
    assert [(event["ts"], event["dur"]) for event in complete] == [(0, 1e6), (2e6, 1e6), (5e5, 5e5)]
    assert [event["name"] for event in events if event["ph"] == "B"] == ["MPI_Barrier"]


def test_nothing_is_left_of_what_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    for form in ("csv", "otf2"):
        with pytest.raises(UnisonoError, match="cannot be written: No such file"):
            formats.write(folder, form, tmp_path / "no" / "trace")
        with pytest.raises(UnisonoError, match="cannot be written: Not a directory"):
            formats.write(folder, form, folder / "rank-00000.jsonl" / "trace")
    with pytest.raises(UnisonoError, match="valid are parquet, csv, perfetto, otf2"):
        formats.write(folder, "otf", tmp_path / "trace")
    assert [path.name for path in tmp_path.iterdir()] == ["trace"]


def test_without_pyarrow_it_is_said(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnisonoError, match="--to parquet needs pyarrow: pip install pyarrow"):
        formats.write(folder, "parquet", tmp_path / "trace.parquet")


def test_without_otf2_it_is_said(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    with pytest.raises(UnisonoError, match="--to otf2 needs otf2: pip install otf2"):
        formats.write(folder, "otf2", tmp_path / "trace.otf2")


def test_an_archive_takes_no_other_s_place(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "archive"
    formats.write(folder, "otf2", output)
    before = (output / "traces.otf2").read_bytes()
    with pytest.raises(UnisonoError, match="archive: cannot be written"):
        formats.write(folder, "otf2", output)
    assert (output / "traces.otf2").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "trace"]


def test_otf2_has_no_operation_of_an_inter_communicator(tmp_path: Path) -> None:
    """Its root is a rank of one group, and OTF2 would take it for one of both."""
    otf2 = pytest.importorskip("otf2")
    writer = Writer(tmp_path / "trace", 2)
    writer.call("bcast", [1, 1], [2, 2], 64, root=0)
    writer.call("bcast", [3, 3], [4, 4], 64, root=0, flags=INTER)
    formats.write(writer.write(), "otf2", tmp_path / "archive")
    with otf2.reader.open(str(tmp_path / "archive" / "traces.otf2")) as opened:
        kinds = [type(event).__name__ for location, event in opened.events if location.group.name == "rank 1"]
    assert kinds == ["Enter", "MpiCollectiveBegin", "MpiCollectiveEnd", "Leave", "Enter", "Leave"]
