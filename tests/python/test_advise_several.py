"""Advice on several jobs of one program."""

from pathlib import Path

import pytest
from test_advise import AWAY, CALLS, RANKS, RING, SIZE, SLOW, arm, built, costs, told, write  # noqa: F401
from traces import Writer
from typer.testing import CliRunner
from unisono.advise import result, several
from unisono.cli import app
from unisono.core.errors import UnisonoError

FAST = 1.01 * RING  # an Allgather that no algorithm makes faster


def jobs(folder: Path, *seconds: float) -> list[Path]:
    return [write(folder / str(n), ("allgather", own, SIZE, 0x2000)) for n, own in enumerate(seconds)]


def test_the_gain_is_the_median_of_the_jobs_and_as_unsure_as_they_differ(
    tmp_path: Path,
    costs: Path,  # noqa: F811
) -> None:
    first, *others = jobs(tmp_path, SLOW, FAST, 0.9 * SLOW)
    alone, all_ = told(first, costs), told(first, costs, *map(str, others))
    assert (alone["jobs"], all_["jobs"]) == (1, 3)
    assert arm(alone, "ring")["decision"] == "gains"
    ring = arm(all_, "ring")
    assert ring["gain_s"] == pytest.approx(CALLS * (0.9 * SLOW - RING), rel=1e-3)
    assert ring["high_s"] == pytest.approx(arm(alone, "ring")["high_s"])
    assert ring["low_s"] < 0  # in one of the jobs nothing is to be gained
    assert ring["decision"] == "undecided" and all_["choices"] == []
    assert all_["sites"][0]["completion_s"] == pytest.approx(CALLS * 0.9 * SLOW)
    assert all_["run_s"] == pytest.approx(told(others[1], costs)["run_s"])


def test_jobs_that_agree_decide(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    first, *others = jobs(tmp_path, SLOW, 1.1 * SLOW)
    body = told(first, costs, *map(str, others))
    assert body["choices"][0]["gain_s"] == pytest.approx(arm(body, body["choices"][0]["algorithm"])["gain_s"])
    assert body["variables"]["UNISONO_ALLGATHER"] == body["choices"][0]["algorithm"]
    done = CliRunner().invoke(app, ["advise", str(first), *map(str, others), "--machine", str(costs)])
    assert "as traced (the median of 2 jobs)" in done.stdout


def test_a_call_site_that_not_all_jobs_have_is_left_out(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    both = write(tmp_path / "both", ("allgather", SLOW, SIZE, 0x2000), ("alltoall", SLOW, SIZE, 0x3000))
    [one] = jobs(tmp_path, SLOW)
    body = told(one, costs, str(both))
    assert [site["collective"] for site in body["sites"]] == ["allgather"]
    assert "1 kinds of calls that are not in all of the traces" in body["left_out"]


def test_two_call_sites_on_one_line_stay_two(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    [one] = jobs(tmp_path, SLOW)
    [advice] = result.of_folder(one, costs).advices
    assert len(several.together([[advice, advice], [advice, advice]])) == 2
    assert len(several.together([[advice, advice], [advice]])) == 1


def test_another_program_is_refused_in_a_line(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    [one] = jobs(tmp_path, SLOW)
    writer, now = Writer(tmp_path / "smaller", RANKS // 2), 1.0
    for _ in range(CALLS):
        writer.call("allgather", [now] * (RANKS // 2), [now + SLOW] * (RANKS // 2), SIZE)
        now += AWAY + SLOW
    with pytest.raises(UnisonoError, match=f"ranks: {RANKS // 2}, but {RANKS} in"):
        several.of_folders([one, writer.write()], costs)
    other = write(tmp_path / "other", ("alltoall", SLOW, SIZE, 0x2000))
    with pytest.raises(UnisonoError, match="no call site is in all of these traces"):
        several.of_folders([one, other], costs)
