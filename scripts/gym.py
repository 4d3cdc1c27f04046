#!/usr/bin/env python3
"""The gym: what policies of online selection make of recorded jobs. tests/gym/README.md.

  .venv/bin/python scripts/gym.py              # replays tests/gym/jobs.json.zst: the table
  .venv/bin/python scripts/gym.py --check      # and fails above a bound of tests/gym/bounds.json
  .venv/bin/python scripts/gym.py --bounds     # writes these bounds anew
  sudo .venv/bin/python scripts/gym.py --record FILE [--only lab|node]    # jobs of this machine

A recorded job runs both ways, the MPI library's own and Unisono's, in random turns (UNISONO_ONLINE=shuffle),
and is traced. Replayed are native alone, the other way alone, what Unisono does, and STAR-MPI's rules
with these two ways. Seconds of all calls; several seeds.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from unisono.core import files, machine, places
from unisono.trace import reader

ROOT = Path(__file__).resolve().parent.parent
GYM = ROOT / "tests" / "gym"
JOBS, BOUNDS = GYM / "jobs.json.zst", GYM / "bounds.json"
LAB = "gym"
CALLS, TURN = 200, 8  # of each kind in a job between hosts, and in the longest turn
NODE_CALLS, NODE_TURN = {"loop": 2048, "compute": 768, "sleep": 256}, 128  # on a node
ROOM = 1.002  # what rounding may add to a bound
NAP = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1"}
VECTORS = ("bcast", "allreduce", "reduce", "scan")
BLOCKS = ("allgather", "reduce_scatter_block", "alltoall")


@dataclass(frozen=True)
class Site:
    """Where jobs are recorded. `vectors`, `blocks`: bytes; near the least for which the rule has an arm,
    and well above."""

    mpi: str
    hosts: int  # 1: this node
    each: int
    rate: str = ""
    pattern: str = "loop"
    vectors: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    is_held_out: bool = False  # looked at last, and by nothing that was tuned

    @property
    def ranks(self) -> int:
        return self.hosts * self.each

    @property
    def calls(self) -> int:
        return CALLS if self.hosts > 1 else NODE_CALLS[self.pattern]

    @property
    def turn(self) -> int:
        return TURN if self.hosts > 1 else NODE_TURN

    @property
    def stratum(self) -> str:
        where = f"{self.hosts} hosts at {self.rate}" if self.hosts > 1 else "a node"
        each = f" of {self.each} ranks" if self.each > 1 else ""
        return f"{where}{each}, {self.pattern}"

    def kinds(self) -> Iterator[tuple[str, int]]:
        node = ("gather", "scatter") if self.hosts == 1 else ()
        for names, lengths in ((VECTORS, self.vectors), (BLOCKS + node, self.blocks)):
            yield from ((name, length) for name in names for length in lengths)
        if self.hosts == 1:
            yield "barrier", 0


def sites(only: str) -> list[Site]:
    found = []
    if only != "node":
        for mpi in ("mpich", "openmpi"):
            vectors, blocks = (96 << 10, 384 << 10), (16 << 10, 64 << 10)
            found += [
                Site(mpi, 4, 1, "20mbit", vectors=(48 << 10,), blocks=(16 << 10,), is_held_out=True),
                Site(mpi, 6, 1, "1gbit", "loop", vectors, blocks),
                Site(mpi, 6, 1, "1gbit", "drift", vectors, blocks),
                Site(mpi, 9, 1, "100mbit", vectors=(96 << 10,), blocks=(16 << 10,)),
                Site(mpi, 14, 1, "100mbit", vectors=(128 << 10,), blocks=(16 << 10,), is_held_out=True),
                Site(mpi, 4, 2, "400mbit", vectors=(96 << 10,), blocks=(16 << 10,)),
            ]
    if only != "lab":
        for mpi in ("mpich", "openmpi"):
            for ranks in (2, 4):
                for pattern in ("loop", "sleep", "compute"):
                    held = ranks == 4 and pattern == "sleep"
                    found.append(Site(mpi, 1, ranks, "", pattern, (8, 32 << 10), (8, 8 << 10), held))
    return found


# Recording


def started(site: Site, trace: Path, words: Sequence[str]) -> None:
    ours = {"UNISONO_ONLINE": f"shuffle:turn={site.turn}", "UNISONO_TRACE": str(trace)}
    ours |= {"XDG_CACHE_HOME": os.devnull}
    ours |= NAP if site.each > 1 else {}
    mpi = places.find_mpi(site.mpi)
    program = [str(places.program(f"gym_job_{mpi.flavour}")), *words]
    if site.hosts > 1:
        command = [str(Path(sys.executable).with_name("unisono")), "lab", "run", "--name", LAB]
        command += ["--mpi", site.mpi, "-n", str(site.ranks), "--ppn", str(site.each), "--", *program]
        environment = os.environ | ours
    else:
        under = str(places.program("unisono-exec"))
        command = [*mpi.launcher(site.ranks), under, *program]
        environment = mpi.shell(site.ranks) | ours
    subprocess.run(command, check=True, capture_output=True, env=environment, timeout=400)


def recorded(site: Site, folder: Path) -> Iterator[dict[str, Any]]:
    """Of each kind of call: arm, nanoseconds until the slowest rank's end, and in the call of each rank."""
    trace = reader.read(folder)
    ranks = [trace.ranks[rank].events for rank in range(site.ranks)]
    for collective, length in site.kinds():
        number = trace.collectives.index(collective)
        size = length * site.ranks if collective == "reduce_scatter_block" else length
        mine = [events[(events["collective"] == number) & (events["bytes"] == size)] for events in ranks]
        if {len(events) for events in mine} != {site.calls}:
            raise SystemExit(f"{site.stratum}, {site.mpi}: {collective} of {length} B is not in the trace")
        arms = np.minimum(mine[0]["algorithm"], 1)
        ends = np.max([events["end_ns"] for events in mine], axis=0)
        first = min(int(events["begin_ns"][0]) for events in mine)
        whole = np.diff(ends, prepend=first)
        own = np.array([events["end_ns"] - events["begin_ns"] for events in mine])
        if len(set(arms.tolist())) < 2:
            continue  # no second way here
        columns = own if site.hosts == 1 else own.max(axis=0, keepdims=True)
        calls = [
            [int(arm), short(all_), *map(short, times)]
            for arm, all_, times in zip(arms, whole, columns.T, strict=True)
        ]
        yield {
            "name": f"{site.mpi}, {site.stratum}: {collective} of {length} B",
            "stratum": site.stratum,
            "is_held_out": site.is_held_out,
            "mpi": site.mpi,
            "collective": collective,
            "bytes": size,
            "ranks": site.ranks,
            "nodes": site.hosts,
            "exchange": 2 * site.turn,  # calls, see src/select/online/shuffle.h
            "shares_cores": site.hosts == 1 and site.each > (os.cpu_count() or 1),
            "calls": calls,
        }


