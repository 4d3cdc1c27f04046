"""The report's figures as inline SVG; colours are the page's."""

import math
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from unisono.trace.analysis import Worst
from unisono.trace.phases import Phase
from unisono.trace.verdict import factor_text, time_text

WIDTH, LEFT, RIGHT = 760, 64, 12
POINTS = 300  # of a series; more calls are drawn as ranges
LANES = 40  # of a timeline; more ranks are sampled
Float = NDArray[np.float64]


def svg(height: float, body: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">'
        + "".join(body)
        + "</svg>"
    )


def text(x: float, y: float, content: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, told: str) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}">'
        f"<title>{escape(told)}</title></rect>"
    )


def bars(names: Sequence[str], series: Sequence[tuple[str, str, Sequence[int]]]) -> str:
    """Shares of each series' calls over classes. A series: its name, its CSS class, counts."""
    height, top, bottom = 230, 30, 190
    wide = (WIDTH - LEFT - RIGHT) / len(names)
    one = wide * 0.7 / len(series)
    body = []
    for percent in (0, 25, 50, 75, 100):
        y = bottom - (bottom - top) * percent / 100
        body += [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>']
        body += [text(LEFT - 6, y + 4, f"{percent} %", "end")]
    for at, name in enumerate(names):
        body.append(text(LEFT + (at + 0.5) * wide, bottom + 18, name, "middle"))
    for number, (name, kind, counts) in enumerate(series):
        body.append(box(LEFT + 230 * number, 6, 10, 10, kind, name))
        body.append(text(LEFT + 230 * number + 16, 15, f"{name}: {sum(counts)} calls"))
        for at, count in enumerate(counts):
            share = count / max(sum(counts), 1)
            x = LEFT + (at + 0.15) * wide + number * one
            tall = (bottom - top) * share
            told = f"{name}, {names[at]}: {count} calls, {100 * share:.1f} %"
            body.append(box(x, bottom - tall, one - 2, tall, kind, told))
    return svg(height, body, "share of the calls by worst-case imbalance factor")


def ranges(values: Float) -> tuple[Float, Float, Float, Float]:
    """Position, least, median and most of neighbours, POINTS of them at most."""
    width = -(-len(values) // POINTS)
    starts = range(0, len(values), width)
    parts = [values[at : at + width] for at in starts]
    place = np.array([at + (len(part) - 1) / 2 for at, part in zip(starts, parts, strict=True)])
    least, middle, most = (np.array([how(part) for part in parts]) for how in (np.min, np.median, np.max))
    return place, least, middle, most


def log_axis(least: float, most: float) -> list[float]:
    return [10.0**power for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]


def series(worst: Float, average: Float, phases: Sequence[Phase], scale: float, factor: bool) -> str:
    """The imbalance of a site's calls, one after the other, and the medians of the phases. `scale`: what a
    phase's median is divided by (a phase is in seconds)."""
    height, top, bottom = 220, 14, 180
    positive = np.concatenate([worst[worst > 0], average[average > 0]])
    if not len(positive):
        return ""
    ticks = log_axis(float(positive.min()), float(positive.max()) * 1.0001)
    ticks = ticks if len(ticks) > 1 else [ticks[0], ticks[0] * 10]
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    last = max(len(worst) - 1, 1)

    def x(at: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * at / last

    def y(value: float) -> float:
        share = (math.log10(max(value, ticks[0])) - low) / (high - low)
        return bottom - (bottom - top) * share

    def points(at: Float, values: Float) -> str:
        return " ".join(f"{x(a):.1f},{y(v):.1f}" for a, v in zip(at, values, strict=True))

    body = []
    for tick in ticks:
        body.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        )
        body.append(text(LEFT - 6, y(tick) + 4, factor_text(tick) if factor else time_text(tick), "end"))
    for values, kind in ((worst, "worst"), (average, "average")):
        place, least, middle, most = ranges(values)
        if len(values) > POINTS:
            outline = points(np.append(place, place[::-1]), np.append(most, least[::-1]))
            body.append(f'<polygon class="{kind} pale" points="{outline}"/>')
        body.append(f'<polyline class="{kind}" points="{points(place, middle)}"/>')
    for phase in phases if len(phases) > 1 else []:
        at = y(phase.median / scale)
        told = f"calls {phase.first} to {phase.last}: median {time_text(phase.median)}"
        body.append(
            f'<line class="phase" x1="{x(phase.first):.1f}" x2="{x(phase.last):.1f}" y1="{at:.1f}" '
            f'y2="{at:.1f}"><title>{escape(told)}</title></line>'
        )
    body += [text(LEFT, bottom + 18, "call 1"), text(WIDTH - RIGHT, bottom + 18, f"call {len(worst)}", "end")]
    body += [text(WIDTH / 2, bottom + 32, "one call after the other", "middle")]
    return svg(height, body, "imbalance of each call")


def timeline(call: Worst) -> str:
    """Every rank of a call from arrival to exit: until the last arrives, and from then on."""
    shown = np.unique(
        np.linspace(0, len(call.members) - 1, min(LANES, len(call.members))).round().astype(int)
    )
    start, end = float(call.begin.min()), float(call.end.max())
    last = float(call.begin.max())
    lane, top = 15, 18
    height = top + lane * len(shown) + 8
    scale = (WIDTH - LEFT - RIGHT) / max(end - start, 1e-12)

    def lanes() -> Iterator[str]:
        for row, column in enumerate(shown):
            begin, leave = float(call.begin[column]), float(call.end[column])
            y = top + lane * row
            rank = int(call.members[column])
            told = f"rank {rank}: arrives at {time_text(begin - start)}, in it for {time_text(leave - begin)}"
            yield text(LEFT - 6, y + 10, str(rank), "end")
            border = min(max(last, begin), leave)
            if border > begin:
                yield box(
                    LEFT + scale * (begin - start), y, scale * (border - begin), lane - 4, "waiting", told
                )
            if leave > border or begin == leave:
                yield box(
                    LEFT + scale * (border - start), y, scale * (leave - border), lane - 4, "inside", told
                )

    body = [
        text(LEFT, 11, "0"),
        text(WIDTH - RIGHT, 11, time_text(end - start), "end"),
        text(LEFT - 6, 11, "rank", "end"),
    ]
    return svg(height, [*body, *lanes()], "ranks of the call from arrival to exit")
