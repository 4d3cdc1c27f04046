"""The experiments' harness with a made-up job, and the ping-pong table on two ranks of this node."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from unisono.core import jobs, places
from unisono.core.errors import UnisonoError
from unisono.testbeds import beds

from experiments import harness, testbeds
from experiments.arrival import table1_pingpong
from experiments.arrival.table1_pingpong import SIZES, Point, Series, one_way
from experiments.harness import Check
from experiments.testbeds import Program, Real, Run


class MadeUp:
    """Stands for jobs.run: counts its calls and prints that number."""

    def __init__(
        self, output: str = 'a warning {of sorts}\n{"call": CALL}\nend\n', problem: str = ""
    ) -> None:
        self.calls = 0
        self.output, self.problem = output, problem

    def __call__(self, line: Sequence[str], environment: object, silence: float) -> jobs.Outcome:
        self.calls += 1
        return jobs.Outcome(self.output.replace("CALL", str(self.calls)), self.problem)


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build with one program in it."""
    program = tmp_path / "bin" / "probe-mpich"
    program.parent.mkdir()
    program.write_text("first")
    monkeypatch.setenv("UNISONO_BUILD", str(tmp_path))
    monkeypatch.setattr(harness, "STORE", tmp_path / "store")
    monkeypatch.setattr("unisono.core.machine.busy_share", lambda: 0.0)
    return tmp_path


NODE = Real(beds.Node(), places.Mpi("mpich", Path("/opt/none")))
PROBE = Program("probe", Path("probe.cpp"))


def probe(*arguments: str) -> Run:
    return Run(PROBE, 2, arguments)


