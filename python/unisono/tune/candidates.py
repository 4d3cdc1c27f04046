"""Which algorithms race in a cell: the catalogue with parameters and grids, cut down by the model."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from unisono import catalogue
from unisono.catalogue import Algorithm, format_size
from unisono.errors import UnisonoError

GRID, SHARED = "grid", "shared"
VALUES = {"segment": (4 << 10, 16 << 10, 64 << 10), "radix": (2, 4, 8), "window": (2, 4, 8)}
OUT_OF_QUESTION = 10.0  # times the fastest predicted one; the model is no further off than that
UNPRICED = 2  # of the grids that the model has no time for, so many race
OVER_SHM = 2  # so many race once more with their messages in shared memory
OF_A_FAMILY = 3  # so many race at most; they are much alike

FORMS = {
    "bcast": ("leaders", "lanes"),
    "reduce": ("leaders", "lanes"),
    "allreduce": ("leaders", "full", "lanes"),
    "allgather": ("leaders", "lanes"),
    "reduce_scatter": ("leaders", "lanes"),
    "reduce_scatter_block": ("leaders", "lanes"),
    "alltoall": ("leaders", "lanes"),
    "barrier": ("leaders", "full"),
}
# Of every phase of a grid; what a collective or a form does not have is left out.
INNERS = {
    "bcast": ("binomial", "chain/segment=8K", "chain/segment=32K"),
    "reduce": ("binomial", "chain/segment=8K"),
    "allreduce": ("recursive_doubling", "ring", "rabenseifner"),
    "allgather": ("ring", "recursive_doubling", "bruck"),
    "gather": ("binomial", "flat", "paced"),
    "scatter": ("binomial", "flat", "paced"),
    "alltoall": ("ring", "spread_out", "bruck"),
    "reduce_scatter": ("ring", "recursive_halving"),
    "reduce_scatter_block": ("ring", "recursive_halving"),
    "barrier": ("dissemination", "tree"),
}
PHASES = {2: ("rows", "columns"), 3: ("rows", "columns", "planes")}

Predict = Callable[[str, int, Sequence[str]], Mapping[str, float]]  # collective, bytes, specs -> seconds


@dataclass(frozen=True)
class Candidate:
    spec: str
    predicted_s: float | None = None

    @property
    def family(self) -> str:
        """One of each is worth a try, whatever the model says: it knows no lost packets."""
        name, _, rest = self.spec.partition(":")
        if name != GRID:
            return name
        form = next((piece for piece in rest.split(",") if piece.startswith("form=")), "")
        return f"{name}:{form}{' of the library' if 'native' in rest else ''}"


def specs(collective: str, size: int, ranks: int, nodes: int, shapes: Sequence[tuple[int, ...]]) -> list[str]:
    """All that is worth asking the model about, standard parameters first."""
    own = [row for row in catalogue.algorithms() if collective in row.collectives]
    rows = [row for row in own if fits(row, ranks, nodes)]
    plain = [row for row in rows if row.name != GRID]
    found = [row.name for row in plain]
    found += [spec for row in plain for spec in variants(row, size, ranks)]
    if len(plain) < len(rows):
        found += [spec for spec in grids(collective, ranks, shapes) if exists(collective, spec)]
    return list(dict.fromkeys(found))


def fits(row: Algorithm, ranks: int, nodes: int) -> bool:
    if "power_of_two" in row.restrictions and ranks & (ranks - 1):
        return False
    if "one_node" in row.restrictions and nodes > 1:
        return False
    return "even_size" not in row.restrictions or ranks % 2 == 0


def variants(row: Algorithm, size: int, ranks: int) -> Iterator[str]:
    """One parameter at a time away from its standard. A segment that holds everything is none."""
    for parameter in row.parameters:
        for value in VALUES.get(parameter.name, ()):
            useful = value < size if parameter.name == "segment" else value <= ranks
            if value != parameter.default and useful:
                text = format_size(value) if parameter.is_size else str(value)
                yield f"{row.name}:{parameter.name}={text}"


def grids(collective: str, ranks: int, shapes: Sequence[tuple[int, ...]]) -> Iterator[str]:
    """All phases alike, or with the standard ones where nothing is said."""
    for form, shape in itertools.product(FORMS.get(collective, ("leaders",)), shapes):
        if form != "leaders" and math.prod(shape) != ranks:
            continue
        head = f"{GRID}:shape={'x'.join(map(str, shape))},form={form}"
        yield head
        for inner in ("native", *INNERS.get(collective, ())):
            yield ",".join([head, *(f"{phase}={inner}" for phase in PHASES[len(shape)])])


@cache
def exists(collective: str, spec: str) -> bool:
    try:
        catalogue.complete_spec(collective, spec)
    except UnisonoError:
        return False
    return True


def balance(spec: str) -> float:
    """Of a grid: how far its sides are apart; 1 is a square. Other algorithms come first."""
    if not spec.startswith(GRID):
        return 0.0
    sides = [int(side) for side in spec.partition("shape=")[2].partition(",")[0].split("x")]
    return max(sides) / min(sides) + 0.1 * len(sides)


def select(
    found: Sequence[str], near: Sequence[str], predicted: Mapping[str, float], most: int
) -> list[Candidate]:
    """Winners at neighbouring sizes, what sends no messages and so has no price, the best of every family,
    some grids without a price, then what the model thinks fastest. Without a model plain algorithms, then
    the most balanced grids."""
    candidates = [Candidate(spec, predicted.get(spec)) for spec in found]
    priced = sorted((c for c in candidates if c.predicted_s is not None), key=lambda c: c.predicted_s or 0)
    unpriced = sorted((c for c in candidates if c.predicted_s is None), key=lambda c: balance(c.spec))
    chosen = {c.spec: c for c in candidates if c.spec in near[: max(1, most // 3)]}
    if priced:
        fastest = priced[0].predicted_s or 0
        priced = [c for c in priced if (c.predicted_s or 0) <= OUT_OF_QUESTION * fastest]
        families: dict[str, Candidate] = {}
        for candidate in priced:
            families.setdefault(candidate.family, candidate)
        plain = [c for c in unpriced if not c.spec.startswith(GRID)]
        grids = [c for c in unpriced if c.spec.startswith(GRID)]
        ordered = [*plain, *families.values(), *grids[:UNPRICED], *priced]
    else:
        ordered = unpriced
    relatives = Counter(candidate.family for candidate in chosen.values())
    for candidate in ordered:
        if len(chosen) >= most:
            break
        if candidate.spec not in chosen and relatives[candidate.family] < OF_A_FAMILY:
            chosen[candidate.spec] = candidate
            relatives[candidate.family] += 1
    return sorted(chosen.values(), key=lambda c: c.predicted_s or math.inf)


def over_shm(chosen: Sequence[Candidate]) -> list[Candidate]:
    """The first of them once more, their messages through the memory of the node. The model knows no price
    for that; but what is good over one transport is seldom bad over the other."""
    plain = [c.spec for c in chosen if c.family not in ("native", "default", SHARED) and GRID not in c.family]
    fresh = [spec for spec in plain if "transport=" not in spec][:OVER_SHM]
    return [Candidate(f"{spec}{',' if ':' in spec else ':'}transport=shm") for spec in fresh]
