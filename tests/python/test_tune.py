"""Candidates, rounds and the budget, without measuring anything."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from arms import NATIVE, arm
from rich.console import Console
from unisono.core import documents, jobs, places
from unisono.core.amounts import parse_time
from unisono.core.errors import UnisonoError
from unisono.profile import choice, document
from unisono.profile.document import Key
from unisono.testbeds import beds
from unisono.testbeds.bench import Bench, Entry, Failed, Point, Row
from unisono.tune import report
from unisono.tune.candidates import Candidate
from unisono.tune.cli import points_of
from unisono.tune.prediction import rank_correlation
from unisono.tune.record import MEASURED, Record
from unisono.tune.tuner import CONFIRMATIONS, RACES, Listener, Tuner

KEY = Key("mpich", "MPICH Version: 5", "undersubscribed", 0, 2, 2, 1)


def test_rank_correlation() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 300]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Kendall, Gibbons: with ties, by the means of their ranks.
    assert rank_correlation([1, 2, 2, 4], [1, 2, 3, 4]) == pytest.approx(0.9487, abs=1e-4)
    assert math.isnan(rank_correlation([1, 1], [1, 2]))


class FakeBench:
    """Takes all the time it is given; "good" is faster from 1K on, in the first job more than it is."""

    start = 0.1

    def __init__(self) -> None:
        self.now = 0.0
        self.jobs: list[tuple[Point, tuple[str, ...], float]] = []
        self.interrupt_at = math.inf

    def clock(self) -> float:
        return self.now

    def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
        if len(self.jobs) >= self.interrupt_at:
            raise KeyboardInterrupt
        first = not any(job[0] == point for job in self.jobs)
        self.jobs.append((point, tuple(arms), seconds))
        self.now += seconds
        if "grid:bad" in arms:
            return Row(point, problem="killed by SIGSEGV")
        ratio = {"good": 0.5, "lucky": 0.9 if first else 1.0, "bad": 1.5}
        measured = [arm(spec, ratio[spec] if point.bytes >= 1024 else 1.2) for spec in arms]
        return Row(point, (NATIVE, *measured), KEY)


def fake_field(point: Point, near: Sequence[str], most: int) -> list[Candidate]:
    return [Candidate("lucky", 1.0), Candidate("good", 2.0), Candidate("bad", 3.0)]


POINTS = [Point(name, size) for name in ("bcast", "reduce") for size in (64, 1024)]


def tuner(bench: FakeBench, folder: Path, resume: bool = False) -> Tuner:
    return Tuner(bench, fake_field, Record(folder, {"ranks": 2}, resume), Listener(), bench.clock)


def test_the_budget_is_kept_and_winners_are_confirmed(tmp_path: Path) -> None:
    bench = FakeBench()
    outcome = tuner(bench, tmp_path / "w").run(POINTS, deadline=400.0)
    assert bench.now <= 400.0
    assert outcome.measured == outcome.planned == 4
    assert [job[0].bytes for job in bench.jobs[:4]] == [64, 64, 1024, 1024], "small sizes first"
    again = [(job[0].bytes, job[1]) for job in bench.jobs[4:8]]
    assert again == [(64, ("lucky", "good", "bad"))] * 2 + [(1024, ("lucky", "good"))] * 2, (
        "a second race, later, without what took twice the time of the fastest"
    )
    confirmed = [(job[0], job[1]) for job in bench.jobs[8:]]
    large = [(point, ("good", "lucky")) for point in POINTS if point.bytes == 1024]
    assert confirmed == large * 2 + [(point, ("good",)) for point, _ in large] * 2, (
        "four jobs that agree are enough, two for who gains nothing"
    )
    [environment] = outcome.profile.environments
    assert environment.key == KEY
    cells = {(c.collective, c.least): c for c in environment.cells}
    assert cells["bcast", 32].choice == "native"
    won = cells["bcast", 257]
    assert won.choice == "good"
    spoken = {a.spec: a for a in won.measured[0].arms}
    assert spoken.keys() == {"native", "good", "lucky", "bad"}, "losers are kept"
    lucky = spoken["lucky"].ratio_to_native
    assert lucky is not None
    assert lucky.median == 1.0, "the confirmation counts"
    assert spoken["lucky"].predicted_s == 1.0


def test_a_job_too_short_for_an_interval_decides_nothing(tmp_path: Path) -> None:
    record = Record(tmp_path / "w", {}, resume=False)
    point = Point("bcast", 1024)
    short = (replace(NATIVE, blocks=1), replace(arm("good", 1.3, coverage=0), blocks=1))
    record.add(RACES[0], Row(point, (NATIVE, arm("good", 0.5)), KEY))
    record.add(CONFIRMATIONS[0], Row(point, short, KEY))
    outcome = Tuner(FakeBench(), fake_field, record, Listener(), lambda: 0.0).run([point], deadline=0.0)
    [cell] = outcome.profile.environments[0].cells
    assert cell.choice == "good"
    kept = cell.measured[0].arm("good")
    assert kept is not None
    assert kept.blocks == 12


class Moody(FakeBench):
    """Of bcast "good" is faster in every other job only."""

    def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
        odd = sum(job[0] == point for job in self.jobs) % 2
        row = super().measure(point, arms, seconds)
        good = arm("good", 1.1 if point.collective == "bcast" and odd else 0.9)
        return replace(row, arms=(NATIVE, good))


def test_cells_on_which_jobs_disagree_get_more_jobs(tmp_path: Path) -> None:
    bench = Moody()
    points = [Point("bcast", 1024), Point("reduce", 1024)]
    outcome = tuner(bench, tmp_path / "w").run(points, deadline=600.0)
    jobs = [job[0].collective for job in bench.jobs]
    assert jobs == [*["bcast", "reduce"] * 6, *["bcast"] * 5]
    seconds = [job[2] for job in bench.jobs]
    assert seconds[:4] == pytest.approx([60] * 4), "two fifths of the budget are the races'"
    ninth = 360 / 9
    assert seconds[4:12] == pytest.approx([ninth / 2] * 8, abs=0.5), (
        "a ninth of the rest, of each cell a half"
    )
    assert seconds[12:] == pytest.approx([ninth] * 5)
    assert bench.now <= 600.0
    [cell] = outcome.profile.environments[0].cells
    assert (cell.collective, cell.choice) == ("reduce", "good")
    good = cell.measured[0].arm("good")
    assert good is not None
    assert good.blocks == 48
    assert outcome.undecided == [points[0]], "native would be as much of a guess as the other"
    assert (outcome.missing, outcome.measured) == ([], 2)


class SlowAtFirst(FakeBench):
    """Native, in the races; so all look faster, and the three luckiest are not."""

    def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
        race = sum(job[0] == point for job in self.jobs) < len(RACES)
        super().measure(point, [], seconds)
        self.jobs[-1] = (point, tuple(arms), seconds)
        ratio = {"good": 0.72} if race else {"good": 0.7}
        return Row(point, (NATIVE, *(arm(spec, ratio.get(spec, 0.7 if race else 1.0)) for spec in arms)), KEY)


def test_who_was_fast_in_a_race_is_confirmed_when_the_luckiest_were_not(tmp_path: Path) -> None:
    def six(point: Point, near: Sequence[str], most: int) -> list[Candidate]:
        return [Candidate(spec) for spec in ("a", "b", "c", "d", "e", "good")]

    bench = SlowAtFirst()
    record = Record(tmp_path / "w", {}, resume=False)
    outcome = Tuner(bench, six, record, Listener(), bench.clock).run([POINTS[1]], deadline=400.0)
    assert [job[1] for job in bench.jobs[2:5]] == [("a", "b", "c"), ("d", "e", "good"), ("good", "a", "b")]
    [cell] = outcome.profile.environments[0].cells
    assert cell.choice == "good"


def test_rounds_are_fewer_when_cells_need_longer(tmp_path: Path) -> None:
    bench = FakeBench()
    slow = [Point("bcast", 1024), Point("bcast", 4096)]
    tuner(bench, tmp_path / "w").run(slow, deadline=100.0)
    # Of a call of 1 s and arms of 0.5 s and 0.9 s eight blocks take 19.2 s: once for each cell.
    assert [job[0].bytes for job in bench.jobs] == [1024, 4096] * (2 + 1)
    assert bench.now == pytest.approx(100.0)


def test_too_little_time_leaves_cells_out_and_says_so(tmp_path: Path) -> None:
    bench = FakeBench()
    outcome = tuner(bench, tmp_path / "w").run(POINTS, deadline=1.0)
    assert outcome.measured < outcome.planned
    assert bench.now <= 1.0


def test_resume_measures_only_what_is_missing(tmp_path: Path) -> None:
    bench = FakeBench()
    bench.interrupt_at = 2
    outcome = tuner(bench, tmp_path / "w").run(POINTS, deadline=200.0)
    assert outcome.interrupted
    assert outcome.measured == 2
    with (tmp_path / "w" / MEASURED).open("a") as file:
        file.write('{"kind": "race", "point": {"col')  # what a crash leaves
    with pytest.raises(UnisonoError, match="go on with --resume"):
        tuner(bench, tmp_path / "w")
    with pytest.raises(UnisonoError, match="was begun with ranks 2, not 3"):
        Record(tmp_path / "w", {"ranks": 3}, resume=True)
    again = FakeBench()
    outcome = tuner(again, tmp_path / "w", resume=True).run(POINTS, deadline=400.0)
    assert [job[0].bytes for job in again.jobs[:2]] == [1024, 1024]
    assert outcome.measured == 4
    assert not outcome.interrupted
    assert len(again.jobs) == 2 + 4 + 8


def test_resume_goes_on_within_the_confirmations(tmp_path: Path) -> None:
    bench = Moody()
    bench.interrupt_at = 6
    points = [Point("bcast", 1024), Point("reduce", 1024)]
    assert tuner(bench, tmp_path / "w").run(points, deadline=200.0).interrupted
    bench.interrupt_at = math.inf
    outcome = tuner(bench, tmp_path / "w", resume=True).run(points, deadline=bench.now + 300.0)
    jobs = [job[0].collective for job in bench.jobs]
    assert jobs == [*["bcast", "reduce"] * 6, *["bcast"] * 5]
    assert [cell.choice for cell in outcome.profile.environments[0].cells] == ["good"]
    assert outcome.undecided == [points[0]]


class Fragile(FakeBench):
    """Jobs with one of these arms fail: "" is native alone, so that every job does."""

    def __init__(self, *failing: str, after: int = 0) -> None:
        super().__init__()
        self.failing, self.after = set(failing), after

    def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
        guilty = self.failing & {*arms, ""} if len(self.jobs) >= self.after else set()
        if not guilty:
            return super().measure(point, arms, seconds / 2)
        self.jobs.append((point, tuple(arms), seconds))
        self.now += 0.5
        return Row(point, problem=f"exit status 1: unisono-bench: no {min(guilty)}")


BCAST = Point("bcast", 1024)


def test_a_candidate_that_fails_is_found_told_and_left_out(tmp_path: Path) -> None:
    bench = Fragile("bad")
    outcome = tuner(bench, tmp_path / "w").run([BCAST], 200.0)
    tried = [job[1] for job in bench.jobs]
    assert tried[:5] == [("lucky", "good", "bad"), (), ("lucky",), ("good", "bad"), ("good",)]
    assert tried[5:7] == [("bad",), ("lucky", "good")], "halves, until one fails alone; then the rest"
    assert not any("bad" in arms for arms in tried[6:])
    assert outcome.failed == [(BCAST, Failed("bad", "exit status 1: unisono-bench: no bad"))]
    assert (outcome.measured, outcome.planned, outcome.problems) == (1, 1, [])
    assert [cell.choice for cell in outcome.profile.environments[0].cells] == ["good"]
    again = Record(tmp_path / "w", {"ranks": 2}, resume=True)
    assert again.rows[RACES[0], BCAST].failed == (Failed("bad", "exit status 1: unisono-bench: no bad"),)


def test_what_failed_at_one_size_does_not_race_at_the_next(tmp_path: Path) -> None:
    bench = Fragile("bad")
    tuner(bench, tmp_path / "w").run([BCAST, Point("bcast", 4096)], 400.0)
    assert not any("bad" in arms for point, arms, _ in bench.jobs if point.bytes == 4096)


@pytest.mark.parametrize("failing", [("lucky", "good", "bad"), ("",)])
def test_a_cell_in_which_all_or_native_failed_stays_out(tmp_path: Path, failing: Sequence[str]) -> None:
    """Of three sizes the largest two: the neighbour's interval does not reach over them either."""

    class AtOneSize(Fragile):
        def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
            self.after = 0 if point.bytes == 1024 else 1 << 30
            return super().measure(point, arms, seconds)

    def fresh(point: Point, near: Sequence[str], most: int) -> list[Candidate]:
        return [Candidate(spec) for spec in (("lucky", "good", "bad") if point.bytes <= 1024 else ("good2",))]

    points = [Point("bcast", size) for size in (64, 1024)] + [Point("reduce", 64)]
    bench = AtOneSize(*failing)
    record = Record(tmp_path / "w", {}, resume=False)
    outcome = Tuner(bench, fresh, record, Listener(), bench.clock).run(points, 900.0)
    [environment] = outcome.profile.environments
    assert [(c.collective, c.least, c.most) for c in environment.cells] == [
        ("bcast", 32, 256),
        ("reduce", 32, 128),
    ]
    assert environment.cell("bcast", 1024) is None
    assert (outcome.measured, outcome.planned, outcome.missing) == (2, 3, [points[1]])
    text = StringIO()
    report.show(outcome, 1.0, Console(file=text, width=150))
    assert "2 of 3 cells measured" in text.getvalue()
    assert "not in the profile: bcast 1024" in text.getvalue()
    assert "unisono-bench: no " in text.getvalue(), "the error line"


