"""Numbers as people read them, alike in the terminal and on the page."""

from unisono.compare.results import Comparison
from unisono.core.words import percent
from unisono.lab.layout import rate_text


def bed_text(comparison: Comparison) -> str:
    bed = comparison.bed
    if bed.get("kind") == "lab":
        return f"lab {bed['name']}: {bed['plan']['hosts']} hosts at {rate_text(bed['bits_per_second'])}"
    return f"node, {bed.get('cores', '?')} cores"


def title(comparison: Comparison) -> str:
    return f"Unisono {comparison.unisono_version}, {bed_text(comparison)}, {comparison.date}"


def library(comparison: Comparison, mpi: str) -> str:
    """What the MPI library calls itself, without the particulars that follow a comma."""
    said = next((m["mpi_library"] for m in comparison.machines if m["mpi"] == mpi), "")
    return " ".join(said.partition(",")[0].split())


TOLD = {
    "loop": "calls back to back, every rank the root in its turn",
    "sleep": "every rank sleeps before every call; timed from the last entry to the last exit",
    "compute": "every rank computes for a time of its own and writes its input before every call; timed from "
    "the last entry to the last exit",
}
BUSY = 0.1
MODES_TOLD = 20


def warnings(comparison: Comparison) -> list[str]:
    """What a reader must know before believing a number."""
    found = [f"with {name}={value}" for name, value in comparison.options.get("environment", {}).items()]
    found += [f"{pattern}: {TOLD[pattern]}" for pattern in comparison.patterns() if pattern in TOLD]
    busy = comparison.bed.get("busy_before", 0.0)
    if busy > BUSY:
        found.append(
            f"{percent(busy)} of the machine was in use by others: times are too long, and ratios uncertain"
        )
    return [*found, *modes(comparison)]


def modes(comparison: Comparison) -> list[str]:
    """A median says little about a machine that was in one state or in the other."""
    told = [
        f"two modes: {cell.point.text()}, {arm.name}: {arm.modes.text()}"
        for cell in comparison.cells
        for arm in cell.arms
        if arm.modes
    ]
    rest = len(told) - MODES_TOLD
    return [
        *told[:MODES_TOLD],
        *([f"and {rest} more times with two modes: see the JSON"] if rest > 0 else []),
    ]
