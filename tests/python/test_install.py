"""What is installed works without the checkout: a prefix that was moved, a wheel, a Debian package."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from unisono import __version__
from unisono.core import places

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("UNISONO_BUILD", ROOT / "build"))
HERE = Path(__file__).with_name("installed")
FLAVOURS = ("mpich", "openmpi")
# The packages that the command line needs, in place of fetching them for each test.
PACKAGES = sysconfig.get_path("purelib")
MOST_BYTES = 10_000_000
CALLS = 100  # of counted.c

pytestmark = pytest.mark.skipif(
    not (BUILD / "cmake_install.cmake").exists(), reason="UNISONO_BUILD is no build directory"
)


def cmake(*arguments: str | Path, environment: dict[str, str] | None = None) -> str:
    return run(of_cmake("cmake"), *arguments, env=environment)


def of_cmake(name: str) -> str:
    """Where the system's is too old, bootstrap.sh has put one beside Python."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    assert found
    return found


def run(
    *command: str | Path,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, env=env, cwd=cwd, timeout=timeout
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def library(flavour: str) -> places.Mpi:
    mpi = places.mpi_from_wheel(flavour)
    assert mpi
    return mpi


def shell(home: Path, *folders: Path, **variables: str) -> dict[str, str]:
    """The environment of somebody who has nothing else."""
    path = ":".join(map(str, [*folders, "/usr/bin", "/bin"]))
    forced = {"UNISONO_ALLREDUCE": "recursive_doubling"}  # the same number of calls on every machine
    consent = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "^ofi"}
    return {
        "HOME": str(home),
        "PATH": path,
        places.MAPPING: ":oversubscribe",
        **consent,
        **forced,
        **variables,
    }


def job(flavour: str, home: Path, folder: Path, *command: str | Path, ranks: int = 2) -> str:
    mpi = library(flavour)
    environment = shell(home, folder, mpi.home / "bin")
    return run("mpiexec", "-n", str(ranks), *command, env=environment, cwd=home, timeout=60)


def unisono_ran(output: str) -> bool:
    found = re.search(r"sum 1 own (\d+)", output)
    assert found, output
    assert int(found[1]) in {0, CALLS}, output
    return int(found[1]) == CALLS


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    for flavour in FLAVOURS:
        compiler = library(flavour).home / "bin" / "mpicc"
        run(compiler, HERE / "counted.c", "-o", folder / flavour, "-ldl", env=shell(folder, compiler.parent))
    return {flavour: folder / flavour for flavour in FLAVOURS}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installed in one place, and moved to another."""
    folder = tmp_path_factory.mktemp("prefix")
    cmake("--install", BUILD, "--prefix", folder / "first", "--strip")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture(scope="module")
def environment_of_wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A virtual environment with nothing but our wheel in it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    options = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", folder)
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with (BUILD / "wheel.lock").open("w") as lock:  # the tests with MPI run beside those without
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(*pip, "wheel", *options, ROOT, env=here | {"UNISONO_BUILD": str(BUILD)})
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    run(*pip, "--python", folder / "venv" / "bin" / "python", "install", "--no-deps", wheel, env=here)
    yield folder / "venv"


def elf_files(folder: Path) -> list[Path]:
    """Ours, without those of the Python packages that are bundled."""
    bundled = folder / "lib" / "unisono" / "packages"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    files = [path for path in files if not path.is_relative_to(bundled)]
    return [path for path in files if path.open("rb").read(4) == b"\x7fELF"]


def test_nothing_in_a_prefix_knows_where_it_was_built(prefix: Path) -> None:
    files = [path for path in prefix.rglob("*") if path.is_file()]
    assert len(elf_files(prefix)) >= 13
    secrets = [str(place).encode() for place in {ROOT, BUILD, BUILD.resolve(), prefix.with_name("first")}]
    told = [path for path in files for place in secrets if place in path.read_bytes()]
    assert not told, [str(path.relative_to(prefix)) for path in told]


SYSTEM = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
CXX = {"libstdc++.so.6", "libgcc_s.so.1"}
BRIDGE = "libunisono-over-"  # and the MPI library that it names


def test_what_programs_run_under_needs_no_cxx_runtime(prefix: Path) -> None:
    """The program may bring one of its own. The tools, and the library that they share, have the system's."""
    needed = {path.name: {line.split("[")[1][:-1] for line in needs(path)} for path in elf_files(prefix)}
    under = [name for name in needed if name.startswith("libunisono") and name != "libunisono-layers.so"]
    bridges = {
        name: name.removeprefix(BRIDGE).removesuffix(".so") for name in under if name.startswith(BRIDGE)
    }
    assert len(under) >= len(FLAVOURS) + len(bridges) + 3
    assert {"libmpi.so.12", "libmpich.so.12", "libmpi.so.40"} <= set(bridges.values())
    flavours = {f"libunisono-{flavour}.so" for flavour in (*FLAVOURS, "abi")}
    assert needed["libunisono.so"] == set()
    for name in [*under, "unisono-exec"]:
        assert needed[name] <= SYSTEM | (flavours | {bridges[name]} if name in bridges else set()), name
    ours = {"libunisono-layers.so"} | flavours | set(bridges.values())
    assert set().union(*needed.values()) <= SYSTEM | CXX | ours | {"libmpi.so.12", "libmpi.so.40"}


