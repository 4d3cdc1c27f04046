"""A drawing of trees over hosts of a torus: a colour for each tree, an arrow for each message.

Planes of a third dimension are side by side. Links that leave a plane, or go round a ring, are two
stubs: one at the host where they begin, one where they end. The two directions of a link are beside
each other, each to the right of where it goes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from unisono.core import catalogue, files
from unisono.core.errors import UnisonoError
from unisono.drawing.svg import FADED, FAINT, INK, text

CELL = 60  # between neighbours
HOST = 9  # radius
ASIDE = 4.5  # of a link from the line between two hosts
STUB = 23  # of a link that leaves the drawing
LEFT, TOP, GAP, LEGEND = 46, 78, 66, 16
MOST_HOSTS, PAPER_WIDTH = 4096, 2400
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#5b3a9b", "#8c564b")
# To the right, down, and to where the next plane is.
DIRECTIONS = ((1.0, 0.0), (0.0, 1.0), (0.7, -0.7))

Point = tuple[float, float]


@dataclass(frozen=True)
class Paper:
    sizes: tuple[int, int, int]

    @property
    def columns(self) -> int:
        """Planes beside each other."""
        return max(1, min(self.sizes[2], (PAPER_WIDTH - LEFT) // self.plane_width))

    @property
    def plane_width(self) -> int:
        return (self.sizes[0] - 1) * CELL + 2 * GAP

    @property
    def plane_height(self) -> int:
        return (self.sizes[1] - 1) * CELL + 2 * GAP

    @property
    def width(self) -> int:
        return max(LEFT + self.columns * self.plane_width, 620)

    @property
    def height(self) -> int:
        """Without the legend."""
        rows = -(-self.sizes[2] // self.columns)
        return TOP + rows * self.plane_height

    def coordinates(self, host: int) -> tuple[int, int, int]:
        x, rest = host % self.sizes[0], host // self.sizes[0]
        return x, rest % self.sizes[1], rest // self.sizes[1]

    def place(self, host: int) -> Point:
        x, y, z = self.coordinates(host)
        row, column = divmod(z, self.columns)
        return (
            LEFT + GAP + column * self.plane_width + x * CELL,
            TOP + GAP + row * self.plane_height + y * CELL,
        )


def pieces(
    paper: Paper, begin: int, end: int, wraps: list[bool], margins: tuple[float, float]
) -> list[tuple[Point, Point]]:
    """The one line of a link between neighbours, or its two stubs; margins: from where the hosts are."""
    a, b = paper.coordinates(begin), paper.coordinates(end)
    dimension = next(d for d in range(3) if a[d] != b[d])
    step = b[dimension] - a[dimension]
    round_the_ring = abs(step) > 1 and wraps[dimension]
    sign = (-1 if step > 0 else 1) if round_the_ring else (1 if step > 0 else -1)
    ux, uy = (sign * u for u in DIRECTIONS[dimension])
    scale = (ux * ux + uy * uy) ** 0.5
    aside = (-uy / scale * ASIDE, ux / scale * ASIDE)

    def beside(at: Point, along: float) -> Point:
        return at[0] + aside[0] + ux * along, at[1] + aside[1] + uy * along

    first, last = paper.place(begin), paper.place(end)
    if dimension < 2 and not round_the_ring:
        return [(beside(first, margins[0]), beside(last, -margins[1]))]
    away, towards = beside(first, STUB), beside(last, -STUB)
    return [(beside(first, margins[0]), away), (towards, beside(last, -margins[1]))]


def head(begin: Point, end: Point) -> str:
    length = ((end[0] - begin[0]) ** 2 + (end[1] - begin[1]) ** 2) ** 0.5
    ux, uy = (end[0] - begin[0]) / length, (end[1] - begin[1]) / length
    bx, by = end[0] - ux * 7, end[1] - uy * 7
    points = [end, (bx - uy * 3, by + ux * 3), (bx + uy * 3, by - ux * 3)]
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" stroke="none"/>'


def name(paper: Paper, told: dict[str, Any], host: int) -> str:
    """(3,0,7), of as many dimensions as the torus has."""
    return "(" + ",".join(map(str, paper.coordinates(host)[: len(told["torus"])])) + ")"


def message(paper: Paper, told: dict[str, Any], tree: int, route: list[int]) -> Iterator[str]:
    """One arrow: the head stands at the last link only."""
    what = told["trees"][tree]
    colour = COLOURS[tree % len(COLOURS)]
    dash = ' stroke-dasharray="4 3"' if what["flow"] == "in" else ""
    title = f"tree {tree}, {what['flow']}: {name(paper, told, route[0])} to {name(paper, told, route[-1])}"
    yield f'<g class="message" stroke="{colour}" fill="{colour}"><title>{escape(title)}</title>'
    wraps = told["wraps"] + [False] * (3 - len(told["wraps"]))
    for begin, end in pairwise(route):
        # Through a router on the way the line does not stop.
        margins = (HOST if begin == route[0] else 0, HOST if end == route[-1] else 0)
        lines = pieces(paper, begin, end, wraps, margins)
        yield '<g class="link">'
        for (x1, y1), (x2, y2) in lines:
            yield f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="1.8"{dash}/>'
        yield "</g>"
    yield head(*lines[-1]) + "</g>"


def hosts(paper: Paper, told: dict[str, Any]) -> Iterator[str]:
    members, count = set(told["members"]), paper.sizes[0] * paper.sizes[1] * paper.sizes[2]
    for host in range(count):
        x, y = paper.place(host)
        fill, stroke, radius, role = "white", INK, HOST - 3, ""
        if host == told["root"]:
            fill, role = INK, ", root"
        elif host not in members:
            fill, stroke, radius, role = FAINT, FADED, 3, ", no member"
        yield (
            f'<circle class="host" cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{stroke}" '
            f'stroke-width="1.5"><title>host {host}, {name(paper, told, host)}{role}</title></circle>'
        )


def axes(paper: Paper, dimensions: int) -> Iterator[str]:
    """Coordinates at the upper and left edge of each plane."""
    across, down, planes = paper.sizes
    for z in range(planes):
        x0, y0 = paper.place(z * across * down)
        edge = GAP - 16
        for x in range(across):
            yield text(x0 + x * CELL, y0 - edge + 12, str(x), 10, fill=FADED, text_anchor="middle")
        for y in range(down if dimensions > 1 else 0):
            yield text(x0 - edge + 6, y0 + y * CELL + 4, str(y), 10, fill=FADED, text_anchor="end")
        if dimensions > 2:
            yield text(x0 - edge, y0 - edge - 2, f"plane {z}", 11, fill="#52606d")


def legend(told: dict[str, Any], y: float) -> Iterator[str]:
    for tree, what in enumerate(told["trees"]):
        at = y + tree * LEGEND
        dash = ' stroke-dasharray="4 3"' if what["flow"] == "in" else ""
        colour = COLOURS[tree % len(COLOURS)]
        yield f'<line x1="20" y1="{at - 4}" x2="52" y2="{at - 4}" stroke="{colour}" stroke-width="2"{dash}/>'
        yield text(60, at, f"tree {tree}, {what['flow']}, depth {what['depth']}", 11, fill="#52606d")


def write(arguments: Sequence[str], drawing: Path) -> str:
    """Draws what unisono-schedule trees says with these arguments; what to tell people."""
    told = files.decoded(catalogue.ask("trees", *arguments, "--json"))
    files.write_text(draw(told), drawing)
    return f"{told['summary']}\nwrote {drawing}"


def draw(told: dict[str, Any]) -> str:
    """`told` is what unisono-schedule trees --json prints."""
    dimensions = len(told["torus"])
    if dimensions > 3:
        raise UnisonoError(f"a torus of {dimensions} dimensions: at most three can be drawn")
    sizes = (*told["torus"], *(1,) * (3 - dimensions))
    if sizes[0] * sizes[1] * sizes[2] > MOST_HOSTS:
        raise UnisonoError(f"a torus of more than {MOST_HOSTS} hosts is not drawn")
    paper = Paper((sizes[0], sizes[1], sizes[2]))
    height = paper.height + LEGEND * (len(told["trees"]) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{paper.width}" height="{height}" '
        f'viewBox="0 0 {paper.width} {height}" font-family="system-ui, sans-serif" fill="{INK}">',
        f'<rect width="{paper.width}" height="{height}" fill="white"/>',
        text(20, 28, "x".join(map(str, told["torus"])) + ": trees", 17, font_weight="600"),
        text(20, 48, told["summary"], 11, fill="#52606d"),
        *axes(paper, dimensions),
        *hosts(paper, told),
    ]
    for tree, what in enumerate(told["trees"]):
        for route in what["routes"]:
            if route:
                parts += message(paper, told, tree, route)
    return "\n".join([*parts, *legend(told, paper.height + LEGEND), "</svg>"]) + "\n"