def short(time: float) -> int:
    """Two digits."""
    return int(float(f"{max(time, 1):.2g}"))


def least_disturbed(site: Site, tries: int) -> list[dict[str, Any]]:
    """Of several jobs the one that took the least time."""
    words = [str(site.calls), site.pattern, *(f"{name}:{length}" for name, length in site.kinds())]
    jobs = []
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as folder:
            started(site, Path(folder), words)
            jobs.append(list(recorded(site, Path(folder))))
    return min(jobs, key=lambda kinds: sum(call[1] for kind in kinds for call in kind["calls"]))


def record(file: Path, only: str, tries: int) -> None:
    """What is not recorded stays."""
    jobs: list[dict[str, Any]] = []
    if only and file.exists():
        jobs = [job for job in files.read_json(file)["jobs"] if (job["nodes"] > 1) == (only == "node")]
    bed = None
    lab = [str(Path(sys.executable).with_name("unisono")), "lab"]
    for site in sorted(sites(only), key=lambda one: (one.hosts, one.rate)):
        if site.hosts > 1 and bed != (site.hosts, site.rate):
            if bed:
                subprocess.run([*lab, "down", "--name", LAB], check=True, stdout=subprocess.DEVNULL)
            bed = (site.hosts, site.rate)
            up = ["up", "--name", LAB, "--hosts", str(site.hosts), "--rate", site.rate]
            subprocess.run([*lab, *up], check=True, stdout=subprocess.DEVNULL)
        try:
            found = least_disturbed(site, tries)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{site}: {error}: {(error.stderr or b'')[-500:]!r}", file=sys.stderr)
            continue
        jobs += found
        files.write_json({"cores": machine.cores().usable, "jobs": jobs}, file)
        print(f"{site.mpi}, {site.stratum}: {len(found)} kinds", file=sys.stderr, flush=True)
    if bed:
        subprocess.run([*lab, "down", "--name", LAB], check=True, stdout=subprocess.DEVNULL)


