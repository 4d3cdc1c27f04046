"""Jobs end, and nothing of them stays behind."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest
from unisono.core import jobs, places

pytestmark = pytest.mark.mpi


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_job_that_ends_well() -> None:
    outcome = jobs.run(python("print('done')"), os.environ, silence=30)
    assert outcome.ok
    assert outcome.output == "done\n"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (
            python("import sys; print('one'); sys.exit('unisono-x: no more')"),
            "exit status 1: unisono-x: no more",
        ),
        (python("import os; print('last', flush=True); os.abort()"), "killed by SIGABRT: last"),
        (["/no/such/program"], "/no/such/program: No such file or directory"),
    ],
)
def test_a_failure_is_one_line(command: list[str], problem: str) -> None:
    outcome = jobs.run(command, os.environ, silence=30)
    assert outcome.problem == problem


RULE = "-" * 74
LAUNCHERS = [
    (f"{RULE}\nprterun noticed that process rank 0\nexited on signal 11.\n{RULE}\n", "prterun noticed that"),
    (
        f"{RULE}\nprterun could not access:\n\n   Executable: /x\n   Node: a\n\nwhile\n{RULE}",
        "Executable: /x Node",
    ),
    (f"a: error while loading b.so\n{RULE}\nprterun: error: so it ended\n{RULE}\n", "a: error while loading"),
    ("===\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault\nSee the FAQ", "EXIT STRING"),
    ("unisono-bench: WRONG RESULT\nMPI error: aborted", "unisono-bench: WRONG"),
    ("first\nlast\n---\n", "last"),
    ("", "no output"),
]


@pytest.mark.parametrize(("output", "said"), LAUNCHERS)
def test_the_line_that_says_most(output: str, said: str) -> None:
    assert said in jobs.telling_line(output)
    assert "\n" not in jobs.telling_line(output)


def test_signs_of_life_keep_a_job_alive() -> None:
    looks = []

    def look() -> bool:
        looks.append(time.monotonic())
        return True

    outcome = jobs.run(python("import time; time.sleep(1.5)"), os.environ, silence=0.2, sign_of_life=look)
    assert outcome.ok
    assert len(looks) > 3


class Marks:
    """Which processes carried the mark of a job just before its end, and which still live."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mark = ""
        self.before: list[int] = []
        original: Callable[..., None] = jobs.end

        def end(process: object, mark: str) -> None:
            self.mark, self.before = mark, jobs.marked(mark)
            original(process, mark)

        monkeypatch.setattr(jobs, "end", end)

    def alive(self) -> list[int]:
        deadline = time.monotonic() + 5
        while jobs.marked(self.mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        return jobs.marked(self.mark)


def test_silence_ends_a_job_with_its_daemons(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Marks(monkeypatch)
    daemon = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    starts = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {daemon!r}], "
    starts += "start_new_session=True); time.sleep(600)"
    outcome = jobs.run(python(starts), os.environ, silence=1.5)
    assert outcome.problem == "no result within 1.5 s, ended"
    assert len(marks.before) == 2
    assert not marks.alive()


@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_ranks_that_hang_are_ended(flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Marks(monkeypatch)
    mpi = places.find_mpi(flavour)
    command = [*mpi.launcher(2), "sleep", "600"]
    outcome = jobs.run(command, {**os.environ, **mpi.environment()}, silence=3)
    assert "no result within 3 s" in outcome.problem
    assert len(marks.before) >= 3, "mpiexec and two ranks were running"
    assert not marks.alive()


def test_an_interrupt_ends_the_job_first(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Marks(monkeypatch)
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        jobs.run(python("import time; time.sleep(600)"), os.environ, silence=60)
    timer.join()
    assert marks.before
    assert not marks.alive()
