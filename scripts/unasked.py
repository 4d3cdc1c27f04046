#!/usr/bin/env python3
"""What Unisono does unasked: a program of nine kinds of calls in the lab, natively and with Unisono under it.

  sudo .venv/bin/python scripts/unasked.py --hosts 7,13,8x2,6x3t --rate 20mbit,100mbit --jobs 6 --out DIR
  sudo .venv/bin/python scripts/unasked.py --out DIR --budget 1800    # goes on where the last run ended
  .venv/bin/python scripts/unasked.py --out DIR --report              # prints what is there

Needs root (the lab) and a built tree. Nothing is configured, and every job begins with an empty cache, but
those of --second-run, which find what the job before them in their round has kept.

A cell is an MPI library, a layout, a rate and, for --short, a length. Its jobs come in rounds: native and
Unisono, the other way round in the next one. Round 1 of all cells is measured before round 2 of any, each
in its own order, so that what the machine does meanwhile falls on all alike. One file a cell,
DIR/CELL.json.zst, with all that the programs printed. What is there is not measured again; what failed is
with --retry.

--condition has something else go on: `pauses` of 30 ms before each call, in which ranks sleep as if they
computed on cores of their own; `loss` of 1 % of the frames to h1; `traffic`, a TCP stream from h1 to h2 as
fast as it goes; `busy`, a process on h1 that computes, on the machine's cores. `corking` gives the hosts
Linux's own default in place of the lab's (docs/adr/0047-no-corking-in-the-lab.md).

Figures are of the jobs of a round, one over the other; of all rounds the median, and from six on its interval
(95 %). `limit`: what the bytes that must pass one host's port, or the link between two switches, take at
95.6 % of the rate.
"""

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from unisono.core.estimates import Estimate, estimate_median
from unisono.lab import layout

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts import meanwhile
from scripts.kinds_in_lab import (
    Cell,
    Round,
    a_lab,
    file_of,
    hosts_of,
    job,
    lab_command,
    read,
    rounds_of,
    why,
    write,
)

FIRST = 7  # calls that a selector may use up; unisono-kinds says what came after them
CONDITIONS = ("pauses", "loss", "corking", *meanwhile.PROGRAMS)
MOST_FAILED = 2  # jobs of a cell; then it is left


# Measuring


def order_of(number: int, second_run: bool, again: bool = False) -> list[str]:
    """Of the jobs of a round: the second run needs what the first one kept; `again` is native once more."""
    ours = ["unisono", "second"] if second_run else ["unisono"]
    around = ["native", "again"] if again else ["native"]
    first, last = around[:1], around[1:]
    return [*first, *ours, *last] if number % 2 == 0 else [*last, *ours, *first]


def measure_round(cell: Cell, number: int, options: argparse.Namespace) -> Round:
    measured: Round = {"number": number, "load": round(os.getloadavg()[0], 2)}
    arm = "beside"
    with (
        tempfile.TemporaryDirectory() as cache,
        tempfile.TemporaryDirectory() as unused,
        a_lab(cell, options) as shell,
    ):
        try:
            with meanwhile.running(cell.condition, shell):
                for arm in order_of(number, options.second_run, options.again):
                    native = arm in ("native", "again")
                    measured[arm] = job(cell, options, native, unused if native else cache)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            measured["failed"] = f"{arm}: {why(error)}"
    return measured


def to_measure(cells: list[Cell], jobs: int, folder: Path) -> Iterable[tuple[Cell, int]]:
    """Round 1 of all, then round 2. A round that failed is not measured again."""
    for number in range(jobs):
        for cell in random.Random(number).sample(cells, len(cells)):
            done = rounds_of(cell, folder)
            failed = sum("failed" in one for one in done)
            if failed < MOST_FAILED and all(one["number"] != number for one in done):
                yield cell, number


def measure(cells: list[Cell], options: argparse.Namespace) -> None:
    end = time.monotonic() + options.budget if options.budget else math.inf
    if options.retry:
        for cell in cells:
            if rounds := rounds_of(cell, options.out):
                write(file_of(cell, options.out), cell, [one for one in rounds if "failed" not in one])
    took = {cell: float(rounds[-1]["seconds"]) for cell in cells if (rounds := rounds_of(cell, options.out))}
    for cell, number in to_measure(cells, options.jobs, options.out):
        # Of a cell that has not run: as long as the longest.
        if time.monotonic() + took.get(cell, max(took.values(), default=0)) > end:
            print(f"--budget is used up before round {number + 1} of {cell}", file=sys.stderr)
            return
        begin = time.monotonic()
        one = measure_round(cell, number, options)
        took[cell] = time.monotonic() - begin
        one["seconds"] = round(took[cell], 1)
        write(file_of(cell, options.out), cell, [*rounds_of(cell, options.out), one])
        words = one.get("failed", f"{took[cell]:.0f} s")
        print(f"{cell}: round {number + 1}, {words}", file=sys.stderr, flush=True)


