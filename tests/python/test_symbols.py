"""Functions are named only where the address is surely in them."""

import lzma
import shutil
import subprocess
from pathlib import Path

import pytest
from traces import Writer
from unisono.core import symbols
from unisono.trace.analysis import analyse
from unisono.trace.reader import read
from unisono.trace.summary import summarise

# `far` follows `near` with room between them, has no debugging information, and is not exported.
SOURCE = """
__attribute__((visibility("default"), noinline)) int near(int x) { return x + 1; }
__asm__(".skip 4096, 0x90");
__attribute__((noinline, used)) static int far(int x) { return x * 3; }
__asm__(".text\\n.globl assembled\\nassembled:\\n nop\\n nop\\n nop\\n"
        ".type after,@function\\nafter:\\n nop\\n.size after,1");
namespace deep { __attribute__((visibility("default"), noinline)) double twice(double x) { return 2 * x; } }
"""


def tool(*line: str | Path) -> str:
    return subprocess.run([str(part) for part in line], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "lib.cpp").write_text(SOURCE)
    made = tmp_path / "libapp.so"
    tool(
        *("g++", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-toplevel-reorder", "-Wl,--build-id"),
        *(tmp_path / "lib.cpp", "-o", made),
    )
    return made


def addresses(library: Path) -> dict[str, int]:
    """By the name that nm gives, without a signature."""
    rows = [line.split(maxsplit=2) for line in tool("nm", "-C", library).splitlines()]
    return {row[2].partition("(")[0]: int(row[0], 16) for row in rows if len(row) == 3}


def test_a_function_is_named_by_its_size(library: Path) -> None:
    at = addresses(library)
    wanted = [at["near"] + 1, at["near"] + 2000, at["far"] + 1, at["deep::twice"] + 1]
    assert symbols.functions(library, wanted) == ["_Z4neari", "", "_ZL3fari", "_ZN4deep5twiceEd"]
    assembled = [at["assembled"], at["assembled"] + 2, at["after"], at["after"] + 1]
    assert symbols.functions(library, assembled)[:3] == ["at or after assembled"] * 2 + ["after"]


def test_a_stripped_library_names_no_neighbour(library: Path, tmp_path: Path) -> None:
    """The report named the nearest exported symbol, however far away."""
    at = addresses(library)
    tool("strip", library)
    assert symbols.functions(library, [at["near"] + 1, at["far"] + 1]) == ["_Z4neari", ""]
    module = {"path": str(library), "start": "0x0", "end": "0x100000", "offset": "0x0"}
    writer = Writer(tmp_path / "trace", 2, modules=[module])
    for number, site in enumerate((at["near"] + 2, at["far"] + 2, at["deep::twice"] + 2), 1):
        writer.call("barrier", [number, number], [number + 0.5] * 2, site=site)
    places = {site.place.offset: site.place for site in summarise(analyse(read(writer.write()))).sites}
    assert places[at["near"] + 1].function == "near(int)"
    assert places[at["far"] + 1].function == ""
    assert places[at["far"] + 1].text == f"libapp.so+{at['far'] + 2:#x}"
    assert places[at["deep::twice"] + 1].function == "deep::twice(double)"


def test_minidebuginfo_names_what_was_stripped_off(library: Path, tmp_path: Path) -> None:
    at = addresses(library)
    packed = tmp_path / "mini.xz"
    tool("objcopy", "--only-keep-debug", library, tmp_path / "mini")
    packed.write_bytes(lzma.compress((tmp_path / "mini").read_bytes()))
    tool("strip", library)
    tool("objcopy", "--add-section", f".gnu_debugdata={packed}", library)
    assert symbols.functions(library, [at["far"] + 1]) == ["_ZL3fari"]


@pytest.mark.parametrize("way", ["build-id", "debuglink", "folder .debug"])
def test_a_separate_debug_file_is_found(
    library: Path, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = addresses(library)
    debug = tmp_path / "libapp.so.debug"
    tool("objcopy", "--only-keep-debug", library, debug)
    tool("strip", library)
    if way != "build-id":
        tool("objcopy", f"--add-gnu-debuglink={debug}", library)
    if way == "folder .debug":
        (tmp_path / ".debug").mkdir()
        debug.rename(tmp_path / ".debug" / debug.name)
    if way == "build-id":
        name = symbols.Elf(symbols.mapped(library)).build_id()
        place = tmp_path / "debug" / ".build-id" / name[:2] / f"{name[2:]}.debug"
        place.parent.mkdir(parents=True)
        debug.rename(place)
        monkeypatch.setattr(symbols, "DEBUG", tmp_path / "debug")
    assert symbols.functions(library, [at["far"] + 1]) == ["_ZL3fari"]


def test_a_debug_file_of_another_build_is_not_believed(library: Path, tmp_path: Path) -> None:
    at = addresses(library)
    other = tmp_path / "other.so"
    (tmp_path / "other.cpp").write_text(SOURCE.replace("x * 3", "x * 5"))
    tool("g++", "-O1", "-shared", "-fPIC", "-Wl,--build-id", tmp_path / "other.cpp", "-o", other)
    debug = tmp_path / "libapp.so.debug"
    tool("objcopy", "--only-keep-debug", other, debug)
    tool("strip", library)
    tool("objcopy", f"--add-gnu-debuglink={debug}", library)
    assert symbols.functions(library, [at["far"] + 1]) == [""]


def test_damaged_files_are_refused(library: Path) -> None:
    whole = library.read_bytes()
    for cut in (0, 3, 63, 64, 100, len(whole) // 2, len(whole) - 1):
        library.write_bytes(whole[:cut])
        try:
            symbols.functions(library, [0, 1 << 63])
        except (OSError, ValueError):
            continue
    for at in range(16, 64):
        library.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        try:
            symbols.functions(library, [4096])
        except (OSError, ValueError):
            continue


def test_a_frame_of_the_program_comes_first(tmp_path: Path) -> None:
    """A call inside of a library of others, and the line of the program that leads there."""
    if not shutil.which("gcc"):
        pytest.fail("no gcc")
    modules = [
        {"path": "/nowhere/solve", "start": "0x1000", "end": "0x9000", "offset": "0x0"},
        {"path": "/nowhere/libpetsc.so.3", "start": "0x10000", "end": "0x20000", "offset": "0x0"},
        {"path": "/usr/bin/python3.11", "start": "0x30000", "end": "0x40000", "offset": "0x0"},
    ]
    writer = Writer(tmp_path / "trace", 2, modules=modules)
    for number, program in enumerate((0x2000, 0x3000, 0x31000, 0), 1):
        writer.call("barrier", [number, number], [number + 0.5] * 2, site=0x11000, program=program)
    found = sorted(
        (site.place.text, site.place.inside) for site in summarise(analyse(read(writer.write()))).sites
    )
    assert found == [
        ("libpetsc.so.3+0x1000", ""),  # through an interpreter, and where nothing is known
        ("solve+0x1000", "libpetsc.so.3"),
        ("solve+0x2000", "libpetsc.so.3"),
    ]
