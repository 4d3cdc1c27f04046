"""A wheel of everything: the command line, and what `cmake --install` puts into a prefix
(cmake/Install.cmake), so that the virtual environment it is installed into is such a prefix.

`pip wheel .` takes the libraries from UNISONO_BUILD or build/, and compiles them where there is none.
The tag is that of the glibc they need. Editable installations are as ever.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
COMPONENTS = ("runtime", "tools", "development")  # the command line is the wheel's own
LEAN = ("TESTING", "APPS", "BENCH")


def run(*command: str | Path) -> None:
    print("unisono:", *command, file=sys.stderr, flush=True)
    subprocess.run([str(word) for word in command], check=True)


def built() -> Path:
    """A build directory with everything that is installed."""
    chosen = os.environ.get("UNISONO_BUILD")
    present = Path(chosen) if chosen else ROOT / "build"
    if (present / "lib" / "libunisono.so").exists():
        return present.resolve()
    if chosen:
        sys.exit(f"unisono: UNISONO_BUILD={chosen}: there is no lib/libunisono.so in it")
    cmake = shutil.which("cmake") or sys.exit(
        "unisono: no cmake on PATH, and no build/: docs/guide/install.md"
    )
    folder = ROOT / "build" / "wheel"
    run(cmake, "-S", ROOT, "-B", folder, *(f"-DUNISONO_BUILD_{part}=OFF" for part in LEAN))
    run(cmake, "--build", folder, "--parallel")
    return folder


def glibc_needed(files: list[Path]) -> tuple[int, int]:
    """The newest version of glibc's symbols that any of the programs and libraries asks for."""
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415  not of an editable installation

    names = set()
    for path in files:
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
            needed = ELFFile(file).get_section_by_name(".gnu.version_r")
            names |= (
                {one.name for _, several in needed.iter_versions() for one in several} if needed else set()
            )
    found = [re.fullmatch(r"GLIBC_(\d+)\.(\d+).*", name) for name in names]
    return max((int(match[1]), int(match[2])) for match in found if match)


class Wheel(bdist_wheel):
    """With the prefix as data, which pip and others put where the environment has its bin/ and lib/. The
    package itself is Python only, and lies where that does."""

    def run(self) -> None:
        base = Path(self.get_finalized_command("build").build_base).resolve()
        shutil.rmtree(base, ignore_errors=True)  # a module that is gone would still be packed
        stage = base / "prefix"
        for component in COMPONENTS:
            run("cmake", "--install", built(), "--prefix", stage, "--strip", "--component", component)
        files = [path for path in sorted(stage.rglob("*")) if path.is_file()]
        self.glibc = glibc_needed(files)
        folders: dict[str, list[str]] = {}
        for path in files:
            folders.setdefault(str(path.parent.relative_to(stage)), []).append(str(path))
        self.distribution.data_files = list(folders.items())
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        machine = sysconfig.get_platform().partition("-")[2].replace("-", "_")
        major, minor = getattr(self, "glibc", (2, 17))
        return "py3", "none", f"manylinux_{major}_{minor}_{machine}"


# Apart from CMake's build/lib, all of which would be packed.
setup(cmdclass={"bdist_wheel": Wheel}, options={"build": {"build_base": str(ROOT / "build" / "python")}})
