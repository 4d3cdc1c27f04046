"""A report as one HTML page that needs nothing beside itself."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup

from unisono.core import pages
from unisono.core.files import write_text
from unisono.trace import figures, verdict
from unisono.trace.figures import LANES, POINTS
from unisono.trace.summary import (
    COVER,
    LEAST,
    OFTEN,
    SMALL_BYTES,
    Site,
    Summary,
    collective_name,
    distribution,
)
from unisono.trace.terminal import class_text, error_text, headline, left_out

MOST_DRAWN = 50  # call sites with figures, some 50 KB each: the page stays below 5 MB


@dataclass(frozen=True)
class Drawn:
    """A call site with its figures."""

    site: Site
    series: Markup
    sampled: bool
    timeline: Markup
    lanes_left_out: int


def render(summary: Summary, top: int) -> str:
    environment = pages.environment("unisono.trace")
    environment.filters |= {
        "time": verdict.time_text,
        "factor": verdict.factor_text,
        "percent": verdict.percent,
        "mpi": collective_name,
    }
    analysis = summary.analysis
    return environment.get_template("page.html.j2").render(
        summary=summary,
        analysis=analysis,
        trace=analysis.trace,
        start=analysis.trace.first.start,
        hosts=len({rank.host for rank in analysis.trace.ranks.values()}),
        title=headline(analysis.trace),
        notes=[*analysis.trace.notes, *left_out(analysis)],
        clocks=error_text(summary.whole) if summary.whole else "",
        bars=classes(summary),
        drawn=[draw(site, at) for at, site in enumerate(summary.sites[: min(top, MOST_DRAWN)], 1)],
        verdict=verdict.verdict,
        shares=verdict.shares,
        bytes_text=verdict.bytes_text,
        title_of=verdict.title,
        function_text=verdict.function_text,
        late_text=verdict.late_text,
        small=SMALL_BYTES,
        rule={"often": OFTEN, "least": LEAST, "cover": COVER},
        most_points=POINTS,
        most_lanes=LANES,
    )


def classes(summary: Summary) -> Markup:
    found = distribution(summary.analysis.calls)
    if not found:
        return Markup("")
    names = [class_text(number) for number in range(len(found))]
    drawn = [
        (f"messages up to {SMALL_BYTES} B", "average", [row[1] for row in found]),
        ("larger", "worst", [row[2] for row in found]),
    ]
    return figures.bars(names, drawn)


def draw(site: Site, number: int) -> Drawn:
    calls = site.calls
    one_way = calls["one_way"].astype(float)
    factor = not np.isnan(one_way).any()
    scale = one_way if factor else np.ones(len(calls))
    series = figures.series(
        calls["worst"] / scale,
        calls["average"] / scale,
        site.phases,
        float(np.median(scale)),
        factor,
        f"imbalance of each call of call site {number}",
    )
    worst = site.row.worst
    return Drawn(
        site,
        series,
        len(calls) > POINTS,
        figures.timeline(worst, f"ranks of the worst call of call site {number}") if worst else Markup(""),
        max(0, len(worst.members) - LANES) if worst else 0,
    )


def write(summary: Summary, path: Path, top: int) -> None:
    write_text(render(summary, top), path)
