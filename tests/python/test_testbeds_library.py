"""What is measured is the MPI library of the mpiexec that starts the job: found, asked of a job, shown."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from conftest import Run
from unisono.compare import results
from unisono.compare.cli import libraries_of
from unisono.core import jobs, places
from unisono.core.errors import RunError, SetupError, UnisonoError
from unisono.core.places import Mpi
from unisono.profile import check
from unisono.testbeds import library
from unisono.testbeds.beds import Node

DEBIAN = {"mpich": "libmpich.so.12", "openmpi": "libmpi.so.40"}
HERE = [f"debian-{flavour}" for flavour in DEBIAN if places.mpi_of_debian(flavour)]


@pytest.fixture
def usr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with Debian's two packages and nothing else, on which Open MPI's is mpiexec."""
    home = tmp_path / "usr"
    (home / "bin").mkdir(parents=True)
    (home / "lib" / "x86_64-linux-gnu").mkdir(parents=True)
    for name in ("orterun", "ompi_info", "mpiexec.hydra", *DEBIAN.values()):
        path = home / ("lib/x86_64-linux-gnu" if name.startswith("lib") else "bin") / name
        path.touch(mode=0o755)
    for link, target in (("openmpi", "orterun"), ("mpich", "mpiexec.hydra")):
        (home / "bin" / f"mpiexec.{link}").symlink_to(target)
    (home / "bin" / "mpiexec").symlink_to("mpiexec.openmpi")
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setattr(places, "REPOSITORY", tmp_path)
    monkeypatch.setattr(places, "prefix", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return home


def test_the_libraries_of_debian_have_names(usr: Path) -> None:
    for flavour, file in DEBIAN.items():
        mpi = places.find_mpi(f"debian-{flavour}")
        assert mpi.mpiexec == usr / "bin" / f"mpiexec.{flavour}"
        assert mpi.library == usr / "lib" / "x86_64-linux-gnu" / file
        found = places.find_mpi(flavour)
        assert (found.flavour, found.library) == (flavour, mpi.library), "also without naming Debian"
    assert places.find_mpi(None).mpiexec == usr / "bin" / "mpiexec"
    assert places.standard_names() == ["mpich", "openmpi"]


def test_what_is_not_installed_is_named(usr: Path) -> None:
    (usr / "bin" / "mpiexec.mpich").unlink()
    if not Path("/usr/bin/mpiexec.mpich").exists():
        with pytest.raises(SetupError, match="install mpich"):
            places.find_mpi("debian-mpich")
    with pytest.raises(SetupError, match="run make intel"):
        places.find_mpi("intel")


def test_the_bench_is_given_the_library_of_the_mpiexec(usr: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "program", lambda name: Path("/opt") / name)
    folder = usr / "lib" / "x86_64-linux-gnu"
    assert places.find_mpi(None).tool("unisono-bench") == [
        *("/usr/bin/env", f"LD_LIBRARY_PATH={folder}", "/opt/unisono-bench-openmpi")
    ]
    _, variable, bench = places.find_mpi("mpich").tool("unisono-bench")
    [link] = Path(variable.removeprefix("LD_LIBRARY_PATH=")).iterdir()
    assert (link.name, link.resolve(), bench) == (
        *("libmpi.so.12", folder / "libmpich.so.12", "/opt/unisono-bench-mpich"),
    )


def test_a_link_to_the_mpiexec_leads_to_its_library(usr: Path, tmp_path: Path) -> None:
    (tmp_path / "own" / "bin").mkdir(parents=True)
    (tmp_path / "own" / "bin" / "mpiexec").symlink_to(usr / "bin" / "mpiexec")
    mpi = places.mpi_of(tmp_path / "own" / "bin" / "mpiexec")
    assert mpi.library == usr / "lib" / "x86_64-linux-gnu" / "libmpi.so.40"


@pytest.mark.parametrize("missing", ["mpich", "openmpi"])
def test_compare_takes_the_libraries_that_are_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    other = Mpi("openmpi" if missing == "mpich" else "mpich", tmp_path)
    monkeypatch.setattr(places, "all_mpis", lambda: [other])
    monkeypatch.setattr(places, "mpi_on_path", lambda: other)
    monkeypatch.setattr(places, "program", lambda name: Path("/opt") / name)
    assert libraries_of(Node(), None) == {other.name: other}
    with pytest.raises(SetupError, match=f"no {missing} found"):
        libraries_of(Node(), missing)
    monkeypatch.setattr(places, "all_mpis", lambda: [])
    monkeypatch.setattr(places, "mpi_on_path", lambda: None)
    with pytest.raises(SetupError, match="no mpiexec found"):
        libraries_of(Node(), None)


def test_two_of_one_name_are_not_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(places, "program", lambda name: Path("/opt") / name)
    monkeypatch.setattr(places, "mpi_on_path", lambda: Mpi("openmpi", tmp_path / "a"))
    monkeypatch.setattr(places, "all_mpis", lambda: [Mpi("openmpi", tmp_path / "b")])
    with pytest.raises(UnisonoError, match="are both openmpi: one at a time"):
        libraries_of(Node(), "auto,openmpi")


def asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: Sequence[dict[str, object]]
) -> library.Loaded:
    monkeypatch.setattr(places, "program", lambda name: Path("/opt") / name)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so.40").touch()
    lines = "\n".join(["a warning", *(json.dumps(one, separators=(",", ":")) for one in told)])
    outcome = jobs.Outcome(lines, "" if told else "exit status 1: no slots")
    return library.ask(Node(), Mpi("openmpi", tmp_path), 2, 2, lambda *_: outcome)


