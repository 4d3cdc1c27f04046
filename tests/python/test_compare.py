"""unisono compare without measuring: a made-up bench stands for the job."""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html.parser import HTMLParser
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from rich.console import Console
from unisono.compare import matrix, page, results, runner, summary, terminal
from unisono.compare.results import Comparison, Failure, Point, Setting
from unisono.compare.runner import Listener, Options, Runner
from unisono.compare.yardstick import Wire, rate_for
from unisono.core import jobs, machine
from unisono.core.errors import UnisonoError
from unisono.core.estimates import Estimate
from unisono.core.places import Mpi
from unisono.lab import cluster
from unisono.lab.cluster import Lab as RealLab
from unisono.lab.layout import Plan
from unisono.testbeds.beds import Lab, Node

PAIR = Setting("mpich", 2, 2)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "busy_share", lambda: 0.02)


class FlatLimit:
    def __init__(self) -> None:
        self.prepared: set[Setting] = set()

    def prepare(self, settings: Iterable[Setting]) -> None:
        self.prepared = set(settings)

    def limit_us(self, point: Point) -> float | None:
        assert point.setting in self.prepared
        return point.size / 100 or None

    def describe(self) -> dict[str, Any]:
        return {"kind": "copying", "rates": []}


def bench_arm(
    name: str, microseconds: float, ratio: float | None, correct: bool = True, coverage: float = 0.96
) -> dict[str, Any]:
    def estimate(value: float) -> dict[str, float]:
        return {"median": value, "low": 0.98 * value, "high": 1.02 * value, "coverage": coverage}

    arm = {"arm": name, "available": True, "ran_by": "mpi" if name == "native" else "unisono"}
    arm |= {"correct": correct, "time_us": estimate(microseconds), "blocks": 5, "calls_per_block": 1}
    arm["samples_us"] = [microseconds * k for k in (0.9, 1.0, 1.1, 0.95, 1.05)]
    return arm if ratio is None else arm | {"ratio_to_native": estimate(ratio)}


class Bench:
    """Answers a job as unisono-bench would; `ends` says at which call, after how many cells, how."""

    def __init__(
        self, ratio: float = 0.5, ends: Mapping[int, tuple[int, str]] | None = None, coverage: float = 0.96
    ) -> None:
        self.ratio, self.ends, self.coverage = ratio, ends or {}, coverage
        self.lines: list[Sequence[str]] = []
        self.wrong_at: int | None = None
        self.native: float | None = None

    def __call__(
        self, line: Sequence[str], environment: object, silence: float, look: Callable[[], bool]
    ) -> jobs.Outcome:
        call = len(self.lines)
        self.lines.append(line)
        value = dict(pairwise(line))
        file = Path(value["--json"])
        sizes = [int(size) for size in value.get("--sizes", "0").split(",")]
        most, problem = self.ends.get(call, (len(sizes), ""))
        body: dict[str, Any] = {"machine": {"mpi_library": "MPI 1, made up", "ranks": 2}, "cells": []}
        for size in sizes[:most]:
            correct = size != self.wrong_at
            time = self.native or 10.0 + size
            arms = [bench_arm("native", time, None)]
            for name in value["--arms"].split(",")[1:]:
                arms.append(bench_arm(name, time * self.ratio, self.ratio, correct, self.coverage))
            body["cells"].append({"bytes": size, "correct": correct, "arms": arms})
            file.write_text(json.dumps(body))
            look()
            if not correct:
                return jobs.Outcome("", "exit status 1: WRONG RESULT")
        if problem == "interrupt":
            raise KeyboardInterrupt
        return jobs.Outcome("", problem)


def measured(bench: Bench, plan: Sequence[matrix.Job]) -> Comparison:
    return Runner(Node(), FlatLimit(), Options(), Listener(), bench).run(plan)


def job(collective: str = "bcast", *sizes: int, setting: Setting = PAIR) -> matrix.Job:
    return matrix.Job(setting, collective, sizes or (8, 64, 1024), ("default",))


def places_of(failures: Sequence[Failure]) -> list[tuple[int, str]]:
    return [(failure.point.size, failure.reason) for failure in failures]


