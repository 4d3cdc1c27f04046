"""Flows of schedules, which hosts have ranks, and the two limits; SimGrid only where it is compared."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from typer.testing import CliRunner
from unisono import cli
from unisono.core.errors import UnisonoError
from unisono.sim import network, platforms, runner
from unisono.sim.ranks import hosts_of_ranks
from unisono.sim.table import FLOWS, SMPI, Question

KIB, MIB = 1 << 10, 1 << 20
TORUS = platforms.parse("torus:4x4x4")


def flows(unisono: Run, *arguments: str) -> dict[str, Any]:
    done = unisono("sim", "--json", "-", "--engine", "flows", *arguments, PATH="/nowhere")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_table_is_as_wide_as_there_is_room(unisono: Run) -> None:
    options = [
        "--engine",
        "flows",
        "--platform",
        "torus:4x4",
        "--collective",
        "bcast",
        "--arms",
        "flat",
    ]
    few = unisono("sim", *options, "--sizes", "1K,4K").stdout
    many = unisono("sim", *options, "--sizes", "4K:4M").stdout
    assert (few.count(" algorithm "), few.count("\n flat ")) == (1, 1)
    assert many.count(" algorithm ") == many.count("\n flat ") > 1
    assert all(f" {size} vector: us" in many for size in ("4K", "64K", "4M"))
    assert "ratio" not in few and max(map(len, many.splitlines())) <= 150 and "…" not in many


def test_a_table_without_simgrid(unisono: Run) -> None:
    options = ["--platform", "torus:4x4", "--collective", "bcast", "--sizes", "1K,64K"]
    table = flows(unisono, *options, "--arms", "flat,binomial,shm")
    assert (table["engine"], table["simgrid_version"], table["hosts"]) == ("flows", None, None)
    flat, binomial, shared = table["rows"]
    assert "memory of a node" in shared["cells"][0]["left_out"]
    assert table["limit_seconds"]["65536"] == pytest.approx(64 * KIB / (4 * 425e6))
    assert table["routing_limit_seconds"] == table["limit_seconds"]
    for row in (flat, binomial):
        for cell in row["cells"]:
            assert 0 < cell["share_of_limit"] == cell["share_of_routing_limit"] < 1
            assert cell["network"]["messages"] == 15
            assert cell["network"]["busiest_link"]["bytes"] >= cell["bytes"]
    assert flat["cells"][1]["seconds"] > binomial["cells"][1]["seconds"]
    text = unisono("sim", "--engine", "flows", *options, "--arms", "flat").stdout
    assert "routes: the same" in text
    assert "results are not computed" in text


def test_all_that_smpi_simulates_flows_do(unisono: Run) -> None:
    for collective in ("allreduce", "alltoallv", "gatherv", "reduce_scatter", "barrier"):
        options = ["--platform", "torus:3x2", "--collective", collective, "--sizes", "4K"]
        for row in flows(unisono, *options)["rows"]:
            assert not row["cells"][0].get("is_error"), row


def test_blocks_of_less_than_an_element(unisono: Run) -> None:
    options = ["--platform", "torus:4", "--collective", "reduce_scatter_block", "--sizes", "2"]
    table = flows(unisono, *options, "--arms", "ring")
    assert table["rows"][0]["cells"][0]["left_out"] == "less than one element"


def test_schedules_larger_than_the_memory(unisono: Run) -> None:
    options = ["--platform", "torus:4x4x4", "--collective", "bcast", "--sizes", "16M", "--memory", "64K"]
    table = flows(unisono, *options, "--arms", "chain:segment=4K")
    assert table["rows"][0]["cells"][0]["left_out"] == "its schedules need more memory (--memory)"


def test_ranks_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ranks"
    path.write_text("host5 5  # two ranks\n(1,2,0) 60-61\n")
    assert hosts_of_ranks(str(path), TORUS) == (5, 5, 9, 60, 61)


def test_ranks_without_some_hosts() -> None:
    assert hosts_of_ranks("without:0,2-62", TORUS) == (1, 63)
    assert hosts_of_ranks("without:z=1-3,x=0", TORUS) == tuple(h for h in range(16) if h % 4)


def test_random_ranks_are_the_same_everywhere() -> None:
    drawn = hosts_of_ranks("random:5:seed=1", TORUS)
    assert drawn == (8, 15, 17, 32, 63)
    assert drawn != hosts_of_ranks("random:5:seed=2", TORUS)


def test_ranks_elsewhere_than_on_a_torus() -> None:
    star = platforms.parse("ethernet:4")
    assert hosts_of_ranks("without:1", star) == (0, 2, 3)
    with pytest.raises(UnisonoError, match="'z=1' is no host of ethernet:4"):
        hosts_of_ranks("without:z=1", star)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranks", "random:65"], "--ranks random:65: torus:4x4x4"),
        (["--ranks", "random:few"], "--ranks random:few: write random:N"),
        (["--ranks", "without:64"], "'64' is no host of torus:4x4x4"),
        (["--ranks", "without:9-4"], "'9-4' is no host"),
        (["--ranks", "without:t=1"], "'t=1' is no host"),
        (["--ranks", "without:z=4"], "'z=4' is no host"),
        (["--ranks", "without:0-62"], "leaves 1 ranks"),
        (["--ranks", "/nowhere/file"], "--ranks /nowhere/file: No such file or directory"),
        (["--ranks", "random:5", "-n", "5"], "leave out -n"),
        (["--ranks", "random:5", "--root", "5"], "--root 5: the ranks are 0 to 4"),
        (["--engine", "fast"], "--engine fast: valid are smpi, flows"),
        (["--engine", "flows", "--arms", "ring,native"], "--arms native: only SMPI"),
        (["--platform", "torus:4x4,routing=directed"], "routing=directed is for --engine flows"),
        (["--platform", "torus:4x4m"], "does not wrap around is for --engine flows"),
        (["--platform", "torus:4x4,routing=lost"], "routing=lost: valid are minimal, directed, source"),
    ],
)
def test_mistakes_end_in_one_clear_line(arguments: list[str], message: str) -> None:
    line = ["sim", "--platform", "torus:4x4x4", "--collective", "bcast", *arguments]
    raised = CliRunner().invoke(cli.command_line("sim"), line).exception
    assert isinstance(raised, UnisonoError)
    assert message in str(raised)
    assert "\n" not in str(raised)


def limits(text: str, ranks: str, collective: str, root: int = 0) -> tuple[float | None, float | None]:
    """Bytes that a link carries in the time."""
    platform = platforms.parse(text)
    hosts = hosts_of_ranks(ranks, platform)
    question = Question(platform, len(hosts), collective, root, (MIB,), hosts)
    found = question.limit(MIB), question.routing_limit(MIB)
    whole, routed = (seconds and seconds * 425e6 / MIB for seconds in found)
    return whole, routed


def test_the_limit_of_some_hosts_counts_the_links_of_all() -> None:
    # Of the ranks in one row only the first dimension's links are at the ends of routes.
    assert limits("torus:5x5", "without:y=1-4", "bcast") == pytest.approx((1 / 4, 1 / 2))
    assert limits("torus:5x5", "without:y=1-4,x=3-4", "bcast") == pytest.approx((1 / 4, 1))
    assert limits("torus:5x5,routing=directed", "without:y=1-4,x=3-4", "reduce") == pytest.approx(
        (1 / 4, 1 / 2)
    )
    assert limits("torus:5x5,routing=source", "without:y=1-4", "scan")[1] is None


def test_an_allreduce_is_limited_by_all_ports_together() -> None:
    whole, routed = limits("torus:5x5", "without:y=1-4", "allreduce")
    assert whole == pytest.approx(2 * 4 / (5 * 4))
    assert routed == pytest.approx(2 * 4 / (5 * 2))


def test_blocks_go_over_the_links_of_their_routes() -> None:
    assert limits("torus:5x5", "without:y=1-4", "allgather") == pytest.approx((4 / 4, 4 / 2))
    assert limits("torus:5x5", "without:y=1-4", "gather", 2) == pytest.approx((4 / 4, 4 / 2))


def test_two_ranks_on_a_host_share_its_links(tmp_path: Path) -> None:
    path = tmp_path / "ranks"
    path.write_text("0 0 1 1 2 2 3 3 4 4")
    assert limits("torus:5x5", str(path), "allgather") == pytest.approx((2 * 8 / 4 / 2, 8 / 2))


def test_other_networks_have_no_limit_by_routes() -> None:
    assert network.limits(platforms.parse("fattree:4x4:2"), tuple(range(16)), 0).routes == {}


def test_what_a_torus_tells_the_runtime() -> None:
    assert TORUS.topology_file() == "Torus=4x4x4 Routing=minimal\nNodeName=host[0-63]\n"
    mesh = platforms.parse("torus:4x2m,routing=directed")
    assert mesh.topology_file().splitlines()[0] == "Torus=4x2 Routing=directed Wrap=yes,no"


# The order of what happens at one moment is SMPI's own. In a lockstep it decides which message meets which;
# nothing follows another so closely in the others.
AGREEING = {
    ("bcast", "chain:segment=8K"): 0.005,
    ("bcast", "binomial"): 1e-4,
    ("bcast", "circulant:segment=8K"): 0.05,  # ties: docs/reference/sim.md
    ("allreduce", "ring"): 0.005,
    ("allreduce", "recursive_doubling"): 1e-4,
    ("reduce", "binomial"): 1e-4,
}


def seconds_of(question: Question, algorithm: str) -> float:
    cell = runner.simulate_cell(question, (algorithm, ""), question.sizes[0], "4G", lambda: True)
    assert cell.seconds is not None, cell.left_out
    return cell.seconds


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
@pytest.mark.parametrize("text", ["torus:4x4x4", "torus:5x3x3", "fattree:4x4:2", "ethernet:16"])
def test_flows_take_the_time_of_smpi(text: str) -> None:
    platform = platforms.parse(text)
    with ThreadPoolExecutor(2) as pool:
        asked = {
            what: pool.submit(
                seconds_of, Question(platform, platform.hosts, what[0], 0, (MIB,), engine=SMPI), what[1]
            )
            for what in AGREEING
        }
    for (collective, algorithm), tolerance in AGREEING.items():
        question = Question(platform, platform.hosts, collective, 0, (MIB,), engine=FLOWS)
        smpi = asked[collective, algorithm].result()
        assert seconds_of(question, algorithm) == pytest.approx(smpi, rel=tolerance), (collective, algorithm)


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_both_engines_put_ranks_on_the_same_hosts(unisono: Run, tmp_path: Path) -> None:
    path = tmp_path / "ranks"
    path.write_text("host5 3 3 (1,2) 0-2")
    options = ["--platform", "torus:4x4", "--ranks", str(path), "--collective", "allreduce"]
    options += ["--arms", "ring,recursive_doubling", "--sizes", "64K", "--root", "1", "--json", "-"]
    both = [json.loads(unisono("sim", *options, "--engine", engine).stdout) for engine in (SMPI, FLOWS)]
    assert both[0]["hosts"] == both[1]["hosts"] == [5, 3, 3, 9, 0, 1, 2]
    for row, other in zip(both[0]["rows"], both[1]["rows"], strict=True):
        assert row["cells"][0]["correct"]
        assert other["cells"][0]["seconds"] == pytest.approx(row["cells"][0]["seconds"], rel=0.01)


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_buffers_that_all_ranks_share_take_the_same_time(unisono: Run) -> None:
    options = ["--platform", "torus:3x3", "--collective", "allreduce", "--sizes", "1M", "--json", "-"]
    options += ["--arms", "ring,native", "--selectors", "ompi", "--memory", "16M"]
    alone, shared, small = (
        json.loads(unisono("sim", *options, *more).stdout)["rows"]
        for more in (["--memory", "1G"], ["--share"], [])
    )
    for row, other, left_out in zip(alone, shared, small, strict=True):
        assert row["cells"][0]["correct"] is True
        assert other["cells"][0]["correct"] is None
        assert other["cells"][0]["seconds"] == row["cells"][0]["seconds"]
        assert "needs 2 MiB on a rank" in left_out["cells"][0]["left_out"]
