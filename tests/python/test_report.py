"""unisono report on traces whose figures are known by hand."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from conftest import Run
from traces import ONE_WAY, Writer
from unisono.core import documents, places
from unisono.trace import document, figures, html
from unisono.trace.analysis import analyse
from unisono.trace.reader import read
from unisono.trace.summary import Summary, main_loop, summarise
from unisono.trace.verdict import function_text, time_text, verdict

Json = dict[str, Any]
MS = 1e-3
SCHEMA = places.REPOSITORY / "docs" / "reference" / "schemas" / "report.json"
ALPHA = ONE_WAY[1]
BETA = (ONE_WAY[1048576] - ALPHA) / 1048576


def report(folder: Path) -> Summary:
    return summarise(analyse(read(folder)))


def by_hand(folder: Path) -> Writer:
    """The worked example: arrivals 0, 1, 2, 9 ms, all leave at 10 ms; 1 s after the clocks met."""
    writer = Writer(folder, 4)
    writer.call("alltoall", [1, 1 + MS, 1 + 2 * MS, 1 + 9 * MS], [1 + 10 * MS] * 4, 1024)
    return writer


def test_metrics_by_hand(tmp_path: Path) -> None:
    own = report(by_hand(tmp_path).write()).whole
    assert own is not None
    assert own.average_time == pytest.approx(3 * MS)  # 3, 2, 1 and 6 ms from the mean, 3 ms
    assert own.worst_time == pytest.approx(9 * MS)
    assert own.elapsed == pytest.approx(7 * MS)
    assert own.average_factor == pytest.approx(3 * MS / 20e-6)
    assert own.worst_factor == pytest.approx(9 * MS / 20e-6)
    assert own.balanced == 0
    assert own.clock_error == pytest.approx(2e-6)
    assert not own.below_clock_error


def test_split_by_hand(tmp_path: Path) -> None:
    own = report(by_hand(tmp_path).write()).whole
    assert own is not None
    assert own.waiting == pytest.approx(6 * MS)  # (9 + 8 + 7 + 0) / 4
    # The last rank's three blocks reach the others one after the other.
    assert own.transfer == pytest.approx((3 * ALPHA + (1 + 2 + 3) * 1024 * BETA) / 4)
    assert own.inefficiency == pytest.approx(7 * MS - own.waiting - own.transfer)


def test_clocks_are_corrected(tmp_path: Path) -> None:
    writer = by_hand(tmp_path)
    writer.offsets_ns = [0, 10**9, -(10**9), 123_456_789]
    shifted = Writer(tmp_path, 4, offsets_ns=writer.offsets_ns)
    shifted.call("alltoall", [1, 1 + MS, 1 + 2 * MS, 1 + 9 * MS], [1 + 10 * MS] * 4, 1024)
    own = report(shifted.write()).whole
    assert own is not None
    assert own.worst_time == pytest.approx(9 * MS)
    assert own.average_time == pytest.approx(3 * MS)


def test_less_than_the_clocks_can_tell_is_said_to_be_so(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 2, error_ns=1e6)
    for k in range(1, 4):
        writer.call("barrier", [k, k + MS], [k + 2 * MS] * 2)
    found = report(writer.write())
    assert found.whole is not None
    assert found.whole.below_clock_error
    assert found.whole.unsure == 1
    [site] = found.sites
    assert site.late == []
    assert "less than the clocks can tell (2 ms)" in verdict(site)
    assert document.document_of(found).call_sites[0].below_clock_error is True


def test_balanced_is_a_worst_case_factor_below_one(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 2)
    for k, apart in enumerate((19e-6, 21e-6), start=1):  # a message of 1024 B takes 20 us
        writer.call("allreduce", [k, k + apart], [k + MS] * 2, 1024)
    own = report(writer.write()).whole
    assert own is not None
    assert own.balanced == 0.5


def test_communicators_match_by_ranks_and_occurrence(tmp_path: Path) -> None:
    """Ranks 1 and 2 number their common communicators differently; the second of equal ranks is another."""
    writer = Writer(tmp_path, 3)
    writer.communicator(1, (0, 1))
    first = [writer.communicator(1, (1, 2)), writer.communicator(2, (1, 2))]
    second = [writer.communicator(1, (1, 2)), writer.communicator(2, (1, 2))]
    assert first[0] != first[1]
    writer.call("barrier", [1, 1 + MS], [1 + 2 * MS] * 2, ranks=(1, 2), ids=second, site=0x2000)
    writer.call("barrier", [2, 2 + 3 * MS], [2 + 4 * MS] * 2, ranks=(1, 2), ids=first, site=0x3000)
    found = report(writer.write())
    times = {site.place.text: site.statistic.worst_time for site in found.sites}
    assert times == {"app+0x1000": pytest.approx(MS), "app+0x2000": pytest.approx(3 * MS)}
    assert found.analysis.count.incomplete == 0


def test_communicators_that_threads_have_mixed_up_make_no_calls(tmp_path: Path) -> None:
    """The ranks' first of two equal ones is not the same: they say other bytes, or one has left before the
    other comes. Calls that met are kept, and those without data, for which nobody waits."""
    for thread, mismatched in ((1, 2), (0, 0)):
        writer = Writer(tmp_path / str(thread), 2)
        writer.call("allreduce", [1, 1], [2, 2], [8, 800], thread=thread)
        writer.call("barrier", [3, 5], [4, 6], thread=thread)
        writer.call("barrier", [7, 8], [9, 9], thread=thread)
        writer.call("allreduce", [10, 12], [11, 13], 0, thread=thread)
        writer.call("alltoallv", [14, 16], [15, 17], [8, 800], thread=thread)
        found = report(writer.write())
        assert (found.analysis.count.mismatched, found.analysis.count.complete) == (
            mismatched,
            5 - mismatched,
        )


def test_what_is_no_call_is_counted(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 2)
    alone = writer.communicator(0, (0,))
    elsewhere = [writer.communicator(0, ()), writer.communicator(1, ())]
    writer.call("barrier", [1, 1], [2, 2])
    writer.call("barrier", [3], [4], ranks=(0,), ids=(alone,))
    writer.call("barrier", [5, 5], [6, 6], ids=elsewhere)
    writer.call("bcast", [7, 7], [8, 8], flags=2, root=0)
    writer.call("barrier", [9], [10], ranks=(0,))
    writer.call("bcast", [9], [10], ranks=(1,))
    writer.call("barrier", [11, 11], [12, 0])
    found = report(writer.write())
    assert found.whole is not None
    assert found.whole.calls == 1
    count = found.analysis.count
    assert (count.mismatched, count.incomplete, count.unmatched_events) == (1, 1, 4)
    assert found.analysis.alone == 1


def test_who_is_late_and_the_phases(tmp_path: Path) -> None:
    """A stencil code in which ranks 2 and 3 fall behind from call 40 of 100 on."""
    writer = Writer(tmp_path, 4)
    random = np.random.default_rng(7)
    for k in range(100):
        arrivals = 1 + k * 0.1 + random.uniform(0, 50e-6, 4)
        if k >= 40:
            arrivals[2:] += 10 * MS
        writer.call("allreduce", arrivals.tolist(), [float(arrivals.max()) + MS] * 4, 8)
    [site] = report(writer.write()).sites
    assert sorted(late.rank for late in site.late) == [2, 3]
    assert 0.6 < sum(late.last_share for late in site.late) <= 1
    assert [(phase.first, phase.last) for phase in site.phases] == [(0, 39), (40, 99)]
    assert "waiting for ranks 2-3" in verdict(site)
    assert "in 2 phases" in verdict(site)


def test_of_ranks_that_arrive_at_random_nobody_is_called_late(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 8)
    random = np.random.default_rng(3)
    for k in range(1, 300):
        arrivals = k + random.uniform(0, 10 * MS, 8)
        writer.call("alltoall", arrivals.tolist(), [k + 20 * MS] * 8, 64)
    [site] = report(writer.write()).sites
    assert site.late == []
    assert "waiting for a different rank each time" in verdict(site)


def test_main_loop_is_what_is_called_often_and_takes_time() -> None:
    assert main_loop([1, 100, 100, 5000, 100], [90.0, 50.0, 40.0, 0.5, 5.0]) == {1, 2}
    assert main_loop([1, 2], [1.0, 1.0]) == set()


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("main", "main"),
        ("(anonymous namespace)::run(Options const&, World (*)(int))", "run"),
        ("apps::LoopTimer::times() const", "apps::LoopTimer::times"),
        ("f<void (int)>::call(int)", "f<void (int)>::call"),
        ("operator()", "operator"),
        ("a" * 80, "a" * 57 + "..."),
    ],
)
def test_functions_are_named_without_parameters(name: str, short: str) -> None:
    assert function_text(name) == short


def test_json_is_as_the_schema_says(tmp_path: Path, unisono: Run) -> None:
    done = unisono("report", str(by_hand(tmp_path).write()), "--json", "-")
    assert done.returncode == 0, done.stderr
    told: Json = json.loads(done.stdout)
    schema = json.loads(SCHEMA.read_text())
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(told)) == []
    del told["call_sites"][0]["unavoidable_s"]
    assert not validator.is_valid(told)
    [routine] = told["routines"]
    assert routine["routine"] == "MPI_Alltoall"
    parts = sum(routine[name] for name in ("unavoidable_s", "inefficiency_s", "rest_s"))
    assert parts == pytest.approx(routine["mean_per_rank_time_s"])


def test_terminal(tmp_path: Path, unisono: Run) -> None:
    done = unisono("report", str(by_hand(tmp_path).write()))
    assert done.returncode == 0, done.stderr
    assert "./app x: 4 ranks on 4 hosts, 4 events" in done.stdout
    assert (
        "MPI_Alltoall at app+0x1000: 86 % of its time is waiting for rank 3; another algorithm" in done.stdout
    )
    assert "can win back at most 14 %" in done.stdout


def test_eighty_columns_fold_nothing_within_a_word(tmp_path: Path, unisono: Run) -> None:
    long = "a_solver_whose_name_is_as_long_as_that_of_generated_sources.so"
    modules = [{"path": f"/nowhere/{long}", "start": "0x1000", "end": "0x9000", "offset": "0x0"}]
    writer, now = Writer(tmp_path, 4, modules=modules), 1.0
    for name in ("allreduce", "reduce_scatter_block", "neighbor_allgather"):
        for _ in range(6):
            writer.call(name, [now] * 3 + [now + 3 * MS], [now + 4 * MS] * 4, 123_456_789)
            now += 1
    done = unisono("report", str(writer.write()), COLUMNS="80")
    assert done.returncode == 0, done.stderr
    shown, _, sentences = done.stdout.partition("* main loop;")
    shown = shown.partition("Collectives (Table 3)")[2]  # before it notes, which are sentences too
    assert max(map(len, shown.splitlines())) <= 80
    assert "of its time is waiting for rank 3" in sentences
    words = shown.split()
    for name in ("MPI_Allreduce", "MPI_Reduce_scatter_block", "MPI_Neighbor_allgather"):
        assert words.count(name) >= 2, "among the collectives, and the call sites"
    assert words.count(f"{long}+0x1000") == 3
    assert words.count("123456789") >= 3
    assert "inefficient" in words and "transfer" in words


@pytest.mark.parametrize("kind", ["missing", "file", "empty", "newer", "no start"])
def test_no_trace_is_one_clear_line(tmp_path: Path, unisono: Run, kind: str) -> None:
    folder = tmp_path / "trace"
    wanted = {
        "missing": "no such folder",
        "file": "a trace is a folder, and this is none",
        "empty": "not a trace (no rank-N.jsonl in it)",
        "newer": "trace format 2, this Unisono reads 1",
        "no start": "rank-00000.jsonl has no start line",
    }[kind]
    if kind == "file":
        folder.write_text("")
    elif kind != "missing":
        folder.mkdir()
    if kind == "newer":
        (folder / "rank-00000.jsonl").write_text('{"kind":"start","format":2,"size":1}\n')
    if kind == "no start":
        (folder / "rank-00000.jsonl").write_text('{"kind":"end","events":0,"at_ns":1}\n')
    done = unisono("report", str(folder))
    assert done.returncode == 2
    assert wanted in done.stderr
    assert done.stderr.count("\n") == 1


class Tags(HTMLParser):
    """Every element, closed in order; attributes that could fetch something; what tables and tips tell."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetching: list[str] = []
        self.seen: list[str] = []
        self.values: list[str] = []
        self.titles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        fetchers = {"src", "href", "data", "xlink:href", "action"}
        self.fetching += [
            name for name, value in attrs if name in fetchers and not str(value).startswith("#")
        ]
        self.values += [str(value) for name, value in attrs if name == "data-value"]
        if tag not in {"meta", "th"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["title"]:
            self.titles.append(data)


def parse(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags


def test_the_page_stands_alone_and_is_escaped(tmp_path: Path) -> None:
    writer = Writer(
        tmp_path, 3, modules=[{"path": "/x/<script>a&b", "start": "0x1000", "end": "0x9000", "offset": "0x0"}]
    )
    for k in range(1, 1200):
        writer.call("alltoall", [k, k + MS, k + k * MS], [k + 2] * 3, 1024)
    page = html.render(report(writer.write()), 10)
    tags = parse(page)
    assert tags.fetching == []
    assert {"svg", "table", "path"} <= set(tags.seen)
    assert tags.seen.count("script") == 1  # ours
    for unwanted in ("url(h", "@import", "http:", "https:", "xlink"):
        assert unwanted not in page
    for table in ("Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Figure 2", "Figures 3 and 5"):
        assert table in page
    assert "prefers-color-scheme: dark" in page
    assert f"More than {figures.POINTS} calls" in page


def test_the_page_s_size_does_not_grow_with_the_calls(tmp_path: Path) -> None:
    lengths = []
    for number in (1000, 4000):
        writer = Writer(tmp_path, 2)
        for k in range(number):
            writer.call("barrier", [k, k + MS * (1 + k % 7)], [k + 0.1] * 2)
        lengths.append(len(html.render(report(writer.write()), 10)))
    assert lengths[1] < 1.2 * lengths[0]


def test_the_page_and_the_json_say_the_same_numbers(tmp_path: Path) -> None:
    """In the table of call sites, in the chart of Figure 2, in the chart of a site with phases."""
    writer = Writer(tmp_path, 4)
    random = np.random.default_rng(7)
    for k in range(100):
        arrivals = 1 + k * 0.1 + random.uniform(0, 50e-6 if k < 40 else 10 * MS, 4)
        leave = [float(arrivals.max()) + MS] * 4
        writer.call("allreduce", arrivals.tolist(), leave, 8 if k % 2 else 4096)
        writer.call("alltoall", (arrivals + 0.05).tolist(), [at + 0.05 for at in leave], 1024, site=0x3000)
    found = report(writer.write())
    told, tags = json.loads(documents.text(document.document_of(found))), parse(html.render(found, 10))
    wanted: list[float] = []
    for site in told["call_sites"]:
        elapsed = site["mean_per_rank_time_s"]
        wanted += [site["share_of_collective_time"], site["calls"], site["bytes"]["mean"], elapsed]
        wanted += [site[part] / elapsed for part in ("unavoidable_s", "rest_s", "inefficiency_s")]
        wanted += [site["worst_imbalance_time_s"], site["worst_imbalance_factor"]]
    assert list(map(float, tags.values)) == pytest.approx(wanted)
    bars = [title for title in tags.titles if " calls, " in title]
    small, large = ([row[kind] for row in told["distribution"]["classes"]] for kind in ("small", "large"))
    assert [int(bar.split(": ")[1].split()[0]) for bar in bars] == small + large
    assert sum(small) + sum(large) == told["program"]["calls"]
    phases = [phase for site in told["call_sites"] for phase in site["phases"]]
    assert len(phases) == 4
    assert [title for title in tags.titles if title.startswith("calls ")] == [
        f"calls {phase['first_call'] + 1} to {phase['last_call'] + 1}: "
        f"median {time_text(phase['median_worst_imbalance_time_s'])}"
        for phase in phases
    ]


def test_a_chart_is_drawn_where_the_numbers_are(tmp_path: Path) -> None:
    """Two calls, worst-case factors of 10 and 1000: two decades apart on an axis that says so."""
    chart = figures.series(np.array([10.0, 1000.0]), np.array([1.0, 1.0]), [], 1.0, True, "a chart")
    places = {}
    for path in re.findall(r'<path d="M ([\d.]+) ([\d.]+) L ([\d.]+) ([\d.]+)"[^>]*var\(--worst\)', chart):
        places["line"] = tuple(map(float, path))
    labels = {text: float(y) for y, text in re.findall(r'y="([\d.]+)"[^>]*>([\d.K]+)</text>', chart)}
    decade = (labels["10.0"] - labels["1.0K"]) / 2
    _, low, _, high = places["line"]
    assert low - high == pytest.approx(2 * decade, abs=0.3)


def test_charts_are_the_same_bytes_each_time() -> None:
    drawn = [figures.bars(["a", "b"], [("x", "worst", [1, 2])]) for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_a_page_without_calls(tmp_path: Path) -> None:
    page = html.render(report(Writer(tmp_path, 2).write()), 10)
    parse(page)
    assert "No complete call" in page
