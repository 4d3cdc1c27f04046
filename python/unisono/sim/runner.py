"""Simulates a table: a process for every cell, as many at once as there are cores.

Two cells in one process would not be independent: events that fall on the same nanosecond are ordered by
how their times are rounded, which depends on when the simulation began."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager

from unisono.core import files
from unisono.core.jobs import LOOK_SECONDS
from unisono.sim import network, smpi
from unisono.sim.table import FLOWS, SMPI, Cell, Question, Row, Table

RESOLUTION = 9  # digits of a second: SimGrid works to a nanosecond

Key = tuple[str, str]  # algorithm and selector of a row


def simulate(
    question: Question,
    algorithms: Sequence[str],
    selectors: Sequence[str],
    memory: str,
    done: Callable[[str], None],
    at_once: int | None = None,
) -> Table:
    """`done` is told the algorithm of each cell that is finished; `at_once`: processes, not one a core."""
    rows: list[Key] = [(algorithm, "") for algorithm in algorithms]
    rows += [("native", selector) for selector in selectors]
    stopping = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal stopping
        stopping = True

    def keep_on() -> bool:
        if stopping:
            raise CancelledError
        return True

    simgrid = smpi.simgrid_version() if question.engine == SMPI else ""
    found: dict[Key, dict[int, Cell]] = {key: {} for key in rows}
    with handled(stop), ThreadPoolExecutor(at_once or os.cpu_count() or 1) as pool:
        try:
            jobs = {
                pool.submit(simulate_cell, question, key, size, memory, keep_on): (key, size)
                for size in sorted(question.sizes, reverse=True)  # the longest first
                for key in rows
            }
            waiting = set(jobs)
            while waiting:
                # Never without a limit: a signal that comes just before a sleep on a lock does not wake it.
                finished, waiting = wait(waiting, LOOK_SECONDS, FIRST_COMPLETED)
                if stopping:
                    raise KeyboardInterrupt
                for future in finished:
                    key, size = jobs[future]
                    found[key][size] = future.result()
                    done(key[0])
        except BaseException:
            stopping = True
            pool.shutdown(cancel_futures=True)
            raise
    return Table(question, tuple(Row(*key, found[key]) for key in rows), simgrid)


@contextmanager
def handled(stop: Callable[[int, object], None]) -> Iterator[None]:
    """Ctrl-C, and a kill, which asks for the same, call `stop`. It must not raise: an exception out
    of the blue may leave a lock of the pool held, and its threads wait for it."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def simulate_cell(question: Question, key: Key, size: int, memory: str, keep_on: Callable[[], bool]) -> Cell:
    algorithm, selector = key
    if question.engine == FLOWS:
        return flows_cell(question, algorithm, size, memory, keep_on)
    line = [
        *(str(smpi.built("unisono-sim")), "--collective", question.collective),
        *("--arms", algorithm, "--sizes", str(size or 1)),
        *("--root", str(question.root), "--memory", memory),
        *(["--share"] if question.shares else []),
    ]
    configuration = {"smpi/coll-selector": selector} if selector else {}
    # Unisono's own communicators confuse the selector impi.
    variables = {"UNISONO_DISABLE": "1"} if algorithm == "native" else {}
    run = smpi.run(question.platform, question.hosts, line, configuration, variables, keep_on)
    for text in run.output.splitlines():
        if text.startswith('{"collective"'):
            return cell_of(files.decoded(text))
    return Cell(None, run.problem or "the simulation ended early", is_error=True)


def flows_cell(
    question: Question, algorithm: str, size: int, memory: str, keep_on: Callable[[], bool]
) -> Cell:
    call = ["--collective", question.collective, "--algorithm", algorithm]
    call += ["--bytes", str(size), "--memory", memory]
    found = network.times(question.platform, question.hosts, question.root, call, keep_on)
    if "seconds" not in found:
        return Cell(None, str(found["left_out"]), is_error=bool(found.get("is_error")))
    told = {name: found[name] for name in ("messages", "sent", "slowed", "busiest_link")}
    return Cell(round(found["seconds"], 12), network=told)


def cell_of(result: dict[str, object]) -> Cell:
    seconds = result.get("seconds")
    return Cell(
        seconds=round(seconds, RESOLUTION) if isinstance(seconds, float) else None,
        left_out=str(result.get("left_out", "")),
        correct=bool(result.get("correct", True)),
    )
