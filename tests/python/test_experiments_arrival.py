"""Process arrival patterns: arithmetic, the paper's statements, and short runs on this node."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from unisono.core.errors import UnisonoError

from experiments import harness, testbeds
from experiments.arrival import (
    applications,
    impact,
    measuring,
    microbenchmark,
    programs,
    robust,
    traced,
    tracing_cost,
)
from experiments.arrival.impact import Panel
from experiments.arrival.measuring import NATIVE, Outcome, Pattern
from experiments.arrival.microbenchmark import Row
from experiments.arrival.programs import Times
from experiments.arrival.tracing_cost import Cost, Work
from experiments.harness import Check
from experiments.testbeds import Program, Run


def failing(found: Sequence[Check]) -> list[str]:
    return [check.claim for check in found if check.holds is False]


def undecided(found: Sequence[Check]) -> list[str]:
    return [check.claim for check in found if check.holds is None]


def test_means_have_student_s_interval() -> None:
    one = measuring.mean([1.0, 2.0, 3.0, 4.0, 5.0])
    assert one.value == 3
    assert one.half == pytest.approx(2.7764451 * math.sqrt(2.5 / 5))
    assert measuring.mean([7.0]).half == math.inf
    assert measuring.mean([0.0, 1.0] * 50).half == pytest.approx(1.98422 * 0.0502519, rel=1e-5)
    ratio, low, high = measuring.paired_ratio([2.0, 4.0, 80.0], [1.0, 2.0, 40.0])
    assert [ratio, low, high] == pytest.approx([2, 2, 2]), "patterns differ, the ratio does not"


# --- Tables 6 and 7 -------------------------------------------------------------------------------


def test_the_paper_s_tables_pass_the_checks() -> None:
    for machine in microbenchmark.PAPER:
        assert failing(microbenchmark.checks(microbenchmark.paper_rows(machine))) == [], machine


def rows(*values: tuple[int, float, float], half: float = 0.01) -> list[Row]:
    def known(value: float) -> measuring.Mean:
        return measuring.Mean(value, half, 10)

    return [Row(ms, known(1), known(computed), known(arrived)) for ms, computed, arrived in values]


@pytest.mark.parametrize(
    ("found", "claim"),
    [
        (rows((50, 0.1, 0.8), (800, 1.6, 2.0)), "arrivals are imbalanced"),
        (rows((50, 3, 4), (800, 9, 10)), "the computation's imbalance grows"),
        (rows((50, 3, 4), (800, 300, 400)), "the computation's imbalance grows"),
        (rows((50, 3, 4), (800, 48, 40)), "arrivals are more imbalanced"),
    ],
)
def test_each_check_of_the_microbenchmark_can_fail(found: list[Row], claim: str) -> None:
    (only,) = failing(microbenchmark.checks(found))
    assert only.startswith(claim)


def test_factors_whose_intervals_hold_both_answers_decide_nothing() -> None:
    found = microbenchmark.checks(rows((50, 3, 4), (800, 48, 50), half=3.5))
    assert failing(found) == []
    assert len(undecided(found)) == 3


def pattern(arrival: Sequence[float], elapsed: Sequence[float] = (1.0,)) -> Pattern:
    same = tuple(elapsed)
    return Pattern(same, same, tuple(arrival), tuple(arrival), tuple(arrival), (1.0,) * len(same))


def test_factors_are_times_by_that_of_one_message() -> None:
    outcomes = [Outcome(9.0, 0, ((1, (pattern(own),)),)) for own in ([0.2, 0.4], [0.6, 0.8])]
    found = microbenchmark.row_of(50, 0.1, outcomes)
    assert found.arrival.value == pytest.approx(5)
    assert found.arrival.count == 4
    assert found.calls == pytest.approx([2, 4]), "the first job's"


# --- Figures 7 to 10 ------------------------------------------------------------------------------

# In the order of impact.MAX_IF; as the figures show it, in arbitrary units.
FIGURES: dict[tuple[str, int], dict[str, tuple[float, ...]]] = {
    ("alltoall", 1): {
        "simple": (9, 8, 7, 10, 20),
        "bruck": (2, 3, 8, 12, 22),
        "pair": (4, 5, 8.5, 13, 22.5),
        "ring": (4.1, 5.1, 9, 14, 23),
        NATIVE: (3, 4, 7.5, 11, 21),
    },
    ("alltoall", 65536): {
        "simple": (9, 9, 9, 10, 20),
        "bruck": (20, 21, 22, 24, 24),
        "pair": (5, 6, 10, 13, 22),
        "ring": (6, 7, 11, 14, 23),
        NATIVE: (10, 10, 12, 15, 23.5),
    },
    ("bcast", 65536): {
        "flat": (9, 9, 9, 10, 11),
        "binomial": (4, 5, 9.5, 20, 40),
        "scatter_allgather": (3, 4, 10, 25, 50),
        NATIVE: (3.5, 4.5, 10, 22, 45),
    },
}


def panel(collective: str, size: int, changes: Mapping[str, tuple[float, ...]] = {}) -> Panel:
    curves = {**FIGURES[collective, size], **changes}
    times = {
        (algorithm, maximum): tuple(value * factor for factor in (0.99, 1.0, 1.01))
        for algorithm, values in curves.items()
        for maximum, value in zip(impact.MAX_IF, values, strict=True)
    }
    return Panel(collective, size, 0.1, times)


def test_the_figures_pass_the_checks() -> None:
    numbers = [len(impact.checks(panel(*key))) for key in FIGURES]
    assert numbers == [6, 5, 4]
    assert [failing(impact.checks(panel(*key))) for key in FIGURES] == [[], [], []]
    assert [undecided(impact.checks(panel(*key))) for key in FIGURES] == [[], [], []]


@pytest.mark.parametrize(
    ("key", "changes", "claim"),
    [
        (("alltoall", 1), {"bruck": (5, 5, 8, 12, 22)}, "balanced: bruck is faster than ring"),
        (("alltoall", 1), {"pair": (1, 1, 8, 12, 22)}, "balanced: bruck is faster than pair"),
        (("alltoall", 1), {"ring": (9, 8, 9, 14, 23)}, "balanced: ring is faster than simple"),
        (("alltoall", 1), {"bruck": (2, 3, 8, 9, 19)}, "imbalanced: simple is faster than all"),
        (("alltoall", 65536), {"ring": (4, 5, 9, 14, 23)}, "balanced: pair is faster than ring"),
        (("alltoall", 65536), {"pair": (5, 6, 9, 12, 40)}, "very imbalanced: all take about as long"),
        (("bcast", 65536), {"binomial": (9, 9, 9.5, 20, 40)}, "balanced: binomial is faster than flat"),
        (("bcast", 65536), {NATIVE: (3, 4, 9, 9, 9)}, "imbalanced: flat is faster than all others"),
        (("bcast", 65536), {"flat": (9, 9, 5, 14, 35)}, "imbalanced: flat leads, and by more"),
        (("bcast", 65536), {"flat": (9, 9, 140, 95, 56)}, "imbalanced: flat leads, and by more"),
        (("bcast", 65536), {"flat": (1, 1, 1, 1, 1)}, "curves cross"),
    ],
)
def test_each_check_of_the_impact_can_fail(
    key: tuple[str, int], changes: dict[str, tuple[float, ...]], claim: str
) -> None:
    assert any(one.startswith(claim) for one in failing(impact.checks(panel(*key, changes))))


def test_times_that_vary_decide_nothing() -> None:
    """-130, -75 and -16 ms are no lead that grows, and within their intervals nothing is said."""
    times = {
        (name, maximum): tuple(value * factor for factor in (0.3, 1.0, 2.2)[:: 1 if name == "flat" else -1])
        for (name, maximum), (_, value, _) in panel("bcast", 65536).times.items()
    }
    found = impact.checks(Panel("bcast", 65536, 0.1, times))
    assert [check.word for check in found] == ["undecided"] * 4


def test_what_was_measured_before_is_judged_anew(tmp_path: Path) -> None:
    kept = panel("bcast", 65536)
    assert impact.read(json.loads(json.dumps(impact.document([kept])))) == [kept]
    other = tmp_path / "other.json"
    other.write_text('{"experiment": "arrival-robust", "results": {}}')
    with pytest.raises(UnisonoError, match=r"other\.json: holds no results of arrival-impact"):
        impact.main(["--from", str(other)])


def test_algorithms_that_did_not_run_are_not_judged() -> None:
    whole = panel("alltoall", 65536)
    times = {key: value for key, value in whole.times.items() if key[0] != "pair"}
    claims = [check.claim for check in impact.checks(Panel("alltoall", 65536, 0.1, times))]
    assert not any("pair" in claim for claim in claims)
    assert len(claims) == 4


def test_rounds_of_the_impact_are_compared_each_with_itself() -> None:
    times = {("flat", 1): (1.0, 3.0, 2.0, 6.0), ("chain", 1): (1.0, 1.0, 2.0, 2.0)}
    found = Panel("bcast", 64, 0.1, times, jobs=2)
    assert found.by_job("flat", 1) == [2, 4]
    assert found.ratio("flat", "chain", 1) == pytest.approx((2, 2, 2)), "the second job is twice as slow"


# --- applications ---------------------------------------------------------------------------------


def test_gains_and_overheads_are_of_the_same_round() -> None:
    native = (Times(1.0, 0.5), Times(2.0, 1.0), Times(4.0, 2.0))
    own = (Times(0.9, 0.4), Times(1.8, 0.8), Times(2.0, 1.0))
    found = applications.Arms("ft", {NATIVE: native, "bandit": own}, {"bandit": {"ring": 9, "native": 3}})
    base, row = found.rows()
    assert base[4:] == ("", "", "")
    assert [text.split()[0] for text in row[4:6]] == ["20.0", "10.0"]
    assert row[6] == "ring 9, native 3"
    assert undecided(applications.gain_checks([found])) == ["ft: bandit gains"], "three rounds, 10 to 50 %"
    often = applications.Arms("ft", {NATIVE: native * 2, "bandit": own * 2, "traced": own * 2}, {})
    assert often.rows()[1][4:6] == ("20.0 (20.0 to 50.0)", "10.0 (10.0 to 50.0)")
    assert [check.word for check in applications.gain_checks([often])] == ["holds"]
    assert [check.word for check in applications.overhead_checks([often])] == ["holds"]
    slower = tuple(Times(1.02 * one.seconds, None) for one in native)
    dear = applications.Arms("ft", {NATIVE: native, "traced": slower, "bandit": slower}, {})
    vague = tuple(Times(one.seconds * by, None) for one, by in zip(native, (0.71, 1.29, 0.92), strict=True))
    both = applications.Arms("ft", {NATIVE: native * 2, "traced": vague * 2, "bandit": vague * 2}, {})
    (cost,), (gain,) = applications.overhead_checks([both]), applications.gain_checks([both])
    assert (cost.word, cost.numbers) == ("undecided", "-8.00 % (-29.00 to 29.00)")
    assert (gain.word, gain.numbers) == ("undecided", "8.0 (-29.0 to 29.0) %")
    assert failing(applications.overhead_checks([dear])) == ["ft: tracing costs less than 1 %"]
    assert failing(applications.gain_checks([dear])) == ["ft: bandit gains"]


def test_times_in_collectives_are_of_all_iterations() -> None:
    """The median iteration times their number hides the search, and lost packets."""
    facts: dict[str, Any] = {"seconds": 2.4, "iterations": 4, "seconds_in_collectives": 0.1}
    facts["collective_seconds"] = [0.1, 0.1, 0.1, 2.0]
    assert programs.times_of_app(json.dumps(facts)) == Times(2.4, 2.3)


def test_reports_that_are_kept_do_not_say_where_they_were_made() -> None:
    words = [str(testbeds.ROOT / "build" / "apps" / "is"), "--json", "/tmp/x/result.json"]
    assert [traced.without_place(word) for word in words] == ["build/apps/is", "--json", "DIR/result.json"]


def test_the_arms_of_a_program() -> None:
    arms = applications.arms_of("star,auto", None, ["alltoall=ring_light_barrier"])
    assert list(arms) == [NATIVE, "star", "auto", "aware"]
    assert arms["aware"] == {"UNISONO_ALLTOALL": "ring_light_barrier"}


def test_no_round_of_programs_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def run_arm(place: object, program: object, arm: str, variables: object) -> Times:
        ran.append(arm)
        return Times(1, 1)

    monkeypatch.setattr(applications, "run_arm", run_arm)
    (program,) = programs.chosen("is", 4, 1)
    place = traced.Place(None, 4)  # type: ignore[arg-type]
    monkeypatch.setattr(traced.Place, "name", "nowhere")
    (found,) = applications.measured(place, [program], {NATIVE: {}, "aware": {"A": "b"}}, 9, end=0)
    assert (ran, len(found.times["aware"])) == ([NATIVE, "aware"], 1)


def test_gains_that_were_measured_before_are_judged_anew(tmp_path: Path) -> None:
    native, own = ([{"seconds": s, "in_collectives": 0.5} for s in times] for times in ((2, 2.1), (1, 1.1)))
    body = {"bed": {"gain": {"is": {NATIVE: native, "bandit": own}}}}
    file = tmp_path / "raw.json"
    file.write_text(json.dumps({"experiment": applications.EXPERIMENT, "results": body}))
    assert applications.main(["--from", str(file), "--markdown", str(tmp_path / "tables.md")]) == 0
    assert "| is: bandit gains | holds |" in (tmp_path / "tables.md").read_text()


def test_what_tracing_costs_is_judged_by_the_loop_and_by_the_surer_end() -> None:
    whole, half = Work(300, 2_000_000_000, 2_001_300_000), Work(150, 1_200_000_000, 1_201_000_000)
    loop = whole - half
    assert loop == Work(150, 800_000_000, 800_300_000)
    seconds = ((1.0, 1.001), (2.0, 2.002), (1.0, 1.001))
    cost = Cost("ft", 16, loop, 700_000, seconds, 200e-9)
    assert cost.counted == pytest.approx(100 * 16 * 0.3 / 800)
    assert cost.calculated == pytest.approx(100 * 16 * 150 * 200e-9 / 0.5)
    assert failing(tracing_cost.cost_checks([cost])) == []
    unsure = dataclasses.replace(cost, seconds=((1.0, 0.9), (1.0, 1.1)), call_s=None)
    (claim,) = undecided(tracing_cost.cost_checks([unsure]))
    assert claim == "ft, one rank: tracing costs less than 1 %, by processor time"
    dear = dataclasses.replace(cost, ranks=64, call_s=1e-3)
    assert [claim.rsplit(", ")[-1] for claim in failing(tracing_cost.cost_checks([dear]))] == [
        "instructions",
        "calls by time",
    ]
    events = [tracing_cost.Event("Barrier", (40.0, 42.0, 41.0), (64.0, 64.0, 65.0))]
    assert failing(tracing_cost.event_checks(events)) == ["Barrier: an event costs 60 ns at most, mean"]


def test_the_lines_of_the_program_that_costs_are_taken_from() -> None:
    printed = "# ns per call  PMPI_       MPI_      more   (quartiles)   mean\n"
    printed += "Barrier         20.1      95.5      75.4   (72.9 .. 80.7)   115.1\n"
    assert tracing_cost.LINE.findall(printed) == [("Barrier", "75.4", "115.1")]
    assert tracing_cost.instructions(tracing_cost.Finished("==1== I   refs:      1,234,567\n", 0)) == 1234567
    with pytest.raises(UnisonoError, match="valgrind counted nothing"):
        tracing_cost.instructions(tracing_cost.Finished("", 0))


LAMMPS_OUTPUT = """
Loop time of 3.4327 on 2 procs for 100 steps with 864 atoms
Comm    | 3.0911     | 3.1251     | 3.159      |   1.9 | 91.04
"""


def test_what_lammps_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert programs.times_of_lammps(LAMMPS_OUTPUT) == Times(3.4327, None)
    with pytest.raises(UnisonoError, match="LAMMPS: printed no loop time"):
        programs.times_of_lammps("ERROR: no such file")
    monkeypatch.setattr(programs, "lammps_command", lambda: None)
    assert [one.name for one in programs.chosen("is,lammps-melt", 4, 1)] == ["is"]
    assert "no LAMMPS here: scripts/fetch_programs.sh lammps" in capsys.readouterr().out
    with pytest.raises(UnisonoError, match="--programs gone: valid are ft, fft2d"):
        programs.chosen("gone", 4, 1)
    with pytest.raises(UnisonoError, match="--side 3: wants a power of two"):
        programs.chosen("is", 4, 1, 3)
    ((*_, side, _, _),) = [one.command("mpich") for one in programs.chosen("fft2d", 16, 1, 4)]
    assert side == "1024"
    for ranks in range(2, 20):  # sizes that fit
        own = {one.name: one.command("mpich") for one in programs.chosen("", ranks, 1)}
        assert ("ft" in own) == (ranks in (2, 4, 8, 16))
        for name in ("fft2d", "transpose", "sweep"):
            assert int(own[name][own[name].index("--n") + 1]) % ranks == 0


# --- short runs -----------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(harness, "STORE", tmp_path / "store")
    monkeypatch.setattr(harness, "PICTURES", tmp_path)
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    monkeypatch.setattr("unisono.core.machine.busy_share", lambda: 0.0)  # half a second each time
    return tmp_path


def written(folder: Path) -> tuple[Any, str]:
    results = json.loads((folder / "raw.json").read_text())["results"]
    return results, (folder / "tables.md").read_text()


def line(folder: Path, *own: str, mpi: str = "openmpi", ranks: int = 3) -> list[str]:
    files = ["--json", str(folder / "raw.json"), "--markdown", str(folder / "tables.md")]
    return ["--bed", "node", "--mpi", mpi, "--ranks", str(ranks), *own, *files]


@pytest.mark.mpi
def test_the_microbenchmark_on_two_ranks(folders: Path) -> None:
    own = ["--computations", "1,2", "--seconds", "0.01", "--repeats", "2", "--bytes", "1024"]
    assert microbenchmark.main(line(folders, *own, mpi="mpich", ranks=2)) == 0
    results, text = written(folders)
    (found,) = results.values()
    assert [row["computation_ms"] for row in found] == [1, 2]
    assert all(row["arrival"]["calls"] == 40 and row["arrival"]["factor"] > 0 for row in found)
    assert "| 2 ms |" in text


@pytest.mark.mpi
def test_the_impact_on_three_ranks(folders: Path) -> None:
    own = ["--sizes", "64", "--max-if", "1,10", "--calls", "2", "--patterns", "3"]
    assert impact.main(line(folders, *own)) == 0
    results, text = written(folders)
    (panels,) = results.values()
    arms = {(one["collective"], p["algorithm"]) for one in panels for p in one["points"]}
    assert ("alltoall", "pair") not in arms, "three ranks are no power of two"
    assert {("alltoall", "ring"), ("bcast", "flat"), ("bcast", NATIVE)} <= arms
    assert all(len(p["seconds"]) == 3 and min(p["seconds"]) > 0 for one in panels for p in one["points"])
    assert "curves cross" in text
    with pytest.raises(UnisonoError, match="--max-if 1,x: write numbers"):
        impact.main(line(folders, "--max-if", "1,x"))
    with pytest.raises(UnisonoError, match="--collectives scan: valid are alltoall, bcast"):
        impact.main(line(folders, "--collectives", "scan"))


@pytest.mark.mpi
def test_the_robust_choice_on_three_ranks(folders: Path) -> None:
    own = ["--collective", "allgather", "--bytes", "64", "--max-if", "4", "--change", "1,4"]
    assert robust.main(line(folders, *own, "--calls", "3", "--online-calls", "5", "--jobs", "1")) == 0
    results, text = written(folders)
    (body,) = results.values()
    stable, changing = body["programs"]
    calls = {arm: [[len(job) for job in phase] for phase in phases] for arm, phases in stable["arms"].items()}
    assert [calls["ring"], calls["auto"]] == [[[3]], [[5]]], "one job"
    assert [len(changing["arms"][arm]) for arm in ("native", "star")] == [2, 2]
    assert changing["arms"]["ring"][0] != changing["arms"]["ring"][1], "phases of the same jobs"
    assert "phase 2 (MAX_IF 4)" in text


@pytest.mark.mpi
def test_applications_on_three_ranks(folders: Path) -> None:
    own = ["--programs", "is,nbody", "--scale", "0.01", "--rounds", "1", "--parts", "trace,gain"]
    assert applications.main(line(folders, *own)) == 0
    results, text = written(folders)
    (body,) = results.values()
    counts = {r["collective"]: r["calls"] for r in body["trace"]["is"]["routines"]}
    assert counts["alltoallv"] == 3, "a call in each iteration"
    assert {"allreduce", "alltoall"} <= set(counts)
    assert body["gain"]["nbody"]["auto"][0]["seconds"] > 0
    assert "| is | alltoallv" in text
    with pytest.raises(UnisonoError, match="--parts all: valid are trace, gain, overhead"):
        applications.main(line(folders, "--parts", "all"))


@pytest.mark.mpi
def test_lammps_on_two_ranks(folders: Path) -> None:
    if programs.lammps_command() is None:
        pytest.skip("no LAMMPS here: scripts/fetch_programs.sh lammps")
    own = ["--programs", "lammps-melt", "--scale", "0.01", "--rounds", "1", "--parts", "trace,overhead"]
    assert applications.main(line(folders, *own, ranks=2)) == 0
    results, _ = written(folders)
    (body,) = results.values()
    assert {"allreduce", "bcast"} <= {r["collective"] for r in body["trace"]["lammps-melt"]["routines"]}
    assert traced.algorithms(body["trace"]["lammps-melt"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--collective", "scan"], "--collective scan: valid are alltoall, bcast"),
        (["--max-if", "0"], "--bytes, --calls, --patterns, --max-if: numbers from 1 on"),
        (["--fast"], "--fast: no such option"),
        (["--output", "/nonexistent/file"], "--output: cannot write /nonexistent/file"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], message: str) -> None:
    (place,) = measuring.places_of(measuring.parser("").parse_args(["--mpi", "mpich", "--ranks", "2"]))
    program = Program("unisono-arrival", measuring.SOURCE)
    outcome = place.testbed.execute(Run(program, 2, arguments), 60)
    assert not outcome.ok
    assert f"unisono-arrival: {message}" in outcome.output
