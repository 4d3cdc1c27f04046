"""Orthogonal processor groups: layouts, arithmetic, the paper's statements, and short runs on this node."""

import dataclasses
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from unisono.core import catalogue
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import harness, testbeds
from experiments.orthogonal import applications, figures, grid_cost, grids, layouts, paper, runs
from experiments.orthogonal.applications import Arm, Times
from experiments.orthogonal.grids import FORMS, LANES, PAPER, Layout
from experiments.orthogonal.improvement import Improvement, Row, additional, improvements
from experiments.orthogonal.measuring import Plan, rows_of_bench, rows_of_sim


def names(ranks: int, dimensions: Sequence[int]) -> list[str]:
    return [str(layout) for layout in grids.layouts(ranks, dimensions)]


def test_layouts_are_the_paper_s() -> None:
    assert names(16, [2]) == ["2x8", "4x4", "8x2"]
    assert names(32, [2]) == ["2x16", "4x8", "8x4", "16x2"]
    # Section 2.2: 8 layouts of 48 processors, 10 of 96.
    assert names(48, [2]) == ["2x24", "3x16", "4x12", "6x8", "8x6", "12x4", "16x3", "24x2"]
    assert len(names(96, [2])) == 10
    assert {"2x8x2", "4x4x2"} <= set(names(32, [3]))
    assert all("1" not in name.split("x") for name in names(96, [2, 3]))
    assert [str(one) for one in grids.balanced(grids.layouts(48, [2]))] == ["6x8", "8x6"]
    assert [str(one) for one in grids.balanced(grids.layouts(16, [2]))] == ["4x4"]
    with pytest.raises(UnisonoError, match="7 ranks: no grid"):
        grids.layouts(7, [2])
    with pytest.raises(UnisonoError, match="--shapes 3x4: not 16 ranks"):
        grids.chosen("4x4,3x4", 16)
    with pytest.raises(UnisonoError, match="--shapes 16x1: write"):
        grids.chosen("16x1", 16)


@pytest.mark.parametrize("family", FORMS)
def test_the_catalogue_knows_every_spec(family: str) -> None:
    for collective, form in FORMS[family].items():
        for shape in ((4, 4), (2, 4, 2)):
            spec = Layout(shape).spec(form)
            assert catalogue.complete_spec(collective, spec) == spec


def row(collective: str, shape: tuple[int, ...], size: int, gain: float, family: str = PAPER) -> Row:
    ratio = 1 - gain / 100
    return Row(collective, family, Layout(shape), size, 1.0, ratio, ratio, ratio, ratio, 6)


def test_improvement_is_least_average_and_most_over_the_sizes() -> None:
    gains = {10: 40.0, 20: -10.0, 30: 60.0}
    (one,) = improvements([row("bcast", (4, 4), size, gain) for size, gain in gains.items()])
    assert one.average == pytest.approx(30)
    assert (one.least.bytes, one.most.bytes) == (20, 30)
    assert one.least.improvement == pytest.approx(-10)
    assert one.spread == pytest.approx((70, 70))
    (two,) = improvements([row("bcast", (2, 2, 4), size, 50.0) for size in (10, 20)])
    # 0.5 of 0.6 and of 1.1 of the time: 1/6 and 6/11 less.
    assert additional(two, one) == pytest.approx((100 * (1 / 6 + 6 / 11) / 2,) * 3)


def test_layouts_whose_intervals_hold_both_answers_decide_nothing() -> None:
    """Half of the cells had intervals as wide as these."""
    found = as_the_paper_says()
    wide = [
        Improvement(
            one.collective,
            one.family,
            one.layout,
            tuple(dataclasses.replace(r, low=r.ratio / 2, high=r.ratio * 2) for r in one.rows),
        )
        for one in found
    ]
    sure = [check.claim for check in paper.checks(wide, 48) if check.holds is not None]
    assert sure == ["allgather: every layout gains on average"], "61 %, and 22 at least"


GAINS = {"bcast": 22, "gather": 1.5, "scatter": -2, "reduce": -3, "allreduce": 23, "allgather": 62}


