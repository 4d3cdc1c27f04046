"""docs/results/whatif.md, as `python -m experiments.pages whatif` writes it from docs/results/whatif/."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr
from unisono.core.catalogue import format_size
from unisono.core.estimates import estimate_median
from unisono.core.files import read_json
from unisono.trace.verdict import time_text

from experiments import markdown

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "results" / "whatif"
LAB = FOLDER / "lab"
EVEN = 0.02  # so near to native's time nobody is faster
NEAR = 0.05  # of the seconds of a call
HEAD = """# What `unisono whatif` predicts, and what happens

<!-- Written by `python -m experiments.pages whatif`. -->

Each program was traced on 8 hosts of a simulated Ethernet. From the trace
[`unisono whatif`](../guide/whatif.md) predicted what it takes on more hosts, and which algorithms gain there.
Then the program itself was run on so many hosts in the same simulator, natively and with each of these
algorithms forced. So this page says whether scaling and replaying a trace loses anything; how near the
simulator is to a network is [another question](simulator.md). Nothing here is noise: every number is the
same in every run. Programs compute in no time there, but for `imbalanced`, whose ranks sleep for
times of their own; it alone is scaled weakly. Native is the simulator's imitation of Open MPI.

<!-- not run: half an hour -->
```sh
ninja -C build simulated_apps
python -m experiments.whatif.verify
python -m experiments.pages whatif
```

Forced are of the algorithms that the prediction times: its best two, one of the middle, and the slowest
of those within ten times the best.
"""

Json = Mapping[str, Any]


def load(folder: Path) -> list[Json]:
    return [read_json(path) for path in sorted(folder.glob("*.json.zst"))]


def size_text(size: float) -> str:
    return f"{format_size(round(size))}B"


def natives(found: Sequence[Json]) -> list[str]:
    rows = []
    for one in found:
        run = one["runs"][0]
        rows.append(
            (
                f"`{one['program']}`",
                str(one["ranks"]),
                f"{one['collective']} of {size_text(one['bytes'])}",
                size_text(one["predicted_bytes"]),
                time_text(one["predicted_native_seconds"]),
                time_text(one["native_seconds"]),
                time_text(run["predicted_seconds"]),
                time_text(run["measured_seconds"]),
            )
        )
    head = (
        "program",
        "ranks",
        "call",
        "predicted size",
        "predicted",
        "run",
        "loop predicted",
        "loop run",
    )
    return markdown.table(head, rows, {0, 2})


def arms(found: Sequence[Json]) -> list[tuple[Json, Json]]:
    return [(one, arm) for one in found for arm in one["arms"] if arm["measured_ratio"] is not None]


def gains(found: Sequence[Json]) -> list[str]:
    rows = [
        (
            f"`{one['program']}`",
            str(one["ranks"]),
            one["collective"],
            f"`{arm['algorithm']}`",
            f"{arm['predicted_ratio']:.2f}",
            f"{arm['measured_ratio']:.2f}",
        )
        for one, arm in arms(found)
    ]
    return markdown.table(("program", "ranks", "call", "algorithm", "predicted", "run"), rows, {0, 2, 3})


def sign(ratio: float) -> int:
    return 0 if abs(ratio - 1) <= EVEN else 1 if ratio > 1 else -1


def summary(found: Sequence[Json]) -> list[str]:
    told = [(arm["predicted_ratio"], arm["measured_ratio"]) for _, arm in arms(found)]
    if len(told) < 3:
        return []
    decided = [(a, b) for a, b in told if sign(b)]
    right = sum(sign(a) == sign(b) for a, b in decided)
    opposite = sum(sign(a) == -sign(b) for a, b in decided)
    correlation = float(spearmanr(*zip(*told, strict=True)).statistic)
    off = sorted(abs(a / b - 1) for a, b in told)
    return [
        f"- {len(told)} algorithms in {len(found)} cases. The rank correlation (Spearman) of predicted "
        f"and run ratios is {correlation:.2f}.",
        f"- {len(decided)} were faster or slower than native by more than {100 * EVEN:.0f} %. Of {right} of "
        f"these the prediction said so. Of {opposite} it said the opposite.",
        f"- Half of the ratios are within {100 * off[len(off) // 2]:.1f} % of what was run. The worst is "
        f"{100 * off[-1]:.0f} % off.",
        *seconds_off(found),
        "",
    ]


def seconds_off(found: Sequence[Json]) -> list[str]:
    """Ratios hide what native and an algorithm are wrong by alike."""
    calls = [(one, one["predicted_native_seconds"] / one["native_seconds"] - 1) for one in found]
    loops = [one["runs"][0]["predicted_seconds"] / one["runs"][0]["measured_seconds"] - 1 for one in found]
    near = sum(abs(off) <= NEAR for _, off in calls)
    worst, off = max(calls, key=lambda each: abs(each[1]))
    return [
        f"- Seconds are less sure than ratios: a native call is within {100 * NEAR:.0f} % in {near} of "
        f"{len(found)} cases. The worst is `{worst['program']}`: {100 * off:+.0f} %. Whole loops are up to "
        f"{100 * max(map(abs, loops)):.0f} % off.",
    ]


def text(found: Sequence[Json]) -> str:
    lines = [HEAD, *summary(found), "## Native", ""]
    lines += [
        "Seconds of one call on the mean rank, and of the whole loop: its calls and its computing. Calls",
        "that are made once are not in it. At the end of these programs rank 0 receives what it prints in",
        "messages that are no collectives; nobody scales those.",
        "",
        *natives(found),
        "## What algorithms gain",
        "",
        "Of native's time in the calls; below 1 is faster.",
        "",
        *gains(found),
    ]
    notes = sorted(
        {f"- `{one['program']}` on {one['ranks']}: {note}" for one in found for note in one["notes"]}
    )
    if notes:
        lines += ["## What was left out", "", *notes, ""]
    return "\n".join(lines).rstrip() + "\n"


# --- in the lab ------------------------------------------------------------------------------------

IN_THE_LAB = """## On a network

