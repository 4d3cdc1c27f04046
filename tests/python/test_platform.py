"""`unisono platform`: what is shown of good and of spoiled files, and that they go."""

import json
import os
import shlex
from pathlib import Path

import pytest
from conftest import Run
from memories import memory, verdict
from unisono.core import errors, places
from unisono.core.memory import ratio_text

needs_build = pytest.mark.skipif(
    not (places.build_directory() / "bin" / "unisono-bench-openmpi").exists(),
    reason="needs the build and Open MPI",
)


WHERE = {
    "mpi": {"flavour": "mpich", "library": "MPICH 4.2"},
    "host": {"processor": "a processor", "cores": 4},
    "network": "eth0 10.0.0.0/24",
}
COST = [{"from_bytes": 0, "alpha_s": 60e-6, "beta_s_per_byte": 80e-9}]
MACHINE = {"levels": {"between_nodes": {"one_way": COST}}}
BETWEEN = verdict(("bcast", 524288, 7, 7), "chain:segment=4K", 0.045, 0.32)
WITHIN = verdict(("allreduce", 8, 4, 1), "shm", 5.37e-6, 11.6e-6)
WITHIN |= {"ranks_per_core": 2, "from_call_to_call": 5.41e-6, "native_from_call_to_call": 11.7e-6}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "unisono" / "mpich-0123456789abcdef.json"
    path.parent.mkdir()
    path.write_text(json.dumps(memory(WHERE, MACHINE, BETWEEN, WITHIN)))
    return path


def rows(shown: str, collective: str) -> list[str]:
    return [" ".join(line.split()) for line in shown.splitlines() if collective in line.split()[:1]]


def test_shows_the_network_and_which_way_won(unisono: Run, file: Path) -> None:
    done = unisono("platform", "show")
    assert done.returncode == 0, done.stderr
    for text in (file.name, "MPICH 4.2", "60.0 us, 100 Mb/s"):
        assert text in done.stdout
    [between] = rows(done.stdout, "bcast")
    assert between == "bcast chain:segment=4K chain:segment=4K 524288 7 7 45000 320000 45000 320000"
    [within] = rows(done.stdout, "allreduce")
    assert within == "allreduce shm shm 8 4 1 2 5.37 11.6 5.41 11.7 in a loop"


def test_programs_of_both_kinds_have_a_row(unisono: Run, file: Path) -> None:
    other = WITHIN | {"native_from_call_to_call": 70e-6, "choice": "native"}
    file.write_text(json.dumps(memory(WHERE, None, WITHIN, other)))
    [loop, computing] = rows(unisono("platform", "show").stdout, "allreduce")
    assert (loop.endswith(" in a loop"), computing.endswith(" between computing")) == (True, True)
    assert computing.startswith("allreduce native shm 8 "), "whose times the first ones are"


