"""unisono schedule trees: trees on a torus, as text and JSON, and drawn: every link once, nothing outside."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import Run
from unisono.core import catalogue
from unisono.core.errors import UnisonoError
from unisono.drawing import torus as torus_drawing

NAMESPACE = "{http://www.w3.org/2000/svg}"


def told_of(*arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(catalogue.ask("trees", "--json", *arguments))
    return told


def of_class(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in picture.iter() if element.get("class") == name]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--torus", "7"],
        ["--torus", "1"],
        ["--torus", "4x4"],
        ["--torus", "4x4", "--for", "both"],
        ["--torus", "4x3x2", "--for", "reduction", "--root", "7"],
        ["--torus", "5x5", "--members", "without:12", "--routing", "directed"],
        ["--torus", "6x6", "--members", "0-5,12-17,24-29", "--routing", "directed"],
        ["--torus", "4x4x40", "--wrap", "yes,no,yes"],
    ],
)
def test_every_link_is_drawn_once_within_the_paper(arguments: list[str]) -> None:
    told = told_of(*arguments)
    picture = ElementTree.fromstring(torus_drawing.draw(told))
    assert len(of_class(picture, "link")) == told["links"]["used"]
    assert len(of_class(picture, "message")) == len(told["trees"]) * (len(told["members"]) - 1)
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    drawn = set()
    for line in picture.iter(f"{NAMESPACE}line"):
        ends = tuple(float(line.attrib[name]) for name in ("x1", "y1", "x2", "y2"))
        assert all(0 <= x <= width for x in ends[::2])
        assert all(0 <= y <= height for y in ends[1::2])
        assert ends not in drawn  # no line hides another
        drawn.add(ends)


def test_hosts_say_who_they_are_and_messages_where_they_go() -> None:
    picture = ElementTree.fromstring(torus_drawing.draw(told_of("--torus", "4x4", "--members", "without:5")))
    titles = [title.text for title in picture.iter(f"{NAMESPACE}title")]
    assert "host 0, (0,0), root" in titles
    assert "host 5, (1,1), no member" in titles
    assert any(title and title.startswith("tree 0, out: (0,0) to ") for title in titles)


def test_a_ring_closes_by_two_stubs_and_a_message_passes_a_router_without_a_break() -> None:
    paper = torus_drawing.Paper((4, 1, 1))
    assert len(torus_drawing.pieces(paper, 3, 0, [True, False, False], (9, 9))) == 2
    (line,) = torus_drawing.pieces(paper, 1, 2, [True, False, False], (0, 0))
    assert line[1][0] - line[0][0] == torus_drawing.CELL
    # The two directions of a link lie beside each other.
    (back,) = torus_drawing.pieces(paper, 2, 1, [True, False, False], (0, 0))
    assert back[0][1] != line[0][1]


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(UnisonoError, match="at most three"):
        torus_drawing.draw(told_of("--torus", "2x2x2x2"))
    with pytest.raises(UnisonoError, match="more than 4096 hosts"):
        torus_drawing.draw(told_of("--torus", "65x64"))


def test_the_command(unisono: Run, tmp_path: Path) -> None:
    done = unisono("schedule", "trees", "--torus", "4x4")
    assert done.returncode == 0
    assert "4 trees over 16 hosts of a torus of 4x4" in done.stdout
    assert "at most 1 message on each" in done.stdout
    drawing = tmp_path / "trees.svg"
    assert unisono("schedule", "trees", "--torus", "4x4", "--svg", str(drawing)).returncode == 0
    assert drawing.read_text().startswith("<svg")
    told = json.loads(unisono("schedule", "trees", "--torus", "4x4", "--json", "-").stdout)
    assert [tree["parents"][0] for tree in told["trees"]] == [-1] * 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--torus", "4y4"], "--torus 4y4: sizes as in 8x8x16"),
        (["--torus", "1000x1000"], "of at most 65536 hosts"),
        (["--torus", "4x4", "--wrap", "yes"], "yes or no for each dimension"),
        (["--torus", "4x4", "--members", "3-1"], "numbers of hosts as in 0-30,45"),
        (["--torus", "4x4", "--members", "0,16"], "the last host is 15"),
        (["--torus", "4x4", "--members", "without:0-15"], "nobody is left"),
        (["--torus", "4x4", "--members", "1-3", "--root", "0"], "--root 0 is no member"),
        (["--torus", "4x4", "--json", "-", "--svg", "no.svg"], "--json and --svg: give one"),
        (["--torus", "4x4", "--trees", "oak"], "valid are auto, 2k, box"),
        (["--torus", "4x4", "--routing", "fast"], "valid are minimal, directed"),
        (["--torus", "4x4", "--for", "scan"], "valid are broadcast, reduction, both"),
        (["--torus", "8x8", "--members", "0,9", "--trees", "2k"], "there are none for these members"),
    ],
)
def test_wrong_options_get_one_line(unisono: Run, arguments: list[str], said: str) -> None:
    done = unisono("schedule", "trees", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("collective", "algorithm", "options"),
    [("bcast", "torus", ["--root", "5"]), ("allreduce", "torus:trees=raster", [])],
)
def test_show_draws_the_trees_of_a_call(
    unisono: Run, tmp_path: Path, collective: str, algorithm: str, options: list[str]
) -> None:
    drawing, wanted = tmp_path / "trees.svg", ["--torus", "4x4", *options]
    done = unisono("show", collective, algorithm, *wanted, "--svg", str(drawing))
    assert done.returncode == 0, done.stderr
    use = "broadcast" if collective == "bcast" else "both"
    kind = "raster" if "raster" in algorithm else "auto"
    assert drawing.read_text() == torus_drawing.draw(told_of(*wanted, "--for", use, "--trees", kind))
    assert f"rank {'5' if options else '0'}" in unisono("show", collective, algorithm, *wanted).stdout


def test_show_draws_trees_of_torus_only(unisono: Run, tmp_path: Path) -> None:
    done = unisono("show", "bcast", "chain", "--torus", "4x4", "--svg", str(tmp_path / "no.svg"))
    assert done.returncode == 2 and "not chain" in done.stderr and not list(tmp_path.iterdir())
