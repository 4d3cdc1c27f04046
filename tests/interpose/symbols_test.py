"""What the preloaded library shows, and that a program's own functions are reached: exported names, libraries
with functions that are called like MPI's, tools, what a switched-off Unisono leaves in a process, and what
programs find that an MPI program starts."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from preload_test import BUILD, DEPS, EXEC, FLAVOURS, HERE, PROGRAMS, events_in, mpiexec, run

STUB = BUILD / "lib/libunisono.so"
OPENMPI = "openmpi"
SYSTEM = [Path("/usr/lib"), Path("/usr/lib64")]


def compiled(folder: str | Path, output: str, *arguments: str | Path, compiler: str = "cc") -> Path:
    made = Path(folder) / output
    done = run(compiler, *arguments, "-o", made)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return made


def library(folder: str | Path, output: str, source: str, *options: str | Path) -> Path:
    return compiled(folder, output, "-shared", "-fPIC", "-w", HERE / source, *options)


def exported(path: Path) -> set[str]:
    listed = run("nm", "-D", "--defined-only", path).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines()}


def installed(name: str) -> Path | None:
    """Debian's library."""
    found = [path for folder in SYSTEM for path in sorted(folder.glob(f"*-linux-gnu/{name}"))]
    return found[0] if found else None


class ExportedNames(unittest.TestCase):
    """A name that no MPI library exports, a program may own."""

    OURS = frozenset({"__asan_default_options", "ucp_worker_progress"})  # docs/adr/0049, 0053
    # Open MPI 5 has these in Fortran 2008; Open MPI 4.1 calls them mpix_*; the one in .deps has no Fortran.
    OPEN_MPI_5 = re.compile(r"mpi_\w+_init_f08_")

    def libraries(self) -> dict[str, set[str]]:
        paths = [
            DEPS / "mpich/lib/libmpi.so.12",
            DEPS / "mpich/lib/libmpi_abi.so.1",
            DEPS / "openmpi/lib/libmpi.so.40",
        ]
        for name in ("libmpi", "libmpi_mpifh", "libmpi_usempif08"):
            paths += filter(None, [installed(f"{name}.so.40")])
        for name in ("libmpich", "libmpichfort"):
            paths += filter(None, [installed(f"{name}.so.12")])
        return {path.name: exported(path) for path in paths}

    def ours(self, path: Path) -> set[str]:
        return {name for name in exported(path) if not name.startswith("unisono_")} - self.OURS

    def test_every_name_is_one_that_an_mpi_library_exports(self) -> None:
        libraries = self.libraries()
        theirs = set[str]().union(*libraries.values())
        shown = self.ours(STUB)
        self.assertGreater(len(shown), 300)
        unknown = {name for name in shown - theirs if not self.OPEN_MPI_5.fullmatch(name)}
        if not {"libmpi_usempif08.so.40", "libmpichfort.so.12"} <= set(libraries):  # no Fortran here
            unknown = {name for name in unknown if not name.startswith("mpi_")}
        self.assertEqual(unknown, set())

    def test_names_of_fortran_end_with_an_underscore(self) -> None:
        """mpi_bcast and MPI_BCAST are Open MPI's and MPICH's as well, and Rmpi's."""
        for path in (STUB, *(BUILD / f"lib/libunisono-{flavour}.so" for flavour in FLAVOURS)):
            for name in self.ours(path):
                self.assertRegex(name, r"^(P?MPI_[A-Z][a-z0-9_]*|mpi_[a-z0-9_]*_)$", path)

    def test_flavours_show_what_the_stub_shows(self) -> None:
        for flavour in FLAVOURS:
            path = BUILD / f"lib/libunisono-{flavour}.so"
            self.assertLessEqual(self.ours(path), self.ours(STUB))
            self.assertGreater(len(self.ours(path)), 100)

    def test_what_every_mpi_library_exports_is_found(self) -> None:
        for name, theirs in self.libraries().items():
            if name in {"libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1", "libmpich.so.12"}:
                self.assertGreater(len(self.ours(STUB) & theirs), 70, name)

    def test_the_stub_needs_old_functions_of_any_libc(self) -> None:
        self.assertNotIn("NEEDED", run("readelf", "-d", STUB).stdout)
        listed = run("readelf", "--dyn-syms", "-W", STUB).stdout
        needed = {
            line.split()[7] for line in listed.splitlines() if " UND " in line and len(line.split()) > 7
        }
        self.assertLessEqual({"dlsym", "getenv"}, needed)
        self.assertFalse([name for name in needed if "@" in name or name.startswith("_")], needed)
        for name in sorted(needed):
            self.assertIn(name, LIBC)