# Replaying


@dataclass(frozen=True)
class Row:
    """Times over those of native alone: of the other way alone, of Unisono's choices, of STAR's."""

    job: dict[str, Any]
    other: float
    ours: float
    star: float

    @property
    def best(self) -> float:
        return min(1.0, self.other)


def replayed(jobs: list[dict[str, Any]]) -> list[Row]:
    done = subprocess.run(
        [str(places.program("unisono_gym"))],
        input=json.dumps({"jobs": jobs}),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = []
    for job, line in zip(jobs, map(json.loads, done.stdout.splitlines()), strict=True):
        seconds = {name: statistics.median(times) for name, times in line["seconds"].items()}
        native = seconds["native"]
        rows.append(Row(job, *(seconds[name] / native for name in ("other", "ours", "star"))))
    return rows


def geometric(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def figures(rows: list[Row]) -> dict[str, float]:
    return {
        "ours over native, mean": geometric(row.ours for row in rows),
        "ours over native, worst": max(row.ours for row in rows),
        "ours over the better way, mean": geometric(row.ours / row.best for row in rows),
        "ours over the better way, worst": max(row.ours / row.best for row in rows),
    }


def strata(rows: list[Row]) -> dict[str, list[Row]]:
    names = dict.fromkeys(row.job["stratum"] for row in rows)
    found = {name: [row for row in rows if row.job["stratum"] == name] for name in names}
    return found | {"all": rows}


def table(rows: list[Row]) -> list[str]:
    heads = ["jobs", "number", "other way alone", "Unisono", "worst", "over the better way", "worst", "STAR"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    for name, some in strata(rows).items():
        values = [geometric(row.other for row in some), *figures(some).values()]
        values.append(geometric(row.star for row in some))
        held = " (held out)" if name != "all" and some[0].job["is_held_out"] else ""
        cells = [name + held, str(len(some)), *(f"{value:.2f}" for value in values)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def excess(rows: list[Row], bounds: dict[str, dict[str, float]]) -> list[str]:
    found = {name: figures(some) for name, some in strata(rows).items()}
    if found.keys() != bounds.keys():
        return ["the jobs are not those of the bounds: scripts/gym.py --bounds"]
    return [
        f"{name}: {what} is {value:.3f}, {bounds[name][what]:.3f} is the bound"
        for name, values in found.items()
        for what, value in values.items()
        if value > bounds[name][what] * ROOM
    ]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=Path, default=JOBS)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--tries", type=int, default=1, help="jobs of a site, of which the fastest stays")
    parser.add_argument("--only", choices=["lab", "node"], default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bounds", action="store_true")
    parser.add_argument("--all", action="store_true", help="a line for each job")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    if options.record:
        record(options.record, options.only, options.tries)
        return 0
    rows = replayed(files.read_json(options.jobs)["jobs"])
    for row in rows if options.all else ():
        print(f"{row.job['name']}: other {row.other:.2f}, ours {row.ours:.3f}, STAR {row.star:.2f}")
    print("\n".join(table(rows)))
    if options.bounds:
        bounds = {name: figures(some) for name, some in strata(rows).items()}
        text = {name: {k: round(v, 4) for k, v in one.items()} for name, one in bounds.items()}
        BOUNDS.write_text(json.dumps(text, indent=1) + "\n")
    wrong = excess(rows, files.read_json(BOUNDS)) if options.check else []
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
