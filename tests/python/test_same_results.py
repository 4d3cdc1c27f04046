"""What programs of others say, and when two of them say the same."""

from pathlib import Path

import pytest
from unisono.core import catalogue, places
from unisono.core.errors import UnisonoError

from experiments import programs, same_results
from experiments.programs import Ran

LAMMPS = """
   Step          Temp          TotEng         Press
         0   3             -2.2755653     -3.7039539
        10   2.0840682     -2.2789081      2.5541198
Loop time of 0.5 on 2 procs for 10 steps with 2048 atoms
"""
PETSC = """  0 KSP Residual norm 7.106335201776e+00
  1 KSP Residual norm 3.570327671328e+00
Norm of error 1.55542 iterations 201
Time (sec):           1.003e+00     1.000   1.003e+00
"""


def test_every_row_is_read() -> None:
    assert programs.read_lammps(LAMMPS).result == (
        3,
        -2.2755653,
        -3.7039539,
        2.0840682,
        -2.2789081,
        2.5541198,
    )
    assert programs.read_petsc(PETSC).result == (7.106335201776, 3.570327671328, 1.55542, "201")
    assert programs.read_transform("transform: 0.5 s, error below 1e-9, sum 2.5").result == (
        "below 1e-9",
        2.5,
    )
    with pytest.raises(UnisonoError, match="PETSc: printed no error"):
        programs.read_petsc("")


def test_digits() -> None:
    native = Ran(1, ("ok", 1000.0, 0.0))
    assert same_results.equal_digits(native, Ran(2, ("ok", 1000.0, 0.0))) is None
    assert same_results.equal_digits(native, Ran(2, ("ok", 1000.001, 0.0))) == 6


def test_forced_sets_name_every_algorithm() -> None:
    sets = catalogue.forced_sets()
    rows = catalogue.algorithms()
    for of in catalogue.collectives():
        forced = {one[f"UNISONO_{of.upper()}"] for one in sets}
        assert forced == {row.name for row in rows if of in row.collectives}


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(places, "REPOSITORY", tmp_path)
    for name, make in (("intel", "intel"), ("debian-mpich", "debian")):
        with pytest.raises(UnisonoError, match=f"no {name} in .deps: run make {make}"):
            places.find_mpi(name)