def as_the_paper_says(changes: Mapping[tuple[str, tuple[int, ...]], float] = {}) -> list[Improvement]:
    """48 processors: balanced layouts as stated, others a little worse, three dimensions for Bcast better."""
    rows = []
    for collective, gain in GAINS.items():
        shapes: list[tuple[int, ...]] = [(2, 24), (6, 8), (8, 6)]
        gains = {shape: gain - (shape == (2, 24)) for shape in shapes}
        if collective in ("bcast", "gather"):
            gains[(3, 4, 4)] = gain + 8 * (collective == "bcast")
        for shape, own in gains.items():
            value = changes.get((collective, shape), own)
            rows += [row(collective, shape, size, value + offset) for size, offset in ((10, -1), (500, 1))]
    return improvements(rows)


def failing(found: list[Improvement], ranks: int = 48) -> list[str]:
    return [check.claim for check in paper.checks(found, ranks) if check.holds is False]


def test_the_paper_s_own_statements_pass_the_checks() -> None:
    assert failing(as_the_paper_says()) == []
    assert len(paper.checks(as_the_paper_says(), 48)) == 16


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({("bcast", (6, 8)): 19, ("bcast", (8, 6)): 19}, "bcast: a balanced layout gains 20 % on average"),
        ({("allreduce", s): 15.0 for s in ((6, 8), (8, 6), (2, 24))}, "allreduce: a balanced layout gains"),
        ({("allgather", s): 40.0 for s in ((6, 8), (8, 6), (2, 24))}, "allgather: some layout gains 60 %"),
        ({("gather", (6, 8)): 0.9, ("gather", (8, 6)): 0.5}, "gather: a balanced layout gains 1 %"),
        ({("allreduce", (2, 24)): -1.0}, "allreduce: every layout gains on average"),
        ({("bcast", (2, 24)): 30.0}, "bcast: balanced layouts are best"),
        ({("scatter", (2, 24)): 5.0}, "scatter: no layout gains on average"),
        ({("reduce", (6, 8)): 5.0}, "reduce: no layout gains on average"),
        ({("bcast", (3, 4, 4)): 20.0}, "bcast: a third dimension gains more"),
        ({("bcast", (3, 4, 4)): 60.0}, "bcast: a third dimension gains more"),
        ({("gather", (3, 4, 4)): 9.0}, "gather: a third dimension gains nothing more"),
    ],
)
def test_each_check_can_fail(changes: dict[tuple[str, tuple[int, ...]], float], claim: str) -> None:
    assert any(one.startswith(claim) for one in failing(as_the_paper_says(changes)))


def test_a_gain_that_depends_on_the_size_is_not_reliable() -> None:
    rows = [row("allgather", (6, 8), 10, 50), row("allgather", (6, 8), 500, 80)]
    assert failing(improvements(rows)) == ["allgather: gains alike at all sizes"]


def test_on_96_processors_more_is_wanted_and_other_forms_are_not_judged() -> None:
    assert len(failing(as_the_paper_says(), 96)) == 4
    assert paper.checks(improvements([row("bcast", (6, 8), 10, -50, LANES)]), 48) == []


PLAN = Plan(4, (1024,), (PAPER,), (Layout((2, 2)), Layout((2, 2, 2))), ("gather",), 1.0)
SPEC = "grid:shape=2x2,form=leaders,rows=native,columns=native"


def test_only_the_deep_operations_have_three_dimensions() -> None:
    assert list(PLAN.specs("bcast")) == [SPEC]
    assert len(PLAN.specs("gather")) == 2


def test_numbers_of_the_bench_and_of_the_simulator() -> None:
    ratio = {"median": 0.75, "low": 0.7, "high": 0.8}
    arms: list[dict[str, Any]] = [
        {"arm": "native", "available": True, "time_us": {"median": 100.0}},
        {"arm": SPEC, "available": True, "time_us": {"median": 80.0}, "ratio_to_native": ratio, "blocks": 7},
    ]
    raw = {"cells": [{"bytes": 1024, "arms": arms}]}
    (one,) = rows_of_bench("bcast", raw, PLAN.specs("bcast"))
    assert one.improvement == pytest.approx(25), "the paired ratio, not the medians' quotient"
    assert one.blocks == 7
    assert [one.native_s, one.grid_s] == pytest.approx([1e-4, 8e-5])
    arms[1]["available"] = False
    with pytest.raises(UnisonoError, match="the MPI library ran instead of grid:shape=2x2"):
        rows_of_bench("bcast", raw, PLAN.specs("bcast"))
    with pytest.raises(UnisonoError, match="left out: too large"):
        rows_of_bench("bcast", {"cells": [{"bytes": 1, "left_out": "too large"}]}, PLAN.specs("bcast"))
    cells = [{"arm": "native", "bytes": 8, "seconds": 2.0}, {"arm": SPEC, "bytes": 8, "seconds": 3.0}]
    (one,) = rows_of_sim("bcast", {"cells": cells}, PLAN.specs("bcast"))
    assert one.improvement == pytest.approx(-50)


