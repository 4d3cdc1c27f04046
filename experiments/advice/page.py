"""docs/results/advice.md, as `python -m experiments.pages advice` writes it from docs/results/advice/."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, spearmanr
from unisono.core.estimates import estimate_median
from unisono.core.files import read_json

from experiments import markdown
from experiments.advice.verify import RESULTS
from experiments.testbeds import Json
from experiments.whatif.page import EVEN

TEXT = Path(__file__).with_name("page.md")
GOAL_RANKS, GOAL_SIGNS = 0.9, 0.95
WHERE = ("library", "application", "collective", "bytes", "native s", "algorithm")
HEAD = (*WHERE, "predicted ms", "from", "to", "measured ms", "from", "to", "program ms", "sign")
WORDS = (0, 1, 2, 5, 13)


@dataclass(frozen=True)
class Cell:
    """An algorithm for a collective of an application. Gains in seconds of a run."""

    bed: str
    library: str
    application: str
    collective: str
    bytes: int
    natives: tuple[float, ...]  # by round
    algorithm: str
    predicted: float
    low: float
    high: float
    measured: tuple[float, ...]  # by round
    program: float

    @property
    def native(self) -> float:
        return estimate_median(self.natives).median

    @property
    def median(self) -> float:
        return estimate_median(self.measured).median

    @property
    def is_sure(self) -> bool:
        """All rounds agree on the sign."""
        return min(self.measured) > 0 or max(self.measured) < 0

    @property
    def is_large(self) -> bool:
        return self.is_sure and abs(self.median) > EVEN * self.native

    @property
    def is_decided(self) -> bool:
        return self.low > 0 or self.high < 0

    @property
    def is_right(self) -> bool:
        return (self.predicted > 0) == (self.median > 0)

    @property
    def verdict(self) -> str:
        if not self.is_sure:
            return "not measurable"
        word = "right" if self.is_right else "wrong"
        return word if self.is_decided else f"{word} (undecided)"

    def row(self) -> tuple[str, ...]:
        def ms(seconds: float) -> str:
            return f"{1e3 * seconds:.0f}"

        where = (self.library, self.application, self.collective, str(self.bytes), f"{self.native:.2f}")
        said = (ms(self.predicted), ms(self.low), ms(self.high))
        found = (ms(self.median), ms(min(self.measured)), ms(max(self.measured)), ms(self.program))
        return (*where, f"`{self.algorithm}`", *said, *found, self.verdict)


def bed_text(body: Json) -> str:
    return f"{body['ranks']} hosts at {body['bed']['bits_per_second'] / 1e6:.0f} Mb/s"


def cells_of(body: Json) -> Iterator[Cell]:
    for cell in body["cells"]:
        for arm in cell["arms"]:
            yield Cell(
                bed_text(body),
                body["mpi"]["flavour"],
                cell["application"],
                cell["collective"],
                cell["bytes"],
                tuple(arm["native_s"]),
                arm["algorithm"],
                arm["predicted_s"],
                arm["low_s"],
                arm["high_s"],
                tuple(arm["measured_s"]),
                estimate_median(arm["program_s"]).median,
            )


def advised_by(body: Json, job: int) -> Iterator[Cell]:
    """The same with advice from one job alone."""
    arms = (arm for cell in body["cells"] for arm in cell["arms"])
    for cell, arm in zip(cells_of(body), arms, strict=True):
        if job < len(arm["from_job"]) and (gain := arm["from_job"][job]):
            predicted, low, high = gain
            yield replace(cell, predicted=predicted, low=low, high=high)


def by_jobs(bodies: Sequence[Json]) -> list[str]:
    jobs = max(len(arm["from_job"]) for body in bodies for cell in body["cells"] for arm in cell["arms"])
    told = {f"job {n + 1}": [cell for body in bodies for cell in advised_by(body, n)] for n in range(jobs)}
    told[f"all {jobs}"] = [cell for body in bodies for cell in cells_of(body)]
    libraries = [body["mpi"]["flavour"] for body in bodies]
    rows = []
    for name, cells in told.items():
        of_libraries = (f"{ranks([c for c in cells if c.library == library]):.2f}" for library in libraries)
        sure = [cell for cell in cells if cell.is_sure]
        both = [cell for cell in sure if cell.is_decided]
        figures = (f"{ranks(cells):.2f}", *of_libraries, f"{ranks(sure):.2f}", share(sure), share(both))
        rows.append((name, *figures))
    head = ["advice from", "rank correlation of all", *libraries, "of what is measurable"]
    return markdown.table((*head, "sign right of that", "and decided"), rows, (0,))


def ranks(cells: Sequence[Cell]) -> float:
    return float(spearmanr([c.predicted for c in cells], [c.median for c in cells]).statistic)


Collective = tuple[str, str, str]  # library, application, collective


def by_collective(cells: Sequence[Cell]) -> dict[Collective, list[Cell]]:
    found: dict[Collective, list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.library, cell.application, cell.collective), []).append(cell)
    return found


def drawn(cells: Sequence[Cell]) -> tuple[float, float]:
    """Between which the rank correlation is: algorithms for one collective have the same native jobs."""
    chance, of = np.random.default_rng(1), list(by_collective(cells).values())
    draws = [
        ranks([cell for at in chance.integers(len(of), size=len(of)) for cell in of[at]]) for _ in range(1000)
    ]
    low, high = np.nanquantile(draws, (0.025, 0.975))  # a draw may be of one collective alone
    return float(low), float(high)


def over_native(cell: Cell) -> Cell:
    measured = tuple(gain / native for gain, native in zip(cell.measured, cell.natives, strict=True))
    return replace(cell, predicted=cell.predicted / cell.native, measured=measured)


def without_worst(cells: Sequence[Cell]) -> list[Cell]:
    worst = [min(own, key=lambda cell: cell.predicted) for own in by_collective(cells).values()]
    return [cell for cell in cells if not any(cell is one for one in worst)]


def halves(cells: Sequence[Cell]) -> float:
    """The same between the medians of every other round: more than that no prediction can reach for sure."""
    several = [cell for cell in cells if len(cell.measured) > 1]
    medians = [[estimate_median(c.measured[first::2]).median for c in several] for first in (0, 1)]
    return float(spearmanr(*medians).statistic)


def part(number: int, of: int) -> str:
    return f"{number} of {of}" + (f" ({100 * number / of:.0f} %)" if of else "")


def share(cells: Sequence[Cell]) -> str:
    return part(sum(cell.is_right for cell in cells), len(cells))


def in_order(cells: Sequence[Cell]) -> str:
    """Of two algorithms for one collective of an application, which all rounds put in the same order."""
    right = number = 0
    pairs = (itertools.combinations(own, 2) for own in by_collective(cells).values())
    for one, other in itertools.chain.from_iterable(pairs):
        differences = [a - b for a, b in zip(one.measured, other.measured, strict=True)]
        if one.predicted != other.predicted and (min(differences) > 0 or max(differences) < 0):
            number += 1
            right += (one.predicted > other.predicted) == (differences[0] > 0)
    return part(right, number)


def summary_row(name: str, cells: Sequence[Cell]) -> tuple[str, ...]:
    sure = [cell for cell in cells if cell.is_sure]
    decided = [cell for cell in cells if cell.is_decided]
    both = [cell for cell in sure if cell.is_decided]
    correlations = (f"{ranks(cells):.2f}", f"{halves(cells):.2f}")
    signs = (str(len(cells) - len(sure)), share(sure), str(len(cells) - len(decided)), share(both))
    return (name, str(len(cells)), *correlations, *signs)


SUMMARY_HEAD = (
    "",
    "algorithms",
    "rank correlation, predicted and measured",
    "measured twice",
    "not measurable",
    "sign right, of the others",
    "undecided by the advice",
    "sign right, of what is measurable and decided",
)


def summary(cells: Sequence[Cell]) -> list[str]:
    rows = [summary_row("all", cells)]
    for library in dict.fromkeys(cell.library for cell in cells):
        rows.append(summary_row(library, [cell for cell in cells if cell.library == library]))
    for application in dict.fromkeys(cell.application for cell in cells):
        rows.append(summary_row(application, [c for c in cells if c.application == application]))
    return markdown.table(SUMMARY_HEAD, rows, (0,))


def how_much_it_shows(cells: Sequence[Cell]) -> str:
    sure = [cell for cell in cells if cell.is_sure]
    both = [cell for cell in sure if cell.is_decided]
    places = {(cell.library, cell.application, cell.collective) for cell in both}
    right = sum(cell.is_right for cell in both)
    possible = binomtest(right, len(both), alternative="greater").proportion_ci(0.95).low
    gaining = [cell for cell in cells if cell.low > 0]
    did = sum(cell.is_sure and cell.is_right for cell in gaining)
    lost = sum(cell.is_sure and not cell.is_right for cell in gaining)
    return (
        f"Where the advice decides it is seldom put to the test: by {len(both)} algorithms for {len(places)} "
        f"collectives. With {right} of them right a share of {100 * possible:.0f} % is still possible "
        "(95 %), or less: algorithms for one collective are compared with the same native job. "
        f"Of {len(gaining)} algorithms it says that they gain. {did} of them gained in all rounds, {lost} "
        f"lost in all; of the others the rounds disagree. What is measurable, or beyond {EVEN:.0%}, is known "
        "only afterwards: to pick it raises a correlation by itself."
    )


def verdict(cells: Sequence[Cell]) -> list[str]:
    sure, large = [c for c in cells if c.is_sure], [c for c in cells if c.is_large]
    possible = sum(cell.low <= cell.median <= cell.high for cell in cells)
    beyond = f"what is measurable and beyond {EVEN:.0%} of native"
    rows: list[tuple[str, ...]] = [
        correlation("rank correlation of all 0.9", cells),
        ("of that, drawing collectives (95 %)", "{:.2f} to {:.2f}".format(*drawn(cells)), "", ""),
        ("the same over native's time", f"{ranks([over_native(cell) for cell in cells]):.2f}", "", ""),
        ("the same without the worst by the model", f"{ranks(without_worst(cells)):.2f}", "", ""),
        correlation("the same of what is measurable", sure),
        correlation(f"the same of {beyond}", large),
        signs("sign right in 95 % of what is measurable", sure),
        signs("the same where the advice decides", [c for c in sure if c.is_decided]),
        signs(f"sign right in 95 % of {beyond}", large),
        signs("the same where the advice decides", [c for c in large if c.is_decided]),
        (
            "of two algorithms for one collective, which all rounds order: in the right order",
            in_order(cells),
            "",
            "",
        ),
        ("the measured gain is one that was thought possible", part(possible, len(cells)), "", ""),
    ]
    return markdown.table(("goal", "measured", "always *loses*", "met"), rows, (0, 3))


def correlation(name: str, cells: Sequence[Cell]) -> tuple[str, ...]:
    return (name, f"{ranks(cells):.2f}", "", markdown.met(ranks(cells) >= GOAL_RANKS))


def signs(name: str, cells: Sequence[Cell]) -> tuple[str, ...]:
    """Beside what is right who says of every algorithm that it loses."""
    right, losing = sum(cell.is_right for cell in cells), sum(cell.median < 0 for cell in cells)
    met = markdown.met(right >= GOAL_SIGNS * max(1, len(cells)))
    return (name, share(cells), part(losing, len(cells)), met)


def losses(cells: Sequence[Cell]) -> list[str]:
    wrong = [cell for cell in cells if cell.is_sure and not cell.is_right]
    wrong.sort(key=lambda cell: -abs(cell.predicted - cell.median) / cell.native)
    return markdown.table(HEAD, [cell.row() for cell in wrong], WORDS)


def of_bed(bed: str, bodies: Sequence[Json]) -> list[str]:
    cells = [cell for body in bodies for cell in cells_of(body)]
    rounds = sorted({len(cell.measured) for cell in cells})
    count = f"{rounds[0]} to {rounds[-1]}" if len(rounds) > 1 else f"{rounds[0]}"
    waits = ", ".join(f"{1e3 * b['machine']['wake_s']:.2f} ms under {b['mpi']['flavour']}" for b in bodies)
    busy = "; ".join(
        "{} to {} % (quartiles; at most {} %) under {}".format(
            *(f"{100 * body['busy_before'][at]:.0f}" for at in (0, 2, 3)), body["mpi"]["flavour"]
        )
        for body in bodies
    )
    return [
        f"## {bed}",
        "",
        f"{count} rounds. Others kept the cores busy before the jobs for {busy}. "
        f"A message wakes its rank within {waits}, by a program of its own. {how_much_it_shows(cells)}",
        "",
        *verdict(cells),
        "### Advice from one job",
        "",
        *by_jobs(bodies),
        "### By library and application",
        "",
        *summary(cells),
        "### Wrong signs",
        "",
        *losses(cells),
        "### All",
        "",
        *markdown.table(HEAD, [cell.row() for cell in cells], WORDS),
    ]


def page(bodies: Sequence[Json]) -> str:
    beds: dict[str, list[Json]] = {}
    for body in sorted(bodies, key=lambda body: -body["ranks"]):
        beds.setdefault(bed_text(body), []).append(body)
    # Links lead from the file's own folder, and in the page from docs/results.
    text = TEXT.read_text().replace("](../../docs/", "](../")
    head, _, tail = text.partition("<!-- tables -->\n")
    lines = [head.rstrip(), ""]
    for bed, own in beds.items():
        lines += of_bed(bed, own)
    return "\n".join(lines) + tail


def written() -> str:
    return page([read_json(path) for path in sorted(RESULTS.glob("*.json.zst"))])
