#!/usr/bin/env python3
"""Which way each call of small programs goes, beside what is kept in tests/golden/routes-FLAVOUR.txt.

  golden.py FOLDER FLAVOUR [--write] -- LAUNCHER...      it ends with the option for the number of ranks

FOLDER has the programs: golden_programs_FLAVOUR, and golden_nodes_FLAVOUR, whose ranks are on two nodes that
are made up. A job is one of programs.cpp with settings under which nothing depends on times: with
UNISONO_ONLINE=shuffle the two ways of a kind take turns that a seed decides. Jobs see two cores, so that four
ranks share them. What Unisono says of its decisions is kept too, sorted, since its place among other lines is
chance. After a change that is meant, --write keeps what is found.
"""

from __future__ import annotations

import difflib
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHUFFLED = {"UNISONO_ONLINE": "shuffle:seed=3,turn=8"}
FIXED = {"UNISONO": "fixed"}
CORES = 2
OURS = "unisono: "
BEDS = (("programs", 2), ("programs", 4), ("nodes", 4))
TIMED = ("online: ", "network: ", "node memory: ")  # lines that tell times
# Programs, and settings; each on each bed.
JOBS: list[tuple[str, dict[str, str]]] = [
    ("kinds", SHUFFLED),
    ("kinds", FIXED),
    ("kinds", FIXED | {"UNISONO_SHM": "0"}),
    ("kinds", SHUFFLED | {"UNISONO_REPRODUCIBLE": "placement"}),
    ("kinds", {"UNISONO_ALLREDUCE": "ring", "UNISONO_BCAST": "shm", **SHUFFLED}),
    ("young", SHUFFLED),
    ("young", FIXED),
    ("young", {"UNISONO_BCAST": "chain:segment=auto", **SHUFFLED}),
    ("sums", SHUFFLED),
    ("sums", SHUFFLED | {"UNISONO_REPRODUCIBLE": "off"}),
    ("operations", SHUFFLED),
    ("operations", FIXED),
    ("forcing", SHUFFLED),
    ("nonblocking", SHUFFLED),
    ("nonblocking", {"UNISONO_ALLREDUCE": "ring", "UNISONO_BCAST": "chain:segment=auto", **FIXED}),
    ("nonblocking", {"UNISONO_ALLREDUCE": "ring:transport=shm", **FIXED}),
    ("persistent", SHUFFLED),
    ("persistent", {"UNISONO_ALLREDUCE": "recursive_doubling", **FIXED}),
    ("datatypes", SHUFFLED),
    ("refused", FIXED),
    ("groups", SHUFFLED),
    ("neighbours", {"UNISONO_NEIGHBOR_ALLTOALL": "linear", **FIXED}),
    ("neighbours", SHUFFLED),
    ("orders", {"UNISONO_ALLTOALLV": "token_list", **FIXED}),
    ("lengths", SHUFFLED),
    ("twins", SHUFFLED),
    ("twins", {"UNISONO": "off"}),
]


def job(command: list[str], ranks: int, program: Path, name: str, settings: dict[str, str]) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("UNISONO")}
    environment |= {"UNISONO_LOG": "decision", "XDG_CACHE_HOME": os.devnull} | settings
    some = sorted(os.sched_getaffinity(0))[:CORES]
    done = subprocess.run(
        [*command, str(ranks), str(program), name],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, some),
    )
    lines = re.sub(r"\d+\.\d+ ms", "T ms", done.stdout).splitlines()
    said = sorted({line.removeprefix(OURS) for line in lines if line.startswith(OURS)})
    kept = [f"  {line}" for line in said if not line.startswith(TIMED)]
    status = [] if done.returncode == 0 else [f"exit status {done.returncode}"]
    return "\n".join([line for line in lines if not line.startswith(OURS)] + kept + status)


def texts(command: list[str], folder: Path, flavour: str) -> Iterator[str]:
    for (name, settings), (bed, ranks) in itertools.product(JOBS, BEDS):
        words = " ".join(f"{key}={value}" for key, value in settings.items())
        routes = job(command, ranks, folder / f"golden_{bed}_{flavour}", name, settings)
        yield f"== {name}, {ranks} ranks, {bed}, {words}\n{routes}\n"


def main() -> int:
    split = sys.argv.index("--")
    folder, flavour, *options = sys.argv[1:split]
    kept = HERE / f"routes-{flavour}.txt"
    if len(os.sched_getaffinity(0)) < CORES:
        print(f"golden.py: skipped: fewer than {CORES} cores")
        return 0
    found = "\n".join(texts(sys.argv[split + 1 :], Path(folder), flavour))
    if "--write" in options:
        kept.write_text(found)
        return 0
    if (before := kept.read_text()) == found:
        print(f"golden.py: {found.count('== ')} jobs as kept")
        return 0
    print(
        "\n".join(difflib.unified_diff(before.splitlines(), found.splitlines(), "kept", "now", lineterm=""))
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
