"""The cost model against simulated times: a network's machine, and `unisono model check --platform`."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Run
from unisono.model import check as model_check
from unisono.model.check import Asker
from unisono.sim import calibrate, platforms
from unisono.sim.bench import Simulator
from unisono.testbeds.bench import Entry, Point

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed"),
]

LATENCY, BYTE, HEADER, FLOAT = 2 * 25e-6, 8e-9, 16, 1e-9  # of ethernet:N; SMPI's header; a flop


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("machine") / "machine.json"
    return calibrate.calibrate(platforms.parse("ethernet:4"), 4, file)


def test_a_network_s_machine_is_its_own_numbers(machine: Path) -> None:
    """Two messages are under way on a channel: each adds half of the latency to a stream."""
    body = json.loads(machine.read_text())
    costs = body["levels"]["between_nodes"]
    for quantity, latency in (("one_way", LATENCY), ("gap", LATENCY / 2), ("exchange", LATENCY)):
        (line,) = costs[quantity]
        assert line["alpha_s"] == pytest.approx(latency + HEADER * BYTE, rel=1e-3), quantity
        assert line["beta_s_per_byte"] == pytest.approx(BYTE, rel=1e-3), quantity
    assert costs["active"] == 4
    assert body["reduce_s_per_byte"] == pytest.approx(FLOAT / 4, rel=1e-3)


def test_simulated_times_are_exact(machine: Path) -> None:
    """A chain's pairs of segments go together, from rank to rank, and take each other's bandwidth."""
    size, segment, ranks = 65536, 8192, 4
    ask = Asker(machine, "bcast", ranks, ranks)
    bench = Simulator(platforms.parse(f"ethernet:{ranks}"), ranks)
    report = model_check.check(bench, ask, [size], [f"chain:segment={segment}"], 1.0)
    (one,) = report.compared
    pairs = size // segment // 2
    expected = (ranks - 2 + pairs) * (LATENCY + 2 * (segment + HEADER) * BYTE)
    assert one.exact
    assert one.arm.median_s == one.arm.low_s == one.arm.high_s == pytest.approx(expected, rel=1e-4)
    assert not report.problems


def test_verdicts_are_plain_quotients(machine: Path) -> None:
    bench = Simulator(platforms.parse("ethernet:4"), 4)
    specs = tuple(f"chain:segment={size}" for size in ("4K", "16K"))
    point = Point("bcast", 65536)
    (row,) = bench.measure_all([Entry(point, specs)], 1.0)
    plan = model_check.Plan(point, (), (model_check.Pipeline(specs[1], specs),))
    found = model_check.verdict(plan, plan.pipelines[0], row)
    assert found is not None
    assert found.ratio is not None
    slow, fast = (arm.median_s for arm in reversed(row.arms))
    assert found.ratio.low == found.ratio.high == pytest.approx(slow / fast)
    assert found.text == f"{100 * (slow / fast - 1):.0f} % slower"


def test_the_command(unisono: Run, machine: Path) -> None:
    check = ["model", "check", "--platform", "ethernet:4", "--collective", "bcast"]
    done = unisono(*check, "--machine", str(machine), "--sizes", "96K", "--arms", "chain:segment=auto")
    assert done.returncode == 0, done.stderr
    assert "96K*" in done.stdout
    assert "exact" in done.stdout
    assert "undecided" not in done.stdout
    for more, message in (
        (["--budget", "9s"], "--budget is for measuring"),
        (["-n", "5"], "has 4 hosts"),
    ):
        done = unisono(*check, *more)
        assert done.returncode == 2
        assert message in done.stderr