# Telling


def whole(measured: dict[str, Any], calls: int) -> float:
    """Seconds a call of a program of so many. Fewer may have been measured: the rest is as those from the
    eighth on, and not as the first, which open connections."""
    first = measured["seconds"] - measured["from_eighth"]
    return float((first + later(measured) * (calls - FIRST)) / calls)


def later(measured: dict[str, Any]) -> float:
    return float(measured["from_eighth"] / (measured["calls"] - FIRST))


@dataclass(frozen=True)
class Row:
    """Of a kind in a cell; ratios of times."""

    cell: Cell
    kind: str
    native: Estimate  # seconds a call of the whole program
    program: Estimate  # over native's
    from_eighth: Estimate  # over native's
    native_limit: Estimate  # from the eighth call on, over the limit
    limit: Estimate
    second: Estimate | None  # the second job's whole program over native's
    second_limit: Estimate | None
    again: Estimate | None = None  # native once more, over native's

    @property
    def name(self) -> str:
        return f"{self.kind} on {self.cell}"


def rows_of(cell: Cell, rounds: list[Round]) -> list[Row]:
    good = [one for one in rounds if "failed" not in one]
    seconds = [one for one in good if "second" in one]
    twice = [one for one in good if "again" in one]
    rows = []
    for kind in good[0]["unisono"] if good else []:

        def took(one: Round, arm: str, kind: str = kind) -> float:
            return whole(one[arm][kind], cell.calls)

        def from_eighth(one: Round, arm: str, kind: str = kind) -> float:
            return later(one[arm][kind])

        limit = cell.limit(kind)
        rows.append(
            Row(
                cell=cell,
                kind=kind,
                native=estimate_median([took(one, "native") for one in good]),
                program=estimate_median([took(one, "unisono") / took(one, "native") for one in good]),
                from_eighth=estimate_median(
                    [from_eighth(one, "unisono") / from_eighth(one, "native") for one in good]
                ),
                native_limit=estimate_median([from_eighth(one, "native") / limit for one in good]),
                limit=estimate_median([from_eighth(one, "unisono") / limit for one in good]),
                second=estimate_median([took(one, "second") / took(one, "native") for one in seconds])
                if seconds
                else None,
                second_limit=estimate_median([took(one, "second") / limit for one in seconds])
                if seconds
                else None,
                again=estimate_median([took(one, "again") / took(one, "native") for one in twice])
                if twice
                else None,
            )
        )
    return rows


