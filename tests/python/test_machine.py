"""Cores as the control group and the affinity mask leave them."""

from pathlib import Path
from typing import NamedTuple

import pytest
from unisono.core import machine
from unisono.core.catalogue import format_size


def group(root: Path, name: str, limit: str) -> None:
    (root / name).mkdir(parents=True, exist_ok=True)
    (root / name / "cpu.max").write_text(limit + "\n")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "own"
    file.write_text("0::/jobs/mine\n")
    return file


def test_the_tightest_quota_on_the_way_up_counts(tmp_path: Path, own: Path) -> None:
    root = tmp_path / "cgroup"
    group(root, "jobs", "150000 100000")
    group(root, "jobs/mine", "400000 100000")
    assert machine.cores(root, own).quota == 1.5
    assert machine.cores(root, own).usable == 1


def test_max_is_no_quota(tmp_path: Path, own: Path) -> None:
    root = tmp_path / "cgroup"
    group(root, "jobs/mine", "max 100000")
    cores = machine.cores(root, own)
    assert cores.quota is None
    assert cores.usable == cores.allowed


def test_version_1(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    (root / "cpu/job").mkdir(parents=True)
    (root / "cpu/cpu.cfs_quota_us").write_text("-1")
    (root / "cpu/job/cpu.cfs_quota_us").write_text("50000")
    (root / "cpu/job/cpu.cfs_period_us").write_text("100000")
    own = tmp_path / "own"
    own.write_text("4:memory:/other\n2:cpuacct,cpu:/job\n0::/\n")
    cores = machine.cores(root, own)
    assert cores.quota == 0.5
    assert cores.usable == 1


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (1000, "1000"), (1536, "1536"), (65536, "64K"), (1 << 30, "1G")]
)
def test_format_size(value: int, text: str) -> None:
    assert format_size(value) == text


class Times(NamedTuple):
    """As psutil.cpu_times has them on Linux."""

    user: float
    nice: float
    system: float
    idle: float
    iowait: float
    guest: float  # within user


def test_busy_share_is_what_was_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([Times(100, 0, 100, 800, 0, 50), Times(120, 10, 100, 860, 10, 70)] * 2)
    monkeypatch.setattr("psutil.cpu_times", lambda: next(times))
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert machine.busy_share() == pytest.approx(0.3)
    before, after = machine.cpu_times(niced_is_idle=True), machine.cpu_times(niced_is_idle=True)
    assert (after[0] - before[0], after[1] - before[1]) == (100, 80)


def test_where_nothing_tells_the_machine_is_taken_for_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Times:
        raise FileNotFoundError("/proc/stat")

    monkeypatch.setattr("psutil.cpu_times", unknown)
    assert machine.busy_share() == 0
