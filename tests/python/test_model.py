import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from unisono.core import cost_model, places
from unisono.core.errors import UnisonoError
from unisono.testbeds import beds, calibrate

ALPHA, BETA = 5e-6, 1e-9


def line(alpha: float, beta: float) -> list[dict[str, float]]:
    return [{"from_bytes": 0, "alpha_s": alpha, "beta_s_per_byte": beta}]


def level(alpha: float, beta: float) -> dict[str, Any]:
    """Hockney's model."""
    return {"one_way": line(alpha, beta), "gap": line(alpha, beta), "exchange": [], "active": 1}


def add_node_memory(body: dict[str, Any]) -> None:
    """l_PIO and l_DMA cross at 9444 bytes."""

    def way(alpha: float, beta: float) -> dict[str, Any]:
        return {"one_way": line(alpha, beta), "gap": line(alpha, beta)}

    body["node_memory"] = {
        "stores": way(3e-7, 3e-10),
        "single_copy": way(2e-6, 1e-10),
        "copy": line(1e-8, 2e-11),
        "combine": line(1e-8, 5e-11),
        "fence_s": 2e-7,
    }


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    file = tmp_path / "machine.json"
    body = {
        "format": "unisono-machine",
        "version": 1,
        "mpi": {"flavour": "mpich", "library": "by hand"},
        "levels": {"between_nodes": level(ALPHA, BETA)},
        "reduce_s_per_byte": 0,
        "copy_s_per_byte": 0,
    }
    file.write_text(json.dumps(body))
    return file


def test_many_predictions_in_one_call_the_fastest_first(machine: Path) -> None:
    bcast = cost_model.Job("bcast", 8, 8, 1000, ["native", "flat", "binomial"])
    allgather = cost_model.Job("allgather", 7, 7, 100, ["neighbour_exchange", "ring"])
    first, second = cost_model.predict(machine, [bcast, allgather])
    assert [each.spec for each in first] == ["binomial", "flat", "native"]
    assert first[0].seconds == pytest.approx(3 * (ALPHA + 1000 * BETA))
    assert first[1].seconds == pytest.approx(7 * (ALPHA + 1000 * BETA))
    assert first[2] == cost_model.Prediction("native", None)
    assert second[0].seconds == pytest.approx(6 * (ALPHA + 100 * BETA))
    assert second[1] == cost_model.Prediction("neighbour_exchange", None, "needs an even number of ranks")


def test_bytes_are_those_of_a_profile(machine: Path) -> None:
    """reduce_scatter: all blocks; the others with blocks: one."""
    whole = cost_model.Job("reduce_scatter", 4, 4, 4000, ["ring"])
    block = cost_model.Job("allgather", 4, 4, 1000, ["ring"])
    irregular = cost_model.Job("allgatherv", 4, 4, 1000, ["ring"])
    times = [rows[0].seconds for rows in cost_model.predict(machine, [whole, block, irregular])]
    assert times == pytest.approx([3 * (ALPHA + 1000 * BETA)] * 3)
    ((tiny,),) = cost_model.predict(machine, [cost_model.Job("reduce_scatter", 4, 4, 8, ["ring"])])
    assert tiny.seconds == pytest.approx(3 * (ALPHA + 4 * BETA)), "an element for each rank, at least"


def test_a_grid_with_the_library_s_own_collectives_has_a_prediction(machine: Path) -> None:
    grid = "grid:shape=4x4,form=leaders,rows=native,columns=binomial"
    ((found,),) = cost_model.predict(machine, [cost_model.Job("bcast", 16, 16, 1000, [grid])])
    assert found.seconds == pytest.approx(4 * (ALPHA + 1000 * BETA))


def test_what_sends_no_messages_has_no_price(machine: Path) -> None:
    ((found,),) = cost_model.predict(machine, [cost_model.Job("bcast", 4, 1, 1000, ["shm"])])
    assert found == cost_model.Prediction("shm", None)


