"""The smallest random program that still fails: fewer calls, simpler ones, fewer ranks.

The calls of a program draw from their own numbers alone, so that any may be left out: by delta debugging
(Zeller, Hildebrandt, 2002). A failure is the same if it is of the same kind.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unisono.core import places
from unisono.core.errors import UnisonoError

DONE = re.compile(r"^\d+ programs, \d+ calls, no differing byte$", re.M)
SEED = re.compile(r"^random_program: .*?seed (\d+)", re.M)
CALL = re.compile(r"^random_program: .*?call (\d+)", re.M)
SIMPLIFICATIONS = ("types", "counts", "in_place", "plain", "blocking", "chosen")
PATIENCE = "10"  # seconds: when a program that hung is run again
TRIES = 4  # of what fails now and then


@dataclass(frozen=True)
class Failure:
    kind: str  # hang, crash, wrong
    text: str
    seed: int | None = None
    call: int | None = None


def outcome(mpi: places.Mpi, ranks: int, arguments: Sequence[str], seconds: float) -> str | Failure:
    """What a job has printed, or how it failed."""
    program = places.build_directory() / "bin" / f"random_program_{mpi.flavour}"
    if not program.exists():
        raise UnisonoError(f"{program} is not built: run make")
    environment = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    environment |= mpi.environment()
    command = [*mpi.launcher(ranks), str(program), *arguments]
    with tempfile.TemporaryFile(mode="w+", errors="replace") as output:
        status: int | None = None
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.terminate()  # and with it the ranks
            process.wait()
        output.seek(0)
        text = output.read()
    if status == 0 and DONE.search(text):
        return text
    if status == 2 and "unknown option" in text:
        raise UnisonoError(text.strip().splitlines()[0])
    kind = "hang" if status is None or "no progress in" in text else "wrong"
    if "crash in" in text or re.search(r"Segmentation fault|signal (6|7|11)\b", text):
        kind = "crash"
    seed, call = SEED.search(text), CALL.search(text)
    return Failure(kind, text, int(seed[1]) if seed else None, int(call[1]) if call else None)


def fewest(items: list[int], fails: Callable[[list[int]], bool]) -> list[int]:
    """Delta debugging: none of what is left can be left out by itself."""
    pieces = 2
    while len(items) >= 2:
        length = -(-len(items) // pieces)
        for begin in range(0, len(items), length):
            rest = items[:begin] + items[begin + length :]
            if rest and fails(rest):
                items, pieces = rest, max(pieces - 1, 2)
                break
        else:
            if pieces >= len(items):
                break
            pieces = min(2 * pieces, len(items))
    return items


def minimise(
    mpi: places.Mpi, ranks: int, calls: int, seed: int, failure: Failure, arguments: list[str]
) -> str:
    """What to say of it."""
    patience = ["--patience", PATIENCE] if failure.kind == "hang" else []
    jobs, tries = 0, TRIES

    def fails(only: Sequence[int], simplified: Sequence[str], on: int) -> bool:
        nonlocal jobs
        chosen = ["--seed", str(seed), *arguments, *patience, "--only", ",".join(map(str, only))]
        chosen += ["--simplify", ",".join(simplified)] if simplified else []
        for _ in range(tries):
            jobs += 1
            found = outcome(mpi, on, chosen, 5 * float(PATIENCE))
            if isinstance(found, Failure) and found.kind == failure.kind:
                return True
        return False

    everything = list(range(calls))
    if not fails(everything, [], ranks):
        return f"seed {seed} by itself does not fail again in {TRIES} jobs"
    if jobs == 1:
        tries = 1  # always, it seems
    # What comes after it has no part in it, most often.
    if failure.call is not None and fails(everything[: failure.call + 1], [], ranks):
        everything = everything[: failure.call + 1]
    only = fewest(everything, lambda some: fails(some, [], ranks))
    simplified: list[str] = []
    for what in SIMPLIFICATIONS:
        for word in [what] if len(only) == 1 else [what, *(f"{call}:{what}" for call in only)]:
            if fails(only, [*simplified, word], ranks):
                simplified.append(word)
                if word == what:
                    break
    only = fewest(only, lambda some: fails(some, simplified, ranks))
    fewer = next((some for some in range(2, ranks) if fails(only, simplified, some)), ranks)
    words = ["--seed", str(seed), *arguments, "--only", ",".join(map(str, only))]
    words += ["--simplify", ",".join(simplified)] if simplified else []
    command = " ".join([*mpi.launcher(fewer), f"build/bin/random_program_{mpi.flavour}", *words, "--verbose"])
    return (
        f"smallest program that fails ({failure.kind}), found by {jobs} jobs: {len(only)} calls\n  {command}"
    )
