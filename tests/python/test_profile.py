"""unisono profile and unisono explain, on profiles written here."""

import json
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from unisono.compare.results import Estimate
from unisono.profile import check, document
from unisono.profile.document import Arm, Cell, Environment, Key, Measured, Profile
from unisono.profile.verify import Verdict, opponents, opponents_within, summary, to_json, verify
from unisono.tune.bench import Point, Row

Json = dict[str, Any]


def ratio(median: float) -> Json:
    return {"median": median, "low": median - 0.02, "high": median + 0.02, "coverage": 0.97}


def arm(spec: str, microseconds: float, to_native: float | None = None) -> Json:
    seconds = microseconds * 1e-6
    return {
        "spec": spec,
        "median_s": seconds,
        "low_s": 0.9 * seconds,
        "high_s": 1.1 * seconds,
        "blocks": 12,
        "predicted_s": None if spec == "native" else 2 * seconds,
        "ratio_to_native": None if to_native is None else ratio(to_native),
    }


def profile(ranks: int = 4, choice: str = "chain:segment=4K") -> Json:
    measured = {
        "bytes": 65536,
        "arms": [arm("native", 200), arm("chain:segment=4K", 100, 0.5), arm("flat", 300, 1.5)],
    }
    cells = [
        {"collective": "bcast", "bytes": [0, 8192], "choice": "native", "measured": []},
        {"collective": "bcast", "bytes": [8193, 131072], "choice": choice, "measured": [measured]},
    ]
    return {
        "format": "unisono-profile",
        "version": 1,
        "unisono": "0.1.0",
        "created": "2026-01-02T03:04:05Z",
        "environments": [
            {
                "mpi": {"flavour": "mpich", "library": "MPICH Version: 5.0.2"},
                "machine": {"place": "undersubscribed", "network_rate": 0, "cores": 4},
                "shape": {"ranks": ranks, "nodes": 1},
                "cells": cells,
            }
        ],
    }


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write(tmp_path / "p.json", profile())


def write(path: Path, data: Json) -> Path:
    path.write_text(json.dumps(data))
    return path


def test_a_good_profile_is_shown_and_explained(unisono: Run, good: Path) -> None:
    assert unisono("profile", "check", str(good)).stdout.strip().endswith("good")
    shown = unisono("profile", "show", str(good)).stdout
    for text in (
        "mpich, 4 ranks on 1 node, undersubscribed",
        "chain:segment=4K",
        "8193 - 131072",
        "64K",
        "0.50",
    ):
        assert text in shown
    told = unisono("explain", str(good), "bcast", "32K").stdout
    for text in ("8193 to 131072 bytes: chain:segment=4K", "0.50 of native's time", "flat", "600", "300"):
        assert text in told


def change(data: Json, *path: str | int, to: Any) -> Json:
    at: Any = data
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return data


CELLS = ("environments", 0, "cells")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (change(profile(), "format", to="other"), "no profile of Unisono"),
        (change(profile(), "version", to=2), "made by a newer Unisono (version 2, this one reads 1)"),
        (change(profile(), *CELLS, 0, "bytes", to=[8]), "$.environments[0].cells[0].bytes: [8] is too short"),
        (change(profile(), *CELLS, 0, "choice", to=3), "cells[0].choice: 3 is not of type 'string'"),
        (change(profile(), *CELLS, 0, "bytes", to=[9, 8]), "bcast 9 to 8: ends before it begins"),
        (change(profile(), *CELLS, 0, "bytes", to=[0, 9000]), "bcast 8193 to 131072: overlaps 0 to 9000"),
        (change(profile(), *CELLS, 0, "choice", to="chian"), "no algorithm 'chian'; valid: default, native"),
        (change(profile(), *CELLS, 0, "collective", to="bcats"), "no collective 'bcats'"),
        (change(profile(), *CELLS, 1, "measured", 0, "bytes", to=8), "holds measurements of 8 bytes"),
        (change(profile(), "environments", 0, "shape", "nodes", to=5), "more nodes than ranks"),
        (
            change(profile(), "environments", to=profile()["environments"] * 2),
            "environment 2 (mpich, 4 ranks on 1 node, undersubscribed): is there twice",
        ),
    ],
)
def test_check_names_what_is_wrong(data: Json, problem: str) -> None:
    found = list(check.problems(data))
    assert any(problem in line for line in found), found
    assert all("\n" not in line for line in found)