def geometric(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def text(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.low == estimate.high:
        return f"{estimate.median:.2f}"
    return f"{estimate.median:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def how_measured(cell: Cell, rounds: list[Round]) -> str:
    good = [one for one in rounds if "failed" not in one]
    failed = [one["failed"].splitlines()[0] for one in rounds if "failed" in one]
    native = f"all {cell.calls} calls measured of both"
    if cell.native_calls < cell.calls:
        native = (
            f"{cell.calls} calls of Unisono measured; of native {cell.native_calls}, "
            f"and the other {cell.calls - cell.native_calls} taken as its calls from the eighth on"
        )
    loads = [one["load"] for one in rounds]
    words = f"{len(good)} rounds; {native}; load of the machine {min(loads)} to {max(loads)}"
    return words + "".join(f"; failed: {reason}" for reason in failed)


def table(cell: Cell, rounds: list[Round], rows: list[Row]) -> str:
    heads = ["kind", "limit ms", "native ms", "program", "from the 8th", "native from the 8th / limit"]
    heads += ["from the 8th / limit"]
    second = any(row.second for row in rows)
    heads += ["second run, program", "second run / limit"] if second else []
    lines = [f"### {cell}", "", how_measured(cell, rounds) + ".", ""]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        cells = [row.kind, f"{cell.limit(row.kind) * 1e3:.3g}", f"{row.native.median * 1e3:.4g}"]
        cells += [text(row.program), text(row.from_eighth), text(row.native_limit), text(row.limit)]
        cells += [text(row.second), text(row.second_limit)] if second else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def share(count: int, of: int) -> str:
    return f"{count} of {of}"


def mean_of_programs(rows: list[Row]) -> str:
    return f"{geometric(row.program.median for row in rows):.2f}"


def summary(rows: list[Row]) -> list[str]:
    """By medians of the rounds. Short messages are far from what the wire takes for their bytes."""
    number = len(rows)
    is_short = any(row.cell.length for row in rows)
    at_limit = sum(row.limit.median <= 1.15 for row in rows)
    native_there = sum(row.native_limit.median <= 1.15 for row in rows)
    slower = sum(row.from_eighth.median > 1 / 0.95 for row in rows)
    losing = sum(row.program.median > 1 / 0.97 for row in rows)
    far = [row for row in rows if row.native_limit.median > 2]
    worst = max(rows, key=lambda row: row.program.median)
    mean = f"whole program, geometric mean of its time over native's: {mean_of_programs(rows)}"
    if far and not is_short:
        mean += f"; where native is above twice the limit ({len(far)} of {number}): {mean_of_programs(far)}"
    there = f"at 1.15 of the limit or below: {at_limit} of {number} (native: {native_there}); "
    lines = [
        "from the 8th call on "
        + ("" if is_short else there)
        + f"below 0.95 of native's speed: {slower} of {number}",
        mean,
        f"whole program below 0.97 of native's speed: {losing} of {number}; "
        f"the worst: {worst.name}, {text(worst.program)} of native's time",
    ]
    second = [row.second.median for row in rows if row.second]
    limits = [row.second_limit.median for row in rows if row.second_limit]
    if second:
        again = sum(limit <= 1.15 for limit in limits)
        there = f"at 1.15 of the limit or below: {again} of {len(limits)}; "
        lines.append(
            "second run, all its calls: "
            + ("" if is_short else there)
            + f"geometric mean of its time over native's: {geometric(second):.2f}"
        )
    return lines


def report(folder: Path) -> list[str]:
    found: list[Row] = []
    blocks = []
    for file in sorted(folder.glob("*.json.zst")):
        cell, rounds = read(file)
        rows = rows_of(cell, rounds)
        blocks.append(table(cell, rounds, rows) if rows else f"### {cell}\n\n{how_measured(cell, rounds)}.")
        found += rows
    parts = {"long messages": [r for r in found if not r.cell.length]}
    parts["short messages"] = [r for r in found if r.cell.length]
    for name, rows in parts.items():
        if rows:
            blocks.append("\n".join([f"### All cells, {name}", "", *(f"- {line}" for line in summary(rows))]))
    return blocks


def cells_of(options: argparse.Namespace) -> list[Cell]:
    cells = []
    several = (options.mpi.split(","), options.hosts, options.rate.split(","), options.short or [0])
    for mpi, hosts, rate, length, condition in product(*several, options.condition.split(",")):
        calls = options.short_calls if length else options.calls
        native = min(options.native_calls or calls, calls)
        uplink = options.uplink or ""
        cells.append(Cell(mpi, hosts, rate, calls, native, length, uplink, options.host_queue, condition))
    return cells


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--hosts",
        default="7,13",
        type=lambda text: [hosts_of(part) for part in text.split(",")],
        help="7, 8x2 (ranks on each), 6x3t (in turn)",
    )
    parser.add_argument("--rate", default="100mbit", help="20mbit,100mbit,400mbit")
    parser.add_argument("--uplink", help="two switches, joined at this rate")
    parser.add_argument(
        "--host-queue", type=int, default=layout.HOST_QUEUE, help="frames that a host holds back"
    )
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--calls", type=int, default=60, help="of each kind")
    parser.add_argument("--native-calls", type=int, help="measured of native; otherwise as many")
    parser.add_argument(
        "--short",
        type=lambda text: [int(part) for part in text.split(",")],
        help="instead of the long ones: vectors and blocks of so many bytes, as 8,64,512,4096",
    )
    parser.add_argument("--short-calls", type=int, default=2000)
    parser.add_argument("--condition", default="", help=f"{', '.join(CONDITIONS)}, with commas")
    parser.add_argument("--second-run", action="store_true", help="and a job with what the first one kept")
    parser.add_argument("--again", action="store_true", help="and native once more in each round")
    parser.add_argument("--jobs", type=int, default=1, help="rounds of a cell")
    parser.add_argument("--budget", type=float, help="seconds after which no round begins")
    parser.add_argument("--out", type=Path, required=True, help="folder of the cells' files")
    parser.add_argument("--name", default="unasked", help="of the lab")
    parser.add_argument("--retry", action="store_true", help="measure again what failed")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    options = parser.parse_args()
    if min(options.calls, options.short_calls, options.native_calls or FIRST + 1) <= FIRST:
        parser.error(f"more than {FIRST} calls, please: the first ones are told apart")
    for condition in options.condition.split(","):
        if condition not in ("", *CONDITIONS):
            parser.error(f"--condition {condition}: valid are {', '.join(CONDITIONS)}")
    for length in options.short or []:
        if length < 4 or length % 4:
            parser.error(f"--short {length}: whole floats, please")
    options.lab = lab_command()
    return options


def main() -> int:
    options = parsed()
    if not options.report:
        options.out.mkdir(parents=True, exist_ok=True)
        measure(cells_of(options), options)
    print("\n\n".join(report(options.out)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
