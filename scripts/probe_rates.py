#!/usr/bin/env python3
"""What the probe of the network says in the lab, over what is true: the rate, and the one-way time.

  sudo .venv/bin/python scripts/probe_rates.py [--rates 20mbit,100mbit] [--mpi mpich] [--jobs 10] --json FILE

Jobs that ask for the network (UNISONO=measure), a rank on each of 6 hosts. The true rate is the lab's, less
what frames add to a message. Needs root and a built tree.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from unisono.core import places
from unisono.core.files import write_json
from unisono.lab import cluster, layout, network

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.kinds_in_lab import GOODPUT

NAME = "probe"
NEAR = 0.1
SAID = re.compile(r"between nodes ([\d.]+) us, [\d.]+ us a message, (\d+) Mb/s")


@dataclass(frozen=True)
class Job:
    """`ratio`: measured over true rate, `one_way`: us; nothing where it was refused."""

    mpi: str
    rate: str
    load: float
    ratio: float | None = None
    one_way: float | None = None


def measured(lab: cluster.Lab, mpi: str, rate: str, hosts: int) -> Job:
    library = places.find_mpi(mpi)
    program = [
        str(places.program("unisono-exec")),
        str(places.program(f"unisono-start-{library.flavour}")),
    ]
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory() as cache:
        asks = {"UNISONO": "measure", "UNISONO_LOG": "decision", "XDG_CACHE_HOME": cache}
        line, environment = lab.command(library, hosts, 1, program, asks)
        done = subprocess.run(line, check=False, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{mpi} at {rate}: {done.stderr[-500:]}")
    found = SAID.search(done.stderr)
    if not found:
        return Job(mpi, rate, load)
    return Job(mpi, rate, load, float(found[2]) * 1e6 / (layout.rate_of(rate) * GOODPUT), float(found[1]))


def table(jobs: Sequence[Job]) -> list[str]:
    lines = [
        "| rate | library | jobs | not measured | over the true rate: least, median, most | within 10 % |"
    ]
    lines[0] += " one way, us: least, median, most |"
    lines.append("| --- | --- | ---: | ---: | --- | ---: | --- |")
    for rate, mpi in dict.fromkeys((job.rate, job.mpi) for job in jobs):
        some = [job for job in jobs if (job.rate, job.mpi) == (rate, mpi)]
        ratios = sorted(job.ratio for job in some if job.ratio is not None)
        times = sorted(job.one_way for job in some if job.one_way is not None)
        cells = [rate, mpi, str(len(some)), str(len(some) - len(ratios))]
        if ratios:
            cells.append(f"{ratios[0]:.2f}, {median(ratios):.2f}, {ratios[-1]:.2f}")
            cells.append(str(sum(abs(ratio - 1) <= NEAR for ratio in ratios)))
            cells.append(f"{times[0]:.0f}, {median(times):.0f}, {times[-1]:.0f}")
        else:
            cells += ["", "0", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rates", default="20mbit,100mbit,400mbit,1gbit")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    parser.add_argument("--hosts", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    jobs = []
    for rate in options.rates.split(","):
        network.up(NAME, layout.Plan(hosts=options.hosts, rate=layout.rate_of(rate)))
        try:
            lab = cluster.current(NAME)
            for _ in range(options.jobs):
                jobs += [measured(lab, mpi, rate, options.hosts) for mpi in options.mpi.split(",")]
        finally:
            network.down(NAME)
    print("\n".join(table(jobs)))
    if options.json:
        write_json({"hosts": options.hosts, "jobs": [asdict(job) for job in jobs]}, options.json)


if __name__ == "__main__":
    main()
