"""The report's charts."""

from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from unisono.core.charts import COLOURS, Tips, inline, style
from unisono.trace.analysis import Worst
from unisono.trace.phases import Phase
from unisono.trace.verdict import factor_text, time_text

POINTS = 300  # of a series; more calls are drawn as ranges
LANES = 40  # of a timeline; more ranks are sampled
WIDTH = 10.0  # inches
Float = NDArray[np.float64]


def paper(height: float) -> tuple[Figure, Axes]:
    """Margins that are the same in all charts, so that they stand in line; laying out would take longer."""
    figure = Figure(figsize=(WIDTH, height))
    return figure, figure.add_axes((0.08, 0.45 / height, 0.9, 1 - 0.75 / height))


def bars(names: Sequence[str], series: Sequence[tuple[str, str, Sequence[int]]]) -> Markup:
    """Shares of each series' calls over classes. A series: its name, its colour, counts."""
    tips, wide = Tips(), 0.7 / len(series)
    with style():
        figure, axes = paper(2.8)
        for number, (name, colour, counts) in enumerate(series):
            total = max(sum(counts), 1)
            places = np.arange(len(names)) + (number - (len(series) - 1) / 2) * wide
            shares = [100 * count / total for count in counts]
            drawn = axes.bar(
                places, shares, 0.92 * wide, color=COLOURS[colour], label=f"{name}: {sum(counts)} calls"
            )
            for at, bar in enumerate(drawn):
                tips.add(bar, f"{name}, {names[at]}: {counts[at]} calls, {shares[at]:.1f} %")
        axes.set_xticks(range(len(names)), names)
        axes.set_ylim(0, 100)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:.0f} %"))
        axes.grid(visible=False, axis="x")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(series))
        return inline(figure, "share of the calls by worst-case imbalance factor", tips)


def ranges(values: Float) -> tuple[Float, Float, Float, Float]:
    """Position, least, median and most of neighbours, POINTS of them at most."""
    width = -(-len(values) // POINTS)
    starts = range(0, len(values), width)
    parts = [values[at : at + width] for at in starts]
    place = np.array([at + (len(part) - 1) / 2 for at, part in zip(starts, parts, strict=True)])
    least, middle, most = (np.array([how(part) for part in parts]) for how in (np.min, np.median, np.max))
    return place, least, middle, most


def series(
    worst: Float, average: Float, phases: Sequence[Phase], scale: float, factor: bool, label: str
) -> Markup:
    """The imbalance of a site's calls, one after the other, and the medians of the phases. `scale`: what a
    phase's median is divided by (a phase is in seconds)."""
    if not (worst > 0).any() and not (average > 0).any():
        return Markup("")
    tips, told = Tips(), factor_text if factor else time_text
    with style():
        figure, axes = paper(2.8)
        for values, name in ((worst, "worst"), (average, "average")):
            place, least, middle, most = ranges(np.where(values > 0, values, np.nan))
            if len(values) > POINTS:
                axes.fill_between(place + 1, least, most, color=COLOURS[name], alpha=0.2, linewidth=0)
            # A call without neighbours that have a value is a point; of a line nothing would be seen.
            alone = "." if len(place) == 1 else ""
            axes.plot(place + 1, middle, alone or "-", color=COLOURS[name], linewidth=1)
        for phase in phases if len(phases) > 1 else []:
            (line,) = axes.plot(
                [phase.first + 1, phase.last + 1], [phase.median / scale] * 2,
                color=COLOURS["phase"], linewidth=1.6, linestyle=(0, (4, 2)),
            )  # fmt: skip
            tips.add(line, f"calls {phase.first + 1} to {phase.last + 1}: median {time_text(phase.median)}")
        axes.set_xlabel("call")
        axes.set_xlim(1, max(len(worst), 2))
        logarithmic(axes, told)
        return inline(figure, label, tips)


def logarithmic(axes: Axes, told: Callable[[float], str]) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=7))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))
    axes.yaxis.set_minor_locator(NullLocator())


def timeline(call: Worst, label: str) -> Markup:
    """Every rank of a call from arrival to exit: until the last arrives, and from then on."""
    shown = np.unique(
        np.linspace(0, len(call.members) - 1, min(LANES, len(call.members))).round().astype(int)
    )
    start, last = float(call.begin.min()), float(call.begin.max())
    begin, leave = call.begin[shown], call.end[shown]
    border = np.clip(last, begin, leave)
    tips, lanes = Tips(), np.arange(len(shown))
    with style():
        figure, axes = paper(0.8 + 0.16 * len(shown))
        parts = (("waiting", begin, border), ("inside", border, leave))
        for kind, first, end in parts:
            drawn = axes.barh(lanes, end - first, 0.75, left=first - start, color=COLOURS[kind])
            for lane, bar in enumerate(drawn):
                column = int(shown[lane])
                inside = float(call.end[column] - call.begin[column])
                tips.add(
                    bar,
                    f"rank {call.members[column]}: arrives at {time_text(float(begin[lane]) - start)}, "
                    f"in it for {time_text(inside)}",
                )
        axes.set_yticks(lanes, [str(call.members[column]) for column in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_ylabel("rank")
        axes.tick_params(axis="y", left=False)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value) if value else "0"))
        axes.set_xlim(0, max(float(call.end.max()) - start, 1e-12))
        axes.grid(visible=False, axis="y")
        return inline(figure, label, tips)