@pytest.mark.parametrize(
    ("text", "problem"), [("{", "no JSON: "), ("[]", "no profile of Unisono"), (None, "No such file")]
)
def test_a_broken_file_costs_one_clear_line(
    unisono: Run, tmp_path: Path, text: str | None, problem: str
) -> None:
    file = tmp_path / "broken.json"
    if text is not None:
        file.write_text(text)
    done = unisono("profile", "show", str(file))
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_check_counts_in_its_exit_status(unisono: Run, tmp_path: Path) -> None:
    bad = write(tmp_path / "b.json", change(profile(), *CELLS, 0, "choice", to="chian"))
    done = unisono("profile", "check", str(bad))
    assert done.returncode == 1
    assert "chian" in done.stdout


def test_merge_keeps_both_and_prefers_the_later(unisono: Run, tmp_path: Path, good: Path) -> None:
    other = write(tmp_path / "o.json", profile(ranks=8))
    later = write(tmp_path / "l.json", profile(choice="flat"))
    target = tmp_path / "m.json"
    done = unisono("profile", "merge", str(good), str(other), str(later), "-o", str(target))
    assert done.returncode == 0, done.stderr
    merged = check.load(target)
    assert [env.key.ranks for env in merged.environments] == [4, 8]
    four, eight = merged.environments
    assert [cell.choice for cell in four.cells] == ["native", "flat"]
    assert [cell.choice for cell in eight.cells] == ["native", "chain:segment=4K"]


def test_diff_shows_what_changed(unisono: Run, tmp_path: Path, good: Path) -> None:
    later = write(tmp_path / "l.json", profile(choice="flat"))
    told = unisono("profile", "diff", str(good), str(later)).stdout
    assert "1 choices differ" in told
    assert "chain:segment=4K" in told
    assert "0 choices differ" in unisono("profile", "diff", str(good), str(good)).stdout


def test_explain_says_where_a_profile_ends(unisono: Run, good: Path) -> None:
    done = unisono("explain", str(good), "bcast", "1M")
    assert done.returncode == 2
    assert "nothing for bcast of 1048576 bytes" in done.stderr
    assert "8193 to 131072" in done.stderr
    done = unisono("explain", str(good), "bcast", "8", "-n", "3")
    assert "nothing for --mpi any -n 3; it holds mpich, 4 ranks on 1 node, undersubscribed" in done.stderr


def test_a_rate_is_measured_and_never_twice_the_same() -> None:
    slow, same, fast = (Key("mpich", "M", "ethernet", rate, 2, 4, 4) for rate in (1e8, 1.2e8, 1e9))
    assert slow.like(same)
    assert not slow.like(fast)


def arms(**ratios: float) -> tuple[Arm, ...]:
    rows = [arm("native", 100)] + [arm(spec, 100 * value, value) for spec, value in ratios.items()]
    data = change(profile(), *CELLS, 1, "measured", 0, "arms", to=rows)
    return document.from_json(data).environments[0].cells[1].measured[0].arms


def test_verification_judges_the_choice() -> None:
    point = Point("bcast", 8)
    best = Verdict(point, "ring", arms(ring=0.5, flat=0.7))
    alike = Verdict(point, "ring", arms(ring=0.5, flat=0.49))
    beaten = Verdict(point, "ring", arms(ring=0.5, flat=0.4))
    slow = Verdict(point, "ring", arms(ring=1.06))
    native = Verdict(point, "native", arms(ring=0.5))
    assert (best.is_best, alike.is_best, beaten.is_best, slow.is_best, native.is_best) == (
        *(True, True, False, False, False),
    )
    assert [v.best and v.best.spec for v in (alike, beaten, slow)] == ["ring", "flat", "native"]
    assert [verdict.is_slow for verdict in (best, slow, native)] == [False, True, False]
    told = summary([best, beaten, slow, Verdict(point, "ring", (), "killed")])
    assert told == {
        "cells": 3,
        "failed": 1,
        "slower_than_0.97_of_native": 1,
        "choice_is_best": 1,
        "share_best": 0.3333,
    }