def line(path: Path, ranks: int = 2) -> dict[str, object]:
    return {"mpi_library": "Open MPI v9", "mpi_library_path": str(path), "ranks": ranks}


def test_a_job_says_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "lib" / "libmpi.so.40"
    loaded = asked(tmp_path, monkeypatch, [line(own)])
    assert loaded.text() == f"openmpi: Open MPI v9 ({own}), started by {tmp_path}/bin/mpiexec"


@pytest.mark.parametrize(
    ("ranks", "count", "said"),
    [
        (2, 1, "belongs to .*lib/libmpi.so.40, but its job has /other/libmpi.so.40"),
        (1, 2, "started 2 jobs of 1, not one of 2: it is not the launcher of /other/libmpi.so.40"),
        (2, 0, "no job of openmpi can be started: exit status 1: no slots"),
    ],
)
def test_another_library_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: int, count: int, said: str
) -> None:
    with pytest.raises(RunError, match=said):
        asked(tmp_path, monkeypatch, [line(Path("/other/libmpi.so.40"), ranks)] * count)


@pytest.mark.mpi
def test_tune_measures_the_library_of_the_mpiexec_in_path(unisono: Run, tmp_path: Path) -> None:
    """Where PATH's is another than the one that the bench was built with. The budget is too short for the
    cost model, and is enough for the one cell."""
    mpi = places.mpi_on_path()
    if mpi is None:
        pytest.skip("there is no mpiexec in PATH")
    line = ["tune", "--node", "-n", "2", "--collectives", "bcast", "--sizes", "64", "--budget", "4"]
    done = unisono(*line, "-o", str(tmp_path / "p.json"), "--json", str(tmp_path / "t.json"))
    assert "1 of 1 cells measured" in done.stdout, done.stdout + done.stderr
    told = json.loads((tmp_path / "t.json").read_text())["library"]
    assert Path(told["path"]).resolve() == mpi.library.resolve()
    assert (
        done.stderr.splitlines()[0]
        == f"{mpi.name}: {told['version']} ({told['path']}), started by {mpi.mpiexec}"
    )
    if (tmp_path / "p.json").exists():  # not where it was undecided
        [environment] = check.load(tmp_path / "p.json").environments
        assert " ".join(environment.key.library.split()) == told["version"]


@pytest.mark.mpi
@pytest.mark.skipif(not HERE, reason="none of Debian's MPI libraries is installed")
def test_compare_measures_the_libraries_of_debian(unisono: Run, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    line = ["compare", "--node", "-n", "2", "--passes", "1", "--budget", "0.02", "--sizes", "8"]
    done = unisono(*line, "--collectives", "bcast", "--mpi", ",".join(HERE), "--json", str(file))
    assert done.returncode == 0, done.stderr + done.stdout
    comparison = results.load(file)
    assert [one.name for one in comparison.libraries] == HERE
    for one in comparison.libraries:
        assert Path(one.path).resolve() == places.find_mpi(one.name).library.resolve()
        assert one.text() in done.stdout and one.text() in done.stderr
    told = {machine["mpi"]: machine["mpi_library_path"] for machine in comparison.machines}
    assert told == {one.name: one.path for one in comparison.libraries}
    assert msgspec.to_builtins(results.document_of(comparison))["libraries"][0]["name"] == HERE[0]
    assert shutil.which("mpiexec") is None or len(comparison.cells) == len(HERE)
