"""The plots of a comparison, one SVG for each collective in each setting."""

from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from unisono.compare.results import Arm, Cell
from unisono.core import charts, theme
from unisono.core.catalogue import format_size
from unisono.core.charts import COLOURS
from unisono.core.limits import Sized, size_kind

NATIVE, LIMIT = COLOURS["native"], COLOURS["limit"]
ARMS = tuple(COLOURS[name] for name in theme.ARMS)

Series = list[tuple[Cell, Arm]]


def collective_svg(cells: Sequence[Cell]) -> Markup | None:
    """Time over size, percentage of the limit, spread. None where there is no size to plot over."""
    collective = cells[0].point.collective
    if size_kind(collective) is Sized.NOTHING:
        return None
    series = series_of(cells)
    if not series:
        return None
    with_limit = [cell for cell in cells if cell.limit_us is not None]
    with charts.style():
        figure = Figure(figsize=(12, 3.4), layout="constrained")
        time_axes, limit_axes, spread_axes = figure.subplots(1, 3)
        draw_times(time_axes, series, with_limit)
        draw_limit(limit_axes, series, bool(with_limit))
        draw_spread(spread_axes, series)
        for axes in (time_axes, limit_axes, spread_axes):
            label_sizes(axes, cells, f"bytes ({size_kind(collective)})")
        handles, labels = time_axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center")
        where = cells[0].point.setting.text()
        return charts.inline(
            figure, f"{collective} in {where}: time over size, percentage of the limit, spread"
        )


def series_of(cells: Sequence[Cell]) -> dict[str, Series]:
    """By arm, native first, what was measured of it."""
    found: dict[str, Series] = {}
    for cell in sorted(cells, key=lambda cell: cell.point.size):
        for arm in cell.arms:
            if arm.time_us is not None and arm.correct:
                found.setdefault(arm.name, []).append((cell, arm))
    return dict(sorted(found.items(), key=lambda item: item[0] != "native"))


def colours(series: dict[str, Series]) -> dict[str, str]:
    others = [name for name in series if name != "native"]
    return {"native": NATIVE} | {name: ARMS[i % len(ARMS)] for i, name in enumerate(others)}


def sizes(series: Series) -> list[int]:
    return [cell.point.size for cell, _ in series]


def draw_times(axes: Axes, series: dict[str, Series], with_limit: Sequence[Cell]) -> None:
    for name, colour in colours(series).items():
        measured = series.get(name, [])
        medians = [arm.time_us.median for _, arm in measured if arm.time_us]
        axes.plot(sizes(measured), medians, "o-", color=colour, markersize=3, label=name)
        quartiles = [(cell, arm) for cell, arm in measured if len(arm.quantiles_us) == 5]
        axes.fill_between(
            sizes(quartiles),
            [arm.quantiles_us[1] for _, arm in quartiles],
            [arm.quantiles_us[3] for _, arm in quartiles],
            color=colour,
            alpha=0.2,
            linewidth=0,
        )
    if with_limit:
        ordered = sorted(with_limit, key=lambda cell: cell.point.size)
        limits = [cell.limit_us or 0.0 for cell in ordered]
        axes.plot([c.point.size for c in ordered], limits, "--", color=LIMIT, label="limit")
    axes.set(title="time (us), band: middle half", xscale="log", yscale="log")
    plain_numbers(axes)


def draw_limit(axes: Axes, series: dict[str, Series], has_limit: bool) -> None:
    axes.set(title="percentage of the limit", xscale="log")
    if not has_limit:
        axes.text(0.5, 0.5, "no limit here", transform=axes.transAxes, ha="center")
        return
    for name, colour in colours(series).items():
        measured = series.get(name, [])
        values = [100 / (cell.times_limit(arm) or float("inf")) for cell, arm in measured]
        axes.plot(sizes(measured), values, "o-", color=colour, markersize=3)
    axes.axhline(100, color=LIMIT, linestyle="--")
    axes.set_ylim(bottom=0)


def draw_spread(axes: Axes, series: dict[str, Series]) -> None:
    """Every arm beside native, divided by native's median of that size."""
    reference = {cell.point.size: arm.time_us.median for cell, arm in series.get("native", []) if arm.time_us}
    palette = colours(series)
    for k, (name, measured) in enumerate(series.items()):
        shift = 1.12 ** (k - (len(series) - 1) / 2)  # beside each other, on the logarithmic axis
        for cell, arm in measured:
            base = reference.get(cell.point.size)
            if base is None or len(arm.quantiles_us) != 5:
                continue
            least, first, middle, third, most = (value / base for value in arm.quantiles_us)
            place = cell.point.size * shift
            axes.plot([place, place], [least, most], color=palette[name], linewidth=0.8)
            axes.plot([place, place], [first, third], color=palette[name], linewidth=4)
            axes.plot([place], [middle], "_", color=COLOURS["paper"], markersize=5)
    axes.axhline(1, color=LIMIT, linestyle="--")
    axes.set(title="time / native's median: all, middle half", xscale="log", yscale="log")
    plain_numbers(axes)


def plain_numbers(axes: Axes) -> None:
    """100 rather than a power of ten; of a short axis, on which no power may lie, 2 and 5 as well."""
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def label_sizes(axes: Axes, cells: Sequence[Cell], label: str) -> None:
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=9))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_size(round(size))))
    axes.xaxis.set_minor_formatter(NullFormatter())
    least, most = min(c.point.size for c in cells), max(c.point.size for c in cells)
    axes.set_xlim(least / 2, most * 2)
    axes.set_xlabel(label)
