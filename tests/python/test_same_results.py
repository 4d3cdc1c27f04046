"""Programs of others with other algorithms: in how many digits they agree."""

from pathlib import Path

import pytest
from unisono.core import catalogue, places
from unisono.core.errors import UnisonoError

from experiments import same_results
from experiments.programs.program import Ran


def ran(*values: str) -> Ran:
    return Ran("", 1.0, None, {"numbers": values})


def test_digits() -> None:
    native = ran("ok", "1000.0", "0.0")
    assert same_results.equal_digits(native, ran("ok", "1000.0", "0.0")) is None
    assert same_results.equal_digits(native, ran("ok", "1000.001", "0.0")) == 6


def test_forced_sets_name_every_algorithm() -> None:
    sets = catalogue.forced_sets()
    rows = catalogue.algorithms()
    for of in catalogue.collectives():
        forced = {one[f"UNISONO_{of.upper()}"] for one in sets}
        assert forced == {row.name for row in rows if of in row.collectives}


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(places, "REPOSITORY", tmp_path)
    with pytest.raises(UnisonoError, match=r"no intel in \.deps: run make intel"):
        places.find_mpi("intel")
