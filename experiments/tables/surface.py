"""The tables of docs/results/surface.md."""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from unisono.core.estimates import estimate_median
from unisono.core.files import read_json

from experiments import same_results
from experiments.harness import ROOT
from experiments.markdown import table
from experiments.same_results import Row

sys.path.append(str(ROOT / "scripts"))  # overlap_tests uses its neighbour
import overlap_tests

from scripts import neighbours, overlap

FOLDER = ROOT / "docs" / "results" / "surface"


def overlaps(*names: str) -> list[str]:
    return overlap.report([row for name in names for row in read_json(FOLDER / f"{name}.json.zst")])


# --- with calls of MPI_Test


def tests_report(name: str) -> list[str]:
    return list(overlap_tests.report(read_json(FOLDER / f"{name}.json.zst")))


def with_tests() -> list[str]:
    return [line for line in tests_report("overlap-tests") if line.startswith("|")]


CLAIMS = (
    "overlap of 50 % with calls of MPI_Test",
    "call and computing take at most native's time",
    "a pure call takes at most 1.05 of the blocking one",
)
COUNTED = re.compile(r"yes (\d+), no (\d+), undecided (\d+), of (\d+) cells$")


def counted(name: str) -> list[tuple[str, ...]]:
    """Of the claims of one arm after the other: yes, no, undecided, cells."""
    found = [COUNTED.search(line) for line in tests_report(name)]
    return [one.groups() for one in found if one]


def goals_in_lab() -> list[str]:
    found = counted("overlap-tests")
    rows = [(claim, *counts[:3]) for claim, counts in zip(CLAIMS, found, strict=True)]
    return table(("goal", f"cells of {found[0][3]}: yes", "no", "undecided"), rows, (0,))


WAYS = {
    "calls": "messages of the MPI library",
    "memory": "through the node's memory",
    "kernels": "kernels' schedules",
}


def goals_on_node() -> list[str]:
    found = counted("overlap-node-tests")
    rows = [
        (claim, *(", ".join(found[len(CLAIMS) * way + number][:3]) for way in range(len(WAYS))))
        for number, claim in enumerate(CLAIMS)
    ]
    first, *others = WAYS.values()
    return table(("goal", f"{first}: yes, no, undecided of {found[0][3]} cells", *others), rows, range(4))


def on_node() -> list[str]:
    jobs: dict[overlap_tests.Key, overlap_tests.Jobs] = defaultdict(lambda: defaultdict(list))
    for row in read_json(FOLDER / "overlap-node-tests.json.zst"):
        jobs[row["mpi"], row["collective"], row["bytes"]][row["arm"]].append(row)
    rows = []
    for (mpi, collective, size), own in sorted(jobs.items()):
        cells = [figures(own[arm]) for arm in ("native", *WAYS)]
        totals = ", ".join(over_native(own, arm) for arm in WAYS)
        rows.append((mpi, f"I{collective}", str(size), *cells, totals))
    head = ("MPI", "call", "bytes", "native: pure, overlapped us, overlap", *WAYS.values())
    return table((*head, "overlapped / native's: of the three"), rows, (0, 1, 3, 4, 5, 6, 7))


def figures(cells: Sequence[Mapping[str, float]]) -> str:
    pure, overlapped = (estimate_median([cell[of] for cell in cells]).median for of in ("pure", "overlapped"))
    hidden = estimate_median([overlap_tests.overlap(dict(cell)) for cell in cells]).median
    return f"{pure:.3g}, {overlapped:.3g}, {hidden:.0f} %"


def over_native(own: overlap_tests.Jobs, arm: str) -> str:
    both = zip(own[arm], own["native"], strict=False)
    return str(overlap_tests.text(estimate_median([a["overlapped"] / b["overlapped"] for a, b in both])))


# --- others


def among_neighbours() -> list[str]:
    return neighbours.table(read_json(FOLDER / "neighbours.json.zst"))


PROGRAMS = {
    "lammps-melt": "LAMMPS, a melt, 1,000 steps, of which 500 are compared",
    "lammps-copper": "LAMMPS, copper, 200 steps, of which 50 are compared",
    "hpcc": "HPCC",
    "espresso": "Quantum ESPRESSO, silicon",
    "fftw": "FFTW-MPI, 64^3",
    "petsc": "PETSc, pipelined conjugate gradients",  # its name when the table was measured
    "petsc-pipecg": "PETSc, pipelined conjugate gradients",
}


def same() -> list[str]:
    rows = [Row(**row) for row in read_json(FOLDER / "programs.json.zst")]
    named = [Row(**{**vars(row), "program": PROGRAMS[row.program]}) for row in rows]
    return same_results.table(named)


VERSIONS = {
    "mpich": "MPICH 5.0.2",
    "intel": "Intel MPI 2021.19",
    "openmpi": "Open MPI 5.0.11",
    "debian-mpich": "MPICH 4.0.2 of Debian",
    "debian-openmpi": "Open MPI 4.1.4 of Debian",
}
TOTALS = re.compile(r"^(\S+), (\d+) ranks: (.+)$", re.M)
FAILURE = re.compile(r"^(\S+): FAILED .* at (\d+)$", re.M)
AMOUNT = re.compile(r"(\d+) ([a-zA-Z ]+)")


def random_programs() -> list[str]:
    """From what scripts/random_programs.py printed."""
    printed = (FOLDER / "random-programs.txt").read_text()
    failed: dict[str, list[str]] = defaultdict(list)
    for library, seed in FAILURE.findall(printed):
        failed[library].append(seed)
    rows = []
    for library, ranks, text in sorted(TOTALS.findall(printed), key=lambda line: int(line[1])):
        found = {words: f"{int(number):,}" for number, words in AMOUNT.findall(text)}
        more = found.get("programs before those that failed")
        of_all = (found["collectives of all ranks"], found["collectives run by Unisono"])
        neighbours = (
            found["collectives among neighbours of all ranks"],
            found["collectives among neighbours run by Unisono"],
        )
        rows.append(
            (
                VERSIONS[library],
                ranks,
                f"{found['programs']} and {more}" if more else found["programs"],
                found["calls"],
                ", ".join(of_all),
                ", ".join(neighbours),
                found.get("wrong results of the MPI library itself", "0"),
                ", ".join(failed[library] if "FAILED" in text else ()) or "none",
            )
        )
    head = ("library", "ranks", "programs", "calls", "collectives of all ranks, of these run by Unisono")
    others = (
        "among neighbours, run by Unisono",
        "wrong results of the library's own",
        "programs that failed",
    )
    return table((*head, *others), rows, (0, 7))


TABLES: Mapping[str, Callable[[], Sequence[str]]] = {
    "lab": partial(overlaps, "overlap-lab-calls"),
    "lab, threads": partial(overlaps, "overlap-lab-thread"),
    "tests": with_tests,
    "tests, goals": goals_in_lab,
    "node": partial(overlaps, "overlap-node"),
    "node, tests": on_node,
    "node, goals": goals_on_node,
    "neighbours": among_neighbours,
    "programs": same,
    "random programs": random_programs,
}
