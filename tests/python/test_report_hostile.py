"""Traces of others: a line or a note for what cannot be, no wait, no memory for what is not there."""

import csv
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from traces import Writer
from unisono.advise import machine as advise_machine
from unisono.compare import results
from unisono.core.console import console_of
from unisono.core.errors import UnisonoError
from unisono.core.shown import HIDDEN, LONGEST, line
from unisono.model import cli as model_cli
from unisono.profile import check as profile_check
from unisono.trace import formats, html, terminal
from unisono.trace.analysis import analyse
from unisono.trace.reader import read
from unisono.trace.summary import Summary, summarise

FUZZER = Path(__file__).resolve().parents[1] / "fuzz" / "traces_fuzz.py"
Json = dict[str, Any]


def written(folder: Path, ranks: int = 2) -> Path:
    writer = Writer(folder, ranks)
    for k in range(1, 6):
        writer.call("allreduce", [k + 0.1 * rank for rank in range(ranks)], [k + 0.5] * ranks, 8)
    return writer.write()


def changed(folder: Path, change: Callable[[list[Json]], None], rank: int = 1) -> Path:
    path = folder / f"rank-{rank:05}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def report(folder: Path) -> Summary:
    return summarise(analyse(read(folder)))


def shown(folder: Path) -> str:
    said = StringIO()
    terminal.show(report(folder), console_of(file=said, width=150), 10)
    return said.getvalue()


def noted(folder: Path) -> str:
    """The ranks that are left use their trace."""
    summary = report(folder)
    assert summary.whole is not None
    return "\n".join(summary.analysis.trace.notes)


WRONG: list[tuple[Callable[[list[Json]], None], str]] = [
    (lambda lines: lines[0].update(size="many"), "a line of kind start is incomplete"),
    (lambda lines: lines[0].update(collectives=3), "a line of kind start is incomplete"),
    (
        lambda lines: lines[0].update(size=10**9),
        "says that there are 1000000000 ranks, and no communicator has",
    ),
    (lambda lines: lines[0].update(size=7), "rank 1 is left out: it is one of 7 ranks"),
    (lambda lines: lines[0].update(rank=0), "rank-00001.jsonl says that it is rank 0"),
    (lambda lines: lines[1].update(modules=5), "a line of kind modules is incomplete"),
    (lambda lines: lines[1]["modules"][0].update(start="zero"), "a line of kind modules is incomplete"),
    (lambda lines: lines[2].update(ranks=[0, 10**9]), "a line of kind communicator is incomplete"),
    (lambda lines: lines[2].update(ranks=[1, 1]), "a line of kind communicator is incomplete"),
    (lambda lines: lines[3].update(id=10**30), "a line of kind algorithm is incomplete"),
    (lambda lines: lines[4].update(at_ns=-1), "a line of kind clock is incomplete"),
    (lambda lines: lines[4].update(offset_ns=1e300), "a line of kind clock is incomplete"),
]


@pytest.mark.parametrize(("change", "note"), WRONG)
def test_what_cannot_be_is_a_note(tmp_path: Path, change: Callable[[list[Json]], None], note: str) -> None:
    folder = changed(written(tmp_path / "trace", 3), change)
    summary = report(folder)
    assert note in "\n".join(summary.analysis.trace.notes)


def test_lines_as_deep_as_a_well_are_left_out(tmp_path: Path) -> None:
    folder = written(tmp_path / "trace")
    with (folder / "rank-00001.jsonl").open("a") as file:
        file.write("[" * 200_000 + "\n")
        file.write('{"kind":"later","x":' + "[" * 65 + "]" * 65 + "}\n")
        file.write('{"kind":"later","x":' + "[" * 60 + "]" * 60 + "}\n")
    assert "rank-00001.jsonl: 2 line(s) are no JSON and left out" in noted(folder)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("make", [fifo, loop, to_a_device, bound, Path.mkdir])
@pytest.mark.parametrize("ending", ["jsonl", "events"])
def test_only_plain_files_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], ending: str
) -> None:
    folder = written(tmp_path / "trace", 3)
    path = folder / f"rank-00001.{ending}"
    path.unlink()
    monkeypatch.chdir(folder)  # the name of a socket is short
    make(Path(path.name))
    notes = "\n".join(read(folder).notes)
    assert f"rank-00001.{ending}: it is a " in notes
    assert ", no plain file" in notes


def test_a_whole_folder_of_others(tmp_path: Path, unisono: Run) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, why in (("pipe", "a trace is a folder"), ("loop", "Too many levels"), ("x" * 300, "too long")):
        done = unisono("report", str(tmp_path / name))
        assert done.returncode == 2
        assert why in done.stderr
        assert done.stderr.count("\n") == 1
        assert len(done.stderr) <= LONGEST + 10


