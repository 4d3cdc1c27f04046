#!/usr/bin/env python3
"""How much of nonblocking collectives computing hides that calls MPI_Test now and then.

  sudo .venv/bin/python scripts/overlap_tests.py --hosts 8 --jobs 6 --json tests.json
  .venv/bin/python scripts/overlap_tests.py --node -n 2 --jobs 6 --json node.json    # in place of a lab
  .venv/bin/python scripts/overlap_tests.py --json tests.json --report

Needs root (the lab) and a built tree. Computing is sleeping (benchmarks/calls/overlap.cpp), as long as the
call takes by itself, in 100 slices with MPI_Test after each: so each rank has a core of its own, as it were.
On a node, whose ranks must have cores, it is spinning in 10 slices; there the messages of two further arms
go through its memory: those of the same algorithms, and those of its kernels' schedules.
Jobs of the arms in turn: native, and Unisono with the algorithms of overlap.py forced. Overlap as Intel's
IMB-NBC defines it: the share of the shorter one of call and computing that was hidden. Ratios are of the jobs
of one turn, medians with 95 % intervals. With --thread also UNISONO_PROGRESS=thread, which runs only where
the ranks have cores: not where the hosts of a lab share a few.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from overlap import FORCED
from unisono.core import places
from unisono.core.amounts import parse_size
from unisono.core.errors import UnisonoError
from unisono.core.estimates import Estimate, estimate_median
from unisono.core.files import read_json, write_json

NAME = "overlap-tests"
PATIENCE = 200  # seconds a job
ARMS: dict[str, dict[str, str]] = {
    "native": {},
    "calls": {},
    "thread": {"UNISONO_PROGRESS": "thread"},
    "memory": {},
    "kernels": {},
}
# At most: total time / native's, pure / blocking of the same job. At least: overlap, %
MOST_TOTAL, MOST_PURE, LEAST_OVERLAP = 1.0, 1.05, 50.0

Key = tuple[str, str, int]  # MPI library, collective, bytes
Jobs = dict[str, list[dict[str, float]]]  # by arm, in the order of the turns


def algorithm(collective: str, arm: str) -> str:
    if arm == "kernels":
        return "shm"
    spec: str = FORCED[collective]
    return spec if arm != "memory" else spec + ("," if ":" in spec else ":") + "transport=shm"


def launcher(options: argparse.Namespace, mpi: str, arm: str) -> list[str]:
    if options.node:
        run = places.find_mpi(mpi).launcher(options.ranks)
        return run if arm == "native" else [*run, str(places.program("unisono-exec"))]
    command = [*options.lab, "run", "--name", NAME, "--mpi", mpi, "-n", str(options.ranks)]
    return [*command, "--native", "--"] if arm == "native" else [*command, "--"]


def job(options: argparse.Namespace, mpi: str, collective: str, arm: str) -> list[dict[str, float]]:
    command = [*launcher(options, mpi, arm), str(places.program(f"unisono-overlap-{mpi}")), collective]
    command += [options.lengths, str(options.calls), str(options.tests), *(["spin"] if options.node else [])]
    forced = {} if arm == "native" else {f"UNISONO_{collective.upper()}": algorithm(collective, arm)}
    kept = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=kept | forced | ARMS[arm] | {"XDG_CACHE_HOME": os.devnull},
    )
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or len(found) != len(options.lengths.split(",")):
        raise UnisonoError(f"{' '.join(command)}:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return found


def measure(options: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    arms = ["native", "calls"]
    arms += ["memory", "kernels"] if options.node else ["thread"] if options.thread else []
    for turn in range(options.jobs):
        for mpi in options.mpi.split(","):
            for collective in options.collectives.split(","):
                for at in range(len(arms)):
                    arm = arms[(turn + at) % len(arms)]
                    what = {"mpi": mpi, "collective": collective, "arm": arm, "turn": turn}
                    rows += [what | cell for cell in job(options, mpi, collective, arm)]
                    write_json(rows, options.json)
                print(f"{turn}: {mpi}, I{collective}", file=sys.stderr, flush=True)


def measure_in_lab(options: argparse.Namespace) -> None:
    up = [*options.lab, "up", "--name", NAME, "--hosts", str(options.hosts), "--rate", options.rate]
    subprocess.run(up, check=True, stdout=subprocess.DEVNULL)
    try:
        measure(options)
    finally:
        subprocess.run([*options.lab, "down", "--name", NAME], check=False, stdout=subprocess.DEVNULL)


def overlap(cell: dict[str, float]) -> float:
    hidden = cell["pure"] + cell["computing"] - cell["overlapped"]
    return 100 * max(0.0, min(1.0, hidden / min(cell["pure"], cell["computing"])))


def at_most(estimate: Estimate, most: float) -> str:
    if estimate.is_sure and estimate.high <= most:
        return "yes"
    return "no" if estimate.is_sure and estimate.low > most else "undecided"


def text(estimate: Estimate) -> str:
    return f"{estimate.median:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def of_arm(arm: str, jobs: Jobs, verdicts: dict[str, list[str]]) -> list[str]:
    """The cells of a table's row, and what is decided."""
    own = jobs[arm]
    hidden = estimate_median([overlap(cell) for cell in own])
    times = [estimate_median([cell[figure] / 1e3 for cell in own]) for figure in ("pure", "overlapped")]
    cells = [f"{times[0].median:.3g}, {times[1].median:.3g}, {hidden.median:.0f} %"]
    if arm == "native":
        return cells
    total = estimate_median(
        [a["overlapped"] / b["overlapped"] for a, b in zip(own, jobs["native"], strict=False)]
    )
    pure = estimate_median([cell["pure"] / cell["blocking"] for cell in own])
    less = Estimate(-hidden.median, -hidden.high, -hidden.low, hidden.coverage)
    told = (at_most(less, -LEAST_OVERLAP), at_most(total, MOST_TOTAL), at_most(pure, MOST_PURE))
    for claim, word in zip(claims(), told, strict=True):
        verdicts[f"{arm}: {claim}"].append(word)
    return [*cells, f"{hidden.low:.0f} to {hidden.high:.0f}", text(total), text(pure)]