def test_what_another_version_wrote_is_no_defect(unisono: Run, file: Path) -> None:
    file.write_text(json.dumps({"format": "unisono-memory", "version": 2, "choices": []}))
    done = unisono("platform", "show", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == []
    assert "of another version of Unisono" in unisono("platform", "show").stdout
    done = unisono("explain", "bcast", "700K")
    assert (done.returncode, "nothing is remembered" in done.stderr) == (errors.FAILED, True)


def test_explain_says_what_is_known_and_why(unisono: Run, file: Path) -> None:
    done = unisono("explain", "bcast", "700K")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for text in ("MPICH 4.2", "chain:segment=4K", "45000", "320000", "took 0.14 of native's time, from call"):
        assert text in said, said
    done = unisono("explain", "allreduce", "9", "-n", "4")
    assert (ratio_text(0.00384), ratio_text(12.345)) == ("0.0038", "12.35")
    assert "shm took 0.46 of native's time, 0.46 from call to call, in a loop" in " ".join(
        done.stdout.split()
    ), done.stdout


@pytest.mark.parametrize(
    ("status", "asked"),
    [
        (errors.FAILED, ("bcast", "8")),
        (errors.FAILED, ("allreduce", "9", "-n", "3")),
        (errors.FAILED, ("scan",)),
        (errors.FAILED, ("bcast", "512K", "--mpi", "openmpi")),
        (errors.USAGE, ("bcast", "1", "2")),
        (errors.USAGE, ("x.json",)),
        (errors.USAGE, ("bcast", "many")),
    ],
)
def test_explain_of_what_is_not_known_is_one_line(
    unisono: Run, file: Path, status: int, asked: tuple[str, ...]
) -> None:
    done = unisono("explain", *asked)
    assert (done.returncode, len(done.stderr.splitlines())) == (status, 1), done.stderr


@pytest.mark.parametrize("value", [0, -1, "x", None, [], float("nan"), float("inf")])
def test_times_that_nobody_measures_break_no_command(unisono: Run, file: Path, value: object) -> None:
    document = memory(WHERE, MACHINE, WITHIN | {"native_from_call_to_call": value})
    file.write_text(json.dumps(document))
    for command in (("platform", "show"), ("explain", "allreduce")):
        done = unisono(*command)
        assert done.returncode in {0, 2}
        assert "Traceback" not in done.stderr, done.stderr


MEASURE: tuple[str, ...] = ("platform", "measure", "--mpi", "openmpi", "-n", "3")
MEASURE += ("--collectives", "allgather", "--sizes", "8", "--budget", "2")


@pytest.mark.mpi
@needs_build
def test_measure_measures_now_and_keeps_it(unisono: Run, tmp_path: Path) -> None:
    kept = tmp_path / "unisono"
    done = unisono(*MEASURE)
    assert done.returncode == 0, done.stderr
    [file] = kept.glob("*.json")
    assert str(file) in done.stdout
    assert "allgather" in done.stdout
    first = json.loads(file.read_text())["verdicts"]
    assert {one["ranks"] for one in first} == {3}
    # Again: what is kept is not used, and gives way.
    old = json.dumps(json.loads(file.read_text()) | {"verdicts": [one | {"when": 1} for one in first]})
    file.write_text(old)
    launcher = shlex.join([*places.find_mpi("openmpi").launcher(3)])
    done = unisono(*MEASURE[:4], *MEASURE[6:], "--launch", launcher)
    assert done.returncode == 0, done.stderr
    assert all(one["when"] > 1 for one in json.loads(file.read_text())["verdicts"])


@pytest.mark.mpi
@needs_build
def test_measure_says_why_nothing_is_kept(unisono: Run, tmp_path: Path) -> None:
    (tmp_path / "unisono").mkdir(mode=0o700)
    (tmp_path / "unisono").chmod(0o777)
    done = unisono(*MEASURE)
    assert (done.returncode, len(done.stderr.splitlines())) == (errors.FAILED, 1), done.stderr
    assert "others may write it" in done.stderr


def test_forgets(unisono: Run, file: Path) -> None:
    assert unisono("platform", "forget", "other.json").returncode == 2
    assert unisono("platform", "forget", file.name).returncode == 0
    assert not file.exists()
    assert "nothing is remembered yet" in unisono("platform", "show").stdout


@pytest.mark.parametrize("spoilt", ["", "[", "[" * 100_000, "[]", '{"format": "unisono-memory"}', "\0\xff"])
def test_a_spoilt_file_is_one_line_and_can_be_forgotten(unisono: Run, file: Path, spoilt: str) -> None:
    file.write_text(spoilt)
    done = unisono("platform", "show")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert str(file) in done.stderr
    assert unisono("platform", "forget").returncode == 0
    assert not file.exists()


def test_a_pipe_is_not_waited_for(unisono: Run, file: Path) -> None:
    file.unlink()
    os.mkfifo(file)
    assert unisono("platform", "show").returncode == 2
    assert unisono("platform", "forget").returncode == 0
    assert not file.exists()


def test_forget_leaves_what_unisono_did_not_write(unisono: Run, file: Path) -> None:
    own = ["notes.json", "mpich-0.json", f"{file.name}.bak", f"my-{file.name}"]
    own += [f"{i}.json" for i in range(100)]
    for name in own:
        (file.parent / name).write_text("precious")
    part = file.with_name(f"{file.name}.part.0123456789abcdef")
    part.write_text("half")
    (file.parent / "\x1b[31m.json").write_text("precious")
    done = unisono("platform", "forget")
    assert done.returncode == 0, done.stderr
    assert "forgot 1 file " in done.stdout
    assert "left alone: 105 that Unisono did not write (\\x1b[31m.json, 0.json, 1.json, ...)" in done.stdout
    assert not file.exists()
    assert not part.exists()
    assert all((file.parent / name).read_text() == "precious" for name in own)
    assert unisono("platform", "forget", "notes.json").returncode == 2


def test_forget_does_not_follow_a_folder_that_is_a_link(unisono: Run, file: Path) -> None:
    elsewhere = file.parent.rename(file.parent.with_name("elsewhere"))
    file.parent.symlink_to(elsewhere)
    assert "forgot 0 files" in unisono("platform", "forget").stdout
    assert (elsewhere / file.name).exists()
