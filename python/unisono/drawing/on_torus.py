"""`unisono show --torus`: a rank on each host of a torus; the trees of its collectives, drawn."""

import math
import re
from pathlib import Path

from unisono.core import catalogue
from unisono.core.errors import UnisonoError
from unisono.drawing import torus as torus_drawing

# As torus_trees() in src/algorithms/torus.cpp has it.
USES = {"bcast": "broadcast", "reduce": "reduction"}


def hosts(torus: str) -> int:
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)*", torus):
        raise UnisonoError(f"--torus {torus}: write its sizes, as in 4x4x8")
    return math.prod(map(int, torus.split("x")))


def topology(torus: str) -> str:
    """A topology file: rank i on host i."""
    count = hosts(torus)
    ranks = [f"NodeName=host{i} Ranks={i}" for i in range(count)]
    return "\n".join([f"Torus={torus}", f"NodeName=host[0-{count - 1}]", *ranks]) + "\n"


def draw(collective: str, algorithm: str, torus: str, root: int, drawing: Path) -> str:
    """The trees of `torus`; a line for people."""
    name, _, parameters = catalogue.complete_spec(collective, algorithm).partition(":")
    if name != "torus":
        raise UnisonoError(f"--svg with --torus draws the trees of torus, not {name}: leave out --torus")
    kind = dict(item.split("=") for item in parameters.split(","))["trees"]
    use = USES.get(collective, "both")
    place = ["--root", str(root)] if collective in USES else []
    return torus_drawing.write(["--torus", torus, "--trees", kind, "--for", use, *place], drawing)
