"""The drawing: every message once, from lane to lane, nothing outside the paper."""

from xml.etree import ElementTree

import pytest
from unisono.core import catalogue
from unisono.drawing import svg

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(collective: str, algorithm: str, ranks: int) -> tuple[ElementTree.Element, int]:
    arguments = ["--collective", collective, "--algorithm", algorithm, "--ranks", str(ranks)]
    schedule = catalogue.schedule(arguments)
    messages = sum(op["op"] == "recv" for one in schedule["ranks"] for op in one["ops"])
    return ElementTree.fromstring(svg.draw(schedule)), messages


def every_algorithm() -> list[tuple[str, str]]:
    return [(row.collectives[0], row.name) for row in catalogue.algorithms()]


@pytest.mark.parametrize(("collective", "algorithm"), every_algorithm())
def test_every_algorithm_is_drawn(collective: str, algorithm: str) -> None:
    picture, messages = drawn(collective, algorithm, 8)
    arrows = [g for g in picture.iter(f"{NAMESPACE}g") if g.find(f"{NAMESPACE}polygon") is not None]
    assert len(arrows) == messages > 0
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    for line in picture.iter(f"{NAMESPACE}line"):
        assert 0 <= float(line.attrib["x1"]) <= float(line.attrib["x2"]) <= width
        assert 0 <= float(line.attrib["y1"]) <= height


def test_arrows_say_what_they_carry() -> None:
    picture, _ = drawn("bcast", "flat", 3)
    titles = [title.text for title in picture.iter(f"{NAMESPACE}title")]
    assert "round 1: 0 to 1, output[0:1024] into output[0:1024]" in titles


def test_a_long_title_fits() -> None:
    picture, _ = drawn("bcast", "grid:shape=3x3,rows=shm,columns=chain", 9)
    title = next(text for text in picture.iter(f"{NAMESPACE}text") if text.attrib["font-size"] == "17")
    assert len(title.text or "") > 60
    # A bold letter of a wide font, on the average.
    assert float(title.attrib["x"]) + 0.65 * 17 * len(title.text or "") < float(picture.attrib["width"])


def test_one_rank_has_nothing_to_draw() -> None:
    picture, messages = drawn("bcast", "flat", 1)
    assert messages == 0
    assert picture.tag == f"{NAMESPACE}svg"
