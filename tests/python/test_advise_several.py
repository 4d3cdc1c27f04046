"""Advice on several jobs of one program."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from test_advise import ADVISE, AWAY, CALLS, RANKS, RING, SIZE, SLOW, arm, built, costs, told, write  # noqa: F401
from traces import ONE_WAY, Writer
from typer.testing import CliRunner
from unisono.advise import several
from unisono.core.errors import UnisonoError

FAST = 1.01 * RING  # an Allgather that no algorithm makes faster


def jobs(folder: Path, *seconds: float) -> list[Path]:
    return [write(folder / str(n), ("allgather", own, SIZE, 0x2000)) for n, own in enumerate(seconds)]


def test_the_gain_is_the_mean_of_the_jobs_and_sure_where_it_is_in_all(
    tmp_path: Path,
    costs: Path,  # noqa: F811
) -> None:
    first, *others = jobs(tmp_path, SLOW, FAST, 0.9 * SLOW)
    alone, all_ = told(first, costs), told(first, costs, *map(str, others))
    assert (alone["jobs"], all_["jobs"]) == (1, 3)
    assert arm(alone, "ring")["decision"] == "gains"
    ring, took = arm(all_, "ring"), (1.9 * SLOW + FAST) / 3
    assert ring["gain_s"] == pytest.approx(CALLS * (took - RING), rel=1e-3)
    assert ring["low_s"] < 0  # in one of the jobs nothing is to be gained
    assert ring["decision"] == "undecided" and all_["choices"] == []
    assert all_["sites"][0]["completion_s"] == pytest.approx(CALLS * took)


def test_jobs_that_agree_decide_in_any_order(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    one, other = jobs(tmp_path, SLOW, 1.1 * SLOW)
    body = told(one, costs, str(other))
    assert body["choices"][0]["gain_s"] == pytest.approx(arm(body, body["choices"][0]["algorithm"])["gain_s"])
    assert body["variables"]["UNISONO_ALLGATHER"] == body["choices"][0]["algorithm"]
    turned = told(other, costs, str(one))
    assert (turned["choices"], turned["gain"], turned["run_s"]) == (
        *(body["choices"], body["gain"], body["run_s"]),
    )
    done = CliRunner().invoke(ADVISE, ["advise", str(one), str(other), "--machine", str(costs)])
    assert "as traced (the mean of 2 jobs)" in done.stdout


def test_no_gain_is_more_than_the_runs_took(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    """Each of three jobs is slow at a site of its own."""
    sites = [("allgather", 0x2000), ("alltoall", 0x3000), ("allgather", 0x4000)]
    folders = [
        write(
            tmp_path / str(job),
            *((name, 5 * SLOW if job == at else FAST, SIZE, site) for at, (name, site) in enumerate(sites)),
        )
        for job in range(len(sites))
    ]
    body = told(folders[0], costs, *map(str, folders[1:]))
    highest = [max(arm["high_s"] for arm in site["algorithms"]) for site in body["sites"]]
    assert len(highest) == len(sites)
    assert sum(highest) <= sum(site["completion_s"] for site in body["sites"]) < body["run_s"]


def test_an_algorithm_in_other_segments_does_not_vanish(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    """Of messages of two lengths in one size class, which the model cuts differently."""
    one, other = (
        write(tmp_path / str(size), ("bcast", SLOW, size, 0x2000)) for size in (4_000_000, 4_160_000)
    )
    alone = [
        {each["algorithm"] for each in told(job, costs)["sites"][0]["algorithms"]} for job in (one, other)
    ]
    assert alone[0] != alone[1]
    both = {each["algorithm"] for each in told(one, costs, str(other))["sites"][0]["algorithms"]}
    assert both >= alone[0] | alone[1]


def test_two_calls_on_one_line_are_told_apart(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    [advice] = several.of_folders(jobs(tmp_path, SLOW), costs).advices
    place = advice.group.place
    assert place.offset == 0x2000 - 0x1000 - 1
    other = replace(advice.group, place=replace(place, offset=place.offset + 5))
    assert other.place == place
    assert several.site_of(other) != several.site_of(advice.group)


def refusal(folders: Sequence[Path], costs: Path) -> str:  # noqa: F811
    with pytest.raises(UnisonoError) as refused:
        several.of_folders(folders, costs)
    return str(refused.value)


def test_what_is_not_the_same_program_in_the_same_place_is_refused(
    tmp_path: Path,
    costs: Path,  # noqa: F811
) -> None:
    [one] = jobs(tmp_path, SLOW)
    call = ("allgather", SLOW, SIZE, 0x2000)
    fewer = write(tmp_path / "fewer", call, calls=CALLS // 2)
    assert f"calls of MPI_Allgather at app+0x1000: {CALLS // 2} in {fewer}, {CALLS} in {one}" in refusal(
        [one, fewer], costs
    )
    more = write(tmp_path / "more", call, ("alltoall", SLOW, SIZE, 0x3000))
    assert f"MPI_Alltoall at app+0x2000: {CALLS} in {more}, 0 in {one}" in refusal([one, more], costs)
    assert "is named twice" in refusal([one, tmp_path / "." / one.name], costs)

    def other(name: str, ranks: int = RANKS, algorithm: int = 0, **how: object) -> Path:
        writer, now = Writer(tmp_path / name, ranks, **how), 1.0  # type: ignore[arg-type]
        for _ in range(CALLS):
            writer.call("allgather", [now] * ranks, [now + SLOW] * ranks, SIZE, algorithm=algorithm)
            now += AWAY + SLOW
        return writer.write()

    assert f"ranks: {RANKS // 2} in" in refusal([one, other("smaller", RANKS // 2)], costs)
    pairs = [f"host{rank // 2}" for rank in range(RANKS)]
    assert "hosts of the ranks: (0, 0, 1, 1" in refusal([one, other("pairs", hosts=pairs)], costs)
    forced = other("forced", algorithm=1)
    assert f"what ran MPI_Allgather at app+0x1000: ring:segment=256K in {forced}" in refusal(
        [one, forced], costs
    )


def test_traces_of_two_networks_are_refused_where_they_alone_tell(
    tmp_path: Path,
    costs: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    folders = []
    for name, times in (("fast", 1), ("slow", 10)):
        one_way = {size: times * seconds for size, seconds in ONE_WAY.items()}
        writer, now = Writer(tmp_path / name, RANKS, one_way=one_way), 1.0
        for _ in range(CALLS):
            writer.call("allgather", [now] * RANKS, [now + SLOW] * RANKS, SIZE)
            now += AWAY + SLOW
        folders.append(writer.write())
    with pytest.raises(UnisonoError, match=r"seconds of a message of 1048576 bytes: 0\.1 in"):
        several.of_folders(folders, None)
    assert len(several.of_folders(folders, costs).advices) == 1


def test_what_a_job_lacks_is_said_of_that_job(tmp_path: Path, costs: Path) -> None:  # noqa: F811
    one, other = jobs(tmp_path, SLOW, SLOW)
    (other / "rank-00000.jsonl").write_text((other / "rank-00000.jsonl").read_text() + "no JSON\n")
    notes = told(one, costs, str(other))["notes"]
    assert any(note.startswith(f"{other}: ") and "no JSON" in note for note in notes)