def test_all_cells_are_read() -> None:
    comparison = measured(Bench(), [job(), job("reduce", 8)])
    assert [(c.point.collective, c.point.size) for c in comparison.cells] == [
        ("bcast", 8),
        ("bcast", 64),
        ("bcast", 1024),
        ("reduce", 8),
    ]
    assert comparison.planned == 4
    cell = comparison.cells[2]
    native, default = cell.arms
    assert native.time_us is not None
    assert native.time_us.median == 1034
    assert cell.times_limit(native) == pytest.approx(1034 / 10.24)
    assert native.quantiles_us == pytest.approx([1034 * k for k in (0.9, 0.95, 1.0, 1.05, 1.1)])
    assert native.spread == pytest.approx(0.1)
    assert default.ratio_to_native is not None
    assert default.ratio_to_native.median == 0.5


def test_the_blocks_of_a_cell_are_spread_over_several_passes() -> None:
    class Drifting(Bench):
        """A machine that changes its mind between the passes: 4.8 us, then 17.2 us, then 4.8 us again."""

        def __call__(self, line: Sequence[str], *others: Any) -> jobs.Outcome:
            number = int(dict(pairwise(line))["--seed"])
            self.ratio = (0.5, 1.0, 0.6)[number - 1]
            self.native = (4.8, 17.2, 4.8)[number - 1]
            return super().__call__(line, *others)

    bench = Drifting()
    plan = [job("bcast", 8, 64), job("reduce", 8)]
    options = Options(time_budget=3.0, passes=3)
    comparison = Runner(Node(), FlatLimit(), options, Listener(), bench).run(plan)
    lines = [dict(pairwise(line)) for line in bench.lines]
    assert [line["--collectives"] for line in lines] == ["bcast", "reduce"] * 3
    assert {line["--budget"] for line in lines} == {"1.0"}
    assert comparison.planned == len(comparison.cells) == 3
    native, default = comparison.cells[0].arms
    assert (native.blocks, default.blocks) == (15, 15)
    assert default.ratio_to_native == Estimate(0.6, 0.588, 0.612, 0.96), "the middle one of the passes"
    assert native.time_us
    assert native.time_us.median == 4.8
    assert comparison.options["passes"] == 3


def test_two_modes_are_told_though_no_job_shows_both(tmp_path: Path) -> None:
    def arm(microseconds: float) -> dict[str, Any]:
        samples = [microseconds * k for k in (0.97, 1.0, 1.03, 0.98, 1.02, 0.99, 1.01, 1.0)]
        return bench_arm("native", microseconds, None) | {"samples_us": samples}

    told = runner.arm_of(arm(4.8), arm(17.2), arm(4.9))
    assert told.modes
    assert (told.modes.low, told.modes.high) == pytest.approx((4.85, 17.2), rel=0.03)
    assert runner.arm_of(arm(4.8), arm(4.9), arm(5.0)).modes is None
    comparison = measured(Bench(), [])
    comparison.cells.append(results.Cell(Point(PAIR, "bcast", 8), None, (told,)))
    expected = "two modes: mpich, 2 ranks, bcast 8 vector, native: 4.85 us, and 17.2 us in 33 % of the blocks"
    assert expected in shown(comparison)
    results.save(comparison, tmp_path / "c.json")
    assert results.load(tmp_path / "c.json") == comparison


def test_what_failed_in_one_pass_is_not_tried_in_the_next() -> None:
    bench = Bench(ends={0: (1, "killed")})
    comparison = Runner(Node(), FlatLimit(), Options(passes=2), Listener(), bench).run([job()])
    sizes = [dict(pairwise(line))["--sizes"] for line in bench.lines]
    assert sizes == ["8,64,1024", "1024", "8,1024"]
    assert places_of(comparison.failures) == [(64, "killed")]


def test_a_size_means_to_the_bench_what_it_means_here() -> None:
    bench = Bench()
    comparison = measured(bench, [job("reduce_scatter_block", 64), job("allgather", 64), job("barrier", 0)])
    sizes = [dict(pairwise(line)).get("--sizes") for line in bench.lines]
    assert sizes == ["64", "64", None]
    assert [cell.point.size_text for cell in comparison.cells] == ["64 vector", "64 block", "-"]


def test_a_failure_costs_its_cell_only() -> None:
    bench = Bench(ends={0: (1, "no result within 60 s, ended")})
    comparison = measured(bench, [job(), job("reduce")])
    assert [cell.point.size for cell in comparison.cells] == [8, 1024, 8, 64, 1024]
    assert places_of(comparison.failures) == [(64, "no result within 60 s, ended")]