def test_the_intervals_of_neighbours_do_not_reach_over_a_missing_size() -> None:
    cells = choice.intervals("bcast", {64: "ring", 16384: "ring"}, {}, missing=[1024])
    assert [(c.least, c.most) for c in cells] == [(32, 256), (4097, 32768)]


def test_a_cell_whose_native_fails_later_stays_out(tmp_path: Path) -> None:
    bench = Fragile("", after=2)
    outcome = tuner(bench, tmp_path / "w").run([BCAST], 200.0)
    assert len(bench.jobs) == 2 + 2, "two races, a confirmation, native alone"
    assert (outcome.measured, outcome.profile.environments) == (0, ())


def test_a_choice_that_fails_when_it_is_confirmed_is_none(tmp_path: Path) -> None:
    outcome = tuner(Fragile("good", after=2), tmp_path / "w").run([BCAST], 200.0)
    [cell] = outcome.profile.environments[0].cells
    assert cell.choice == "native", "lucky was no faster in the end"
    assert [failed.spec for _, failed in outcome.failed] == ["good"]


def test_no_time_for_an_interval_is_no_choice_of_native(tmp_path: Path) -> None:
    class Hasty(FakeBench):
        def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
            row = super().measure(point, arms, seconds)
            short = [replace(arm(spec, 0.5, coverage=0.5), blocks=2) for spec in arms]
            return replace(row, arms=(replace(NATIVE, blocks=2), *short))

    outcome = tuner(Hasty(), tmp_path / "w").run([BCAST], 200.0)
    assert outcome.missing == [BCAST]


