"""Process arrival patterns, Table 1: one-way time and bandwidth by message size.

  .venv/bin/python -m experiments.arrival.table1_pingpong [--bed node,lab,sim:ethernet:16] [--fresh]

The paper measured two machines and used the times as the T by which it divides imbalance: Lemieux
(Quadrics) and a Beowulf cluster (1 Gb/s Ethernet, MPICH2 1.0.1).
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from rich import box
from rich.table import Table
from unisono.core.catalogue import format_size
from unisono.core.words import number

from experiments import harness, testbeds
from experiments.harness import Check
from experiments.testbeds import Json, Program, Run, Testbed

PINGPONG = Program("unisono-calibrate", testbeds.ROOT / "src/tools/calibrate/calibrate.cpp")
SIZES = (4, 256, 1024, 4096, 16384, 32768, 65536, 131072)
# Faraj, Patarasuk, Yuan, A study of process arrival patterns for MPI collective operations,
# Table 1, milliseconds.
PAPER_MS = {
    "Lemieux": (0.008, 0.008, 0.021, 0.029, 0.079, 0.150, 0.291, 0.575),
    "Beowulf": (0.056, 0.063, 0.088, 0.150, 0.277, 0.470, 0.846, 1.571),
}
BEOWULF_LINE_RATE = 1e9


@dataclass(frozen=True)
class Point:
    size: int
    us: float  # the median
    low: float  # quartiles
    high: float

    @property
    def bandwidth(self) -> float:
        """Bytes a second."""
        return self.size / self.us * 1e6


@dataclass(frozen=True)
class Series:
    name: str
    points: tuple[Point, ...]
    line_rate: float | None = None  # bits a second, where there is a line

    def at(self, size: int) -> Point:
        return next(point for point in self.points if point.size == size)


def paper() -> list[Series]:
    made = []
    for name, times in PAPER_MS.items():
        points = [Point(s, ms * 1e3, ms * 1e3, ms * 1e3) for s, ms in zip(SIZES, times, strict=True)]
        made.append(Series(f"paper: {name}", tuple(points), BEOWULF_LINE_RATE if name == "Beowulf" else None))
    return made


def one_way(seconds: float, sizes: Sequence[int]) -> list[str]:
    """The program's arguments: so long for every size."""
    return ["--one-way", "--seconds", str(seconds), *map(str, sizes)]


def measured(testbed: Testbed, raw: Json) -> Series:
    points = []
    for cell in raw["samples"]:
        low, middle, high = statistics.quantiles(cell["seconds"], n=4, method="inclusive")
        points.append(Point(cell["bytes"], middle * 1e6, low * 1e6, high * 1e6))
    return Series(testbed.name, tuple(points), testbed.line_rate)


def checks(series: Series) -> list[Check]:
    """What the paper's table shows on both of its machines."""
    steps = list(zip(series.points, series.points[1:], strict=False))
    growth = min(second.us / first.us for first, second in steps)
    small = series.at(256).us / series.at(4).us
    gain = min(second.bandwidth / first.bandwidth for first, second in steps)
    last = series.at(131072).bandwidth / series.at(65536).bandwidth
    best = max(point.bandwidth for point in series.points)
    half = next(point.size for point in series.points if point.bandwidth >= best / 2)
    found = [
        Check("a larger message takes no less time", growth >= 0.98, f"at least {growth:.2f} times as long"),
        Check("256 B take about as long as 4 B", small <= 1.25, f"{small:.2f} times (paper 1.00, 1.13)"),
        Check("bandwidth rises with every size", gain > 1, f"by a factor of {gain:.2f} at least"),
        Check(
            "and hardly from 64 KB to 128 KB any more",
            last < 1.15,
            f"by a factor of {last:.2f} (paper 1.01, 1.08)",
        ),
        Check(
            "half of it is reached between 1 KB and 16 KB",
            1024 <= half <= 16384,
            f"at {format_size(half)} (paper 4K, 16K)",
        ),
    ]
    if series.line_rate:
        share = 8 * best / series.line_rate
        claim = "the line is used as well as the paper's Ethernet was, and no better than it can be"
        found.append(Check(claim, 0.66 <= share <= 1, f"{100 * share:.0f} % of its rate (paper 67 %)"))
    return found


def table(all_series: Sequence[Series]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title="one-way us, MB/s")
    made.add_column("bytes", justify="right")
    for series in all_series:
        made.add_column(series.name, justify="right", no_wrap=True)
    for size in SIZES:
        points = [series.at(size) for series in all_series]
        cells = [f"{number(point.us):>5}  {number(point.bandwidth / 1e6):>5}" for point in points]
        made.add_row(format_size(size), *cells)
    return made


def plot(all_series: Sequence[Series]) -> Figure:
    figure = Figure(figsize=(10, 4), layout="constrained")
    times, bandwidths = figure.subplots(1, 2)
    for series in all_series:
        sizes = [point.size for point in series.points]
        style = "--" if series.name.startswith("paper") else "-"
        times.plot(sizes, [p.us for p in series.points], style, marker="o", markersize=3, label=series.name)
        times.fill_between(sizes, [p.low for p in series.points], [p.high for p in series.points], alpha=0.2)
        bandwidths.plot(sizes, [p.bandwidth / 1e6 for p in series.points], style, marker="o", markersize=3)
    times.set(xscale="log", yscale="log", xlabel="bytes", title="one-way time (us), band: middle half")
    bandwidths.set(xscale="log", yscale="log", xlabel="bytes", title="bandwidth (MB/s)")
    figure.legend(loc="outside right center", frameon=False)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    options = harness.options(__doc__ or "", seconds=0.5, arguments=arguments)
    found = []
    for testbed in options.testbeds:
        run = Run(PINGPONG, 2, one_way(options.seconds, SIZES))
        raw = harness.measure(testbed, run, 60 + 10 * len(SIZES) * options.seconds, options.fresh)
        found.append(measured(testbed, raw))
    harness.console.print(table([*paper(), *found]))
    harness.save(plot([*paper(), *found]), "arrival-table1")
    harness.report({series.name: checks(series) for series in found})
    return 0


if __name__ == "__main__":
    harness.run(main)
