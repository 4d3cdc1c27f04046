"""Which algorithm is exported for which cell, from paired measurements."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unisono.core.estimates import estimate_median
from unisono.tune.native.record import DEFAULT, Cell, Record

WORTH = 0.97  # a gain below 3 % is not worth an entry
HOPEFUL = 1.0  # after screening: what is tried again
FINALISTS = 2  # of a cell


@dataclass(frozen=True)
class Ratio:
    """Time by time of the library's own decision. Not one value has been left out."""

    median: float
    low: float
    high: float

    @property
    def faster(self) -> bool:
        return self.high < 1 and self.median <= WORTH

    @property
    def slower(self) -> bool:
        return self.low > 1


def interval(values: Sequence[float]) -> Ratio | None:
    """Order statistics that enclose the true median with 95 % probability whatever the distribution;
    None of fewer than six values, which cannot."""
    found = estimate_median(values) if values else None
    return Ratio(found.median, found.low, found.high) if found and found.is_sure else None


def finalists(
    record: Record, cells: Sequence[Cell], algorithms: Iterable[str], together: bool
) -> list[list[str]]:
    """For each cell the algorithms that looked best when all were tried; `together`: the same for
    all cells, because a file cannot tell them apart."""
    scores: dict[str, list[float]] = {}
    for name in algorithms:
        ratios = [record.ratios("screening", cell, name) for cell in cells]
        if all(ratios) and not record.failed(cells[0], name):
            scores[name] = [statistics.fmean(own) for own in ratios]
    if together:
        whole = {name: statistics.geometric_mean(own) for name, own in scores.items()}
        best = [name for name in sorted(whole, key=whole.__getitem__) if whole[name] < HOPEFUL]
        return [best[:FINALISTS]] * len(cells)
    found = []
    for i in range(len(cells)):
        by_cell = {name: own[i] for name, own in scores.items() if own[i] < HOPEFUL}
        found.append(sorted(by_cell, key=by_cell.__getitem__)[:FINALISTS])
    return found


def winners(
    record: Record, cells: Sequence[Cell], candidates: Sequence[Sequence[str]], together: bool
) -> list[str]:
    """For each cell the algorithm that is surely faster than the library's decision, or that."""
    if together:
        found = [whole_winner(record, cells, candidates[0])] * len(cells)
    else:
        found = [whole_winner(record, [cell], names) for cell, names in zip(cells, candidates, strict=True)]
    return found


def whole_winner(record: Record, cells: Sequence[Cell], names: Sequence[str]) -> str:
    """Faster somewhere, slower nowhere."""
    best, least = DEFAULT, 1.0
    for name in names:
        ratios = [interval(record.ratios("final", cell, name)) for cell in cells]
        if record.failed(cells[0], name) or any(ratio is None or ratio.slower for ratio in ratios):
            continue
        known = [ratio for ratio in ratios if ratio]
        score = statistics.geometric_mean([ratio.median for ratio in known])
        if any(ratio.faster for ratio in known) and score < least:
            best, least = name, score
    return best