def test_messages_through_the_memory_of_a_node(machine: Path) -> None:
    """By the cheaper of l_PIO and l_DMA."""
    specs = [f"chain:segment={segment},transport=shm" for segment in ("4K", "64K", "auto")]
    job = cost_model.Job("bcast", 2, 1, 1 << 20, specs)
    assert {each.seconds for each in cost_model.predict(machine, [job])[0]} == {None}, "nobody measured it"
    body = json.loads(machine.read_text())
    add_node_memory(body)
    machine.write_text(json.dumps(body))
    (told, (elsewhere,)) = cost_model.predict(machine, [job, cost_model.Job("bcast", 4, 2, 8, specs[:1])])
    of = {each.spec: each for each in told}
    assert of[specs[0]].seconds == pytest.approx(256 * (3e-7 + 4096 * 3e-10))
    assert of[specs[1]].seconds == pytest.approx(16 * (2e-6 + 65536 * 1e-10) + 2e-7)
    assert of[specs[2]].chosen == "chain:segment=1M,transport=shm", "two ranks gain nothing by a pipeline"
    assert of[specs[2]].seconds == pytest.approx(2e-6 + (1 << 20) * 1e-10 + 2e-7)
    assert elsewhere.seconds is None
    assert "one node" in elsewhere.unmet


def test_shapes() -> None:
    assert set(cost_model.shapes(12)) == {(2, 6), (3, 4), (4, 3), (6, 2), (2, 2, 3), (2, 3, 2), (3, 2, 2)}
    assert (4, 5) in cost_model.shapes(17, 2)
    assert cost_model.shapes(3) == []


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (cost_model.Job("bcast", 4, 4, 8, ["nonesuch"]), "no algorithm 'nonesuch'"),
        (cost_model.Job("broadcast", 4, 4, 8, ["flat"]), "no collective 'broadcast'"),
        (cost_model.Job("bcast", 0, 0, 8, ["flat"]), "ranks is 0, not within 1"),
        (cost_model.Job("bcast", 4, 5, 8, ["flat"]), "nodes: at least 1"),
        (cost_model.Job("bcast", 4, 4, 8, ["flat"], root=4), "root: not one"),
        (cost_model.Job("bcast", 4, 2, 8, ["flat"]), "no times for messages within a node"),
    ],
)
def test_what_cannot_be_predicted_is_one_line(machine: Path, job: cost_model.Job, message: str) -> None:
    with pytest.raises(UnisonoError, match=message) as raised:
        cost_model.predict(machine, [job])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "unisono-machine", "version": 1}'])
def test_a_broken_machine_file_is_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "machine.json"
    file.write_text(content)
    with pytest.raises(UnisonoError, match=r"no JSON|no machine|format|missing") as raised:
        cost_model.predict(file, [])
    assert str(file) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_this_node_is_measured_and_fitted(flavour: str, tmp_path: Path) -> None:
    mpi = places.find_mpi(flavour)
    file = calibrate.calibrate(beds.Node(), mpi, 2, tmp_path / "machine.json", seconds=0.005)
    found = json.loads(file.read_text())
    assert found["mpi"]["flavour"] == flavour
    assert list(found["levels"]) == ["within_node"]
    assert found["levels"]["within_node"]["active"] == 2
    assert 0 < found["reduce_s_per_byte"] < 1e-6
    memory = found["node_memory"]
    assert set(memory) - {"single_copy"} == {"stores", "copy", "combine", "fence_s"}
    assert memory["fence_s"] > 0
    for spec in ("recursive_doubling", "recursive_doubling:transport=shm"):
        jobs = [cost_model.Job("allreduce", 2, 1, size, [spec]) for size in (8, 1 << 20)]
        (small,), (large,) = cost_model.predict(file, jobs)
        assert small.seconds is not None
        assert large.seconds is not None
        assert 0 < small.seconds < large.seconds


def test_one_rank_has_nobody_to_send_to() -> None:
    mpi = places.find_mpi("mpich")
    command = [*mpi.launcher(1), str(places.program("unisono-calibrate-mpich"))]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "on two ranks or more" in done.stderr
