"""scripts/overlap_tests.py: what is hidden, and what its report says is decided."""

import importlib.util
from types import ModuleType

import pytest
from unisono.core import places
from unisono.core.estimates import Estimate


@pytest.fixture
def overlap_tests(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    scripts = places.REPOSITORY / "scripts"
    monkeypatch.syspath_prepend(str(scripts))
    spec = importlib.util.spec_from_file_location("overlap_tests", scripts / "overlap_tests.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_overlap(overlap_tests: ModuleType) -> None:
    cell = {"pure": 10.0, "computing": 12.0}
    for overlapped, hidden in ((22.0, 0), (17.0, 50), (12.0, 100), (25.0, 0)):
        assert overlap_tests.overlap(cell | {"overlapped": overlapped}) == hidden
    assert overlap_tests.at_most(Estimate(0.9, 0.8, 1.0, 0.97), 1) == "yes"
    assert overlap_tests.at_most(Estimate(0.9, 0.8, 1.1, 0.97), 1) == "undecided"
    assert overlap_tests.at_most(Estimate(0.9, 0.8, 1.0, 0.5), 1) == "undecided"
    assert overlap_tests.at_most(Estimate(1.2, 1.1, 1.3, 0.97), 1) == "no"


def test_a_report_counts_what_is_decided(overlap_tests: ModuleType) -> None:
    rows = [
        {"mpi": "mpich", "collective": "bcast", "bytes": 8, "turn": turn, "arm": arm, "pure": 10.0}
        | {"blocking": 10.0, "computing": 10.0, "overlapped": 20.0 if arm == "native" else 12.0}
        for turn in range(6)
        for arm in ("native", "calls")
    ]
    told = overlap_tests.report(rows)
    assert "0.01, 0.02, 0 %" in told[2]
    assert "0.01, 0.012, 80 % | 80 to 80 | 0.60 (0.60 to 0.60) | 1.00 (1.00 to 1.00) |" in told[2]
    assert told[-3] == "calls: overlap >= 50 %: yes 1, no 0, undecided 0, of 1 cells"