# POSIX and the dynamic linker's own; musl 1.2 and glibc 2.17 have all.
LIBC = frozenset(
    (
        "abort",
        "calloc",
        "dl_iterate_phdr",
        "dladdr",
        "dlclose",
        "dlerror",
        "dlinfo",
        "dlopen",
        "dlsym",
        "dprintf",
        "free",
        "getenv",
        "memcmp",
        "memcpy",
        "memmove",
        "memset",
        "stpcpy",
        "strcmp",
        "strlen",
        "strncmp",
        "strrchr",
        "strstr",
        "syscall",
    )
)


class OwnNames(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    own: dict[str, Path]
    serial: Path
    user: Path
    program: Path
    linked: dict[str, Path]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        at = cls.folder.name
        cls.own = {
            name: library(at, f"lib{name}.so", "own_names.c", *options)
            for name, options in {
                "rmpi": (),
                "symbolic": ("-Wl,-Bsymbolic",),
                "underscores": ("-DUNDERSCORES",),
                "bound_at_once": ("-DUNDERSCORES", "-Wl,-z,now"),
            }.items()
        }
        cls.serial = library(at, "libserial.so", "serial_mpi.c")
        linked = (f"-L{at}", "-lserial", f"-Wl,-rpath,{at}")
        cls.user = library(at, "libuser.so", "serial_user.c", *linked)
        cls.program = compiled(at, "program", HERE / "own_program.c", "-ldl")
        source = (HERE / "own_program.c", "-ldl", "-rdynamic")
        cls.linked = {
            name: compiled(
                at, f"with_{name}", *source, "-Wl,--no-as-needed", f"-L{at}", f"-l{name}", f"-Wl,-rpath,{at}"
            )
            for name in ("rmpi", "underscores", "user")
        }

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def check(self, *command: str | Path, **environment: str) -> None:
        done = run(EXEC, *command, **environment)
        self.assertEqual((done.returncode, done.stdout[-4:], done.stderr), (0, "own\n", ""), command)

    def with_mpi(self, flavour: str) -> Path:
        """The same program, linked to MPI."""
        mpi = DEPS / FLAVOURS[flavour]
        name = {"abi": "libmpi_abi.so.1", "mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}[flavour]
        options = ("-DWITH_MPI", *(["-DMPI_ABI"] if flavour == "abi" else []), f"-I{mpi}/include")
        return compiled(
            self.folder.name,
            f"program_{flavour}",
            HERE / "own_program.c",
            *options,
            mpi / "lib" / name,
            "-ldl",
            f"-Wl,-rpath,{mpi}/lib",
        )

    def test_a_library_like_rmpi(self) -> None:
        for off in ("0", "1"):
            for own in self.own.values():
                for scope in ("local", "global"):
                    for form in ("own_calls", "table"):
                        self.check(self.program, own, scope, form, UNISONO_DISABLE=off)

    def test_programs_linked_to_such_libraries(self) -> None:
        for name in ("rmpi", "underscores"):
            for form in ("own_calls", "table"):
                self.check(self.linked[name], "-", "linked", form)

    def test_mpi_for_one_process(self) -> None:
        self.check(self.linked["user"], "-", "linked", "use_serial")
        for scope in ("local", "global"):
            self.check(self.program, self.user, scope, "use_serial")

    def test_beside_an_mpi_library_in_a_plugin(self) -> None:
        """Both were opened privately, so each finds its own, whichever is used first."""
        for flavour in ("mpich", "openmpi"):
            plugin = PROGRAMS / f"libopened_plugin_{flavour}.so"
            for first in ("", "+"):
                for own, form in ((self.user, "use_serial"), (self.own["bound_at_once"], "own_calls")):
                    settings = {"UNISONO_ALLREDUCE": "ring", "UNISONO_LOG": "decision"}
                    command = (self.program, own, "local", form, f"{first}{plugin}")
                    output = mpiexec(flavour, 2, EXEC, *command, **settings)
                    self.assertEqual(output.count("own"), 2, output)
                    self.assertNotIn("NOT", output)
                    self.assertEqual(output.count("passed\n"), 1, output)
                    self.assertIn("unisono: nonblocking allreduce of 4B on 2 ranks: ring", output)

    def test_in_programs_that_use_mpi(self) -> None:
        for flavour in FLAVOURS:
            program = self.with_mpi(flavour)
            for own in ("rmpi", "symbolic"):
                for scope in ("local", "global"):
                    output = mpiexec(flavour, 2, EXEC, program, self.own[own], scope, "table", **RING)
                    self.assertIn("own\n", output)
                    self.assertIn("unisono: allreduce of 4B on 2 ranks: ring", output)

    def test_a_program_with_a_wrapper_of_its_own(self) -> None:
        """It calls PMPI_Bcast, which is the MPI library's."""
        for flavour in ("mpich", "openmpi"):
            mpi = DEPS / flavour
            name = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}[flavour]
            program = compiled(
                self.folder.name,
                f"wrapper_{flavour}",
                HERE / "with_tool.c",
                HERE / "counting_tool.c",
                f"-I{mpi}/include",
                mpi / "lib" / name,
                f"-Wl,-rpath,{mpi}/lib",
                "-rdynamic",
            )
            output = mpiexec(flavour, 2, EXEC, program, "3", UNISONO_LOG="decision", UNISONO_BCAST="binomial")
            self.assertIn("passed, the tool saw 3", output)
            self.assertNotIn("bcast", output)

    def test_rmpi(self) -> None:
        """Debian's r-cran-rmpi, where it is installed, under Debian's Open MPI."""
        launcher = os.environ.get(f"UNISONO_MPIEXEC_{OPENMPI}", "")
        if not shutil.which("Rscript") or not Path("/usr/lib/R/site-library/Rmpi").exists() or not launcher:
            self.skipTest("no Rmpi")
        script = (
            "library(Rmpi); mpi.barrier(0); x <- mpi.bcast(7L, 1, 0, 0);"
            "cat('sum', mpi.allreduce(x, 1, 'sum', 0), '\\n'); invisible(mpi.finalize())"
        )
        for off in ("0", "1"):
            done = run(
                launcher,
                "--map-by",
                ":OVERSUBSCRIBE",
                "-n",
                "2",
                EXEC,
                "Rscript",
                "-e",
                script,
                UNISONO_DISABLE=off,
                **RING,
            )
            said = done.stdout + done.stderr
            self.assertEqual(
                (done.returncode, done.stdout.count("sum"), done.stdout.count("14")), (0, 2, 2), said
            )
            self.assertEqual("unisono: allreduce of 4B on 2 ranks: ring" in said, off == "0", said)


RING = {"UNISONO_ALLREDUCE": "ring", "UNISONO_LOG": "decision"}


class SwitchedOff(unittest.TestCase):
    """Nothing of Unisono is in the process, or no more than was preloaded."""

    def program(self, folder: str, flavour: str, *options: str) -> Path:
        mpi = DEPS / flavour
        name = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}[flavour]
        return compiled(
            folder,
            f"children_{flavour}",
            HERE / "children.c",
            *options,
            f"-I{mpi}/include",
            mpi / "lib" / name,
            f"-Wl,-rpath,{mpi}/lib",
        )

    def test_no_library_is_there(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for flavour in ("mpich", "openmpi"):
                program = self.program(folder, flavour)
                for off in ({"UNISONO_DISABLE": "1"}, {"UNISONO": "off"}):
                    self.assertNotIn("mapped", mpiexec(flavour, 2, EXEC, program, **off))
                    by_hand = ("env", f"LD_PRELOAD={STUB}", program)
                    output = mpiexec(flavour, 2, *by_hand, **off)
                    self.assertEqual(output, "mapped libunisono.so\n" * 2)
                self.assertIn(f"libunisono-{flavour}.so", mpiexec(flavour, 2, EXEC, program))

    def test_a_trace_of_native_calls_is_recorded_all_the_same(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(folder, "mpich")
            mpiexec("mpich", 2, EXEC, program, UNISONO_DISABLE="1", UNISONO_TRACE=folder)
            self.assertEqual(len(events_in(folder)), 2)

    def test_ranks_on_other_nodes_are_told(self) -> None:
        """Each rank believes that it is alone on its node: who runs Unisono must not wait for the other."""
        with tempfile.TemporaryDirectory() as folder:
            for flavour, sizes in (
                ("mpich", {"MPI_LOCALNRANKS": "1", "MPI_LOCALRANKID": "0"}),
                ("openmpi", {"OMPI_COMM_WORLD_LOCAL_SIZE": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}),
            ):
                program = self.program(folder, flavour)
                apart: list[str | Path] = ["env", *(f"{name}={value}" for name, value in sizes.items())]
                off: list[str | Path] = [*apart, "UNISONO_DISABLE=1", EXEC, program]
                on: list[str | Path] = [*apart, EXEC, program]
                output = mpiexec(flavour, 1, *on, ":", "-n", "1", *off)
                self.assertIn("libunisono-join.so", output)
                self.assertIn("unisono: some ranks cannot run Unisono, as they say; everything", output)


class Children(unittest.TestCase):
    """What an MPI program starts."""

    def test_of_another_c_library(self) -> None:
        if not shutil.which("musl-gcc"):
            self.skipTest("no musl")
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "child.c"
            source.write_text('#include <stdio.h>\nint main(void) { return puts("child") < 0; }\n')
            for name, options in {"dynamic": (), "static": ("-static",)}.items():
                child = compiled(folder, name, source, *options, compiler="musl-gcc")
                done = run(EXEC, "sh", "-c", child)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "child\n", ""))

    def test_of_other_kinds(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "child.c"
            source.write_text('#include <stdio.h>\nint main(void) { return puts("child") < 0; }\n')
            for name, options in {
                "static": ("-static",),
                "bound_at_once": ("-Wl,-z,now", "-pie"),
                "sanitized": ("-fsanitize=address",),
            }.items():
                child = compiled(folder, name, source, *options)
                done = run(EXEC, "sh", "-c", child)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "child\n", ""), name)

    def test_begin_without_unisono_once_mpi_is_there(self) -> None:
        """The others' entries stay."""
        tool = PROGRAMS / "libcounting_tool_mpich.so"
        with tempfile.TemporaryDirectory() as folder:
            program = SwitchedOff().program(folder, "mpich")
            for preload, left in (("", ""), (str(tool), str(tool))):
                command: list[str | Path] = [EXEC, program, 'echo "preload=$LD_PRELOAD"']
                output = mpiexec("mpich", 1, "env", f"LD_PRELOAD={preload}", *command)
                begun = f"{STUB}:{tool}" if preload else str(STUB)
                self.assertEqual(re.findall("preload=(.*)", output), [begun, left])
            both = f"LD_PRELOAD={tool}:{STUB}"
            output = mpiexec("mpich", 1, "env", both, program, 'echo "preload=$LD_PRELOAD"')
            self.assertEqual(re.findall("preload=(.*)", output), [f"{tool}:{STUB}", str(tool)])

    def test_begin_with_what_the_program_has_set(self) -> None:
        """Its string may be a constant."""
        with tempfile.TemporaryDirectory() as folder:
            for left in ("", ":", "/nowhere/other.so:"):
                program = SwitchedOff().program(folder, "mpich", f'-DPRELOAD="{left}"')
                output = mpiexec("mpich", 1, EXEC, program, 'echo "preload=$LD_PRELOAD"')
                self.assertEqual(re.findall("preload=(.*)", output), [left, left])

    def test_in_another_root_after_mpi_has_begun(self) -> None:
        """The dynamic linker says nothing about a library that is not there."""
        if os.geteuid() != 0:
            self.skipTest("chroot is root's")
        with tempfile.TemporaryDirectory() as folder:
            program = SwitchedOff().program(folder, "mpich")
            linker = re.search(r"(/lib\S*ld-linux\S*\.so\.\d)", run("readelf", "-l", "/bin/true").stdout)
            assert linker
            needed = re.findall(r"=> (/\S+)", run("ldd", "/bin/true").stdout)
            for path in ("/bin/true", linker[1], *needed):
                Path(f"{folder}/root{path}").parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, f"{folder}/root{path}")
            output = mpiexec("mpich", 1, EXEC, program, f"chroot {folder}/root /bin/true")
            self.assertNotIn("FAILED", output)
            self.assertEqual(output.count("cannot be preloaded"), 1, output)  # before MPI_Init only