def test_two_modes_of_a_cell_are_told(tmp_path: Path) -> None:
    """One in some jobs, the other in others: no job alone could tell."""

    class TwoStates(FakeBench):
        def measure(self, point: Point, arms: Sequence[str], seconds: float) -> Row:
            row = super().measure(point, arms, seconds)
            state = 17.2 if len(self.jobs) % 2 else 4.8
            noise = [0.97, 1.0, 1.02, 0.99, 1.04, 1.01, 0.98, 1.03]
            return replace(row, blocks={"native": tuple(state * each for each in noise), "good": (2.0,) * 8})

    outcome = tuner(TwoStates(), tmp_path / "w").run([BCAST], 200.0)
    [(point, spec, modes)] = outcome.modes
    assert (point, spec) == (BCAST, "native")
    assert (modes.low, modes.high) == pytest.approx((4.8, 17.2), rel=0.03)
    assert modes.share_high == pytest.approx(0.5)


def test_sizes_and_times_of_the_command_line() -> None:
    assert [p.bytes for p in points_of("bcast", "64:1M:4")] == [4**k for k in range(3, 11)]
    assert points_of("barrier", "64:1M:4") == [Point("barrier", 0)]
    assert "gatherv" not in {p.collective for p in points_of("all", "8")}
    with pytest.raises(UnisonoError, match="gatherv: no rank knows all counts"):
        points_of("gatherv", "8")
    assert (parse_time("90s"), parse_time("20m"), parse_time("1.5h"), parse_time("7")) == (90, 1200, 5400, 7)
    for text in ("0", "m", "-3s", "1d"):
        with pytest.raises(UnisonoError, match="no time; write"):
            parse_time(text)


