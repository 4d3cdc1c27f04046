"""Compiled communication, Tables 4 to 6: the paper's own numbers, arms, and short runs on this node."""

import json
from pathlib import Path

import pytest
from unisono.core.errors import UnisonoError

from experiments.compiled import applications
from experiments.compiled.applications import NATIVE, NODES, PAPER, PHASED, Cell, Times

ROUNDS = (0.99, 1.0, 1.01)


def paper(own: str = "CC-MPI", rival: str = "MPICH") -> list[Times]:
    """Its tables as if they were three rounds of two arms."""
    return [
        Times(
            Cell(table, problem, ranks),
            {NATIVE: [r * times[rival][at] for r in ROUNDS], PHASED: [r * times[own][at] for r in ROUNDS]},
        )
        for (table, problem), times in PAPER.items()
        for at, ranks in enumerate(NODES)
    ]


def test_what_the_paper_says_holds_of_its_own_numbers() -> None:
    found = applications.checks(paper())
    # IS: S on three numbers of nodes and its growth twice, W and A; FT: W and A; pages on 8 and 16.
    assert len(found) == 3 + 2 + 6 + 6 + 6
    assert [check.claim for check in found if not check.holds] == []


def test_every_claim_can_fail() -> None:
    found = applications.checks(paper(own="MPICH", rival="CC-MPI"))
    assert [check.claim for check in found if check.holds is not False] == []


def test_too_few_rounds_decide_nothing() -> None:
    for times in (short := paper()):
        times.seconds = {arm: own[:1] for arm, own in times.seconds.items()}
    assert {check.holds for check in applications.checks(short)} == {None}


def test_the_paper_s_ratios_stand_beside() -> None:
    assert Cell(4, "A", 16).of_paper("MPICH") == pytest.approx(3.0 / 11.6)
    assert Cell(6, "1", 8).of_paper("LAM/MPI") is None
    assert Cell(4, "A", 5).of_paper("MPICH") is None
    rows = applications.rows_of(paper())
    assert ("4", "A", "16", PHASED, "3.000", "0.26 (0.26 to 0.26)", "0.65", "0.26") in rows
    assert ("6", "4", "8", NATIVE, "12.100", "", "", "") in rows


def test_arms_are_specifications_and_variables() -> None:
    arm = applications.arm_of(
        "window:alltoall=ring_light_barrier:segment=16K,window=4 UNISONO_WAIT=yield UNISONO=fixed"
    )
    assert arm.variables == {
        "UNISONO_ALLTOALL": "ring_light_barrier:segment=16K,window=4",
        "UNISONO_WAIT": "yield",
        "UNISONO": "fixed",
    }
    for wrong in ("window", ":alltoall=ring", "window:ring"):
        with pytest.raises(UnisonoError, match=r"--arm .*: write NAME:COLLECTIVE=SPEC"):
            applications.arm_of(wrong)
    with pytest.raises(UnisonoError, match="--classes X: valid are S, W, A"):
        applications.main(["--bed", "node", "--classes", "X"])
    with pytest.raises(UnisonoError, match="--rounds 0: one at least"):
        applications.main(["--rounds", "0"])


def test_a_wrong_result_is_no_time() -> None:
    good = {"app": "ft", "verified": True, "seconds": 2.0, "setup_seconds": 0.5}
    assert applications.seconds_of(good) == 2.5
    with pytest.raises(UnisonoError, match="ft: the result is wrong"):
        applications.seconds_of({**good, "verified": None})


@pytest.mark.mpi
def test_on_this_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, text = tmp_path / "tables.json", tmp_path / "tables.md"
    line = ["--bed", "node", "--mpi", "openmpi", "--ranks", "2", "--classes", "S", "--pages", "1"]
    assert applications.main([*line, "--rounds", "1", "--json", str(kept), "--markdown", str(text)]) == 0
    (times,) = json.loads(kept.read_text())["results"].values()
    arms = {one["cell"]["table"]: list(one["seconds"]) for one in times}
    assert arms[4] == arms[5] == ["native", "unasked", "phased", "credits", "persistent"]
    assert arms[6] == ["native", "unasked", "phased", "credits"]
    assert "| 4 | S | 2 | persistent |" in text.read_text()
    before = capsys.readouterr().out
    assert applications.main(["--from", str(kept)]) == 0
    assert capsys.readouterr().out in before, "nothing was measured"
