"""Compiled communication, Tables 1 to 3, Figures 7 to 10 and what is lost: the paper's own numbers, made-up
documents, claims that can fail; the program that measures, on this node."""

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from unisono.core import places
from unisono.core.errors import UnisonoError

from experiments.compiled import matrices, multicast, patterns, reliable
from experiments.compiled.matrices import LEVELS, LIST, PHASES, POINT_TO_POINT, WINDOWS
from experiments.compiled.multicast import ASSISTED, DYNAMIC, MULTICAST, STATIC
from experiments.compiled.patterns import EQUAL, OWN, TABLE_3, Cell
from experiments.compiled.reliable import ACK, AFFECTED, NACK, NORM, Case, lossy
from experiments.harness import Check
from experiments.pipelines.measuring import NATIVE, Plan, Point

KIB, MIB = 1 << 10, 1 << 20
ROUNDS = (0.999, 1.0, 1.001)
BED = "lab, mpich"
Answers = dict[str, bool | None]


def answers(found: list[Check]) -> Answers:
    return {check.claim: check.holds for check in found}


def times(middle: float) -> dict[str, float]:
    return {str(turn): middle * factor for turn, factor in enumerate(ROUNDS)}


# --- matrices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*OWN, EQUAL])
@pytest.mark.parametrize("ranks", [13, 16])
def test_matrices_have_their_mean_and_come_again(kind: str, ranks: int) -> None:
    cell = Cell(kind, 32, ranks)
    made = patterns.matrix(cell, 1)
    sizes = [size for i, row in enumerate(made) for j, size in enumerate(row) if i != j and size]
    assert [made[i][i] for i in range(ranks)] == [0] * ranks
    assert sum(sizes) / len(sizes) == pytest.approx(32 * KIB, rel=0.01)
    assert len(sizes) == (ranks * (ranks - 1) // 4 if kind == "sparse" else ranks * (ranks - 1))
    assert made == patterns.matrix(cell, 1)
    assert (made != patterns.matrix(cell, 2)) == (kind != EQUAL)


def test_kinds_differ_as_they_should() -> None:
    ports = {kind: patterns.busiest(Cell(kind, 32, 16), 1) / (15 * 32 * KIB) for kind in (*OWN, EQUAL)}
    assert ports[EQUAL] == 1
    assert ports["hot"] > 1.7  # three times as much for one in four: 2 of the mean
    assert ports["uniform"] < 1.6


def test_table_3_s_mix() -> None:
    sizes = sorted(itertools.chain(*patterns.matrix(Cell(TABLE_3, 0, 16), 1)))
    assert [sizes.count(n) for n in (64 * KIB, 16 * KIB, 100, 0)] == [160, 20, 60, 16]
    few = list(itertools.chain(*patterns.matrix(Cell(TABLE_3, 0, 13), 1)))
    assert [few.count(n) for n in (64 * KIB, 16 * KIB, 100)] == [104, 13, 39]


def of_tables_2_and_3() -> dict[Cell, Point]:
    found = {}
    for kib, (*levels, alone) in matrices.TABLE_2.items():
        own = {PHASES[1] + suffix: times(ms) for suffix, ms in zip(LEVELS.values(), levels, strict=True)}
        cell = Cell(EQUAL, kib, 16)
        found[cell] = Point(BED, 16, "alltoallv", KIB * kib, EQUAL, {**own, POINT_TO_POINT: times(alone)})
    own = {NATIVE: times(matrices.LIBRARIES["LAM/MPI"])}
    for phases, levels_of in matrices.IN_TABLE_3.items():
        own |= {phases + suffix: times(ms) for suffix, ms in zip(LEVELS.values(), levels_of, strict=True)}
    found[Cell(TABLE_3, 0, 16)] = Point(BED, 16, "alltoallv", 0, TABLE_3, own)
    return found


def test_tables_2_and_3_bear_out_what_the_paper_says() -> None:
    found = answers(matrices.paper_checks(of_tables_2_and_3()))
    assert len(found) == 6 * 2 + 5 + 2 * 3 + 1
    assert [claim for claim, holds in found.items() if holds is not True] == []


def test_each_claim_of_tables_2_and_3_can_fail() -> None:
    turned = of_tables_2_and_3()
    for point in turned.values():
        for own in point.times.values():
            own.update({turn: 1 / seconds for turn, seconds in own.items()})
    assert True not in answers(matrices.paper_checks(turned)).values()


def own_cells(over_wire: float, native: float) -> dict[Cell, Point]:
    return {
        cell: Point(BED, 16, "alltoallv", KIB * cell.kib, cell.kind, arms)
        for cell in (Cell("uniform", 64, 16), Cell("hot", 64, 16))
        for arms in [
            {
                **{NATIVE: times(native), matrices.CREDITS: times(over_wire)},
                **{arm: times(9.0) for arm in WINDOWS},
                WINDOWS[2]: times(over_wire),
            }
        ]
    }


def test_the_goals_of_matrices() -> None:
    good = answers(matrices.goals(own_cells(1.08, 1.7)))
    assert len(good) == 2 * 3
    assert set(good.values()) == {True}
    assert set(answers(matrices.goals(own_cells(1.2, 1.7))).values()) == {False}
    assert set(answers(matrices.goals(own_cells(1.12, 1.68))).values()) == {None}
    assert matrices.goals(of_tables_2_and_3()) == []
    assert matrices.best_window(list(own_cells(1.08, 1.7).values())) == WINDOWS[2]


def test_the_mean_over_matrices_is_geometric_and_of_one_round() -> None:
    points = list(own_cells(1.0, 2.0).values())
    points[1].times[NATIVE] = times(8.0)
    found = matrices.mean_over(points, NATIVE, WINDOWS[2])
    assert found
    assert found.value == pytest.approx(4.0)
    assert matrices.mean_over(points, NATIVE, "none") is None
    del points[0].times[NATIVE]["0"]
    assert matrices.mean_over(points, NATIVE, WINDOWS[2]) is not None


def kept(cell: Cell, arms: dict[str, float], turn: int) -> dict[str, Any]:
    seconds = {arm: [ms * 1e-3 * f for f in ROUNDS] for arm, ms in arms.items()}
    return {
        "bed": BED, "round": turn, "cell": vars(cell), "busiest_port": 1_250_000, "calls": 1, "arms": seconds
    }  # fmt: skip


def test_a_report_of_matrices(tmp_path: Path) -> None:
    file, pages = tmp_path / "m.json", tmp_path / "m.md"
    arms = {NATIVE: 200.0, LIST: 120.0, WINDOWS[0]: 104.0}
    paper = {f"{PHASES[1]}+known": 100.0, NATIVE: 300.0}
    results = [kept(Cell("hot", 8, 16), arms, turn) for turn in range(3)]
    results += [kept(Cell(TABLE_3, 0, 16), paper, turn) for turn in range(3)]
    body = {"experiment": matrices.EXPERIMENT, "beds": {BED: {"bits_per_second": 1e8}}, "results": results}
    file.write_text(json.dumps(body))
    assert matrices.main(["--report", str(file), "--markdown", str(pages)]) == 0
    text = pages.read_text()
    assert (
        "| hot, 8 KiB | 16 | token_list+known | 1.040 (1.040 to 1.040) | 0.52 (0.52 to 0.52) | 104.0 |"
        in text
    )
    assert "| table 3 | 16 | all_to_all_based_barriers+known | 1.000 (1.000 to 1.000) |" in text
    assert "| 106.0 |" in text
    assert "165.5, 358.3" in text
    assert "token_list+known at most 1.12 of the largest port sum | holds" in text


def raw(by_unisono: bool = True, wrong: float = 0) -> dict[str, Any]:
    arms = [{"by_unisono": False, "seconds": [1.0]}, {"by_unisono": by_unisono, "seconds": [0.5]}]
    return {"wrong": wrong, "busiest_port": 10, "calls": 1, "arms": arms}


def test_wrong_bytes_and_what_the_library_ran_are_no_results() -> None:
    cell = Cell("hot", 8, 16)
    assert matrices.kept_of(cell, [NATIVE, LIST], raw())["arms"] == {NATIVE: [1.0], LIST: [0.5]}
    with pytest.raises(UnisonoError, match="3 wrong bytes"):
        matrices.kept_of(cell, [NATIVE, LIST], raw(wrong=3))
    with pytest.raises(UnisonoError, match="the MPI library ran token_list"):
        matrices.kept_of(cell, [NATIVE, LIST], raw(by_unisono=False))


def test_arms_of_cells() -> None:
    assert "pair" in matrices.arms_of(Cell(TABLE_3, 0, 16), "auto")
    assert "pair" not in matrices.arms_of(Cell(TABLE_3, 0, 13), "auto")
    assert "simple" not in matrices.arms_of(Cell("hot", 8, 16), "auto")
    assert "simple" in matrices.arms_of(Cell("hot", 8, 16), "all")


# --- multicast in collectives -----------------------------------------------------------------------


def figures() -> dict[multicast.Key, Point]:
    """As the paper's figures and its Table 1 say; seconds."""
    found: dict[multicast.Key, Point] = {}

    def add(collective: str, size: int, ranks: int, **arms: float) -> None:
        found[collective, size, ranks] = Point(
            BED, ranks, collective, size, times={arm: times(seconds) for arm, seconds in arms.items()}
        )

    for ranks in (2, 8, 29):
        add("bcast", 1, ranks, multicast=2e-3, native=1e-3)
        add("bcast", 10 * KIB, ranks, multicast=2e-3, native=6e-3)
    add("bcast", 64 * KIB, 16, multicast=5.8e-3)
    add("bcast", MIB, 16, multicast=0.0885)
    add("scatter", 50, 29, multicast=1e-3, native=2e-3)
    add("scatter", 200, 29, multicast=2e-3, native=1e-3)
    add("scatterv", 100, 29, assisted=1e-3, static=2e-3, dynamic=9e-3)
    for size, own in multicast.TABLE_1.items():
        add("allgather", size, 16, multicast=own[MULTICAST])
        add(multicast.EXCHANGE, size, 16, simple=own["simple"], ring_barrier=own["ring_barrier"])
    # Figures 11 and 12; at 64 KB, 1.5 times LAM/MPI and 5 times MPICH, of which the mean.
    add("alltoall", 32 * KIB, 4, ring_barrier=9e-3, native=12e-3)
    add("alltoall", 64 * KIB, 16, ring_barrier=112.2, native=112.2 * 3)
    return found


def test_the_paper_s_figures_bear_out_what_it_says() -> None:
    found = [*multicast.goals(figures(), 1e8), *multicast.paper_checks(figures())]
    assert len(found) == 2 + 2 * 2 + 2 + 2 + 10 + 2
    assert [check.claim for check in found if check.holds is not True] == []


def test_each_claim_about_multicast_can_fail() -> None:
    turned = figures()
    for point in turned.values():
        for own in point.times.values():
            own.update({turn: 1 / seconds for turn, seconds in own.items()})
    found = [*multicast.goals(turned, 1e8), *multicast.paper_checks(turned)]
    assert [check.claim for check in found if check.holds is not False] == []


def test_jobs_of_either_reliability() -> None:
    plans = multicast.plans(multicast.PARTS, (8,))
    assert [plan.name for plan in plans] == [
        f"{name}{ack}" for name in ("bcast", "goals", "goals", "scatter", "allgather") for ack in ("", " ack")
    ] + ["alltoall", "alltoall"]
    nack, ack = plans[:2]
    assert nack.variables == {"UNISONO_MCAST_RELIABILITY": "nack"}
    assert [arms for _, _, arms in ack.cells] == [[NATIVE, MULTICAST]]
    assert {name for name, _, _ in plans[-3].cells} == {"allgather"}  # nothing of the Alltoall


def test_a_job_without_multicast_is_no_result() -> None:
    plan = Plan("bcast", 8, [("bcast", "1", (NATIVE, MULTICAST))], 1)
    cell = {"collective": "bcast", "bytes": 1, "arms": {NATIVE: [1.0], MULTICAST: [1.0]}, "passed_on": []}
    assert multicast.checked({"ranks": 8, "cells": [cell]}, plan)
    del cell["arms"][MULTICAST]  # type: ignore[attr-defined]
    with pytest.raises(UnisonoError, match="8 ranks, bcast, 1 B: not run: multicast"):
        multicast.checked({"ranks": 8, "cells": [cell]}, plan)


def test_native_of_the_same_job_is_compared(tmp_path: Path) -> None:
    def job(name: str, arm: str, native: float, own: float) -> dict[str, Any]:
        arms = {NATIVE: [native], arm: [own]}
        cell = {"collective": "scatterv", "bytes": 10, "arms": arms, "passed_on": []}
        return {"bed": BED, "ranks": 29, "name": f"scatterv {name}", "round": 0, "op": "sum", "cells": [cell]}

    results = [
        job(STATIC, STATIC, 1.0, 2.0),
        job(DYNAMIC, DYNAMIC, 3.0, 9.0),
        job(ASSISTED, ASSISTED, 4.0, 2.0),
    ]
    body = {"experiment": multicast.EXPERIMENT, "beds": {BED: {"bits_per_second": 1e8}}, "results": results}
    file, pages = tmp_path / "m.json", tmp_path / "m.md"
    file.write_text(json.dumps(body))
    assert multicast.main(["--report", str(file), "--markdown", str(pages)]) == 0
    text = pages.read_text()
    for arm, ratio in ((STATIC, "2.00"), (DYNAMIC, "3.00"), (ASSISTED, "0.50")):
        assert f"| {arm} | " in text
        assert f"| {ratio} |" in next(line for line in text.splitlines() if f"| {arm} |" in line)


def test_the_alltoall_of_table_1_is_not_that_of_figure_12() -> None:
    def job(name: str, seconds: float) -> dict[str, Any]:
        cell = {"collective": "alltoall", "bytes": 64 * KIB, "arms": {"simple": [seconds]}, "passed_on": []}
        return {"bed": BED, "ranks": 16, "name": name, "round": 0, "op": "sum", "cells": [cell]}

    found = multicast.found_in({"results": [job("allgather", 1.0), job("alltoall", 2.0)]}, BED)
    assert found[multicast.EXCHANGE, 64 * KIB, 16].times == {"simple": {"0": 1.0}}
    assert found["alltoall", 64 * KIB, 16].times == {"simple": {"0": 2.0}}


def test_five_receivers() -> None:
    first, *others = [line.split() for line in multicast.row_of_five(70).splitlines()]
    assert [rank for rank, n in enumerate(first) if n != "0"] == [1, 6, 12, 17, 23]
    assert all(set(row) == {"0"} for row in others)
    assert len(first) == len(others) + 1 == multicast.MANY


# --- what is lost -----------------------------------------------------------------------------------


def lab_run(case: Case, turn: int, **changed: Any) -> dict[str, Any]:
    one = {
        "round": turn, "case": vars(case), "seconds": 6.0, "attacked": 0.95, "status": 0, "ms": 100.0,
        "over_rate": 1.06, "silent": None, "said": "",
        "counts": {"forged": 9, "malformed": 9, "other epoch": 9, "duplicates": 9},
    }  # fmt: skip
    return one | changed


ATTACK = Case("attack", NACK, attack=100, messages=40)
DROPPED = Case("dropped", NACK, attack=100, messages=90)
KILLED = Case("killed", NACK, dead=AFFECTED, messages=1000)


def runs(**changed: Any) -> reliable.Runs:
    """Three rounds; `changed` are those with losses, late, killed, under attack."""
    usual = [lossy(NACK, MIB), Case("attack", NACK, messages=40)]
    special = [lossy(NACK, MIB, 0.01), Case("late", ACK), KILLED, ATTACK, DROPPED]
    body = [lab_run(case, turn) for turn in range(3) for case in usual]
    body += [lab_run(lossy(NORM, MIB, 0.01), turn, ms=170.0) for turn in range(3)]
    body += [
        lab_run(case, turn, **{"silent": AFFECTED, "ms": 100.0 + turn, **changed})
        for turn in range(3)
        for case in special
    ]
    return reliable.runs_in({"results": body})


def all_checks(found: reliable.Runs) -> Answers:
    return answers([*reliable.losses(found), *reliable.fates(found), *reliable.attacks(found)])


def test_what_should_hold_of_losses_holds() -> None:
    found = all_checks(runs())
    assert len(found) == 1 + 3 + 2 + 2
    assert [claim for claim, holds in found.items() if holds is not True] == []


@pytest.mark.parametrize(
    ("changed", "claims"),
    [
        ({"ms": 180.0}, ["at most 1.5 times", "faster than NORM", "of the throughput"]),
        ({"status": 1}, ["everything comes", "is waited for", "none is accepted"]),
        ({"seconds": 30.0}, ["is killed"]),
        ({"seconds": 3.0}, ["is waited for"]),
        ({"silent": 5}, ["is killed"]),
        ({"counts": {}}, ["none is accepted"]),
    ],
)
def test_each_of_it_can_fail(changed: dict[str, Any], claims: list[str]) -> None:
    failed = [claim for claim, holds in all_checks(runs(**changed)).items() if holds is False]
    assert len(failed) == len(claims)
    assert all(any(part in claim for claim in failed) for part in claims)


def test_an_attack_that_was_over_too_early_or_too_late_decides_nothing() -> None:
    found = all_checks(runs(attacked=0.3))
    assert [holds for claim, holds in found.items() if "of the throughput" in claim] == [None]
    assert [holds for claim, holds in found.items() if "none is accepted" in claim] == [True]
    late = all_checks(runs(attacked=1.3))
    assert [holds for claim, holds in late.items() if "of the throughput" in claim] == [True]
    assert [holds for claim, holds in late.items() if "none is accepted" in claim] == [None]


def test_runs_last_half_of_an_attack_or_longer() -> None:
    least, most = reliable.attack_seconds(100_000, 1e8)
    assert 16 < least < 17
    assert most == 50
    found = {
        (case.part, case.attack): case.messages
        for case in reliable.cases(("attack", "dropped"), 100_000, False)
    }
    assert found["attack", 0] == found["attack", 100_000]
    assert found["attack", 0] * reliable.MESSAGE / 1e8 == pytest.approx(least / 2, rel=0.02)
    assert found["dropped", 100_000] * reliable.MESSAGE / 1e8 > most


def test_what_the_first_member_says() -> None:
    said = (
        "member 2 (10.0.0.3): 3 messages came, 0 of them wrong; member 0 was silent\n"
        "member 0 (10.0.0.1): 3 messages came, 0 of them wrong; member 2 was silent\n"
        "ms: least 88.1, median 89.0, most 99.0; median is 1.0612 of size / rate; mean 90.500\n"
        "early, dropped           7 in all,          7 at most at one member\n"
    )
    found = reliable.heard([1, 0], [said, ""])
    assert (found["silent"], found["ms"], found["over_rate"]) == (2, 90.5, 1.0612)
    assert found["counts"] == {"early, dropped": 7}
    assert reliable.heard([0], [""])["ms"] is None


def test_a_report_of_losses(tmp_path: Path) -> None:
    file, pages = tmp_path / "r.json", tmp_path / "r.md"
    results = [one for own in runs().values() for one in own.values()]
    file.write_text(json.dumps({"experiment": reliable.EXPERIMENT, "beds": {}, "results": results}))
    assert reliable.main(["--report", str(file), "--markdown", str(pages)]) == 0
    assert "| loss | nack | 1048576 | 1 % | 3 | 101.00 | 1.060 | 1.01 " in pages.read_text()


@pytest.mark.parametrize("main", [matrices.main, multicast.main, reliable.main])
def test_another_file_is_refused(main: Callable[[list[str]], int], tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"experiment": "another"}')
    with pytest.raises(UnisonoError, match="holds no results of compiled-"):
        main(["--report", str(file)])


# --- the program ------------------------------------------------------------------------------------


def start(counts: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    mpi = places.find_mpi("openmpi")
    command = [*mpi.launcher(3), str(places.program("unisono-matrices-openmpi")), "--counts", str(counts)]
    return subprocess.run(
        [*command, *options], env=mpi.shell(3), check=False, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    file = tmp_path / "counts.txt"
    file.write_text("0 1000 70000\n3 0 5\n0 800 2\n")
    return file


@pytest.mark.mpi
def test_all_levels_run_and_every_byte_is_checked(counts: Path) -> None:
    order = matrices.stored(counts, LIST)
    arms = f"native {LIST} {LIST}+known {LIST}+stored={order} {LIST}+init greedy_barriers+known"
    done = start(counts, "--arms", arms, "--blocks", "2", "--drain", "64K")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [arm["by_unisono"] for arm in said["arms"]] == [False, True, True, True, True, True]
    assert [len(arm["seconds"]) for arm in said["arms"]] == [2] * 6
    assert (said["wrong"], said["busiest_port"]) == (0, 71000)


@pytest.mark.mpi
def test_a_scatterv_to_others_each_time(counts: Path) -> None:
    done = start(counts, "--arms", "native flat", "--collective", "scatterv", "--rotate", "--blocks", "3")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["wrong"] == 0


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--arms", "nonsense"], "no algorithm 'nonsense'"),
        (["--arms", "native+known"], "an arm is native or an algorithm"),
        (["--arms", f"{LIST}+stored=/none"], "/none: it cannot be read"),
        (["--arms", f"{LIST}+init", "--calls", "2"], "not with --calls"),
        (["--arms", LIST, "--rotate"], "--rotate is for"),
        (["--arms", LIST, "--drain", "much"], "give a size"),
        (["--counts", "/none", "--arms", LIST], "--counts"),
    ],
)
def test_what_is_wrong_is_one_line(counts: Path, options: list[str], reason: str) -> None:
    for _ in range(3):  # on a busy machine a launcher may lose what a rank wrote that ends at once
        done = start(counts, *options)
        assert done.returncode != 0
        lines = [line for line in done.stderr.splitlines() if line.startswith("unisono-matrices:")]
        if lines:
            break
    assert len(lines) == 1
    assert reason in lines[0]
