"""Makes wrong calls (tests/conformance/wrong_calls.cpp) natively and under Unisono, and counts what ends
otherwise: python scripts/wrong_calls.py --help."""

from __future__ import annotations

import argparse
import collections
import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/conformance"))
from launch import EXEC, PROGRAMS, mpiexec

# How Unisono runs the calls: in memory that the ranks of a node share, or as schedules over messages.
WAYS = {
    "kernels": {"CONFORMANCE_ALGORITHM": "shm"},
    "messages": {"UNISONO_SHM": "0"},
}
Outcomes = dict[int, list[str]]
# Calls in which only two ranks know a length, and compare it.
COMPARED = tuple(f"{c}: receives half" for c in ("gatherv", "scatterv", "alltoallv", "alltoallw"))
# From bad to good; of a wrong call an error is the best that can be, and success hides what is wrong.
ORDER = ("writes beyond", "crashes", "hangs", "succeeds", "ends the job", "class")


def cells(flavour: str) -> list[str]:
    listed = subprocess.run(
        [PROGRAMS / f"wrong_calls_{flavour}", "list"], capture_output=True, text=True, check=True
    )
    return [line.split(" ", 1)[1].replace("\t", ": ") for line in listed.stdout.splitlines()]


def walk(flavour: str, chosen: list[int], *above: str | Path, **variables: str) -> tuple[Outcomes, int]:
    """What each cell ended with on each rank, and how many calls Unisono ran. A job that dies of a cell is
    started again behind it."""
    found: Outcomes = {}
    own = 0
    while left := [cell for cell in chosen if cell not in found]:
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "results"
            command = [*above, PROGRAMS / f"wrong_calls_{flavour}", results, *map(str, left)]
            with contextlib.suppress(subprocess.TimeoutExpired):
                mpiexec(flavour, 2, *command, timeout=120, **variables)
            for rank in range(2):
                file = results.with_name(f"results.{rank}")
                for line in file.read_text().splitlines() if file.exists() else []:
                    cell, outcome = line.split(" ", 1)
                    if outcome.startswith("own "):
                        own += int(outcome.split()[1])
                    elif outcome != "end":
                        found.setdefault(int(cell), ["ends the job"] * 2)[rank] = outcome
        if left[0] not in found:  # neither rank lived to tell
            found[left[0]] = ["ends the job"] * 2
    return found, own


def rating(outcome: str) -> int:
    return next(i for i, word in enumerate(ORDER) if outcome.startswith(word))


def ended(outcomes: list[str], by: str = "crashes") -> list[str]:
    """A job that a rank ends, `by` a crash or otherwise, is over on every rank, whichever it is."""
    return [by] * len(outcomes) if by in outcomes else outcomes


def verdict(natively: list[list[str]], ours: list[str]) -> str:
    """`natively`: of each walk, since an MPI library may end a wrong call now so and now otherwise."""
    ours, natively = ended(ours), [ended(outcomes) for outcomes in natively]
    if "ends the job" in ours:  # a rank that succeeds may have told so before, or not
        ours, *natively = [ended(outcomes, "ends the job") for outcomes in [ours, *natively]]
    if all(mine in theirs for mine, *theirs in zip(ours, *natively, strict=True)):
        return "equal"
    native = natively[0]
    steps = [rating(o) - rating(n) for n, o in zip(native, ours, strict=True)]
    if min(steps) < 0:
        return "worse"
    return "better" if max(steps) > 0 else "another class"


def chosen_cells(names: list[str], sample: bool, step: int, first: int) -> list[int]:
    """The sample: those that both ranks make alike, so that nobody waits."""
    if not sample:
        return list(range(first, len(names), step))
    safe = [c for c, name in enumerate(names) if name.endswith(": both ranks") and is_safe(name)]
    always = {c for c in safe if names[c].startswith(("alltoallw: no datatype", *COMPARED))}
    return sorted(always | set(safe[::step]))


def is_safe(name: str) -> bool:
    """Not those of which MPI libraries die natively, nor those that end worse."""
    unsafe = ("null buffers", "one buffer", "exscan: receives in place")
    return not any(what in name for what in unsafe) and ("half" not in name or name.startswith(COMPARED))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", action="store_true", help="for CI: calls that end at once; a few seconds")
    parser.add_argument("--step", type=int, default=1, help="1: each call; 2: every second one; ...")
    parser.add_argument("--first", type=int, default=0, help="the number of the first call (0)")
    parser.add_argument("--natively", type=int, default=2, help="walks without Unisono (2)")
    parser.add_argument("--flavours", default="mpich,openmpi")
    parser.add_argument("--ways", default=",".join(WAYS))
    chosen = parser.parse_args()
    rows, worse = [], 0
    for flavour in chosen.flavours.split(","):
        names = cells(flavour)
        numbers = chosen_cells(names, chosen.sample, chosen.step, chosen.first)
        natively = [
            walk(flavour, numbers, CONFORMANCE_NATIVE="1")[0]
            for _ in range(1 if chosen.sample else chosen.natively)
        ]
        native = {cell: [outcomes[cell] for outcomes in natively] for cell in numbers}
        for way in chosen.ways.split(","):
            if chosen.sample:
                numbers = [c for c in numbers if all(outcome.startswith("class") for outcome in native[c][0])]
            ours, own = walk(flavour, numbers, EXEC, **WAYS[way])
            if own == 0:
                print(f"{flavour}, {way}: Unisono ran no call")
                return 1
            verdicts = {cell: verdict(native[cell], ours[cell]) for cell in numbers}
            for cell, found in verdicts.items():
                if found != "equal":
                    print(
                        f"{flavour}, {way}: {cell} {names[cell]}: {found}: {native[cell][0]} -> {ours[cell]}",
                        flush=True,
                    )
            count = collections.Counter(verdicts.values())
            rows.append([flavour, way, *(count[v] for v in ("equal", "better", "another class", "worse"))])
            worse += count["worse"]
    print("| MPI library | way | equal | better | another class | worse |\n|---|---|---:|---:|---:|---:|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