Here {traced} hosts of a [lab](../guide/lab.md) were traced, at 50 Mb/s, and {ranks} were predicted. What
these really take is from [the verification of `unisono advise`](advice.md), job for job. The trace alone says
what the network is. Native is the simulator's imitation of the MPI library, whose choices may be other ones.
The problems are scaled strongly, and times go from the last arrival at a call to its last exit.

Two things are in the lab, and neither on Ethernet nor in the simulator. A port that was idle lets
[2 ms of frames](../adr/0046-short-trains.md) through at once, 12.5 KB: all of a message of 8 KB. So what
passes short messages on from rank to rank takes a fraction of its time in the simulator, as `pipeline` for
the Allreduce of is, and `chain` and `sorted` for the Reduce of jacobi. And all ranks share two cores, so that
calls of a few bytes take ten times as long. So neither what is wrong below nor what is right says much of a
cluster.

<!-- not run: root, and minutes after experiments.advice.verify -->
```sh
sudo UNISONO_LAB=advise .venv/bin/python -m experiments.whatif.lab
```
"""


@dataclass(frozen=True)
class InLab:
    """An algorithm for a collective of an application: its share of native's time, predicted and by round."""

    library: str
    application: str
    collective: str
    algorithm: str
    predicted: float
    measured: tuple[float, ...]

    @property
    def median(self) -> float:
        return estimate_median(self.measured).median

    @property
    def is_sure(self) -> bool:
        """All rounds agree on who is faster."""
        return min(self.measured) > 1 or max(self.measured) < 1

    @property
    def is_right(self) -> bool:
        return (self.predicted - 1) * (self.median - 1) > 0

    def row(self) -> tuple[str, ...]:
        numbers = (self.predicted, self.median, min(self.measured), max(self.measured))
        word = ("right" if self.is_right else "wrong") if self.is_sure else "not measurable"
        where = (self.library, self.application, self.collective, f"`{self.algorithm}`")
        return (*where, *(f"{number:.2f}" for number in numbers), word)


def in_lab(bodies: Sequence[Json]) -> list[str]:
    cells = [
        InLab(
            body["mpi"],
            cell["application"],
            cell["collective"],
            arm["algorithm"],
            arm["predicted"],
            tuple(arm["measured"]),
        )
        for body in bodies
        for cell in body["cells"]
        for arm in cell["arms"]
        if arm["measured"]
    ]
    natively = [
        cell["predicted_native_s"] / estimate_median(cell["native_s"]).median
        for body in bodies
        for cell in body["cells"]
    ]
    head = (
        "library",
        "application",
        "call",
        "algorithm",
        "predicted",
        "measured",
        "least",
        "most",
        "who is faster",
    )
    lines = [IN_THE_LAB.format(traced=bodies[0]["traced_ranks"], ranks=bodies[0]["ranks"])]
    for name in ("all", *dict.fromkeys(cell.library for cell in cells)):
        lines.append(summary_in_lab(name, [cell for cell in cells if name in ("all", cell.library)]))
    lines.append(seconds_off_in_lab(natively))
    return [*lines, "", *markdown.table(head, [cell.row() for cell in cells], {0, 1, 2, 3, 8})]


def summary_in_lab(name: str, cells: Sequence[InLab]) -> str:
    sure = [cell for cell in cells if cell.is_sure]
    right, slower = sum(cell.is_right for cell in sure), sum(cell.median > 1 for cell in sure)
    large = [cell for cell in sure if sign(cell.median)]
    said = [sign(cell.predicted) * sign(cell.median) for cell in large]
    correlation = float(spearmanr([c.predicted for c in cells], [c.median for c in cells]).statistic)
    return (
        f"- {name}: {len(cells)} algorithms. The rank correlation of predicted and measured ratios is "
        f"{correlation:.2f}. All rounds agree on who is faster for {len(sure)}; of {right} of these the "
        f"prediction said so. Whoever says of all that native is faster is right for {slower}. "
        f"{len(large)} of these differ from native by more than {100 * EVEN:.0f} %: of {said.count(1)} it "
        f"said so, of {said.count(-1)} the opposite, of the others that they do not."
    )


def seconds_off_in_lab(natively: Sequence[float]) -> str:
    near = sum(abs(ratio - 1) <= NEAR for ratio in natively)
    return (
        f"- The seconds of native calls are predicted within {100 * NEAR:.0f} % in {near} of {len(natively)} "
        f"cases; they are {min(natively):.2f} to {max(natively):.2f} times what was measured."
    )


def written() -> str:
    return text(load(FOLDER)) + "\n" + "\n".join(in_lab(load(LAB)))
