"""unisono run: an unmodified mpi4py program under both MPI libraries."""

import json
import sys
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import launch, places
from unisono.core.errors import UnisonoError

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "kmeans.py"


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_an_mpi4py_program(unisono: Run, mpi: str) -> None:
    program = [sys.executable, str(EXAMPLE), "--iterations", "2", "--points", "100"]
    own = unisono(
        "run", "-n", "2", "--mpi", mpi, "--force", "allreduce=recursive_doubling", "--log", *program
    )
    assert own.returncode == 0, own.stderr
    native = unisono("run", "-n", "2", "--mpi", mpi, *program, UNISONO_DISABLE="1")
    assert native.returncode == 0, native.stderr
    mine, theirs = (json.loads(done.stdout.splitlines()[-1]) for done in (own, native))
    assert mine["ranks"] == theirs["ranks"] == 2
    assert mine["checksum"] == theirs["checksum"]
    assert "recursive_doubling" in own.stderr
    assert "recursive_doubling" not in native.stderr


def test_a_compiled_program_chooses_its_mpi() -> None:
    for flavour in ("mpich", "openmpi"):
        bench = str(places.program(f"unisono-bench-{flavour}"))
        assert launch.choose_mpi(None, bench).flavour == flavour
    with pytest.raises(UnisonoError, match="is linked to openmpi: it cannot run under --mpi mpich"):
        launch.choose_mpi("mpich", bench)


@pytest.mark.parametrize(("name", "interface"), places.FLAVOURS.items())
def test_a_library_of_the_same_interface_may_be_named(
    name: str, interface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = places.Mpi(interface, Path("/"), name)
    monkeypatch.setattr(places, "find_mpi", lambda _: found)
    monkeypatch.setattr(launch, "flavour_needed_by", lambda _: interface)
    assert launch.choose_mpi(name, "program") == found
    monkeypatch.setattr(launch, "flavour_needed_by", lambda _: "another")
    with pytest.raises(UnisonoError, match=f"cannot run under --mpi {name}"):
        launch.choose_mpi(name, "program")


def test_open_mpi_is_told_what_to_forward() -> None:
    mpi = places.Mpi("openmpi", Path("/opt/mpi"))
    line = launch.with_variables(mpi, ["mpiexec", "-n", "2", "a"], {"UNISONO_LOG": "x", "HOME": "/"})
    assert line == ["mpiexec", "-x", "UNISONO_LOG", "-n", "2", "a"]


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_a_profile_reaches_the_job(unisono: Run, tmp_path: Path, mpi: str) -> None:
    program = [sys.executable, str(EXAMPLE), "--iterations", "1", "--points", "100"]
    profile = tmp_path / "newer.json"
    profile.write_text('{"format": "unisono-profile", "version": 2}')
    done = unisono("run", "-n", "2", "--mpi", mpi, "--profile", str(profile), *program)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"UNISONO_PROFILE={profile}: it was made by a newer Unisono") == 1


def test_a_profile_that_is_not_there(unisono: Run, tmp_path: Path) -> None:
    done = unisono("run", "--profile", str(tmp_path / "none.json"), sys.executable)
    assert done.returncode == 2
    assert "none.json: no such file" in done.stderr
