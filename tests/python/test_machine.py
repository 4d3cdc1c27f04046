"""Cores as the control group and the affinity mask leave them."""

from pathlib import Path

import pytest
from unisono import machine
from unisono.catalogue import format_size


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
    (root / "cpu").mkdir(parents=True)
    (root / "cpu/cpu.cfs_quota_us").write_text("50000")
    (root / "cpu/cpu.cfs_period_us").write_text("100000")
    cores = machine.cores(root, tmp_path / "none")
    assert cores.quota == 0.5
    assert cores.usable == 1


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (1000, "1000"), (1536, "1536"), (65536, "64K"), (1 << 30, "1G")]
)
def test_format_size(value: int, text: str) -> None:
    assert format_size(value) == text


def test_busy_share_is_what_was_not_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu 100 0 100 800 0 0 0 0 0 0\n")

    def later(_: float) -> None:
        stat.write_text("cpu 120 0 110 860 10 0 0 0 0 0\n")

    monkeypatch.setattr("time.sleep", later)
    assert machine.busy_share(stat=stat) == pytest.approx(0.3)
    assert machine.busy_share(stat=tmp_path / "none") == 0
