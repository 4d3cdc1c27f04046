"""Charts for our pages: Matplotlib's, as SVG within the page and in the page's colours.

The same data give the same bytes. Matplotlib is given a colour of its own for each name of the theme; in what
it writes they become the page's CSS variables, so that one chart serves light and dark.
"""

import io
import re
from collections.abc import Container, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from unisono.core import theme

COLOURS = {name: f"#fedc{number:02x}" for number, name in enumerate(theme.LIGHT)}
NO_METADATA = {"Creator": None, "Date": None, "Format": None, "Type": None}
FONT = re.compile(r"font-family: [^;]*; ")  # the page's serves
NUMBER = re.compile(r"-?\d+\.\d+")
UNSEEN = "fill: none"  # the style of a path that has nothing else
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "font.size": 9.0,
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.titlecolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["note"],
    "xtick.color": COLOURS["note"],
    "ytick.color": COLOURS["note"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": COLOURS["faint"],
    "legend.frameon": False,
}


def style() -> AbstractContextManager[None]:
    """Figures are made and written within it."""
    return mpl.rc_context(STYLE)


class Tips:
    """What a reader is told who points at a part of a chart."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def add(self, part: Artist, told: str) -> None:
        name = f"tip{len(self.told)}"
        part.set_gid(name)
        self.told[name] = told


def inline(figure: Figure, label: str, tips: Tips | None = None) -> Markup:
    """`label` says what the chart shows, and is another for each chart of a page."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": label}):
        figure.savefig(buffer, format="svg", metadata=NO_METADATA)
    root = ElementTree.fromstring(buffer.getvalue())
    used = set(re.findall(r"#([\w-]+)", buffer.getvalue()))
    root.attrib |= {"role": "img", "aria-label": label}
    clean(root, used, tips.told if tips else {})
    text = ElementTree.tostring(root, encoding="unicode")
    for name, colour in COLOURS.items():
        text = text.replace(colour, f"var(--{name})")
    return Markup(text)


def alone(figure: Figure, label: str) -> str:
    """A file of its own, which brings the colours for light and dark along."""
    drawn = str(inline(figure, label))
    head, _, rest = drawn.partition(">")
    own = f"{theme.css()} svg {{ background: var(--paper); font-family: sans-serif; }}"
    return f'{head} xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><style>{own}</style>{rest}\n'


def clean(element: Element, used: Container[str], tips: Mapping[str, str]) -> None:
    """Without namespaces, which a page does not need, without what the page has once for all of its charts,
    and without groups that say nothing, which are most."""
    element.tag = plain(element.tag)
    element.tail = None
    if element.tag not in {"text", "tspan"}:
        element.text = None
    attributes = {plain(name): value for name, value in element.attrib.items()}
    tip = tips.get(attributes.get("id", ""))
    if attributes.get("id") not in used:
        attributes.pop("id", None)
    attributes["d"] = NUMBER.sub(tenths, " ".join(attributes.get("d", "").split()))
    attributes["style"] = FONT.sub("", attributes.get("style", ""))
    if "(-0 " in attributes.get("transform", ""):
        del attributes["transform"]
    element.attrib = {
        name: NUMBER.sub(tenths, value) if name in {"x", "y"} else value
        for name, value in attributes.items()
        if value and name != "version"
    }
    children = [child for child in element if plain(child.tag) not in {"metadata", "style"}]
    for child in children:
        clean(child, used, tips)
    element[:] = [part for child in children for part in unwrapped(child)]
    if tip:
        title = Element("title")
        title.text = tip
        element.insert(0, title)


def unwrapped(element: Element) -> Iterable[Element]:
    if element.attrib == {"d": element.get("d"), "style": UNSEEN} or (
        element.tag == "defs" and not len(element)
    ):
        return []
    silent = element.tag == "g" and not element.attrib and element.find("title") is None
    return list(element) if silent else [element]


def plain(name: str) -> str:
    return name.rpartition("}")[2]


def tenths(number: re.Match[str]) -> str:
    """Of a point: nobody sees less."""
    return f"{float(number[0]):.1f}"
