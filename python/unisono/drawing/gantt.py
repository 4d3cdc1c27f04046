"""A drawing of an order of messages: two lanes a rank, one of what it sends, time to the right."""

from collections.abc import Iterator
from html import escape
from typing import Any

from unisono.drawing.svg import FADED, FAINT, INK, colour, ink_on, text

LANE = 15  # of what a rank sends; the other one is below
GAP = 8  # between ranks
WIDTH = 900
LEFT, TOP, RIGHT, BOTTOM = 74, 76, 24, 40


def top_of(rank: int) -> int:
    return TOP + rank * (2 * LANE + GAP)


def bars(told: dict[str, Any], scale: float) -> Iterator[str]:
    """In both of its lanes a message has the colour of its sender."""
    for sender, receiver, phase, begin, end in told["messages"]:
        place = sender / max(told["ranks"] - 1, 1)
        shade = colour(place)
        of_phase = f", phase {phase}" if told["phases"] else ""
        title = f"<title>{sender} to {receiver}: {end - begin} B{of_phase}</title>"
        x, width = LEFT + begin * scale, max((end - begin) * scale, 0.5)
        for rank, below, peer in ((sender, 0, receiver), (receiver, LANE, sender)):
            y = top_of(rank) + below
            yield (
                f'<rect class="message" x="{x:.2f}" y="{y}" width="{width:.2f}" height="{LANE - 2}" '
                f'fill="{shade}" stroke="white" stroke-width="0.5">{title}</rect>'
            )
            if width > 14:
                yield text(x + width / 2, y + 10, str(peer), 9, fill=ink_on(place), text_anchor="middle")


def phase_lines(told: dict[str, Any], scale: float, bottom: int) -> Iterator[str]:
    begins: dict[int, int] = {}
    for _, _, phase, begin, _ in told["messages"]:
        begins[phase] = min(begin, begins.get(phase, begin))
    for begin in sorted(begins.values())[1:] if told["phases"] else []:
        x = LEFT + begin * scale
        yield f'<line x1="{x:.2f}" y1="{TOP - 8}" x2="{x:.2f}" y2="{bottom}" stroke="{FADED}"/>'


def draw(told: dict[str, Any]) -> str:
    """`told` is what unisono-schedule order times prints."""
    ranks, last = told["ranks"], max((message[4] for message in told["messages"]), default=0)
    scale = WIDTH / max(last, 1)
    bottom = top_of(ranks) - GAP
    parts = [text(20, 28, "Order of messages", 17, font_weight="600")]
    parts.append(text(20, 48, told["summary"].strip(), 11, fill="#52606d"))
    for rank in range(ranks):
        y = top_of(rank)
        parts.append(text(LEFT - 10, y + LANE + 3, f"rank {rank}", 11, fill=INK, text_anchor="end"))
        for lane in (y, y + LANE):
            parts.append(f'<rect x="{LEFT}" y="{lane}" width="{WIDTH}" height="{LANE - 2}" fill="{FAINT}"/>')
    parts += bars(told, scale)
    parts += phase_lines(told, scale, bottom)
    legend = "above: sends, below: receives; numbers: to and from which rank; width: bytes"
    parts.append(text(LEFT, bottom + 24, legend, 11, fill="#52606d"))
    width, height = LEFT + WIDTH + RIGHT, bottom + BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
        f"<title>{escape(told['summary'].strip())}</title>\n"
        f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