def test_profiles_survive_writing_and_reading(tmp_path: Path) -> None:
    outcome = tuner(FakeBench(), tmp_path / "w").run(POINTS, deadline=200.0)
    document.save(outcome.profile, tmp_path / "p.json")
    assert document.from_json(documents.load(tmp_path / "p.json")) == outcome.profile
    assert not (tmp_path / "p.json.part").exists()


class Jobs:
    """Of unisono-bench: each ends at the first cell of "killer", with what it had written until then."""

    def __init__(self) -> None:
        self.cells: list[list[str]] = []

    def run(self, line: Sequence[str], environment: object, silence: float) -> jobs.Outcome:
        wanted = [cell.split() for cell in line[line.index("--cells") + 1].split(";")]
        self.cells.append([f"{name} {size}" for name, size, _ in wanted])
        cells: list[dict[str, object]] = []
        for name, size, arms in wanted:
            if "killer" in arms:
                self.write(line, cells)
                return jobs.Outcome("", "killed by SIGSEGV")
            time_us = {"median": 2.0, "low": 1.0, "high": 3.0}
            row = {"available": True, "time_us": time_us, "blocks": 8, "samples_us": [2.0] * 8}
            row["ratio_to_native"] = {"median": 1.0, "low": 0.9, "high": 1.1, "coverage": 0.95}
            told = [row | {"arm": arm} for arm in arms.split(",")]
            cells.append({"collective": name, "bytes": size, "correct": True, "seconds": 0.1, "arms": told})
        self.write(line, cells)
        return jobs.Outcome("")

    @staticmethod
    def write(line: Sequence[str], cells: Sequence[object]) -> None:
        body = {"environment": KEY.to_json(), "cells": cells}
        Path(line[line.index("--json") + 1]).write_text(json.dumps(body))


def test_cells_share_a_job_and_one_that_ends_it_costs_no_other() -> None:
    ran = Jobs()
    bench = Bench(beds.Node(), places.Mpi("mpich", Path("home")), KEY.ranks, run_job=ran.run)
    entries = [Entry(Point("bcast", size), ("killer" if size == 128 else "good",)) for size in (64, 128, 256)]
    rows = bench.measure_all(entries, 10)
    assert ran.cells == [["bcast 64", "bcast 128", "bcast 256"], ["bcast 128"], ["bcast 256"]]
    assert [row.problem for row in rows] == ["", "killed by SIGSEGV", ""]
    assert [row.point.bytes for row in rows] == [64, 128, 256]
    assert rows[2].blocks["good"] == (2.0,) * 8
