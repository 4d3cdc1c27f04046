"""Grids by the nodes of a lab: 3 hosts with 2 ranks each, placed block by block or in turn."""

import json
import re
import sys
from pathlib import Path

import pytest
from conftest import Run
from test_lab import own_lab, pytestmark, up  # noqa: F401  (the fixture and the marks)

PROGRAM = [sys.executable, str(Path(__file__).with_name("lab_levels.py"))]
GRID = "grid:shape=nodes,rows=native,columns=native"
FORCED = [
    item
    for name, spec in {
        "bcast": GRID,
        "allreduce": "grid:shape=nodes,rows=binomial,columns=recursive_doubling",
        "allgather": GRID,
        "reduce": "grid:shape=nodes",
    }.items()
    for item in ("--force", f"{name}={spec}")
]
IN_TURN = {"PRTE_MCA_rmaps_default_mapping_policy": "node:oversubscribe"}


def served_by_grids(log: str) -> set[tuple[str, int]]:
    """Collectives and sizes of communicators for which rank 0 says that a grid ran."""
    found = re.findall(r"(\w+) of \S+ on (\d+) ranks: grid:shape=nodes\S* \(forced\)", log)
    return {(name, int(ranks)) for name, ranks in found}


@pytest.mark.parametrize(
    ("mpi", "variables", "hosts"),
    [
        ("openmpi", {}, ["h0", "h0", "h1", "h1", "h2", "h2"]),
        ("openmpi", IN_TURN, ["h0", "h1", "h2", "h0", "h1", "h2"]),
        ("mpich", {}, ["h0", "h0", "h1", "h1", "h2", "h2"]),
    ],
)
def test_grids_by_nodes(unisono: Run, mpi: str, variables: dict[str, str], hosts: list[str]) -> None:
    up(hosts=3, rate=1_000_000_000)
    done = unisono("lab", "run", "--mpi", mpi, "-n", "6", *FORCED, "--log", *PROGRAM, **variables)
    assert done.returncode == 0, done.stderr
    lines = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda line: line["rank"])
    assert [line["name"] for line in lines] == hosts
    assert [line["right"] for line in lines] == [[True, True, True]] * 6
    # World and its ranks in another order have 6 ranks, the part has 5: two hosts, and half of one.
    names = ("bcast", "allreduce", "allgather", "reduce")
    assert served_by_grids(done.stderr) == {(name, ranks) for name in names for ranks in (5, 6)}


def test_grids_by_switches_of_a_file(unisono: Run, tmp_path: Path) -> None:
    up(hosts=3, rate=1_000_000_000)
    file = tmp_path / "topology.conf"
    file.write_text("SwitchName=left Nodes=h0,h2\nSwitchName=right Nodes=h1\n")
    spec = "grid:shape=switches/nodes"
    force = ["--force", f"bcast={spec}", "--force", f"allreduce={spec}"]
    done = unisono(
        "lab", "run", "--mpi", "openmpi", "-n", "6", *force, "--log", *PROGRAM, UNISONO_TOPOLOGY=str(file)
    )
    assert done.returncode == 0, done.stderr
    assert all(all(json.loads(line)["right"]) for line in done.stdout.splitlines())
    assert "allreduce of 64B on 6 ranks: grid:shape=switches/nodes" in done.stderr

    file.write_text("SwitchName=left Nodes=h0,h2\n")
    done = unisono("lab", "run", "--mpi", "openmpi", "-n", "6", *force, *PROGRAM, UNISONO_TOPOLOGY=str(file))
    assert done.returncode == 0, done.stderr
    assert all(all(json.loads(line)["right"]) for line in done.stdout.splitlines())
    told = [line for line in done.stderr.splitlines() if "UNISONO_TOPOLOGY" in line]
    assert len(told) == 1 and "host h1 of rank 2 is under no switch" in told[0]
