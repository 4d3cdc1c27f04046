"""Simulates a table: a process for every row, as many at once as there are cores."""

import json
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed

from unisono.sim import smpi
from unisono.sim.table import Cell, Question, Row, Table

RESOLUTION = 9  # digits of a second: SimGrid works to a nanosecond


def simulate(
    question: Question,
    algorithms: Sequence[str],
    selectors: Sequence[str],
    memory: str,
    done: Callable[[Row], None],
) -> Table:
    keys = [(algorithm, "") for algorithm in algorithms] + [("native", name) for name in selectors]
    stop = threading.Event()

    def keep_on() -> bool:
        if stop.is_set():
            raise CancelledError
        return True

    def row(algorithm: str, selector: str) -> Row:
        line = program_line(question, algorithm, memory)
        return Row(algorithm, selector, cells_of(question, line, selector, keep_on))

    simgrid = smpi.simgrid_version()
    found: dict[tuple[str, str], Row] = {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = {pool.submit(row, *key): key for key in keys}
        try:
            for future in as_completed(waiting):
                found[waiting[future]] = future.result()
                done(found[waiting[future]])
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Table(question, tuple(found[key] for key in keys), simgrid)


def program_line(question: Question, algorithm: str, memory: str) -> list[str]:
    whole = question.collective in {"reduce_scatter", "reduce_scatter_block"}
    sizes = [size * question.ranks if whole else size for size in question.sizes]
    return [
        *(str(smpi.built("unisono-sim")), "--collective", question.collective),
        *("--algorithms", algorithm, "--bytes", ",".join(str(size or 1) for size in sizes)),
        *("--root", str(question.root), "--memory", memory),
    ]


def cells_of(
    question: Question, line: list[str], selector: str, keep_on: Callable[[], bool]
) -> dict[int, Cell]:
    configuration = {"smpi/coll-selector": selector} if selector else {}
    # Unisono's own communicators confuse the selector impi.
    variables = {"UNISONO_DISABLE": "1"} if selector else {}
    run = smpi.run(question.platform, question.ranks, line, configuration, variables, keep_on)
    results = [json.loads(text) for text in run.output.splitlines() if text.startswith('{"collective"')]
    cells = {}
    for size, result in zip(question.sizes, results, strict=False):
        seconds = result.get("seconds")
        cells[size] = Cell(
            seconds=None if seconds is None else round(seconds, RESOLUTION),
            left_out=result.get("left_out", ""),
            correct=result.get("correct", True),
        )
    # A simulation that ended before its last size failed, whatever its exit status was.
    reason = run.problem or "the simulation ended early"
    return {size: cells.get(size, Cell(None, reason, is_error=True)) for size in question.sizes}
