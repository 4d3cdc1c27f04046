# Copyright and license: see LICENSE of Unisono (BSD-3-Clause).
from spack.package import *


class Unisono(CMakePackage):
    """Makes the MPI collectives of unmodified programs faster: a library that is placed under the program
    between mpiexec and it (unisono-exec), and a command line that tunes and explains."""

    # No public address is named here: install from a clone, as docs/guide/install.md shows, or add yours as `git`.
    license("BSD-3-Clause")

    version("0.2.0", tag="0.2.0")

    variant("tools", default=True, description="unisono-bench, -schedule and others, and the command line")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("mpi")
    depends_on("nlohmann-json")
    depends_on("libsodium libs=static")
    with when("+tools"):
        depends_on("cli11")
        depends_on("fmt")
        depends_on("boost")
        depends_on("python@3.11:", type="run")
        for package in ("typer", "rich", "jinja2", "jsonschema", "matplotlib", "numpy"):
            depends_on(f"py-{package}", type="run")

    conflicts("%gcc@:11", msg="Unisono needs C++20 of GCC 12 or newer")

    def cmake_args(self):
        return [
            self.define_from_variant("UNISONO_BUILD_TOOLS", "tools"),
            self.define("UNISONO_BUILD_TESTING", False),
            self.define("UNISONO_BUILD_APPS", False),
            self.define("UNISONO_BUILD_BENCH", False),
            self.define("MPI_HOME", self.spec["mpi"].prefix),
        ]

    def setup_run_environment(self, env):
        env.set("UNISONO_ROOT", self.prefix)