def claims() -> list[str]:
    return [f"overlap >= {LEAST_OVERLAP:.0f} %", "total <= native's", f"pure <= {MOST_PURE} of blocking"]


def report(rows: list[dict[str, Any]]) -> list[str]:
    found: dict[Key, Jobs] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["mpi"], row["collective"], row["bytes"]][row["arm"]].append(row)
    arms = [arm for arm in ARMS if any(arm in jobs for jobs in found.values())]
    head = ["MPI", "call", "bytes", "jobs", "native: pure, overlapped ms, overlap"]
    for arm in arms[1:]:
        head += [f"{arm}: the same", "95 %", "overlapped / native's", "pure / blocking"]
    lines = [f"| {' | '.join(head)} |", "|---|---|---:|---:" + "|---" * (len(head) - 4) + "|"]
    verdicts: dict[str, list[str]] = defaultdict(list)
    for (mpi, collective, size), jobs in sorted(found.items()):
        cells = [mpi, f"I{collective}", str(size), str(min(map(len, jobs.values())))]
        cells += [cell for arm in arms for cell in of_arm(arm, jobs, verdicts)]
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    for claim, words in verdicts.items():
        counted = ", ".join(f"{word} {words.count(word)}" for word in ("yes", "no", "undecided"))
        lines.append(f"{claim}: {counted}, of {len(words)} cells")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--node", action="store_true", help="here, in place of a lab")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("-n", "--ranks", type=int, help="otherwise one a host")
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--jobs", type=int, default=6, help="of each arm: fewer than 6 decide nothing (6)")
    parser.add_argument("--calls", type=int, help="of each kind in a job (3; on a node 200)")
    parser.add_argument(
        "--tests", type=int, help="calls of MPI_Test in an overlapped call (100; on a node 10)"
    )
    parser.add_argument("--collectives", default=",".join(FORCED))
    parser.add_argument("--sizes", help="with commas between (64K,256K,1M; on a node 4K,64K,1M)")
    parser.add_argument("--thread", action="store_true")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--report", action="store_true", help="prints what is there")
    options = parser.parse_args()
    options.ranks = options.ranks or options.hosts
    options.calls = options.calls or (200 if options.node else 3)
    options.tests = options.tests or (10 if options.node else 100)
    options.sizes = options.sizes or ("4K,64K,1M" if options.node else "64K,256K,1M")
    options.lab = [str(Path(sys.executable).with_name("unisono")), "lab"]
    options.lengths = ",".join(str(parse_size(size, "--sizes")) for size in options.sizes.split(","))
    try:
        if options.node and not options.report:
            measure(options)
        elif not options.report:
            measure_in_lab(options)
    except UnisonoError as error:
        print(f"overlap_tests.py: {error}", file=sys.stderr)
        return 1
    print("\n".join(report(read_json(options.json))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
