"""Pictures of the results, which experiments.pages draws anew beside the tables."""

from collections.abc import Callable, Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, PercentFormatter
from unisono.core import charts

from experiments.tables import unasked

MOST = 12.5  # times the wire


def against_the_wire() -> str:
    """Programs of long messages (docs/results/unasked.md): how many take at most so many times the wire."""
    rows = unasked.measured("safe")
    arms = {
        "the MPI library's own": ("native", [row.possible for row in rows]),
        "with Unisono, nothing set": ("arm0", [row.over_limit for row in rows]),
    }
    with charts.style():
        figure = Figure(figsize=(6.4, 2.9), layout="constrained")
        axes = figure.subplots()
        for name, (colour, times) in arms.items():
            ordered = sorted(times)
            shares = [(place + 1) / len(ordered) for place in range(len(ordered))]
            axes.step(ordered, shares, where="post", color=charts.COLOURS[colour], label=name, linewidth=2)
        axes.set_xscale("log")
        axes.set_xlim(0.95, MOST)
        axes.set_ylim(0, 1.02)
        axes.set_xticks([1, 1.5, 2, 3, 5, 10], ["1", "1.5", "2", "3", "5", "10"])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel("time of a call / what its bytes need on the wire")
        axes.set_ylabel(f"of {len(rows)} programs")
        axes.legend(loc="lower right")
        return charts.alone(figure, "How far collectives are from the wire, with Unisono and without")


PICTURES: Mapping[str, Callable[[], str]] = {"unasked/against-the-wire.svg": against_the_wire}
