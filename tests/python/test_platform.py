"""`unisono platform`: what is shown of good and of spoiled files, and that they go."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from unisono.core import errors, places
from unisono.core.memory import ratio_text

needs_build = pytest.mark.skipif(
    not (places.build_directory() / "bin" / "unisono-bench-openmpi").exists(),
    reason="needs the build and Open MPI",
)


def memory() -> dict[str, Any]:
    cost = [{"from_bytes": 0, "alpha_s": 60e-6, "beta_s_per_byte": 80e-9}]
    return {
        "format": "unisono-memory",
        "version": 2,
        "where": {
            "mpi": {"flavour": "mpich", "library": "MPICH 4.2"},
            "host": {"processor": "a processor", "cores": 4},
            "network": "eth0 10.0.0.0/24",
        },
        "measured": 1_700_000_000,
        "machine": {"levels": {"between_nodes": {"one_way": cost}}},
        "choices": [
            {
                "collective": "bcast",
                "choice": "chain:segment=4K",
                "bytes": 524288,
                "ranks": 7,
                "nodes": 7,
                "seconds": 0.045,
                "predicted_seconds": 0.047,
                "native_seconds": 0.32,
                "when": 1_700_000_000,
            }
        ],
        "verdicts": [
            {
                "collective": "allreduce",
                "class": 7,
                "ranks": 4,
                "ranks_per_core": 2,
                "bytes": 8,
                "choice": "shm",
                "kernels": "shm",
                "seconds": 5.37e-6,
                "from_call_to_call": 5.41e-6,
                "native_seconds": 11.6e-6,
                "native_from_call_to_call": 11.7e-6,
                "when": 1_700_000_000,
            }
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "unisono" / "mpich-0123456789abcdef.json"
    path.parent.mkdir()
    path.write_text(json.dumps(memory()))
    return path


def test_shows_predicted_measured_and_native(unisono: Run, file: Path) -> None:
    done = unisono("platform", "show")
    assert done.returncode == 0, done.stderr
    for text in (file.name, "MPICH 4.2", "60.0 us, 100 Mb/s", "chain:segment=4K", "45", "47", "320"):
        assert text in done.stdout


def test_shows_which_way_won_within_a_node(unisono: Run, file: Path) -> None:
    done = unisono("platform", "show")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if "allreduce" in line)
    assert " ".join(line.split()) == "allreduce shm 8 4 2 5.37 11.6 5.41 11.7 in a loop"


def test_rows_alike_in_all_else_say_what_differs(unisono: Run, file: Path) -> None:
    document = memory()
    usual, verdict = document["choices"][0], document["verdicts"][0]
    document["choices"].append(usual | {"root_is_first": False, "commutative": True, "shared": True})
    document["verdicts"].append(verdict | {"native_from_call_to_call": 70e-6, "choice": "native"})
    file.write_text(json.dumps(document))
    lines = unisono("platform", "show").stdout.splitlines()
    assert [line.split()[8:] for line in lines if "bcast" in line] == [[], ["root", "not", "0"]]
    within = [line for line in lines if "allreduce" in line]
    assert [line.split()[9:] for line in within] == [["in", "a", "loop"], ["between", "computing"]]
    [header] = (line for line in lines if "per core" in line)
    assert "kernels us" in header, "the time beside native may be the kernels'"
    assert "root not 0" in unisono("explain", "bcast", "700K").stdout


def test_explain_says_what_is_known_and_why(unisono: Run, file: Path) -> None:
    done = unisono("explain", "bcast", "700K")
    assert done.returncode == 0, done.stderr
    for text in ("MPICH 4.2", "chain:segment=4K", "47000", "45000", "320000", "took 0.14 of native's time"):
        assert text in done.stdout
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
    document = memory()
    document["verdicts"][0]["native_from_call_to_call"] = value
    file.write_text(json.dumps(document))
    for command in (("platform", "show"), ("explain", "allreduce")):
        done = unisono(*command)
        assert done.returncode in {0, 2}
        assert "Traceback" not in done.stderr, done.stderr


# Long enough though other tests may have the cores.
MEASURE: tuple[str, ...] = ("platform", "measure", "--mpi", "openmpi", "-n", "3")
MEASURE += ("--collectives", "allgather", "--sizes", "8", "--budget", "2")


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