def test_the_tools_need_no_newer_cxx_runtime_than_rhel_9_has(prefix: Path) -> None:
    told = "".join(run("readelf", "--version-info", path) for path in elf_files(prefix))
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBCXX_([\d.]+)", told)}
    assert versions
    assert max(versions) <= (3, 4, 29)


def needs(path: Path) -> list[str]:
    return [line for line in run("readelf", "-d", path).splitlines() if "(NEEDED)" in line]


def test_every_program_says_its_version(prefix: Path) -> None:
    names = sorted(path.name for path in (prefix / "bin").iterdir() if path.name != "unisono")
    assert len(names) >= 9
    for name in names:
        flavour = name.rpartition("-")[2]
        known = flavour in FLAVOURS
        paths = {"LD_LIBRARY_PATH": str(library(flavour).library.parent)} if known else {}
        said = run(prefix / "bin" / name, "--version", env=shell(prefix, **paths))
        assert said.split() == [name.removesuffix(f"-{flavour}") if known else name, __version__]


def alone(prefix: Path, home: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The prefix's command line on a Python without any package."""
    command = [sys.executable, "-S", str(prefix / "bin" / "unisono"), *words]
    environment = shell(home, **variables)
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=60)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("info", f"Unisono {re.escape(__version__)}"),
        ("doctor", "Unisono is installed in"),
        ("list --help", "catalogue|algorithms"),
        ("show bcast chain", "bcast chain"),
        ("exec", "bin/unisono-exec"),
        ("run --help", "program"),
    ],
)
def test_the_command_line_of_a_prefix_needs_no_package(
    words: str, said: str, prefix: Path, tmp_path: Path
) -> None:
    done = alone(prefix, tmp_path, *words.split())
    assert re.search(said, done.stdout), done.stderr
    assert "missing" not in done.stderr


def test_the_command_line_of_a_prefix_names_what_it_lacks(prefix: Path, tmp_path: Path) -> None:
    done = alone(prefix, tmp_path, "report", str(tmp_path))
    assert done.returncode == 1
    found = re.fullmatch(
        r"unisono: this needs the Python package numpy, which is missing: (?:apt install python3-numpy, or )?"
        r"(\S+ -m venv \S+) && \S+/bin/pip install -r (\S+/requirements.txt)\n",
        done.stderr,
    )
    assert found, done.stderr
    assert {"typer", "numpy"} <= set(Path(found[2]).read_text().split())
    # What the advice makes is found afterwards; here it has all packages without fetching them.
    run(*found[1].split(), "--without-pip", env=shell(tmp_path))
    (packages,) = (tmp_path / ".local" / "share" / "unisono" / "python").glob("lib/*/site-packages")
    (packages / "all.pth").write_text(PACKAGES)
    again = alone(prefix, tmp_path, "report", str(tmp_path))
    assert "no trace" in again.stderr, again.stderr