def times(application: str, form: str, with_unisono: bool, seconds: Sequence[float]) -> Times:
    return Times(Arm(application, form, 100, with_unisono), tuple(seconds), tuple(seconds))


def test_gains_of_applications_are_of_the_same_round() -> None:
    native = times("pab", "dp", False, [1.0, 2.0, 4.0])
    faster = times("pab", "dp", True, [0.8, 1.8, 2.0])
    task = times("pab", "tp-orthogonal", True, [0.4, 0.9, 1.0])
    base, own, other = applications.rows_of([native, faster, task])
    assert base.over_native is None
    assert base.over_first is None
    assert own.over_native and own.over_first
    assert own.over_native.median == pytest.approx(20), "of 20, 10 and 50 %"
    six = applications.gain([1.0, 2.0, 4.0] * 2, [0.8, 1.8, 2.0] * 2)
    assert [six.low, six.high] == pytest.approx([10, 50]), "from six rounds on their range"
    assert own.over_native.low < 0, "of fewer no range would do"
    assert other.over_native is None, "its native form was not measured"
    assert [check.word for check in applications.checks([base, own, other])] == ["undecided", "holds"]
    slower = times("pab", "dp", True, [0.4, 2.2, 1.0])
    checks = applications.checks(applications.rows_of([native, slower, task]))
    assert [check.word for check in checks] == ["undecided", "undecided"], "from -10 to 75 %"
    worse = times("pab", "dp", True, [1.4, 2.2, 4.8])
    late = times("pab", "tp-orthogonal", True, [1.54, 2.42, 5.3])
    checks = applications.checks(applications.rows_of([native, worse, late]))
    assert [check.word for check in checks] == ["undecided", "does not hold"]
    late = times("pab", "dp", True, [1.5, 3.1, 6.0])
    (check,) = applications.checks(applications.rows_of([native, late]))
    assert check.word == "does not hold"


def test_beds_side_by_side() -> None:
    def rows(own: float) -> list[applications.Row]:
        forms = {("dp", False): 2.0, ("dp", True): own, ("tp", False): 1.0, ("tp", True): 0.5}
        return applications.rows_of([times("pab", *key, [s] * 6) for key, s in forms.items()])

    found = applications.side_by_side({"sim, ethernet:4, lam, 4 ranks": rows(1.5), "lab": rows(2.5)})
    assert found[0].startswith(
        "| program | size | form | lam: grids % | lam: form % | lam: both % | lab: grids %"
    )
    assert found[2] == "| pab | 100 | dp | 25.0 |  | 25.0 | -25.0 |  | -25.0 |"
    assert found[3] == "| pab | 100 | tp | 50.0 | 50.0 | 75.0 | 50.0 | 50.0 | 75.0 |"
    assert found[-2] == "lam: 1 of 1 hold. lab: 0 of 1 hold."


def test_lam_runs_what_the_paper_says_natively_and_in_the_phases_of_grids() -> None:
    (bed,) = testbeds.parse("sim:ethernet:16", [])
    lam, ompi = runs.on(bed, ["lam", "ompi"], 16, applications.balanced_grids())
    assert isinstance(lam, runs.SimulatedRuns)
    assert isinstance(ompi, runs.SimulatedRuns)
    assert lam.name == "sim, ethernet:16, lam, 16 ranks"
    assert lam.settings(with_unisono=False)["UNISONO_ALLGATHERV"] == "gather_bcast"
    grid = lam.settings(with_unisono=True)["UNISONO_REDUCE"]
    assert grid == "grid:form=leaders,rows=binomial,columns=binomial"
    assert ompi.settings(with_unisono=False) == {}
    assert ompi.settings(with_unisono=True)["UNISONO_REDUCE"].endswith("columns=native")


