"""Files that no command expects: each command ends with one line, and waits for nothing."""

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COMMAND, Run
from unisono import cli
from unisono.core import files
from unisono.core.errors import UnisonoError
from unisono.core.shown import HIDDEN, LONGEST
from unisono.sim import platforms, ranks

SIM = ("sim", "--platform", "torus:4x4", "--collective", "bcast", "--sizes", "1K", "--ranks")
COMMANDS = {
    "report": ("report", "FILE"),
    "advise": ("advise", "FILE", "FILE"),
    "explain": ("explain", "FILE", "bcast", "1K"),
    "explain a log": ("explain", "--from-log", "FILE"),
    "compare": ("compare", "--from", "FILE"),
    "restructure": ("restructure", "FILE"),
    "sim": (*SIM, "FILE"),
    "profile": ("profile", "show", "FILE"),
    "model": ("model", "show", "--machine", "FILE"),
}


def is_one_line(said: str) -> bool:
    return said.startswith("unisono: ") and len(said) <= LONGEST + 20 and not HIDDEN.search(said.rstrip("\n"))


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_file_of_another_kind_is_one_line(
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pipe, loop, listening = tmp_path / "pipe", tmp_path / "loop", tmp_path / "socket"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))
    for file in (pipe, "/dev/zero", loop, listening, "x" * 300, os.fsdecode(b"\xff\x1b[2J")):
        words = [str(file) if word == "FILE" else word for word in command]
        monkeypatch.setattr("sys.argv", ["unisono", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr().err
        assert ended.value.code in {1, 2, 3}, said
        assert is_one_line(said), said


def test_numbers_that_are_too_long_are_no_hosts() -> None:
    with pytest.raises(UnisonoError, match="is no host of"):
        ranks.hosts_of_ranks("without:" + "9" * 5000, platforms.parse("torus:4x4"))


def test_standard_output_that_is_full_or_closed(tmp_path: Path) -> None:
    show = [*COMMAND, "show", "bcast", "chain", "-n", "4"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(show, check=False, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "unisono: No space left on device\n")
    closed = ["sh", "-c", '"$@" >&-', "sh", *show, "--json", "-"]
    done = subprocess.run(closed, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_who_may_read_a_file_does_not_change(tmp_path: Path) -> None:
    kept = tmp_path / "private.json"
    kept.touch(mode=0o600)
    files.write_text("{}", kept)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text() == "{}"


def test_bytes_that_are_no_text_are_written_as_they_are(tmp_path: Path) -> None:
    files.write_text(os.fsdecode(b"\xff"), tmp_path / "name")
    assert (tmp_path / "name").read_bytes() == b"\xff"


def test_an_interruption_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_part: Path, _target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_text("{}", tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


KILLED = """
import os, pathlib, signal, sys
from unisono.core import files
os.fchmod = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
files.write_text("{}", pathlib.Path(sys.argv[1]))
"""


def test_a_kill_leaves_no_part(tmp_path: Path) -> None:
    if files.nameless_file(tmp_path) is None:
        pytest.skip("this file system has no files without a name")
    kept = tmp_path / "a.json"
    kept.write_text("[]")
    done = subprocess.run([sys.executable, "-c", KILLED, str(kept)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == [kept]
    assert kept.read_text() == "[]"


def test_modules_in_the_current_folder_do_not_run(unisono: Run, tmp_path: Path) -> None:
    """Commands start Python themselves, to ask an MPI library for its version."""
    for name in ("ctypes", "json", "unisono", "typer", "mpi4py"):
        (tmp_path / f"{name}.py").write_text("import os; open(os.environ['RAN'], 'w').close()\n")
    ran, before = tmp_path / "ran", Path.cwd()
    os.chdir(tmp_path)
    try:
        unisono("explain", "bcast", "1K", "-n", "2", "--here", RAN=str(ran))
    finally:
        os.chdir(before)
    assert not ran.exists()


def test_a_result_that_is_there_survives_a_full_disk(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a file system")
    bench = Path(__file__).parents[2] / "build" / "bin" / "unisono-bench-mpich"
    script = f"""mount -t tmpfs -o size=64k none {tmp_path} && cd {tmp_path} && echo mine > result.json
        head -c 100000 /dev/zero > filler 2> /dev/null
        {bench} --collectives bcast --sizes 8 --arms native --budget 0.1 --json result.json
        cat result.json; ls"""
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.endswith("mine\nfiller\nresult.json\n"), done.stdout + done.stderr
    assert "unisono-bench: result.json: it cannot be written: No space left" in done.stderr


def test_an_order_of_no_ranks_is_not_written(unisono: Run, tmp_path: Path) -> None:
    (tmp_path / "counts").write_text("[]")
    (tmp_path / "order").write_text("mine")
    done = unisono("schedule", "make", str(tmp_path / "counts"), "-o", str(tmp_path / "order"))
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert (tmp_path / "order").read_text() == "mine"