def test_the_command_line_of_a_prefix_needs_no_home(prefix: Path, tmp_path: Path) -> None:
    """Nor does it run what lies in the folder that one is in."""
    for chosen in ("data", "~/.local/share"):
        python = tmp_path / chosen / "unisono" / "python" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\necho a stranger\n")
        python.chmod(0o755)
    homeless = (
        "import pwd, runpy, sys; pwd.getpwuid = {}.__getitem__; sys.argv = sys.argv[1:]; "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    for words, said in ((["--version"], "unisono "), (["report", "/"], "needs the Python package numpy")):
        for chosen in ("", "data"):
            done = subprocess.run(
                [sys.executable, "-S", "-c", homeless, prefix / "bin" / "unisono", *words],
                check=False,
                capture_output=True,
                text=True,
                env={"PATH": os.defpath, "XDG_DATA_HOME": chosen},
                cwd=tmp_path,
                timeout=60,
            )
            assert said in done.stdout + done.stderr, done.stderr
            assert "stranger" not in done.stdout
            assert "Traceback" not in done.stderr


def test_packages_that_are_compiled_for_another_python_are_left_to_it(prefix: Path, tmp_path: Path) -> None:
    other = tmp_path / "python3.99"
    other.write_text('#!/bin/sh\necho "other $UNISONO_STARTED_OVER ${1##*/} $2"\n')
    other.chmod(0o755)
    copy = tmp_path / "prefix"
    shutil.copytree(prefix, copy)
    (copy / "lib" / "unisono" / "packages" / "abi").write_text("3.99 cpython-399-x86_64-linux-gnu\n")
    assert alone(copy, tmp_path, "info", PATH=str(tmp_path)).stdout == "other 1 unisono info\n"
    other.unlink()
    assert "the Python package typer" in alone(copy, tmp_path, "info").stderr


def test_the_command_line_writes_nothing_into_its_prefix(prefix: Path, tmp_path: Path) -> None:
    copy = tmp_path / "prefix"
    shutil.copytree(prefix, copy)
    for compiled in list(copy.rglob("__pycache__"))[::2]:  # of a Python that it was not compiled for
        shutil.rmtree(compiled)
    before = sorted(copy.rglob("*"))
    assert alone(copy, tmp_path, "info").returncode == 0
    assert sorted(copy.rglob("*")) == before


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_moved_prefix_runs_programs(
    flavour: str, prefix: Path, programs: dict[str, Path], tmp_path: Path
) -> None:
    assert not unisono_ran(job(flavour, tmp_path, prefix / "bin", programs[flavour]))
    assert unisono_ran(job(flavour, tmp_path, prefix / "bin", "unisono-exec", programs[flavour]))


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_command_line_of_a_prefix_runs_and_measures(
    flavour: str, prefix: Path, programs: dict[str, Path], tmp_path: Path
) -> None:
    variables = shell(tmp_path, prefix / "bin", library(flavour).home / "bin", PYTHONPATH=PACKAGES)
    unisono = (sys.executable, prefix / "bin" / "unisono")
    assert unisono_ran(run(*unisono, "run", "-n", "2", "--", programs[flavour], env=variables))
    assert run(*unisono, "exec", env=variables) == f"{prefix}/bin/unisono-exec\n"
    # unisono-bench is linked to the MPI library, which only the command line knows.
    variables["PYTHONPATH"] += f":{prefix}/lib/unisono/python"
    ask = f"from unisono.core import places; print(*places.find_mpi('{flavour}').tool('unisono-bench'))"
    bench = run(sys.executable, "-c", ask, env=variables).split()
    options = ("--collectives", "barrier", "--budget", "0.05")
    assert "barrier" in job(flavour, tmp_path, prefix / "bin", *bench, *options)


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_another_project_links_to_it(flavour: str, prefix: Path, tmp_path: Path) -> None:
    mpi, build = library(flavour), tmp_path / "build"
    cmake(
        *("-S", HERE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DFLAVOUR={flavour}"),
        *(f"-DINCLUDE={mpi.home}/include", f"-DLIBRARY={mpi.library}"),
    )
    cmake("--build", build)
    assert (build / "found.txt").read_text() == f"{prefix}/bin/unisono-exec\n{prefix}/lib/libunisono.so\n"
    assert unisono_ran(job(flavour, tmp_path, build, build / "linked"))


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_pkg_config_links_to_it(flavour: str, prefix: Path, tmp_path: Path) -> None:
    variables = shell(tmp_path, library(flavour).home / "bin", PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    name = f"unisono-{flavour}"
    assert run("pkg-config", "--modversion", name, env=variables).strip() == __version__
    options = run("pkg-config", "--cflags", "--libs", name, env=variables).split()
    run("mpicc", HERE / "counted.c", "-o", tmp_path / "linked", *options, "-ldl", env=variables)
    assert unisono_ran(job(flavour, tmp_path, tmp_path, tmp_path / "linked"))


def test_the_module_file_finds_the_prefix(prefix: Path, tmp_path: Path) -> None:
    script = tmp_path / "module.tcl"
    commands = "foreach name {module-whatis conflict setenv prepend-path} "
    commands += '{ proc $name {args} "puts \\"$name \\$args\\"" }\n'
    path = prefix / "share" / "modulefiles" / "unisono" / __version__
    assert path.read_text().startswith("#%Module1.0\n")
    script.write_text(f"{commands}set ModulesCurrentModulefile {path}\nsource {path}\n")
    said = run("tclsh", script).splitlines()
    assert f"setenv UNISONO_ROOT {prefix}" in said
    assert f"prepend-path PATH {prefix}/bin" in said
    assert (path.parent / f"{__version__}.lua").exists()


def test_a_component_may_be_installed_alone(tmp_path: Path) -> None:
    cmake("--install", BUILD, "--prefix", tmp_path, "--component", "python")
    assert run(tmp_path / "bin" / "unisono", "--version").split() == ["unisono", __version__]
    assert not (tmp_path / "bin" / "unisono-exec").exists()


def test_uninstalling_leaves_nothing(tmp_path: Path) -> None:
    cmake("--install", BUILD, "--prefix", tmp_path / "prefix")
    (tmp_path / "prefix" / "lib" / "another").mkdir()
    package = tmp_path / "prefix" / "lib" / "unisono" / "python" / "unisono"
    run(sys.executable, "-m", "compileall", "-q", package)
    assert (package / "__pycache__").exists()
    said = cmake("--build", BUILD, "--target", "uninstall")
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["prefix", "prefix/lib", "prefix/lib/another"], said


def test_a_wheel_is_small_and_says_what_it_needs(environment_of_wheel: Path) -> None:
    (wheel,) = environment_of_wheel.parent.glob("*.whl")
    assert re.fullmatch(rf"unisono-{re.escape(__version__)}-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name)
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        wanted = re.findall(r"^Requires-Dist: ([\w-]+)$", content.read(metadata).decode(), re.MULTILINE)
    libraries = {name.rpartition("/")[2] for name in names if name.endswith(".so")}
    assert {f"libunisono-{flavour}.so" for flavour in ("mpich", "openmpi", "abi")} <= libraries
    assert {"typer", "numpy"} <= set(wanted)
    assert not [name for name in names if "/tests/" in name or "gtest" in name]


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_wheel_runs_programs(
    flavour: str, environment_of_wheel: Path, programs: dict[str, Path], tmp_path: Path
) -> None:
    folder = environment_of_wheel / "bin"
    assert unisono_ran(job(flavour, tmp_path, folder, "unisono-exec", programs[flavour]))
    variables = shell(tmp_path, folder, library(flavour).home / "bin", PYTHONPATH=PACKAGES)
    assert unisono_ran(run("unisono", "run", "-n", "2", programs[flavour], env=variables, cwd=tmp_path))
    assert "Unisono is installed in" in run("unisono", "doctor", env=variables, cwd=tmp_path)
    assert run("unisono", "exec", env=variables, cwd=tmp_path) == f"{folder}/unisono-exec\n"


@pytest.mark.mpi
def test_the_debian_package_runs_programs(programs: dict[str, Path], tmp_path: Path) -> None:
    if not shutil.which("dpkg"):
        pytest.skip("no Debian here")
    config = BUILD / "CPackConfig.cmake"
    fast = ("-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")  # xz takes ten seconds
    run(of_cmake("cpack"), *fast, "--config", config, "-B", tmp_path / "made")
    (package,) = (tmp_path / "made").glob("unisono_*.deb")
    assert f"Version: {__version__}\n" in run("dpkg-deb", "--info", package).replace(" Version", "Version")
    run("dpkg", "-x", package, tmp_path / "root")
    folder = tmp_path / "root" / "usr" / "bin"
    assert unisono_ran(job("openmpi", tmp_path, folder, "unisono-exec", programs["openmpi"]))


def configured(tmp_path: Path, variables: dict[str, str], *options: str) -> str:
    lean = [f"-DUNISONO_BUILD_{part}=OFF" for part in ("TESTING", "APPS", "BENCH", "TOOLS")]
    nothing = ["-DUNISONO_DEPS=/nowhere", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"]
    folders = ("-S", ROOT, "-B", tmp_path / "build")
    return cmake("-G", "Ninja", *folders, *lean, *nothing, *options, environment=variables)


def test_the_mpi_library_of_path_is_built_for(tmp_path: Path) -> None:
    said = configured(tmp_path, shell(tmp_path, library("mpich").home / "bin"))
    home = library("mpich").home.resolve()
    lines = [line for line in said.splitlines() if line.startswith("-- MPI: ")]
    assert [line.split()[2] for line in lines][:1] == ["mpich,"]
    assert Path(lines[0].split()[3]).resolve() == home / "include" / "mpi.h"
    assert any(line.startswith("-- MPI: abi, ") for line in lines)


def test_a_named_mpi_library_is_built_for(tmp_path: Path) -> None:
    home = library("openmpi").home
    said = configured(tmp_path, shell(tmp_path, MPI_HOME=str(home)), "-DUNISONO_FLAVOURS=openmpi")
    lines = [line for line in said.splitlines() if line.startswith("-- MPI: ")]
    assert lines == [f"-- MPI: openmpi, {home}/include/mpi.h"]
    assert "libunisono-mpich" not in (tmp_path / "build" / "build.ninja").read_text()


def test_a_flavour_that_is_not_there_is_refused(tmp_path: Path) -> None:
    home = library("openmpi").home
    with pytest.raises(AssertionError, match="of UNISONO_FLAVOURS, abi is not found"):
        configured(tmp_path, shell(tmp_path, MPI_HOME=str(home)), "-DUNISONO_FLAVOURS=openmpi;abi")


def test_programs_of_a_prefix_are_told_where_the_mpi_library_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian calls libmpi.so.12 by another name."""
    for made in (
        "prefix/bin/unisono-exec",
        "prefix/bin/unisono-bench-mpich",
        "prefix/lib/x",
        "mpi/lib/libmpich.so.12",
    ):
        (tmp_path / made).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / made).touch()
    package = tmp_path / "prefix" / "lib" / "python3.11" / "site-packages" / "unisono"
    monkeypatch.setattr(places, "PACKAGE", package)
    monkeypatch.delenv("UNISONO_BUILD", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/mine")
    bench = str(tmp_path / "prefix" / "bin" / "unisono-bench-mpich")
    mpi = places.Mpi("mpich", tmp_path / "mpi")
    links = tmp_path / "cache" / "unisono" / "libraries"
    assert mpi.tool("unisono-bench") == ["/usr/bin/env", f"LD_LIBRARY_PATH={links}:/mine", bench]
    assert (links / "libmpi.so.12").resolve() == mpi.library.resolve()
    # Under its own name it is taken from where it is.
    mpi.library.rename(mpi.home / "lib" / "libmpi.so.12")
    assert mpi.tool("unisono-bench")[1:] == [f"LD_LIBRARY_PATH={mpi.home}/lib:/mine", bench]
    mpi.library.rename(tmp_path / "prefix" / "lib" / "libmpi.so.12")
    ours = places.Mpi("mpich", tmp_path / "prefix").tool("unisono-bench")
    assert ours == ["/usr/bin/env", f"LD_LIBRARY_PATH={tmp_path}/prefix/lib:/mine", bench]


@pytest.mark.parametrize("kind", ["others may write there", "a link"])
def test_nothing_is_loaded_from_a_folder_of_others(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a file of theirs replaced."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "libmpi.so.12").symlink_to("what it was")
    library = tmp_path / "libmpich.so.12"
    links = places.link_to(library, "libmpi.so.12")
    assert links == tmp_path / "cache" / "unisono" / "libraries"
    assert {path.stat().st_mode & 0o777 for path in (links, links.parent)} == {0o700}, "whatever umask says"
    if kind == "a link":
        shutil.rmtree(links)
        links.symlink_to(theirs)
    else:
        links.chmod(0o777)
    own = places.link_to(library, "libmpi.so.12")
    assert own not in (links, theirs)
    assert (own / "libmpi.so.12").readlink() == library
    assert (theirs / "libmpi.so.12").readlink() == Path("what it was")
