"""A comparison as one HTML page that needs nothing beside itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from unisono.compare import plots, summary, words
from unisono.compare.results import Cell, Comparison, Setting
from unisono.compare.terminal import legend
from unisono.core import pages
from unisono.core.files import write_text
from unisono.core.words import interval, microseconds, number, percent


@dataclass(frozen=True)
class Section:
    setting: Setting
    machine: str
    collectives: list[tuple[str, Markup | None, list[Cell]]]  # name, plot, cells


def sections(comparison: Comparison) -> list[Section]:
    found = []
    for setting in comparison.settings():
        cells = [cell for cell in comparison.cells if cell.point.setting == setting]
        described = next((m for m in comparison.machines if m["mpi"] == setting.mpi), {})
        facts = [words.library(comparison, setting.mpi), described.get("processor"), described.get("kernel")]
        collectives = []
        for name in dict.fromkeys(cell.point.collective for cell in cells):
            own = [cell for cell in cells if cell.point.collective == name]
            collectives.append((name, plots.collective_svg(own), own))
        found.append(Section(setting, ", ".join(filter(None, facts)), collectives))
    return found


def render(comparison: Comparison, changes: Sequence[summary.Change] | None = None) -> str:
    environment = pages.environment("unisono.compare")
    environment.filters |= {
        "number": number,
        "us": microseconds,
        "percent": percent,
        "interval": interval,
    }
    slow = summary.slow_cells(comparison)
    return environment.get_template("page.html.j2").render(
        comparison=comparison,
        title=words.title(comparison),
        warnings=words.warnings(comparison),
        legend=legend(comparison),
        slow=slow,
        surely=summary.surely(slow),
        rows=summary.rows(comparison),
        sections=sections(comparison),
        changes=changes,
    )


def write(comparison: Comparison, path: Path, changes: Sequence[summary.Change] | None = None) -> None:
    write_text(render(comparison, changes), path)
