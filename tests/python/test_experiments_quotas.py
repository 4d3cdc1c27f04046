"""Control groups with a quota: where they are made, and that nothing of them stays."""

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest
from unisono.core import places
from unisono.core.errors import UnisonoError

from experiments import quotas, waits
from experiments.quotas import Controller

FIRST = "tmpfs {0} tmpfs rw 0 0\ncgroup {0}/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
SECOND = "cgroup2 {0}/unified cgroup2 rw,nosuid 0 0\n"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Of version 2, with two groups below each other."""
    (tmp_path / "unified" / "slice" / "service").mkdir(parents=True)
    for folder, hands_on in {"": "cpu io", "slice": "cpu memory", "slice/service": ""}.items():
        (tmp_path / "unified" / folder / "cgroup.subtree_control").write_text(f"{hands_on}\n")
    return tmp_path


def test_the_first_version_is_where_it_has_cpu(top: Path) -> None:
    own = top / "cpu,cpuacct" / "docker" / "1a2b"
    mounts = SECOND.format(top) + FIRST.format(top)
    membership = "5:cpuset:/other\n4:cpu,cpuacct:/docker/1a2b\n0::/slice"
    # In a container the mount shows its own group as the top.
    assert quotas.controller(mounts, membership) == Controller(1, top / "cpu,cpuacct")
    own.mkdir(parents=True)
    assert quotas.controller(mounts, membership) == Controller(1, own)


def test_the_second_version_wants_a_group_that_hands_quotas_on(top: Path) -> None:
    mounts = SECOND.format(top)
    found = quotas.controller(mounts, "0::/slice/service\n")
    assert found == Controller(2, top / "unified" / "slice")
    (found.folder / "cgroup.subtree_control").write_text("memory\n")
    assert quotas.controller(mounts, "0::/slice/service\n").folder == top / "unified"
    (top / "unified" / "cgroup.subtree_control").write_text("")
    with pytest.raises(UnisonoError, match=r"cgroup\.subtree_control"):
        quotas.controller(mounts, "0::/slice/service\n")


def test_quotas_are_parts_of_a_period() -> None:
    assert Controller(2, Path()).limits(1.5) == {"cpu.max": "150000 100000"}
    first = Controller(1, Path()).limits(0.5)
    assert list(first.items()) == [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "50000")]


def test_each_cell_is_measured_in_each_group() -> None:
    cell = waits.Cell(places.Mpi("mpich", Path("/opt/none")), 4, "ring", ["waits"])
    made = list(quotas.in_groups([cell], {0.5: Path("/a"), 1.0: Path("/b")}))
    assert [(one.name, one.before[-1]) for one in made] == [
        ("ring, 0.5 cores", "/a/cgroup.procs"),
        ("ring, 1 core", "/b/cgroup.procs"),
    ]
    assert dataclasses.replace(made[0], name="ring", before=()) == cell


def test_nothing_stays_of_a_group() -> None:
    mounts, own = Path("/proc/self/mounts").read_text(), Path("/proc/self/cgroup").read_text()
    try:
        where = quotas.controller(mounts, own)
    except UnisonoError as error:
        pytest.skip(str(error))
    if not os.access(where.folder, os.W_OK):
        pytest.skip(f"{where.folder}: may not be written")
    with quotas.group_of(where, 0.5) as group:
        for name, value in where.limits(0.5).items():
            assert (group / name).read_text().split() == value.split()
        left = subprocess.Popen([*quotas.entering(group), "sleep", "1000"])
        while str(left.pid) not in (group / "cgroup.procs").read_text().split():
            assert left.poll() is None
    assert left.wait(timeout=10) == -9
    assert not group.exists()


def test_calls_of_a_job_take_about_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones are slow."""
    asked = []

    def seconds(cell: waits.Cell, way: str, calls: int) -> float | None:
        asked.append(calls)
        return (1e-3 + calls * 1e-6) / calls

    monkeypatch.setattr(waits, "seconds", seconds)
    cell = waits.Cell(places.Mpi("mpich", Path("/opt/none")), 4, "ring", ["waits"])
    assert waits.calls_in(cell, 1.0, 10_000_000) == pytest.approx(1_000_000, rel=0.01)
    assert len(asked) == 3
    assert waits.calls_in(cell, 1.0, 1000) == 1000
    monkeypatch.setattr(waits, "seconds", lambda *_: None)
    assert waits.calls_in(cell, 1.0, 1000) == waits.FEWEST, "one that fails is asked no more"
