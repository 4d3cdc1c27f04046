"""Exported traces in the readers of the formats' makers: OTF2's own, and Perfetto's trace processor."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from trace_processor import TraceProcessor
from traces import Writer
from unisono.trace import formats
from unisono.trace.reader import read
from unisono.trace.summary import collective_name


class Call(NamedTuple):
    rank: int
    thread: int
    name: str
    begin: int  # ns since the first
    end: int | None  # never left
    bytes: int
    communicator: str | tuple[int, ...]  # as the format says it
    sequence: int
    root: int
    algorithm: str
    site: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clocks that lie apart and drift, so that of calls that follow each other one would reach into the next
    if only arrivals were corrected; communicators that ranks number differently; two threads at the same
    time; a call that is never left."""
    writer = Writer(
        tmp_path_factory.mktemp("trace") / "trace",
        4,
        offsets_ns=[0, 10**9, -(10**9), 123_456_789],
        drift_ns=[0, -2_000_000, 2_000_000, 0],
        hosts=["a", "a", "b", "b"],
    )
    writer.communicator(1, (0, 1))
    pair = [writer.communicator(1, (1, 2)), writer.communicator(2, (1, 2))]
    again = [writer.communicator(1, (1, 2)), writer.communicator(2, (1, 2))]
    writer.call("bcast", [1, 1.5, 1.2, 1.000000123], [2, 2, 2, 3], 64, root=2, algorithm=1)
    writer.call("barrier", [2, 2], [30, 30], ranks=(1, 2), ids=pair, site=0x3000)
    writer.call("allreduce", [30.00001, 30.00001], [30.001, 30.002], 8, ranks=(1, 2), ids=again, site=0x3000)
    writer.call("reduce_scatter_block", [40, 40, 40, 40], [45, 45, 45, 45], 1 << 40)
    writer.call("alltoallv", [41, 41], [44, 44], [100, 300], ranks=(1, 2), ids=pair, thread=1)
    writer.call("scan", [99, 99, 99, 99.5], [99.9, 99.9, 99.9, 0], 24)
    return writer.write()


def known(folder: Path, by_ranks: bool) -> list[Call]:
    """What the trace's own reader says."""
    trace = read(folder)
    found = []
    sites = {0x2000: "app+0x1000", 0x3000: "app+0x2000"}
    for rank in trace.ranks.values():
        begin, end = (rank.clock.corrected(rank.events[name]) for name in ("begin_ns", "end_ns"))
        for at, event in enumerate(rank.events):
            communicator = rank.communicators[int(event["communicator"])]
            name = communicator.name or f"{event['communicator']} of {len(communicator.ranks)} ranks"
            found.append(
                Call(
                    rank.rank,
                    int(event["thread"]),
                    collective_name(trace.collectives[event["collective"]]),
                    int(begin[at]),
                    int(end[at]) if event["end_ns"] else None,
                    int(event["bytes"]),
                    communicator.ranks if by_ranks else name,
                    int(event["sequence"]),
                    int(event["root"]),
                    rank.algorithms.get(int(event["algorithm"]), "native"),
                    sites[int(event["site"])],
                )
            )
    return since_the_first(found)


def since_the_first(calls: list[Call]) -> list[Call]:
    origin = min(call.begin for call in calls)
    return sorted(
        call._replace(begin=call.begin - origin, end=None if call.end is None else call.end - origin)
        for call in calls
    )


# --- OTF2 -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archive(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    otf2 = pytest.importorskip("otf2", reason="no otf2: pip install otf2")
    output = tmp_path_factory.mktemp("otf2") / "archive"
    assert formats.write(folder, "otf2", output) == 18
    with otf2.reader.open(str(output / "traces.otf2")) as opened:
        yield opened


