"""How right the cost model's segments and times are on simulated networks, whose times are exact.

  .venv/bin/python -m experiments.pipelines.simulator --minutes 14 --json F --markdown T  # or goes on
  .venv/bin/python -m experiments.pipelines.simulator --report --json F --markdown T

On each network the machine is calibrated on 16 ranks with the sizes of unisono-calibrate. A cell is a
pipelined algorithm on so many ranks with so many bytes: simulated with the model's segment, with others
around it and with the standard one, a process each, one at a time. `Fitted` are the cells on 16 ranks whose
size was calibrated. All cells would take hours: they come in an order drawn by lot, every fourth a fitted
one, until the time is over.
"""

import argparse
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError
from unisono.core.files import read_json, write_json
from unisono.model import check as model_check
from unisono.sim import calibrate, platforms
from unisono.sim.bench import Simulator
from unisono.testbeds.bench import Point

from experiments.markdown import table

NETWORKS = {
    "100 Mb/s": "ethernet:32,bw=100Mbps,lat=25us",
    "1 Gb/s": "ethernet:32,bw=1Gbps,lat=25us",
    "10 Gb/s": "ethernet:32,bw=10Gbps,lat=5us",
    "fat tree": "fattree:8x4:4",  # half as many links up as down, 100 Gb/s
    "torus": "torus:4x8",  # 425 MB/s
}
ROWS = {
    "bcast": ("chain", "circulant", "two_tree"),
    "reduce": ("chain", "circulant", "two_tree"),
    "allreduce": ("ring", "chain", "dual_root"),
    "scan": ("chain", "two_tree"),
}
SIZES = (64 << 10, 256 << 10, 384 << 10, 1 << 20, 1536 << 10, 4 << 20)
RANKS = (8, 13, 16, 24, 32)
CALIBRATED_ON = 16
FACTORS = (0.25, 0.5, 0.5**0.5, 2**0.5, 2.0, 4.0)
FITTED_ONE_IN = 4
GOAL_CELLS, GOAL_ERROR = 0.90, 0.15
WORST = 12
STANDARD = "standard"
Json = dict[str, Any]
KEYS = ("network", "collective", "row", "bytes", "ranks")


def is_fitted(cell: Json) -> bool:
    return cell["ranks"] == CALIBRATED_ON and cell["bytes"] in calibrate.SIZES


def cells() -> list[Json]:
    """All, in the order in which they are simulated."""
    chosen = [(name, row) for name, rows in ROWS.items() for row in rows]
    every = [
        dict(zip(KEYS, (network, *which, size, ranks), strict=True))
        for network, which, size, ranks in product(NETWORKS, chosen, SIZES, RANKS)
    ]
    random.Random(1).shuffle(every)
    fitted = [cell for cell in every if is_fitted(cell)]
    other = [cell for cell in every if not is_fitted(cell)]
    order = []
    while fitted or other:
        order += fitted[:1] + other[: FITTED_ONE_IN - 1]
        fitted, other = fitted[1:], other[FITTED_ONE_IN - 1 :]
    return order


def measure(cell: Json, machine: Path) -> Json:
    """With `arms`: segment, predicted and simulated us, the model's first; or `failed`."""
    ask = model_check.Asker(machine, cell["collective"], cell["ranks"], cell["ranks"])
    size, row = cell["bytes"], cell["row"]
    chosen = ask(size, [f"{row}:segment=auto"])[0].chosen
    specs = dict.fromkeys([*model_check.around(chosen, size, FACTORS), row])
    told = {each.spec: each.seconds for each in ask(size, list(specs))}
    simulator = Simulator(platforms.parse(NETWORKS[cell["network"]]), cell["ranks"], at_once=1)
    found = simulator.measure(Point(cell["collective"], size), list(specs))
    if found.problem:
        return {**cell, "failed": found.problem}
    seconds = {arm.spec: arm.median_s for arm in found.arms}
    return {**cell, "arms": [arm(spec, told[spec], seconds[spec]) for spec in specs if spec in seconds]}


def arm(spec: str, predicted: float | None, simulated: float) -> list[Any]:
    segment = model_check.SEGMENT.search(spec)
    times = [round(1e6 * seconds, 3) for seconds in (predicted or math.nan, simulated)]
    return [segment[0] if segment else STANDARD, *times]


def write(file: Path, machines: Json, done: Sequence[Json]) -> None:
    write_json({"machines": machines, "cells": list(done)}, file)


def measure_all(file: Path, minutes: float) -> Json:
    kept = read_json(file) if file.exists() else {"machines": {}, "cells": []}
    known = [{key: cell[key] for key in KEYS} for cell in kept["cells"]]
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="unisono-machines-") as folder:
        files = {name: Path(folder) / f"{at}.json" for at, name in enumerate(NETWORKS)}
        for name, spec in NETWORKS.items():
            calibrate.calibrate(platforms.parse(spec), CALIBRATED_ON, files[name])
            kept["machines"][name] = read_json(files[name])
        for cell in cells():
            if time.monotonic() > end:
                break
            if cell in known:
                continue
            kept["cells"].append(measure(cell, files[cell["network"]]))
            write(file, kept["machines"], kept["cells"])
    return kept