def test_a_job_that_never_starts_is_given_up() -> None:
    refused = (0, "exit status 1: no such host")
    comparison = measured(Bench(ends={0: refused, 1: refused}), [job(), job("reduce", 8)])
    reasons = places_of(comparison.failures)
    assert [size for size, _ in reasons] == [8, 64, 1024]
    assert reasons[2][1] == "not tried: the job failed twice at its start"
    assert len(comparison.cells) == 1


def test_a_wrong_result_is_reported_and_the_rest_measured() -> None:
    bench = Bench()
    bench.wrong_at = 64
    comparison = measured(bench, [job()])
    assert [(cell.point.size, arm.name) for cell, arm in comparison.wrong] == [(64, "default")]
    assert [cell.point.size for cell in comparison.cells] == [8, 64, 1024]
    assert not comparison.failures
    assert summary.rows(comparison)[0].cells == 2


def test_what_fails_after_the_last_cell_is_not_lost() -> None:
    comparison = measured(Bench(ends={0: (3, "killed by SIGSEGV: no output")}), [job()])
    assert len(comparison.cells) == 3
    assert places_of(comparison.failures) == [(1024, "measured, and then: killed by SIGSEGV: no output")]


def test_an_interrupt_keeps_what_was_measured() -> None:
    comparison = measured(Bench(ends={1: (2, "interrupt")}), [job(), job("reduce"), job("scan")])
    assert comparison.interrupted
    assert len(comparison.cells) == 5
    assert "interrupted: 5 of 9 cells were measured" in shown(comparison)


def shown(comparison: Comparison) -> str:
    output = StringIO()
    terminal.show(comparison, Console(width=200, file=output))
    return output.getvalue()


def test_a_busy_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "in use" not in shown(measured(Bench(), [job()]))
    monkeypatch.setattr(machine, "busy_share", lambda: 0.4)
    comparison = measured(Bench(), [job()])
    assert "40 % of the machine was in use by others" in shown(comparison)
    assert "40 % of the machine was in use by others" in page.render(comparison)


def test_slow_cells_come_first() -> None:
    plan = [job("bcast", 8)]
    comparison = measured(Bench(ratio=0.25), plan)
    assert "none of 1 is slower" in shown(comparison)
    comparison.cells += measured(Bench(ratio=1.06), [job("reduce", 8)]).cells
    comparison.cells += measured(Bench(ratio=1.5), [job("scan", 8)]).cells
    comparison.cells += measured(Bench(ratio=1.05), [job("exscan", 8)]).cells
    text = shown(comparison)
    assert "slower than 0.95 of native's speed: 2 of 4, of 2 it is sure" in text
    first = text[: text.index("geometric mean")]
    assert re.findall(r"\b(scan|reduce|bcast|exscan)\b", first) == ["scan", "reduce"]
    (row,) = summary.rows(comparison)
    assert row.geometric_mean == pytest.approx((0.25 * 1.06 * 1.5 * 1.05) ** 0.25)
    assert (row.cells, row.faster, row.slow) == (4, 1, 2)


def test_several_libraries_are_judged_by_the_fastest_of_them() -> None:
    def cell(mpi: str, native: float, ours: float) -> results.Cell:
        point = Point(Setting(mpi, 2, 2), "bcast", 8)
        arms = (bench_arm("native", native, None), bench_arm("default", ours, ours / native))
        return results.Cell(point, None, tuple(runner.arm_of(arm) for arm in arms))

    several = measured(Bench(), [])
    several.cells += [cell("mpich", 4.0, 1.0), cell("openmpi", 2.0, 3.0)]
    found = {(row.where, row.arm): row for row in summary.against_fastest(several)}
    assert found["mpich, 2 ranks", "default"].geometric_mean == pytest.approx(0.5)
    assert found["mpich, 2 ranks", "native"].geometric_mean == pytest.approx(2.0)
    assert found["openmpi, 2 ranks", "default"].slow == 1
    assert found["openmpi, 2 ranks", "native"].faster == 0, "it is the fastest"
    assert "fastest library's own" in shown(several)
    several.cells.pop()
    assert summary.against_fastest(several) == []