def test_only_what_is_surely_faster_by_the_margin_beats_the_choice() -> None:
    def estimated(spec: str, median: float, low: float, high: float, coverage: float = 0.96) -> Arm:
        return replace(arms(x=1)[1], spec=spec, ratio_to_native=Estimate(median, low, high, coverage))

    choice = estimated("ring", 0.90, 0.88, 0.92)
    for other, is_beaten in (
        (estimated("flat", 0.85, 0.84, 0.86), True),
        (estimated("flat", 0.85, 0.80, 0.91), False),  # its own interval reaches the choice's median
        (estimated("flat", 0.85, 0.84, 0.86, 0.75), False),  # of too few blocks
        (estimated("flat", 0.885, 0.884, 0.886), False),  # within the interval of the choice
    ):
        verdict = Verdict(Point("bcast", 8), "ring", (*arms(), choice, other))
        assert verdict.is_best is not is_beaten
    sharp = estimated("ring", 0.90, 0.899, 0.901)
    near = estimated("flat", 0.87, 0.869, 0.871)
    assert Verdict(Point("bcast", 8), "ring", (*arms(), sharp, near)).is_best, "a gain of 3 %"
    assert not Verdict(Point("bcast", 8), "ring", arms()).is_best, "not measured"


def test_verification_pools_the_jobs_of_a_cell() -> None:
    class Jobs:
        start = 0.1

        def __init__(self) -> None:
            self.seconds: list[float] = []

        def measure(self, point: Point, specs: Sequence[str], seconds: float) -> Row:
            self.seconds.append(seconds)
            if len(self.seconds) == 5:
                return Row(point, problem="killed")
            return Row(point, arms(ring=0.5 + 0.1 * len(self.seconds)))

    bench = Jobs()
    data = change(profile(choice="ring"), *CELLS, 0, "measured", to=[{"bytes": 8, "arms": []}])
    [environment] = document.from_json(data).environments
    second, first = verify(environment, bench, lambda: 80.0 - sum(bench.seconds))
    assert bench.seconds == pytest.approx([*[10] * 6, *[20 / 3] * 3]), "a quarter for the cell in doubt"
    assert [arm.blocks for arm in first.arms] == [72, 72]
    other = next(arm for arm in first.arms if arm.spec == "ring")
    assert other.ratio_to_native
    assert astuple(other.ratio_to_native) == pytest.approx((1.0, 0.6, 1.4, 1 - 1 / 32)), "of six jobs"
    assert first.is_best, "what the first three said was chance"
    assert (second.arms, second.problem) == ((), "killed")
    assert to_json(environment, [first, second])["margin"] == 0.05


def test_a_cell_that_fails_both_looks_is_told(tmp_path: Path) -> None:
    class Jobs:
        start = 0.1

        def measure(self, point: Point, specs: Sequence[str], seconds: float) -> Row:
            return Row(point, arms(ring=0.8))

    [environment] = document.from_json(profile(choice="native")).environments
    left = iter([60.0, 60.0, 0.0, 0.0, 0.0])
    verdicts = list(verify(environment, Jobs(), lambda: next(left, 0.0)))
    assert [verdict.is_best for verdict in verdicts] == [False], "also where no time is left to look again"


def test_verification_asks_the_choice_and_the_best_losers() -> None:
    measured = Measured(8, arms(a=0.9, b=0.6, c=0.7, d=0.8, e=0.5))
    assert opponents(Cell("bcast", 0, 8, "b", (measured,)), measured) == ["b", "e", "c", "d"]
    assert opponents(Cell("bcast", 0, 8, "native", (measured,)), measured) == ["e", "b", "c"]


def test_verification_leaves_losers_out_when_time_is_short() -> None:
    measured = Measured(8, arms(a=0.9, b=0.6, c=0.7))
    cell = Cell("bcast", 0, 8, "b", (measured,))
    assert opponents_within(cell, measured, 1.0) == ["b", "c", "a"]
    assert opponents_within(cell, measured, 8 * (100 + 60 + 70) * 1e-6) == ["b", "c"]
    assert opponents_within(cell, measured, 0.0) == ["b"]


def test_merging_into_nothing_gives_the_same() -> None:
    one = document.from_json(profile())
    assert document.merge(Profile(()), one).environments == one.environments
    assert isinstance(one.environments[0], Environment)