def test_a_second_run_measures_nothing(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = MadeUp()
    monkeypatch.setattr(jobs, "run", made_up)

    def measure(run: Run, fresh: bool = False) -> Any:
        return harness.measure(NODE, run, silence=1, fresh=fresh)["call"]

    assert measure(probe("8")) == 1
    assert measure(probe("8")) == 1
    assert measure(probe("16")) == 2, "other arguments"
    assert measure(probe("8"), fresh=True) == 3
    assert measure(probe("8")) == 3
    (build / "bin" / "probe-mpich").write_text("second")
    assert measure(probe("8")) == 4, "another program"
    monkeypatch.setenv("UNISONO_WAIT", "sleep")
    assert measure(probe("8")) == 5, "other settings of Unisono"
    kept = [json.loads(file.read_text()) for file in (build / "store").iterdir()]
    assert len(kept) == 4
    assert all(one["key"]["program"] == "probe" and one["date"] for one in kept)


@pytest.mark.parametrize(
    ("made_up", "message"),
    [
        (MadeUp(problem="no result within 1 s, ended"), "node, mpich, 2 ranks: probe: no result within 1 s"),
        (MadeUp(output="nothing\n{broken"), "node, mpich, 2 ranks: probe: printed no JSON object"),
    ],
)
def test_a_failure_is_not_kept(
    build: Path, monkeypatch: pytest.MonkeyPatch, made_up: MadeUp, message: str
) -> None:
    monkeypatch.setattr(jobs, "run", made_up)
    for _ in range(2):
        with pytest.raises(UnisonoError, match=message):
            harness.measure(NODE, probe(), silence=1)
    assert made_up.calls == 2


def test_checks_are_printed_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    checks = [Check("grows", True, "2 times"), Check("is flat", False, "7 times")]
    checks.append(Check("gains", None, "0 % (-29 to 29)"))
    harness.report({"here": checks})
    assert capsys.readouterr().out.splitlines() == [
        "here",
        "        holds  grows: 2 times",
        "does not hold  is flat: 7 times",
        "    undecided  gains: 0 % (-29 to 29)",
        "1 of 3 hold, 1 undecided",
    ]


def test_an_interval_that_holds_both_answers_decides_nothing() -> None:
    assert [harness.above(*span, 0) for span in ((1, 29), (-29, -1), (-29, 29))] == [True, False, None]
    assert [harness.below(*span, 1) for span in ((-29, 0), (1, 2), (-29, 29))] == [True, False, None]
    assert [harness.every(a) for a in ((True, True), (True, None), (None, False))] == [True, None, False]
    assert [harness.some(a) for a in ((None, True), (False, None), (False, False))] == [True, None, False]


def test_the_paper_s_own_table_passes_the_checks() -> None:
    for series in table1_pingpong.paper():
        assert all(check.holds for check in table1_pingpong.checks(series)), series.name


def changed(factors: Sequence[float]) -> set[str]:
    """The claims that fail when the Beowulf's times are changed by these factors."""
    paper = table1_pingpong.paper()[1]
    points = [Point(p.size, p.us * f, 0, 0) for p, f in zip(paper.points, factors, strict=True)]
    series = Series("changed", tuple(points), paper.line_rate)
    return {check.claim for check in table1_pingpong.checks(series) if not check.holds}


def test_each_check_can_fail() -> None:
    same = [1.0] * len(SIZES)
    assert not changed(same)
    assert any("takes no less time" in claim for claim in changed([*same[:-1], 0.5]))
    assert any("as long as 4 B" in claim for claim in changed([0.5, *same[1:]]))
    assert any("bandwidth rises" in claim for claim in changed([*same[:-1], 2.5]))
    assert any("hardly from 64 KB" in claim for claim in changed([*same[:-1], 0.7]))
    assert any("half of it" in claim for claim in changed([*same[:-3], 0.2, 0.2, 0.2]))
    assert any("the line is used" in claim for claim in changed([2.0] * len(SIZES)))
    assert any("the line is used" in claim for claim in changed([0.5] * len(SIZES))), "beyond its rate"


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_the_table_on_two_ranks(
    mpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(harness, "STORE", tmp_path / "store")
    monkeypatch.setattr(harness, "PICTURES", tmp_path)
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    assert table1_pingpong.main(["--bed", "node", "--mpi", mpi, "--seconds", "0.01"]) == 0
    (kept,) = (tmp_path / "store").iterdir()
    cells = json.loads(kept.read_text())["result"]["samples"]
    assert [cell["bytes"] for cell in cells] == list(SIZES)
    assert {cell["quantity"] for cell in cells} == {"one_way"}
    assert all(len(cell["seconds"]) >= 5 and min(cell["seconds"]) > 0 for cell in cells)
    assert (tmp_path / "arrival-table1.svg").stat().st_size > 1000
    output = capsys.readouterr().out
    assert f"node, {mpi}" in output
    assert "paper: Beowulf" in output
    assert " of 5 hold" in output


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_ping_pong_in_the_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "STORE", tmp_path)
    (testbed,) = testbeds.parse("sim:ethernet:4,bw=1Gbps,lat=25us", [])
    raw = harness.measure(testbed, Run(table1_pingpong.PINGPONG, 2, one_way(0, (1000, 1000000))), silence=60)
    small, large = table1_pingpong.measured(testbed, raw).points
    assert large.us - small.us == pytest.approx(999_000 * 8 / 1000), "a gigabit a second, both links at once"
    assert large.low == large.high, "simulated times do not vary"


def test_where_experiments_run() -> None:
    mpis = [places.Mpi("mpich", Path("/a")), places.Mpi("openmpi", Path("/b"))]
    found = testbeds.parse("node,sim:torus:2x2,bw=1Gbps,sim:ethernet:8", mpis)
    assert [bed.name for bed in found] == [
        "node, mpich",
        "node, openmpi",
        "sim, torus:2x2",
        "sim, ethernet:8",
    ]
    assert [bed.line_rate for bed in found] == [None, None, 1e9, 1e9]
    with pytest.raises(UnisonoError, match="--bed mars: valid are node, lab and sim:PLATFORM"):
        testbeds.parse("mars", mpis)