def test_few_repetitions_are_never_sure() -> None:
    comparison = measured(Bench(ratio=2.0, coverage=0.75), [job("bcast", 8)])
    comparison.cells += measured(Bench(ratio=0.5, coverage=0.75), [job("scan", 8)]).cells
    text = shown(comparison)
    assert "1 of 2, of 0 it is sure" in text
    assert "1.96 - 2.04 ?" in text
    assert summary.rows(comparison)[0].faster == 0
    assert not any(change.is_sure for change in summary.changes(measured(Bench(), [job()]), comparison))


def test_json_says_the_same_when_read_again(tmp_path: Path) -> None:
    comparison = measured(Bench(ends={0: (1, "hangs")}), [job(), job("allgather", 8)])
    file = tmp_path / "c.json"
    results.save(comparison, file)
    again = results.load(file)
    assert again == comparison
    assert shown(again) == shown(comparison)


FIELDS = {
    "": "schema schema_version date unisono_version bed options libraries machines cells failures planned "
    "interrupted",
    "cells": "mpi ranks ranks_per_host pattern collective size size_of limit_us arms",
    "failures": "mpi ranks ranks_per_host pattern collective size size_of reason is_error",
    "arms": "name available ran_by correct blocks time_us quantiles_us ratio_to_native modes mean_us "
    "mean_ratio verdict times_limit",
    "time_us": "median low high coverage",
}


def test_the_schema_is_the_documented_one() -> None:
    body = msgspec.to_builtins(results.document_of(measured(Bench(ends={0: (1, "hangs")}), [job()])))
    arm = body["cells"][0]["arms"][1]
    found = {"": body, "cells": body["cells"][0], "failures": body["failures"][0]}
    found |= {"arms": arm, "time_us": arm["time_us"]}
    assert {place: set(part) for place, part in found.items()} == {
        place: set(names.split()) for place, names in FIELDS.items()
    }
    assert (body["schema"], body["schema_version"]) == ("unisono.compare", 3)
    documented = (Path(__file__).parents[2] / "docs/reference/compare.md").read_text()
    for names in FIELDS.values():
        for name in names.split():
            assert re.search(rf"`{name}(\[\])?`", documented), name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON"),
        ("[]", "was not written by unisono compare"),
        ('{"schema": "unisono-bench", "schema_version": 1}', "was not written by unisono compare"),
        ('{"schema": "unisono-compare", "schema_version": 99}', "has schema version 99, this is for 3"),
        ('{"schema": "unisono-compare", "schema_version": 1}', "is incomplete"),
        ('{"schema": "unisono-compare", "schema_version": 1, "cells": [7]}', "is incomplete"),
        ('{"schema": "unisono-compare", "schema_version": 2}', "is incomplete"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text)
    with pytest.raises(UnisonoError, match=message):
        results.load(file)


def test_changes_are_those_of_the_ratio() -> None:
    plan = [job("bcast", 8), job("reduce", 8), job("scan", 8)]
    before = measured(Bench(ratio=0.5), plan)
    after = measured(Bench(ratio=0.5), [job("reduce", 8)])
    after.cells += measured(Bench(ratio=0.25), [job("bcast", 8)]).cells
    after.cells += measured(Bench(ratio=0.75), [job("scan", 8)]).cells
    found = summary.changes(before, after)
    assert [(c.point.collective, round(c.factor, 3), c.is_sure) for c in found] == [
        ("scan", 1.5, True),
        ("reduce", 1.0, False),
        ("bcast", 0.5, True),
    ]


