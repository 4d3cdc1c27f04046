"""A space-time drawing of a schedule: a lane per rank, time to the right, an arrow per message."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

LANE = 38  # between ranks
ROUND = 74  # between rounds
LEFT, TOP, RIGHT, BOTTOM = 74, 84, 24, 46
LETTER = 12  # of the title: in wide fonts a bold one takes 11 on the average
INK, FADED, FAINT = "#1f2933", "#64707d", "#d9dfe6"


@dataclass(frozen=True)
class Message:
    sender: int
    receiver: int
    round: int
    slice: tuple[str, int, int]  # as the receiver sees it
    sent: tuple[str, int, int]

    @property
    def is_token(self) -> bool:
        return self.slice[2] == 0


def messages_of(schedule: dict[str, Any]) -> Iterator[Message]:
    """Messages match by position: the k-th from a to b is the k-th that b receives from a."""
    sent: dict[tuple[int, int], list[tuple[str, int, int]]] = defaultdict(list)
    for one in schedule["ranks"]:
        for op in one["ops"]:
            if op["op"] == "send":
                sent[one["rank"], op["peer"]].append(tuple(op["slice"]))
    seen: dict[tuple[int, int], int] = defaultdict(int)
    for one in schedule["ranks"]:
        for op, when in zip(one["ops"], one["rounds"], strict=True):
            if op["op"] == "recv":
                channel = (op["peer"], one["rank"])
                from_sender = sent[channel][seen[channel]]
                seen[channel] += 1
                yield Message(*channel, when, tuple(op["slice"]), from_sender)


def colour(place: float) -> str:
    """From blue (start of the data) over green to red (their end)."""
    return f"hsl({225 - 225 * place:.0f} 72% 42%)"


def ink_on(place: float) -> str:
    """Of text on that colour: white on blue and on red, which are dark."""
    return "black" if 0.09 < place < 0.89 else "white"


def shade(message: Message, ends: dict[str, int]) -> str:
    """The colour of where the message's middle lies in the user's buffer, on either side."""
    if message.is_token:
        return FADED
    for buffer, offset, length in (message.sent, message.slice):
        if not buffer.startswith("scratch"):
            return colour((offset + length / 2) / max(ends[buffer], 1))
    return INK


def text(x: float, y: float, content: str, size: int = 12, **attributes: str) -> str:
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{more}>{escape(content)}</text>'


def slice_text(part: tuple[str, int, int]) -> str:
    return f"{part[0]}[{part[1]}:{part[1] + part[2]}]"


def title_of(schedule: dict[str, Any]) -> str:
    return f"{schedule['collective']} {schedule['algorithm']}, {schedule['size']} ranks"


def heading(schedule: dict[str, Any]) -> list[str]:
    metrics = schedule["metrics"]
    units = f"{schedule['count']} units of {schedule['unit_bytes']} B"
    cost = (
        f"{metrics['rounds']} rounds; a rank sends at most {metrics['messages']} messages"
        f" and {metrics['sent']} units; {units}"
    )
    return [
        text(LEFT - 54, 30, title_of(schedule), 17, font_weight="600"),
        text(LEFT - 54, 50, cost, 12, fill="#52606d"),
    ]


def grid(ranks: int, rounds: int) -> Iterator[str]:
    right = LEFT + rounds * ROUND
    bottom = TOP + (ranks - 1) * LANE
    for k in range(rounds + 1):
        x = LEFT + k * ROUND
        yield f'<line x1="{x}" y1="{TOP - 12}" x2="{x}" y2="{bottom + 12}" stroke="{FAINT}"/>'
        if k < rounds:
            yield text(x + ROUND / 2, TOP - 16, str(k + 1), 11, fill=FADED, text_anchor="middle")
    for rank in range(ranks):
        y = TOP + rank * LANE
        yield f'<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#9aa5b1"/>'
        yield text(LEFT - 12, y + 4, f"rank {rank}", 12, text_anchor="end")


def arrow(message: Message, ends: dict[str, int]) -> str:
    x1 = LEFT + (message.round - 1) * ROUND + 5
    x2 = LEFT + message.round * ROUND - 5
    y1, y2 = TOP + message.sender * LANE, TOP + message.receiver * LANE
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    tip, wing = 8, 3.5
    bx, by = x2 - ux * tip, y2 - uy * tip
    head = f"{x2:.1f},{y2:.1f} {bx - uy * wing:.1f},{by + ux * wing:.1f} "
    head += f"{bx + uy * wing:.1f},{by - ux * wing:.1f}"
    drawn = shade(message, ends)
    dash = ' stroke-dasharray="3 3"' if message.is_token else ""
    told = f"round {message.round}: {message.sender} to {message.receiver}, "
    told += "token" if message.is_token else f"{slice_text(message.sent)} into {slice_text(message.slice)}"
    return (
        f'<g stroke="{drawn}" fill="{drawn}"><title>{escape(told)}</title>'
        f'<line x1="{x1:.1f}" y1="{y1}" x2="{bx:.1f}" y2="{by:.1f}" stroke-width="1.7"{dash}/>'
        f'<polygon points="{head}" stroke="none"/></g>'
    )


def local_marks(schedule: dict[str, Any]) -> Iterator[str]:
    """A dot where a rank combines, a small square where it copies."""
    marks: dict[tuple[int, int, str], list[str]] = defaultdict(list)
    for one in schedule["ranks"]:
        for op, when in zip(one["ops"], one["rounds"], strict=True):
            if op["op"] in {"reduce", "copy"}:
                told = f"{op['op']} {slice_text(tuple(op['from']))} into {slice_text(tuple(op['slice']))}"
                marks[one["rank"], when, op["op"]].append(told)
    for (rank, when, kind), titles in sorted(marks.items()):
        x, y = LEFT + when * ROUND, TOP + rank * LANE
        title = f"<title>{escape(chr(10).join(titles))}</title>"
        if kind == "reduce":
            yield f'<circle cx="{x}" cy="{y}" r="4.5" fill="{INK}">{title}</circle>'
        else:
            yield (
                f'<rect x="{x - 3.5}" y="{y - 3.5}" width="7" height="7" fill="white" '
                f'stroke="{INK}">{title}</rect>'
            )


def legend(y: float) -> Iterator[str]:
    def word(x: float, content: str) -> str:
        return text(x, y, content, 11, fill="#52606d")

    yield word(LEFT, "place in the user's buffer")
    for k in range(24):
        x = LEFT + 142 + k * 4
        yield f'<rect x="{x}" y="{y - 9}" width="4" height="10" fill="{colour(k / 23)}"/>'
    x = LEFT + 254
    yield f'<line x1="{x}" y1="{y - 4}" x2="{x + 18}" y2="{y - 4}" stroke="{INK}" stroke-width="1.7"/>'
    yield word(x + 23, "scratch")
    yield f'<circle cx="{x + 84}" cy="{y - 4}" r="4.5" fill="{INK}"/>'
    yield word(x + 93, "combine")
    yield f'<rect x="{x + 151}" y="{y - 8}" width="7" height="7" fill="white" stroke="{INK}"/>'
    yield word(x + 163, "copy")


def draw(schedule: dict[str, Any]) -> str:
    """The drawing of `unisono-schedule show --format json` (all ranks)."""
    ranks, rounds = schedule["size"], max(schedule["metrics"]["rounds"], 1)
    ends: dict[str, int] = defaultdict(int)
    for one in schedule["ranks"]:
        for op in one["ops"]:
            for key in ("slice", "from"):
                if key in op:
                    buffer, offset, length = op[key]
                    ends[buffer] = max(ends[buffer], offset + length)
    title = LEFT - 54 + LETTER * len(title_of(schedule))
    width = max(LEFT + rounds * ROUND, title, 620 - RIGHT) + RIGHT
    height = TOP + (ranks - 1) * LANE + 24 + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *heading(schedule),
        *grid(ranks, rounds),
        *(arrow(message, ends) for message in messages_of(schedule)),
        *local_marks(schedule),
        *legend(height - 18),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
