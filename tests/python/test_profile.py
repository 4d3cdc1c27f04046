"""unisono profile and unisono explain, on profiles written here."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from unisono.core import documents, errors, places
from unisono.core.estimates import Estimate
from unisono.profile import check, document
from unisono.profile.document import Arm, Cell, Environment, Key, Measured, Profile
from unisono.profile.terminal import why_not
from unisono.testbeds.bench import Entry, Point, Row
from unisono.tune.verify import (
    Look,
    Verdict,
    Verification,
    all_good,
    document_of,
    look_at,
    looks_at,
    summary,
    within,
)
from unisono.tune.verify_cli import remark

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
        "schema": "unisono.profile",
        "schema_version": 1,
        "unisono_version": "0.1.0",
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


@pytest.mark.parametrize(
    ("spec", "to_native", "why"),
    [
        ("native", None, "the chosen one is faster"),
        ("ring", None, "not measured beside native"),
        ("ring", Estimate(0.6, 0.5, 0.7, 0.7), "left the race early"),
        ("ring", Estimate(1.3, 1.2, 1.4, 0.96), "slower than native"),
        ("ring", Estimate(1.0, 0.9, 1.1, 0.96), "perhaps slower than native"),
        ("ring", Estimate(0.98, 0.97, 0.99, 0.96), "no clear gain on native"),
        ("ring", Estimate(0.7, 0.6, 0.8, 0.96), "gains less than the chosen one"),
    ],
)
def test_what_is_not_chosen_has_a_reason(spec: str, to_native: Estimate | None, why: str) -> None:
    assert why_not(Arm(spec, 1e-6, 1e-6, 1e-6, 8, ratio_to_native=to_native)) == why


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
        (change(profile(), "schema", to="other"), "no profile of Unisono"),
        (change(profile(), "schema_version", to=2), "made by a newer Unisono (version 2, this one reads 1)"),
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
    ("text", "problem"), [("{", "no JSON ("), ("[]", "no profile of Unisono"), (None, "No such file")]
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
    assert done.returncode == errors.FAILED
    assert "nothing for bcast of 1048576 bytes" in done.stderr
    assert "8193 to 131072" in done.stderr
    done = unisono("explain", str(good), "bcast", "8", "-n", "3")
    assert "nothing for --mpi any -n 3; it holds mpich, 4 ranks on 1 node, undersubscribed" in done.stderr


def test_a_rate_is_measured_and_never_twice_the_same() -> None:
    slow, same, fast = (Key("mpich", "M", "ethernet", rate, 2, 4, 4) for rate in (1e8, 1.2e8, 1e9))
    assert slow.like(same)
    assert not slow.like(fast)


POINT = Point("bcast", 1024)
NOISE = (0.97, 1.0, 1.02, 0.99, 1.04, 1.01, 0.98, 1.03)


def job(native: float = 100.0, blocks: int = 8, **us: float) -> Row:
    """Times of a job: all arms of a block share what disturbs it."""
    times = {"native": native, **us}
    return Row(
        POINT,
        tuple(Arm(spec, 1e-6 * t, 1e-6 * t, 1e-6 * t, blocks) for spec, t in times.items()),
        blocks={spec: tuple(t * noise for noise in NOISE[:blocks]) for spec, t in times.items()},
    )


def verdict(choice: str, *rows: Row) -> Verdict:
    return Verdict(Look(POINT, choice, {}), rows)


def answers(one: Verdict) -> tuple[str, str]:
    return one.within_native, one.within_best


def test_a_verdict_is_about_native_and_about_the_best_of_all_arms() -> None:
    jobs = [job(ring=50, flat=70)] * 5
    good = verdict("ring", *jobs)
    assert answers(good) == ("yes", "yes")
    assert (good.best, good.to_native) == ("ring", Estimate(0.5, 0.5, 0.5, 1 - 2 / 2**8))
    beaten = verdict("flat", *jobs)
    assert answers(beaten) == ("yes", "no")
    assert beaten.best == "ring"
    ratio = beaten.ratio_to("ring")
    assert ratio
    assert ratio.median == pytest.approx(1.4)
    assert answers(verdict("native", *jobs)) == ("yes", "no")
    assert answers(verdict("ring", *[job(ring=106)] * 5)) == ("no", "no")
    assert answers(verdict("ring", *[job(ring=101)] * 5)) == ("yes", "yes"), "within 0.97"
    assert answers(verdict("ring", Row(POINT, problem="killed"))) == ("undecided", "undecided")
    assert verdict("ring").problem == "not reached"


def test_every_row_says_its_answer() -> None:
    jobs = [job(ring=50, flat=70)] * 5
    said = [remark(verdict(choice, *jobs)).plain.strip() for choice in ("ring", "flat")]
    assert said == ["yes", "no: SLOWER than the best"]


def test_an_interval_that_holds_both_answers_is_undecided() -> None:
    moody = [job(ring=90), job(ring=120)]
    assert answers(verdict("ring", *moody)) == ("undecided", "undecided")
    assert answers(verdict("ring", *moody, moody[0])) == ("yes", "yes"), "two of three jobs say so"
    few = [job(ring=90, blocks=3)] * 5
    assert answers(verdict("ring", *few)) == ("undecided", "undecided"), "no interval of 95 %"
    six = [job(ring=us) for us in (90, 90, 90, 90, 90, 120)]
    assert answers(verdict("ring", *six)) == ("undecided", "undecided"), "the sign test of six jobs"


def test_what_left_the_race_far_behind_needs_no_interval() -> None:
    row = job(ring=50, flat=500)
    early = replace(row, blocks={**row.blocks, "flat": (500.0, 490.0)})
    assert answers(verdict("ring", *[early] * 5)) == ("yes", "yes")
    near = replace(row, blocks={**row.blocks, "flat": (51.0, 49.0)})
    assert answers(verdict("ring", *[near] * 5)) == ("yes", "undecided")


def test_good_is_what_is_shown_to_be_good() -> None:
    good = verdict("ring", *[job(ring=50)] * 5)
    undecided = verdict("ring", job(ring=90), job(ring=120))
    slow = verdict("ring", *[job(ring=150)] * 5)
    for others in ([undecided], [slow], [verdict("ring")]):
        assert not all_good([good, *others])
    assert all_good([good])
    assert summary([good, undecided, slow, verdict("ring")]) == {
        "cells": 3,
        "failed": 1,
        "within_0.97_of_native": {"yes": 1, "no": 1, "undecided": 1},
        "within_0.97_of_best": {"yes": 1, "no": 1, "undecided": 1},
    }


def raced(**us: float) -> Measured:
    return Measured(1024, tuple(Arm(s, 1e-6 * t, 0.9e-6 * t, 1.1e-6 * t, 12) for s, t in us.items()))


def test_all_arms_of_the_race_are_measured_again_but_what_was_surely_twice_as_slow() -> None:
    race = raced(native=100, a=60, b=50, c=105, d=120, e=40)
    look = look_at(Cell("bcast", 0, 2048, "native", (race,)), POINT, [race], tuned=True)
    assert (look.arms, look.left_out) == (["e", "b", "a"], ("c", "d"))
    look = look_at(Cell("bcast", 0, 2048, "d", (race,)), POINT, [race], tuned=True)
    assert set(look.arms) == {"d", "e", "b", "a"}, "and the choice in any case"
    assert within(look, look.seconds) == look
    short = within(look, look.seconds - 8 * 60e-6)
    assert (set(short.arms), short.left_out, short.no_time) == ({"d", "e", "b"}, look.left_out, ("a",))
    assert within(look, 0.0).arms == ["d"]


def test_whether_a_choice_is_the_best_is_open_where_an_arm_had_no_time() -> None:
    good = verdict("ring", *[job(ring=50)] * 5)
    assert answers(good) == ("yes", "yes")
    assert answers(replace(good, look=replace(good.look, no_time=("chain",)))) == ("yes", "undecided")


def made(sizes: dict[int, Measured], *cells: tuple[int, int, str]) -> Environment:
    def measured(least: int, most: int) -> tuple[Measured, ...]:
        return tuple(replace(race, bytes=size) for size, race in sizes.items() if least <= size <= most)

    [first] = document.from_json(profile()).environments
    return Environment(first.key, tuple(Cell("bcast", *cell, measured(*cell[:2])) for cell in cells))


def test_sizes_between_the_tuned_ones_are_looked_at_too() -> None:
    sizes = {64: raced(native=10, a=5), 1024: raced(native=20, b=15), 1152: raced(native=20)}
    looks = looks_at(made(sizes, (0, 256, "a"), (257, 1152, "native")))
    assert [(look.point.bytes, look.choice, look.tuned) for look in looks] == [
        (64, "a", True),
        (256, "a", False),
        (1024, "native", True),
        (1152, "native", True),
    ], "the mean of 1024 and 1152 is 1024 again, in whole elements"
    assert set(looks[1].arms) == {"a", "b"}, "the arms of both races"
    gap = made(sizes, (0, 200, "a"), (300, 1152, "native"))
    assert [look.point.bytes for look in looks_at(gap)] == [64, 1024, 1152], "no choice, nothing to verify"


class Jobs:
    """Takes all of its time; "a" is faster in the cell of 64 bytes, now faster and now slower in that of
    96, and kills the one of 4096."""

    start = 0.1

    def __init__(self) -> None:
        self.done: list[tuple[int, float]] = []

    def measure_all(self, entries: Sequence[Entry], seconds: float) -> list[Row]:
        return [self.measure(entry.point, seconds / len(entries)) for entry in entries]

    def measure(self, point: Point, seconds: float) -> Row:
        self.done.append((point.bytes, seconds))
        if point.bytes == 4096:
            return Row(point, problem="killed")
        row = replace(job(a=50), point=point)
        if point.bytes == 64:
            return row
        return replace(row, blocks={"native": (100.0,) * 8, "a": (80.0, 120.0) * 4})


def test_the_jobs_of_a_cell_are_spread_over_the_run_and_doubts_have_a_quarter() -> None:
    sizes = {size: raced(native=100, a=50) for size in (64, 96, 4096)}
    environment = made(sizes, (0, 80, "a"), (81, 100, "a"), (4096, 8192, "a"))
    bench = Jobs()
    verification = Verification(environment, bench, lambda: 160.0 - sum(s for _, s in bench.done), jobs=3)
    verification.looks = [look for look in verification.looks if look.tuned]
    verification.run()
    assert [size for size, _ in bench.done[:9]] == [64, 96, 4096] * 3, "passes over all cells"
    assert [seconds for _, seconds in bench.done[:9]] == pytest.approx([120 / 9] * 9)
    assert [size for size, _ in bench.done[9:]] == [96] * 3, "a quarter for the cell in doubt"
    assert sum(seconds for _, seconds in bench.done) == pytest.approx(160.0)
    one, two, three = verification.verdicts()
    assert answers(one) == ("yes", "yes")
    assert (len(two.rows), answers(two)) == (6, ("yes", "yes")), "the medians of six jobs agree"
    assert (three.arms, three.problem) == ((), "killed")
    told = json.loads(documents.text(document_of(environment, [one, two, three])))
    assert [cell["within_best"] for cell in told["cells"]] == ["yes", "yes", "undecided"]


def test_an_interrupted_verification_keeps_its_jobs() -> None:
    class Interrupted(Jobs):
        def measure(self, point: Point, seconds: float) -> Row:
            if len(self.done) == 2:
                raise KeyboardInterrupt
            return super().measure(point, seconds)

    sizes = {size: raced(native=100, a=50) for size in (64, 96)}
    verification = Verification(made(sizes, (0, 100, "a")), Interrupted(), lambda: 60.0)
    with pytest.raises(KeyboardInterrupt):
        verification.run()
    assert [len(each.rows) for each in verification.verdicts() if each.look.tuned] == [1, 1]


def test_an_installed_package_checks_profiles(good: Path, tmp_path: Path) -> None:
    """What setuptools would install, and nothing of the checkout beside it."""
    lib = tmp_path / "lib"
    setup = [sys.executable, "-c", "from setuptools import setup; setup()"]
    egg = ["egg_info", "--egg-base", str(tmp_path)]
    build = ["build", "-b", str(tmp_path / "b"), "--build-lib", str(lib)]
    done = subprocess.run(
        [*setup, *egg, *build],
        cwd=places.REPOSITORY,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    code = f"import sys; sys.path.insert(0, {str(lib)!r}); from unisono import cli; cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "profile", "check", str(good)],
        cwd=tmp_path,
        env=clean | {"UNISONO_BUILD": str(places.build_directory())},
        check=False,
        capture_output=True,
        text=True,
    )
    assert "good" in done.stdout, done.stderr
    assert (lib / "unisono" / "profile" / "profile.schema.json").is_file()


def test_merging_into_nothing_gives_the_same() -> None:
    one = document.from_json(profile())
    assert document.merge(Profile(()), one).environments == one.environments
    assert isinstance(one.environments[0], Environment)