class Checker(HTMLParser):
    """Everything that a browser would fetch, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.plots = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.plots += tag == "svg"
        if tag in {"link", "img", "iframe"}:
            self.fetched.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "xlink:href"} and not (value or "").startswith("#"):
                self.fetched.append(f"{tag} {name}={value}")


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    other = Setting("openmpi", 4, 1)
    bench = Bench(ends={0: (2, "<hangs> & more")})
    comparison = measured(bench, [job(), job("scan", setting=other), job("barrier", 0)])
    comparison.cells += measured(Bench(ratio=2), [job("exscan", 8)]).cells
    former = measured(Bench(ratio=4), [job()])
    file = tmp_path / "c.html"
    page.write(comparison, file, summary.changes(former, comparison))
    text = file.read_text()
    checker = Checker()
    checker.feed(text)
    assert checker.fetched == []
    assert checker.plots == 3, "bcast, scan and exscan; barrier has no size"
    assert not re.search(r"url\((?!#)|@import", text)
    assert "&lt;hangs&gt; &amp; more" in text
    assert text.index("Slower than 0.95") < text.index("geometric mean") < text.index("<svg")
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(svg)


def test_a_plot_has_every_arm_and_the_limit() -> None:
    (section,) = page.sections(measured(Bench(), [job()]))
    ((_, plot, _),) = section.collectives
    assert plot is not None
    for word in ("native", "default", "limit", "percentage of the limit", "1K", "bytes (vector)"):
        assert word in plot
    assert ">100</text>" in plot and ">1000</text>" in plot  # us, on the axis of times


def test_arms_that_a_collective_lacks_are_left_out() -> None:
    arms = matrix.parse_arms("native,default,chain:segment=32K,ring")
    assert arms == ["default", "chain:segment=32K", "ring"]
    assert matrix.parse_arms("a:x=1,y=2,b") == ["a:x=1,y=2", "b"]
    found = matrix.arms_by_collective(arms, ["bcast", "allgather"])
    assert found["bcast"] == ("default", "chain:segment=32K")
    assert found["allgather"] == ("default", "ring")
    with pytest.raises(UnisonoError, match="--arms chian: no algorithm of bcast"):
        matrix.arms_by_collective(["chian"], ["bcast"])
    with pytest.raises(UnisonoError, match="'segment=0' is not valid"):
        matrix.arms_by_collective(["chain:segment=0"], ["bcast"])


def made_up_lab(plan: Plan) -> RealLab:
    return RealLab("made-up", plan.all_hosts(), float(plan.rate), plan, Path("/nowhere"))


def test_the_lab_s_limit_is_its_line_rate() -> None:
    def limit(plan: Plan, collective: str, ranks: int = 16, per_host: int = 1) -> float | None:
        return Wire(made_up_lab(plan)).limit_us(Point(Setting("mpich", ranks, per_host), collective, 1 << 20))

    wire = (8 << 20) / 100e6 * 1e6
    assert limit(Plan(), "bcast") == pytest.approx(wire)
    assert limit(Plan(), "alltoall") == pytest.approx(15 * wire)
    assert limit(Plan(), "alltoall", 32, 2) == pytest.approx(2 * 30 * wire)
    assert limit(Plan(), "bcast", 4, 4) is None
    assert limit(Plan(speed={"h3": 0.1}), "bcast") == pytest.approx(10 * wire)
    assert limit(Plan(speed={"h15": 0.1}), "bcast", 8) == pytest.approx(wire), "h15 takes no part"
    assert limit(Plan(switches=2), "alltoall") == pytest.approx(64 * wire)
    assert limit(Plan(switches=2, uplink=10_000_000_000), "alltoall") == pytest.approx(15 * wire)
    assert limit(Plan(switches=2), "alltoall", 8) == pytest.approx(7 * wire), "all at one switch"


def test_in_the_lab_intel_s_library_has_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, intel = Lab(made_up_lab(Plan(hosts=4))), Mpi("mpich", Path("/opt/intel"), "intel")
    monkeypatch.setattr(cluster, "find_library", lambda _: "libfabric.so.1")
    _, environment = lab.command(intel, 4, 1, ["bench"])
    assert environment["I_MPI_FABRICS"] == "shm:ofi"
    monkeypatch.setattr(cluster, "find_library", lambda _: None)
    with pytest.raises(UnisonoError, match="it needs libfabric"):
        lab.command(intel, 4, 1, ["bench"])


def test_in_the_lab_the_bench_runs_on_hosts() -> None:
    lab = Lab(made_up_lab(Plan(hosts=4)))
    line, environment = lab.command(Mpi("mpich", Path("/opt/mpich")), 8, lab.per_host(8, None), ["bench"])
    assert environment["XDG_CACHE_HOME"] == os.devnull, "nothing that another job has learned"
    assert line[0] == "/nowhere/enter"
    assert "-ppn 2" in line[-1]
    assert "-n 8 bench" in line[-1]
    with pytest.raises(UnisonoError, match="do not fit"):
        lab.per_host(9, 2)


def test_the_copy_rate_is_that_of_the_size_below() -> None:
    rates = {4096: 4.0, 32768: 3.0, 262144: 2.0}
    assert [rate_for(rates, size) for size in (1, 4096, 32767, 32768, 1 << 30)] == [4.0, 4.0, 4.0, 3.0, 2.0]