def otf2_calls(archive: Any) -> list[Call]:
    """Each region is entered, holds one collective operation, and is left before the next one is."""
    inside: dict[str, list[Any]] = {}
    found = []
    ranks = {group: int(group.name.split()[1]) for group in archive.definitions.location_groups}
    for location, event in archive.events:
        own = inside.setdefault(f"{location.group.name} {location.name}", [])
        own.append(event)
        kinds = [type(one).__name__ for one in own]
        assert kinds == ["Enter", "MpiCollectiveBegin", "MpiCollectiveEnd", "Leave"][: len(own)]
        if len(own) == 4:
            found.append(otf2_call(ranks, location, own))
            own.clear()
    unfinished = [own for own in inside.values() if own]
    assert [len(own) for own in unfinished] == [2]  # never left
    return found


def otf2_call(ranks: dict[Any, int], location: Any, events: list[Any]) -> Call:
    enter, begin, end, leave = events
    told = {attribute.name: value for attribute, value in enter.attributes.items()}
    name = enter.region.name
    assert (begin.time, leave.time, leave.region) == (enter.time, end.time, enter.region)
    assert str(end.collective_op).rpartition(".")[2] == name.removeprefix("MPI_").upper()
    assert end.size_sent == end.size_received
    members = tuple(ranks[member.group] for member in end.communicator.group.members)
    root = -1 if end.root == 0xFFFFFFFF else end.root
    return Call(
        ranks[location.group], int(location.name.split()[1]), name, enter.time, end.time, end.size_sent,
        members, told["sequence"], root, told["algorithm"], told["site"],
    )  # fmt: skip


def test_otf2_s_reader_says_what_ours_says(folder: Path, archive: Any) -> None:
    wanted = known(folder, by_ranks=True)
    found = since_the_first(otf2_calls(archive))
    assert found == [call for call in wanted if call.end is not None]
    names = {comm.name for comm in archive.definitions.comms}
    assert len(archive.definitions.comms) == 3 and "MPI_COMM_WORLD" in names  # (1, 2) twice
    hosts = {group.name: group.system_tree_parent.name for group in archive.definitions.location_groups}
    assert hosts == {"rank 0": "a", "rank 1": "a", "rank 2": "b", "rank 3": "b"}
    clock = archive.definitions.clock_properties
    assert (clock.timer_resolution, clock.realtime_timestamp) == (10**9, 2 * 10**18)


# --- Perfetto -------------------------------------------------------------------------------------

SLICES = """
select p.pid as rank, p.name as process, t.name as thread,
  s.name as name, s.ts as begin, s.dur as dur, s.depth as depth,
  extract_arg(s.arg_set_id, 'args.bytes') as bytes,
  extract_arg(s.arg_set_id, 'args.communicator') as communicator,
  extract_arg(s.arg_set_id, 'args.sequence') as sequence,
  extract_arg(s.arg_set_id, 'args.root') as root,
  extract_arg(s.arg_set_id, 'args.algorithm') as algorithm,
  extract_arg(s.arg_set_id, 'args.site') as site
from slice s
  join thread_track track on s.track_id = track.id
  join thread t using (utid)
  join process p using (upid)
"""


@pytest.fixture(scope="module")
def processor(
    folder: Path, chromium: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TraceProcessor]:
    output = tmp_path_factory.mktemp("perfetto") / "trace.json"
    formats.write(folder, "perfetto", output)
    with TraceProcessor(chromium, output) as opened:
        yield opened


def test_perfetto_s_trace_processor_says_what_ours_says(folder: Path, processor: TraceProcessor) -> None:
    rows = processor.ask(SLICES)
    found = [
        Call(
            *(row["rank"], int(row["thread"].removeprefix("thread ")), row["name"], row["begin"]),
            *(None if row["dur"] < 0 else row["begin"] + row["dur"], row["bytes"], row["communicator"]),
            *(row["sequence"], row["root"], row["algorithm"], row["site"]),
        )
        for row in rows
    ]
    assert since_the_first(found) == known(folder, by_ranks=False)
    assert {row["depth"] for row in rows} == {0}  # no call lies within another
    assert {(row["rank"], row["process"]) for row in rows} == {(rank, f"rank {rank}") for rank in range(4)}


def test_perfetto_has_nothing_to_complain_of(processor: TraceProcessor) -> None:
    assert processor.ask("select name, value from stats where value > 0 and severity != 'info'") == []