def test_memory_and_time_are_those_of_what_is_there(tmp_path: Path) -> None:
    """A file may claim any size, and a rank any number of others."""
    folder = changed(written(tmp_path / "trace"), lambda lines: lines[0].update(size=10**9), rank=0)
    changed(folder, lambda lines: lines[2].update(id=2**31 - 1))
    os.truncate(folder / "rank-00001.events", 1 << 42)
    code = f"""
import resource
from pathlib import Path
from unisono.trace.analysis import analyse
from unisono.trace.reader import read
from unisono.trace.summary import summarise
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + (100 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
print(*summarise(analyse(read(Path({str(folder)!r})))).analysis.trace.notes, sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert "rank-00001.events: has a hole of" in done.stdout


def test_zeros_without_end_are_no_killed_process(tmp_path: Path) -> None:
    folder = written(tmp_path / "trace", 3)
    with (folder / "rank-00001.events").open("ab") as file:
        file.write(bytes(4 << 20))
    assert "rank-00001.events: ends in more zeros than a killed process leaves" in "\n".join(
        read(folder).notes
    )


def test_a_rank_is_read_once(tmp_path: Path) -> None:
    folder = written(tmp_path / "trace")
    (folder / "rank-1.jsonl").write_text((folder / "rank-00001.jsonl").read_text())
    assert "rank-1.jsonl is left out: rank-00001.jsonl is of the same rank" in noted(folder)


def test_a_collective_of_a_later_unisono_is_said(tmp_path: Path) -> None:
    folder = written(tmp_path / "trace")
    for rank in range(2):
        changed(folder, lambda lines: lines[0]["collectives"].__setitem__(12, "all\x1b[2Jto"), rank)
    found = report(folder)
    assert found.whole is None
    assert "1 collective(s) that this Unisono does not know, as all\\x1b[2Jto" in "\n".join(
        found.analysis.trace.notes
    )


HOSTILE = "\x1b]0;x\x07\x9b2J\u202e[/bold]"


def named(folder: Path, name: str) -> Path:
    """A trace whose every name is `name`."""
    module = {"path": f"/{name}", "start": "0x1000", "end": "0x9000", "offset": "0x0"}
    writer = Writer(folder, 2, modules=[module], spec=name, hosts=[name, name])
    writer.call("bcast", [1, 1.1], [2, 2], 8, root=0, algorithm=1)
    writer.write()
    for rank in range(2):
        changed(folder, lambda lines: lines[0].update(command=[name], mpi=name), rank)
        changed(folder, lambda lines: lines[2].update(name=name), rank)
    return folder


def test_names_give_a_terminal_no_commands(tmp_path: Path) -> None:
    said = shown(named(tmp_path / "trace", HOSTILE + "\n"))
    assert not HIDDEN.search(said.replace("\n", ""))
    assert "\\x1b]0;x\\x07\\x9b2J\\u202e[/bold]" in said


def test_a_page_takes_names_for_text(tmp_path: Path) -> None:
    for name in ('"><script>alert(1)</script>', "' onload='x", "{{ 7*7 }}"):
        page = html.render(report(named(tmp_path / str(len(name)), name)), 5)
        assert "<script>alert" not in page
        assert "' onload='" not in page
        assert "49" not in page.partition("<h1>")[2].partition("</h1>")[0]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_a_spreadsheet_takes_no_cell_for_a_formula(tmp_path: Path, sign: str) -> None:
    output = tmp_path / "trace.csv"
    formats.write(named(tmp_path / "trace", f"{sign}1+cmd|'/C calc'!A0"), "csv", output)
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert row["communicator"] == row["algorithm"] == f"'{sign}1+cmd|'/C calc'!A0"
    output.unlink()
    formats.write(written(tmp_path / "other"), "csv", output)
    assert ",-1,native," in output.read_text()  # a root of none is still a number


def test_an_export_leaves_alone_what_has_a_name_like_its_own(tmp_path: Path) -> None:
    folder = written(tmp_path / "trace")
    mine = tmp_path / "archive.part"
    mine.mkdir()
    (mine / "thesis").write_text("mine")
    formats.write(folder, "otf2", tmp_path / "archive")
    (tmp_path / "t.csv.part").write_text("mine")
    formats.write(folder, "csv", tmp_path / "t.csv")
    assert (mine / "thesis").read_text() == (tmp_path / "t.csv.part").read_text() == "mine"


def test_an_error_is_one_line_without_commands(tmp_path: Path, unisono: Run) -> None:
    done = unisono("report", str(tmp_path / f"\x1b[31m\n{'x/' * 600}"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) <= LONGEST + len("unisono: ") + 1
    assert "\x1b" not in done.stderr
    assert line("a" * 200 + "b" * 200).startswith("aaa")
    assert line("a" * 200 + "b" * 200).endswith("bbb")


@pytest.mark.parametrize("command", ["advise", "whatif"])
def test_other_commands_read_it_the_same_way(tmp_path: Path, unisono: Run, command: str) -> None:
    folder = changed(
        written(tmp_path / "trace"), lambda lines: lines[0].update(size="x", command=[HOSTILE]), 0
    )
    changed(folder, lambda lines: lines[0].update(command=[HOSTILE]))
    done = unisono(command, str(folder))
    assert "Traceback" not in done.stderr
    assert not HIDDEN.search((done.stdout + done.stderr).replace("\n", ""))


def deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


READERS: list[Callable[[Path], Any]] = [
    results.load,
    profile_check.load,
    model_cli.read_machine,
    advise_machine.read,
]


@pytest.mark.parametrize("make", [fifo, loop, to_a_device, Path.mkdir, deep, sparse])
@pytest.mark.parametrize("read_it", READERS)
def test_documents_are_read_as_carefully(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    read_it: Callable[[Path], Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("given.json"))
    with pytest.raises(UnisonoError, match=r"given\.json: "):
        read_it(Path("given.json"))


def test_a_sample_of_the_fuzzer() -> None:
    """tests/fuzz/README.md says how to run more."""
    done = subprocess.run(
        [sys.executable, str(FUZZER), "--count", "120", "--seed", "7"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "120 inputs, seed 7: 0 problems" in done.stdout
