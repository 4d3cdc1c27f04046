"""Simulated times of the algorithms that the trees on tori stand beside: Swing, bucket and Trivance on tori,
Bine trees on oversubscribed fat trees, each with what they are instead of.

    python -m experiments.torus.contrast [--only 8x8] [--sizes 32,1K] --folder docs/results/torus

A file for each network and collective, as `unisono sim --json` writes it.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from unisono.core.files import write_json

TORI = ("8x8", "4x4x4", "9x9")
FAT_TREES = ("8x8:4", "16x16:8")
VECTOR = "32,1K,8K,64K,256K,1M,4M,16M"
BLOCK = "32,1K,16K,256K"

ON_TORI = {
    "allreduce": (
        *("swing", "swing_whole", "bucket", "trivance", "trivance_whole"),
        *("ring", "rabenseifner", "recursive_doubling"),
    ),
    "allgather": ("swing", "bucket", "ring", "recursive_doubling"),
    "reduce_scatter": ("swing", "bucket", "ring", "recursive_halving"),
}
ON_FAT_TREES = {
    "bcast": ("bine", "binomial"),
    "reduce": ("bine", "binomial"),
    "gather": ("bine", "binomial"),
    "scatter": ("bine", "binomial"),
    "allgather": ("bine", "recursive_doubling"),
    "reduce_scatter": ("bine", "recursive_halving"),
    "allreduce": ("bine", "bine_whole", "rabenseifner", "recursive_doubling"),
}


@dataclass(frozen=True)
class Run:
    network: str
    collective: str
    algorithms: tuple[str, ...]

    @property
    def file(self) -> str:
        return f"{self.network.replace(':', '-')}-{self.collective}.json.zst"

    def sizes(self) -> str:
        return VECTOR if self.collective in ("bcast", "reduce", "allreduce") else BLOCK


def runs(only: str) -> list[Run]:
    made = [Run(f"torus:{shape}", c, names) for shape in TORI for c, names in ON_TORI.items()]
    made += [Run(f"fattree:{shape}", c, names) for shape in FAT_TREES for c, names in ON_FAT_TREES.items()]
    return [run for run in made if only in run.network]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="networks whose name has this in it")
    parser.add_argument("--collectives", default="", help="only these")
    parser.add_argument("--sizes", default="", help="instead of the standard ones")
    parser.add_argument(
        "--folder", type=Path, required=True, help="for a file for each network and collective"
    )
    options = parser.parse_args()
    wanted = options.collectives.split(",") if options.collectives else []
    chosen = [run for run in runs(options.only) if not wanted or run.collective in wanted]
    if not chosen:
        parser.error("no network here has such a name and such a collective")
    for run in chosen:
        line = ["unisono", "sim", "--platform", run.network, "--collective", run.collective]
        line += ["--arms", ",".join(run.algorithms), "--sizes", options.sizes or run.sizes()]
        line += ["--selectors", "none", "--memory", "8G", "--json", "-"]
        print(" ".join(line), flush=True)
        found = subprocess.run(line, check=False, capture_output=True, text=True)
        if found.returncode != 0:
            print(found.stderr or found.stdout, file=sys.stderr)
            return 1
        write_json(json.loads(found.stdout), options.folder / run.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