def test_the_simulated_loop_is_that_without_the_making_of_groups() -> None:
    result = {"seconds": 9, "iteration_seconds": [7, 1, 1], "collective_seconds": [6, 0.5, 0.5]}
    assert applications.times_in(result, is_exact=False) == (9, 7)
    assert applications.times_in(result, is_exact=True) == (2, 1)


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_applications_in_the_simulator(folders: Path) -> None:
    line = ["--bed", "sim:ethernet:4", "--ranks", "4", "--selectors", "lam", "--applications", "jacobi"]
    line += ["--forms", "row-allgather", "--n", "64", "--iterations", "2"]
    assert applications.main([*line, "--json", str(folders / "raw.json")]) == 0
    ((native, own),) = json.loads((folders / "raw.json").read_text())["results"].values()
    assert own["in_collectives"][0] < native["in_collectives"][0], "a grid of gathers, not one"
    assert len(set(own["seconds"])) == 1


def test_what_the_groups_cost_is_read_from_the_log() -> None:
    made = "unisono: {} of 16 ranks made in 3.500000 ms\n"
    for groups in ("1 sub-communicator", "2 sub-communicators"):
        log = "unisono: bcast of 8B (forced)\n" + made.format(groups)
        assert grid_cost.times_made(log) == [3.5]
    call = grid_cost.Call("bcast", 1024, native_us=700.0, grid_us=350.0, made_ms=(3.0, 3.5, 6.0))
    assert call.calls == pytest.approx(5)
    assert call.pays_after == pytest.approx(10)
    assert [check.holds for check in grid_cost.checks([call])] == [True]
    varying = dataclasses.replace(call, made_ms=(3.0, 3.5, 90.0))
    assert [check.word for check in grid_cost.checks([varying])] == ["undecided"]
    slow = grid_cost.Call("bcast", 8, native_us=300.0, grid_us=350.0, made_ms=(3.5,))
    assert slow.pays_after is None
    assert [check.holds for check in grid_cost.checks([call, slow])] == [False]


def gains(collective: str, shape: tuple[int, ...], *values: float) -> list[Row]:
    return [row(collective, shape, size, value) for size, value in zip((10, 20), values, strict=True)]


@pytest.mark.parametrize(
    ("figure", "rows", "found"),
    [
        ("9-gather", [*gains("gather", (4, 8), 2, 4), *gains("gather", (8, 4), -9, -9)], ["holds"]),
        ("9-gather", gains("gather", (4, 8), -2, 1), ["does not hold"]),
        ("10", [*gains("bcast", (6, 8), 30, 20), *gains("bcast", (8, 6), 1, 1)], ["holds", "holds"]),
        ("10", [*gains("bcast", (6, 8), 9, 9), *gains("bcast", (8, 6), 1, -3)], ["does not hold"] * 2),
        ("12", [*gains("bcast", (8, 12), 9, 9), *gains("bcast", (4, 4, 6), 22, 22)], ["holds"] * 3),
        ("12", [*gains("gather", (8, 12), 9, 9), *gains("gather", (4, 4, 6), 40, 40)], ["does not hold"]),
        ("13-lam", [*gains("bcast", (4, 8), 9, 9), *gains("bcast", (4, 4, 2), 8, 8)], ["does not hold"]),
    ],
)
def test_what_the_paper_says_of_other_machines(figure: str, rows: list[Row], found: list[str]) -> None:
    assert [check.word for check in figures.checks(figure, improvements(rows))] == found


def test_the_figures_name_what_layouts_can_measure() -> None:
    for name in figures.FIGURES:
        options = layouts.parse(["--figure", name])
        for testbed in options.testbeds:
            plan = options.plan(testbed)
            assert all(plan.specs(collective) for collective in options.collectives), name


