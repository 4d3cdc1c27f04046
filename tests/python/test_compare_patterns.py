"""unisono compare --pattern without measuring: which pattern a cell is of, and what is told of several."""

import json
import re
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from test_compare import Bench, job, measured, quiet, shown
from unisono.compare import matrix, results, summary, words
from unisono.compare.cli import settings_of
from unisono.compare.results import Setting
from unisono.core.errors import UnisonoError
from unisono.testbeds.beds import Node

__all__ = ["quiet"]  # a fixture of all tests here


def after(pattern: str) -> Setting:
    return Setting("mpich", 2, 2, pattern)


def test_a_loop_is_not_compared_with_calls_apart() -> None:
    before, later = measured(Bench(), [job()]), measured(Bench(), [job(setting=after("loop"))])
    assert not words.warnings(before)
    assert any("loop: calls back to back" in warning for warning in words.warnings(later))
    with pytest.raises(UnisonoError, match="one was measured with --pattern barrier, the other with loop"):
        summary.changes(before, later)
    later.cells += before.cells
    assert len(summary.changes(before, later)) == 3, "of the pattern that both have"


def test_the_bench_is_told_the_pattern_and_the_file_says_it(tmp_path: Path) -> None:
    bench = Bench()
    plan = [job("bcast", 8, setting=setting) for setting in settings_of(Node(), ["mpich"], "2", None, "all")]
    comparison = measured(bench, plan)
    names = ["barrier", "loop", "sleep", "compute"]
    assert [dict(pairwise(line))["--pattern"] for line in bench.lines] == names
    assert [row["pattern"] for row in msgspec.to_builtins(results.document_of(comparison))["cells"]] == names
    results.save(comparison, tmp_path / "c.json")
    assert results.load(tmp_path / "c.json").patterns() == names
    assert matrix.parse_patterns("sleep, loop,sleep") == ["sleep", "loop"]
    for wrong in ("nap", "", "all,loop"):
        with pytest.raises(UnisonoError, match="valid are all, barrier, loop, sleep, compute"):
            matrix.parse_patterns(wrong)


def test_a_file_from_before_patterns_still_reads(tmp_path: Path) -> None:
    body = msgspec.to_builtins(results.document_of(measured(Bench(ends={0: (1, "hangs")}), [job()]))) | {
        "schema_version": 1
    }
    for row in (*body["cells"], *body["failures"]):
        del row["pattern"]
    for loop, pattern in ((True, "loop"), (False, "barrier")):
        body["options"]["loop"] = loop
        (tmp_path / "c.json").write_text(json.dumps(body))
        former = results.load(tmp_path / "c.json")
        assert former.patterns() == [pattern]
        assert former.failures[0].point.setting.pattern == pattern


def test_what_is_slower_in_any_pattern_is_told() -> None:
    comparison = measured(Bench(ratio=0.5), [job("bcast", 8), job("scan", 8), job("reduce", 8)])
    assert "patterns" not in shown(comparison)
    both = measured(Bench(ratio=0.5), [job("bcast", 8, setting=after("sleep"))])
    both.cells += comparison.cells
    assert "surely slower than native in at least one of 2 patterns: 0 of 3" in shown(both)
    both.cells += measured(Bench(ratio=1.5), [job("scan", 8, setting=after("sleep"))]).cells
    both.cells += measured(Bench(ratio=3.0), [job("reduce", 8, setting=after("compute"))]).cells
    both.cells += measured(Bench(ratio=4.0, coverage=0.5), [job("bcast", 8, setting=after("loop"))]).cells
    slower = summary.slower_in_any(summary.by_call(both))
    assert [(call.point.collective, call.worst) for call in slower] == [("reduce", 3.0), ("scan", 1.5)]
    text = shown(both)
    assert "surely slower than native in at least one of 4 patterns: 2 of 3" in text
    assert re.search(r"reduce +8 vector +default +0\.50 +3\.00", text)
    assert {row.where for row in summary.rows(both)} == {
        *(f"mpich, 2 ranks{pattern}" for pattern in ("", ", loop", ", sleep", ", compute")),
        "all",
    }
