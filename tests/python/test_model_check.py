"""`unisono model`: what is shown and predicted, and how measured times are compared with predictions."""

import json
from pathlib import Path

import pytest
from conftest import Run
from memories import memory
from test_model import add_node_memory, machine
from unisono.core import errors
from unisono.core.estimates import Estimate
from unisono.model import check as model_check
from unisono.model.check import Asker, Pipeline, Plan, Verdict
from unisono.profile.document import Arm
from unisono.testbeds.bench import Point, Row

__all__ = ["machine"]

POINT = Point("bcast", 1 << 20)
CHOSEN = "chain:segment=8K"


def arm(spec: str, seconds: float) -> Arm:
    return Arm(spec, seconds, 0.9 * seconds, 1.1 * seconds, 8)


def row(times: dict[str, list[float]]) -> Row:
    """Blocks in microseconds."""
    arms = tuple(arm(spec, sorted(blocks)[len(blocks) // 2] * 1e-6) for spec, blocks in times.items())
    return Row(POINT, arms, blocks={spec: tuple(blocks) for spec, blocks in times.items()})


def verdict(times: dict[str, list[float]]) -> str:
    pipeline = Pipeline(CHOSEN, tuple(times))
    found = model_check.verdict(Plan(POINT, (), (pipeline,)), pipeline, row(times))
    assert found is not None
    return found.text


def test_a_segment_is_judged_by_blocks_in_pairs() -> None:
    base = [100.0, 200.0, 120.0, 150.0, 90.0, 110.0, 300.0, 105.0]  # a machine that is not calm
    other = "chain:segment=16K"
    assert verdict({CHOSEN: base, other: [1.2 * b for b in base]}) == "the best measured"
    assert verdict({CHOSEN: [1.01 * b for b in base], other: base}) == "within 3 %"
    assert verdict({CHOSEN: [1.12 * b for b in base], other: base}) == "12 % slower"
    mixed = [b * (0.9 if i % 2 else 1.2) for i, b in enumerate(base)]
    assert verdict({CHOSEN: mixed, other: base}) in {"undecided", "the best measured"}
    few = base[:3]
    assert verdict({CHOSEN: few, other: [0.9 * b for b in few]}) == "undecided", "too few blocks"
    assert verdict({CHOSEN: few, other: [0.5 * b for b in few]}) == "64 % slower at least", "intervals apart"


def test_what_was_not_measured_has_no_verdict() -> None:
    pipeline = Pipeline(CHOSEN, (CHOSEN, "chain:segment=16K"))
    plan = Plan(POINT, (), (pipeline,))
    assert model_check.verdict(plan, pipeline, row({CHOSEN: [1.0] * 8})) is None
    assert model_check.verdict(plan, pipeline, row({"chain:segment=16K": [1.0] * 8})) is None


def test_verdicts_are_of_intervals() -> None:
    def text(low: float, median: float, high: float, coverage: float = 0.97) -> str:
        return Verdict(POINT, "a", "b", Estimate(median, low, high, coverage)).text

    assert text(0.99, 1.0, 1.03) == "within 3 %"
    assert text(1.0, 1.02, 1.04) == "undecided"
    assert text(1.04, 1.1, 1.2) == "10 % slower"
    assert text(1.04, 1.1, 1.2, 0.9) == "undecided"


def test_segments_around_the_model_s() -> None:
    assert model_check.around("circulant:segment=8K,window=4", 1 << 20) == (
        "circulant:segment=8K,window=4",
        "circulant:segment=2K,window=4",
        "circulant:segment=4K,window=4",
        "circulant:segment=16K,window=4",
        "circulant:segment=32K,window=4",
    )
    assert model_check.around("chain:segment=64K", 65536) == (
        "chain:segment=64K",
        "chain:segment=16K",
        "chain:segment=32K",
    ), "nothing is longer than the whole"
    assert model_check.around("chain:segment=1K", 1024) == ("chain:segment=1K",)


def test_the_plan_has_pipelines_with_the_model_s_segment_and_others(machine: Path) -> None:
    ask = Asker(machine, "bcast", 9, 9)
    plan = model_check.plan(POINT, [], ask)
    names = [pipeline.chosen.partition(":")[0] for pipeline in plan.pipelines]
    assert "circulant" in names
    assert len(names) == len(set(names)) <= model_check.MOST_PIPELINES
    assert all(name in pipeline.specs for name, pipeline in zip(names, plan.pipelines, strict=True))
    assert not set(names) & set(plan.others)
    assert "binomial" in plan.others
    assert len(plan.others) <= model_check.MOST_OTHERS
    assert len(set(plan.specs)) == len(plan.specs)
    assert not any("auto" in spec for spec in plan.specs)
    given = model_check.plan(POINT, ["flat", "chain:segment=auto", "native"], ask)
    assert given.others == ("flat",)
    assert len(given.pipelines) == 1


def test_errors_are_relative_and_sizes_between_are_marked(machine: Path) -> None:
    ask = Asker(machine, "bcast", 9, 9)
    report = model_check.Report()
    for size in (65536, 98304):
        point = Point("bcast", size)
        plan = model_check.plan(point, ["binomial"], ask)
        (said,) = ask(size, ["binomial"])
        assert said.seconds is not None
        model_check.compare(plan, Row(point, (arm("binomial", said.seconds / 1.5),)), ask, report)
    assert report.error() == pytest.approx(0.5)
    assert [one.is_between for one in report.compared] == [False, True]
    model_check.compare(plan, Row(point, problem="it crashed"), ask, report)
    assert report.problems == ["bcast 98304: it crashed"]


def test_show_a_machine(unisono: Run, machine: Path) -> None:
    done = unisono("model", "show", "--machine", str(machine))
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    for word in ("between", "alpha", "5.00", "8000"):
        assert word in words, done.stdout


def test_show_what_the_memory_of_a_node_does(unisono: Run, machine: Path) -> None:
    body = json.loads(machine.read_text())
    add_node_memory(body)
    machine.write_text(json.dumps(body))
    done = unisono("model", "show", "--machine", str(machine))
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["d", "l_PIO", "us", "l_DMA", "us", "faster", "l_cpy", "us", "l_cmb", "us"] in rows
    assert ["4K", "1.53", "2.41", "PIO", "0.092", "0.215"] in rows, done.stdout
    assert ["16K", "5.22", "3.64", "DMA", "0.338", "0.829"] in rows, done.stdout
    assert ["l_sb", "0.20", "us"] in rows
    del body["node_memory"]["single_copy"]
    machine.write_text(json.dumps(body))
    done = unisono("model", "show", "--machine", str(machine))
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["16K", "5.22", "PIO", "0.338", "0.829"] in rows, done.stdout
    assert "no single copy" in done.stdout
    body["node_memory"]["stores"] = 7
    machine.write_text(json.dumps(body))
    done = unisono("model", "show", "--machine", str(machine))
    assert done.returncode == 2
    assert "a broken machine" in done.stderr


def test_show_what_jobs_have_kept(unisono: Run, machine: Path, tmp_path: Path) -> None:
    done = unisono("model", "show")
    assert done.returncode == errors.FAILED
    assert "no network was measured yet" in done.stderr
    folder = tmp_path / "unisono"
    folder.mkdir()
    kept = memory({}, json.loads(machine.read_text()))
    (folder / "mpich-0123456789abcdef.json").write_text(json.dumps(kept))
    done = unisono("model", "show")
    assert done.returncode == 0, done.stderr
    assert "between nodes" in done.stdout


def test_predict_times_and_segments(unisono: Run, machine: Path) -> None:
    call = ["model", "predict", "--machine", str(machine), "--collective", "bcast", "-n", "9"]
    done = unisono(*call, "--sizes", "1M", "--arms", "chain:segment=auto,chain,native")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (found,) = [line for line in lines if "the model's segment" in line]
    (standard,) = [line for line in lines if line.split()[:1] == ["chain"]]
    assert float(found.split()[-1]) <= float(standard.split()[-1])
    assert any("native" in line and "no price" in line for line in lines)
    done = unisono(*call, "--sizes", "64K,1M")
    assert done.returncode == 0, done.stderr
    assert "circulant:segment=" in done.stdout
    assert "shm" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "--machine", "nonesuch"], "No such file"),
        (
            ["predict", "--machine", "x", "--collective", "broadcast", "-n", "4", "--sizes", "8"],
            "no such coll",
        ),
        (["check", "--machine", "x", "--collective", "bcast"], "No such file"),
        (["check", "--machine", "x", "--collective", "neighbor_alltoall"], "who is whose neighbour"),
    ],
)
def test_errors_are_one_line(unisono: Run, arguments: list[str], message: str) -> None:
    done = unisono("model", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.mpi
def test_a_check_on_this_node(unisono: Run, tmp_path: Path) -> None:
    body = {
        "format": "unisono-machine",
        "version": 1,
        "mpi": {"flavour": "openmpi", "library": "by hand"},
        "levels": {
            "within_node": {
                "one_way": [{"from_bytes": 0, "alpha_s": 1e-6, "beta_s_per_byte": 1e-10}],
                "gap": [{"from_bytes": 0, "alpha_s": 1e-6, "beta_s_per_byte": 1e-10}],
                "exchange": [],
                "active": 1,
            }
        },
        "reduce_s_per_byte": 1e-10,
        "copy_s_per_byte": 1e-10,
    }
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(body))
    check = ["model", "check", "--machine", str(file), "--collective", "bcast", "-n", "3", "--mpi", "openmpi"]
    check += ["--sizes", "96K", "--arms", "binomial,chain:segment=auto", "--budget", "4s"]
    done = unisono(*check)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "binomial" in done.stdout
    assert "96K*" in done.stdout
    assert "verdict" in done.stdout
    assert "median error" in done.stdout
    done = unisono(*(word.replace("openmpi", "mpich") for word in check[:10]), "--arms", "shm")
    assert done.returncode != 0
    assert "was measured under openmpi" in " ".join(done.stderr.split())