def test_few_blocks_decide_nothing_and_what_was_kept_is_judged_anew(tmp_path: Path) -> None:
    few = [
        dataclasses.replace(one, low=one.ratio * 0.99, blocks=3) for one in gains("gather", (4, 4), 30, 30)
    ]
    (check,) = paper.checks(improvements(few), 16)
    assert check.word == "undecided"
    bed = {"kind": "lab", "mpi": "mpich"}
    file = tmp_path / "raw.json"
    write_json(layouts.document([layouts.Result("lab, mpich, 16 ranks", bed, 16, few)]), file)
    (found,) = layouts.read(json.loads(file.read_text())["results"])
    assert [one.layout for one in found.rows] == [Layout((4, 4))] * 2
    assert (found.name, found.rows[0].blocks) == ("lab, mpich, 16 ranks", 3)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(harness, "STORE", tmp_path / "store")
    monkeypatch.setattr(harness, "PICTURES", tmp_path)
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    monkeypatch.setattr("unisono.core.machine.busy_share", lambda: 0.0)  # half a second each time
    return tmp_path


def read(path: Path) -> tuple[Any, list[dict[str, Any]]]:
    body = json.loads(path.read_text())
    (result,) = body["results"]
    return result, [dict(zip(body["columns"], row, strict=True)) for row in result["rows"]]


@pytest.mark.mpi
def test_layouts_on_four_ranks(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--bed", "node", "--mpi", "openmpi", "--ranks", "4", "--collectives", "bcast,allreduce"]
    line += ["--sizes", "1K,8K", "--form", "paper,lanes", "--seconds", "0.05"]
    line += ["--json", str(folders / "raw.json"), "--markdown", str(folders / "tables.md")]
    assert layouts.main(line) == 0
    _, rows = read(folders / "raw.json")
    measured = [(one["collective"], one["family"], one["layout"], one["bytes"]) for one in rows]
    wanted = [(c, f, "2x2", s) for c in ("bcast", "allreduce") for s in (1024, 8192) for f in (PAPER, LANES)]
    assert measured == wanted
    assert all(one["grid_s"] > 0 and one["low"] <= one["ratio"] <= one["high"] for one in rows)
    assert (folders / "tables.md").read_text().count("| 2x2 |") == 4
    assert (folders / "orthogonal-node-openmpi-4-ranks.svg").stat().st_size > 1000
    assert "improvement in %" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--collectives", "--form", "--dims"])
def test_a_mistake_is_named(option: str) -> None:
    with pytest.raises(UnisonoError, match=f"{option} wrong: valid are"):
        layouts.main(["--bed", "node", "--ranks", "4", option, "wrong"])


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_layouts_in_the_simulator(folders: Path) -> None:
    """Native phases run what the selector chooses for the rows and columns; results are verified."""
    line = ["--bed", "sim:ethernet:8", "--dims", "2,3", "--sizes", "8K", "--selectors", "ompi"]
    line += ["--collectives", "gather,allgather", "--json", str(folders / "raw.json")]
    assert layouts.main(line) == 0
    result, rows = read(folders / "raw.json")
    assert result["testbed"]["selector"] == "ompi"
    found = [(one["collective"], one["layout"]) for one in rows]
    flat = [(c, s) for c in ("gather", "allgather") for s in ("2x4", "4x2")]
    assert sorted(found) == sorted([*flat, ("gather", "2x2x2")])
    # Recursive doubling among 8 is that among 2 and then 4: the same messages, and nothing is charged
    # for the sub-communicators, which the first call made.
    assert [one["ratio"] for one in rows[-2:]] == pytest.approx([1, 1], abs=1e-3)


@pytest.mark.mpi
def test_applications_on_two_ranks(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--bed", "node", "--mpi", "mpich", "--ranks", "2", "--rounds", "1", "--force", "allgather=ring"]
    line += ["--applications", "jacobi", "--forms", "row-allgather", "--n", "64,128", "--iterations", "2"]
    assert applications.main([*line, "--json", str(folders / "raw.json")]) == 0
    body = json.loads((folders / "raw.json").read_text())
    assert body["unisono"] == {"UNISONO_ALLGATHER": "ring"}
    (found,) = body["results"].values()
    arms = [(one["arm"]["size"], one["arm"]["with_unisono"]) for one in found]
    assert arms == [(64, False), (64, True), (128, False), (128, True)]
    assert all(len(one["seconds"]) == 1 and one["seconds"][0] > 0 for one in found)
    assert "jacobi 128 row-allgather gains" in capsys.readouterr().out
    with pytest.raises(UnisonoError, match="--profile and --force: give one"):
        applications.main([*line, "--profile", "some.json"])