class Launcher(unittest.TestCase):
    """unisono-exec finds the library where little is there."""

    def test_by_its_own_name_through_a_link_and_in_path(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            link = Path(folder) / "unisono-exec"
            link.symlink_to(EXEC)
            print_it = ("printenv", "LD_PRELOAD")
            path = {"PATH": f"{folder}:{os.environ['PATH']}"}
            for done in (run(link, *print_it), run("env", "unisono-exec", *print_it, **path)):
                self.assertEqual(done.stdout, f"{STUB}\n")

    def test_without_proc(self) -> None:
        if os.geteuid() != 0 or run("unshare", "--mount", "true").returncode != 0:
            self.skipTest("unmounting is root's")
        script = f"umount -l /proc && exec {EXEC} printenv LD_PRELOAD"
        done = run("unshare", "--mount", "sh", "-c", script)
        self.assertEqual((done.stdout, done.stderr), (f"{STUB}\n", ""))

    def test_where_links_may_not_be_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            deny = compiled(folder, "deny", HERE / "deny_readlink.c")
            os.chdir(EXEC.parent)
            for launcher in (str(EXEC), "./unisono-exec", "../bin/unisono-exec"):
                done = run(deny, launcher, "printenv", "LD_PRELOAD")
                self.assertEqual((os.path.normpath(done.stdout.strip()), done.stderr), (str(STUB), ""))

    def test_without_its_library_the_program_runs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder) / "bin/unisono-exec"
            alone.parent.mkdir()
            shutil.copy(EXEC, alone)
            done = run(alone, "echo", "ran")
            self.assertEqual((done.returncode, done.stdout), (0, "ran\n"))
            self.assertRegex(
                done.stderr, r"^unisono-exec: .*libunisono.so cannot be read; the program runs on .*\n$"
            )
            elsewhere = {"PMIX_NAMESPACE": "a", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
            sizes = {"OMPI_COMM_WORLD_LOCAL_SIZE": "1", "OMPI_COMM_WORLD_SIZE": "2"}
            done = run(alone, "echo", "ran", **elsewhere, **sizes)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (127, "", 1))

    def test_it_needs_no_c_plus_plus(self) -> None:
        self.assertEqual(re.findall(r"NEEDED.*\[(\w+)", run("readelf", "-d", EXEC).stdout), ["libc"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