# --- the report --------------------------------------------------------------------------------------


def loss(cell: Json) -> float:
    """The model's segment over the best of all, less 1."""
    simulated = [seconds for _, _, seconds in cell["arms"]]
    return float(simulated[0] / min(simulated) - 1)


def errors(cell: Json) -> list[float]:
    return [predicted / simulated - 1 for _, predicted, simulated in cell["arms"]]


def percent(value: float, signed: bool = False) -> str:
    return f"{100 * value:+.1f} %" if signed else f"{100 * value:.1f} %"


def name_of(cell: Json) -> str:
    return f"{cell['collective']} {cell['row']}, {format_size(cell['bytes'])}, {cell['ranks']} ranks"


def summary(title: Sequence[str], of: Sequence[Json]) -> tuple[str, ...]:
    if not of:
        return (*title, "0", "", "", "", "", "")
    close = sum(loss(cell) <= model_check.CLOSE - 1 for cell in of)
    worst = max(of, key=loss)
    every = sorted(abs(error) for cell in of for error in errors(cell))
    own = statistics.median(abs(errors(cell)[0]) for cell in of)
    ninth = every[min(len(every) - 1, int(0.9 * len(every)))]
    return (
        *title,
        str(len(of)),
        f"{close} ({100 * close / len(of):.0f} %)",
        f"{percent(loss(worst))}: {name_of(worst)}",
        percent(statistics.median(every)),
        percent(ninth),
        percent(own),
    )


HEAD = ("cells", "within 3 %", "worst", "median error", "90th percentile", "of the model's own segment")


def by_network(of: Sequence[Json]) -> list[str]:
    rows = []
    for network in (*NETWORKS, "all"):
        for fitted, word in ((True, "fitted"), (False, "not fitted")):
            some = [c for c in of if network in (c["network"], "all") and is_fitted(c) == fitted]
            rows.append(summary((network, word), some))
    return table(("network", "", *HEAD), rows, ())


def by_row(of: Sequence[Json]) -> list[str]:
    rows = []
    for collective, names in ROWS.items():
        for row in names:
            some = [c for c in of if (c["collective"], c["row"]) == (collective, row)]
            rows.append(summary((f"{collective} {row}",), some))
    return table(("algorithm", *HEAD), rows, ())


def worst_cells(of: Sequence[Json]) -> list[str]:
    rows = []
    for cell in sorted(of, key=loss, reverse=True)[:WORST]:
        best = min(cell["arms"], key=lambda arm: arm[2])
        rows.append(
            (
                cell["network"],
                name_of(cell),
                percent(loss(cell)),
                cell["arms"][0][0],
                best[0],
                percent(errors(cell)[0], True),
                percent(best[1] / best[2] - 1, True),
            )
        )
    head = ("network", "cell", "slower", "the model's", "the best", "error of the model's", "of the best")
    return table(head, rows, ())


def goals(of: Sequence[Json]) -> list[str]:
    rows = []
    for fitted, word in ((True, "fitted"), (False, "not fitted")):
        some = [cell for cell in of if is_fitted(cell) == fitted]
        if not some:
            continue
        share = sum(loss(cell) <= model_check.CLOSE - 1 for cell in some) / len(some)
        error = statistics.median(abs(each) for cell in some for each in errors(cell))
        for goal, number, met in (
            (f"within 3 % in {percent(GOAL_CELLS)} of the cells", share, share >= GOAL_CELLS),
            (f"median error at most {percent(GOAL_ERROR)}", error, error <= GOAL_ERROR),
        ):
            rows.append((goal, word, percent(number), "met" if met else "not met"))
    return table(("goal", "", "", ""), rows, (0, 1, 3))


def of_the_search(of: Sequence[Json]) -> str:
    cheaper = [1 - min(predicted for _, predicted, _ in cell["arms"]) / cell["arms"][0][1] for cell in of]
    return (
        f"The search: in {sum(not each for each in cheaper)} of {len(of)} cells no segment that was "
        "simulated has a lower price than the model's; "
        f"at most it is {percent(max(cheaper, default=0.0))} lower."
    )


def report(kept: Json) -> list[str]:
    of = [cell for cell in kept["cells"] if "arms" in cell]
    lines = [*goals(of), "", *by_network(of), "", *by_row(of), "", of_the_search(of), ""]
    lines += ["The worst cells:", "", *worst_cells(of)]
    return lines + [f"- failed: {name_of(c)}: {c['failed']}" for c in kept["cells"] if "failed" in c]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    try:
        kept = read_json(options.json) if options.report else measure_all(options.json, options.minutes)
    except (OSError, ValueError, UnisonoError) as error:
        print(f"experiments.pipelines.simulator: {error}", file=sys.stderr)
        return 1
    text = "\n".join(report(kept)) + "\n"
    if options.markdown:
        options.markdown.write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
