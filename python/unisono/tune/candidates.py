"""Which algorithms race in a cell: the catalogue with parameters and grids, cut down by the model."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from unisono.core import catalogue
from unisono.core.catalogue import NATIVE, Algorithm, Catalogue, GridForm, Parameter, format_size
from unisono.core.errors import UnisonoError

BY_NODES = "nodes"  # the shape of a grid whose rows are the nodes
SIZE_STEP, STEP = 4, 2  # from one value of a parameter to the next: of a size, of a number
WHOLE = 64 << 10  # from here, where the default is not to cut at all
NEIGHBOURS = 2  # values of a parameter beside its default
OUT_OF_QUESTION = 10.0  # times the fastest predicted one; the model is no further off than that
UNPRICED = 2  # of the grids that the model has no time for, so many race
OTHER_TRANSPORT = 2  # so many race once more over another transport
OF_A_FAMILY = 3  # so many race at most; they are much alike

Predict = Callable[[str, int, Sequence[str]], Mapping[str, float]]  # collective, bytes, specs -> seconds


@dataclass(frozen=True)
class Candidate:
    spec: str
    predicted_s: float | None = None

    @property
    def name(self) -> str:
        return self.spec.partition(":")[0]

    @property
    def is_grid(self) -> bool:
        return "shape=" in self.spec

    @property
    def family(self) -> str:
        """One of each is worth a try, whatever the model says: it knows no lost packets."""
        if not self.is_grid:
            return self.name
        form = next((piece for piece in self.spec.split(",") if piece.startswith("form=")), "")
        return f"{self.name}:{form}{' of the library' if NATIVE in self.spec else ''}"


@dataclass(frozen=True)
class Shape:
    """What of a job decides which algorithms can serve it."""

    ranks: int
    nodes: int
    grids: Sequence[tuple[int, ...]] = ()

    def shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """As they are written, with their sides: first that of the nodes, whichever ranks are on them."""
        by_nodes = [(BY_NODES, (self.nodes, -(-self.ranks // self.nodes)))] if self.nodes > 1 else []
        return [*by_nodes, *(("x".join(map(str, grid)), grid) for grid in self.grids)]


def specs(known: Catalogue, collective: str, size: int, job: Shape) -> list[str]:
    """All that is worth asking the model about, default parameters first."""
    rows = [
        row for row in known.algorithms if collective in row.collectives and fits(row, job.ranks, job.nodes)
    ]
    plain = [row for row in rows if not row.composed]
    found = [row.name for row in plain]
    found += [spec for row in plain for spec in variants(row, size, job.ranks)]
    for row in rows:
        if row.composed:
            found += grids(known, row, collective, size, job)
    return list(dict.fromkeys(found))


def fits(row: Algorithm, ranks: int, nodes: int) -> bool:
    if "power_of_two" in row.restrictions and ranks & (ranks - 1):
        return False
    if "one_node" in row.restrictions and nodes > 1:
        return False
    if "stored" in row.restrictions:
        return False  # without a file it is token_list
    if "torus" in row.restrictions:
        return False  # a profile does not say where hosts are
    return "even_size" not in row.restrictions or ranks % 2 == 0


def variants(row: Algorithm, size: int, ranks: int, opening: str = ":") -> Iterator[str]:
    """One parameter at a time away from its default. A segment that holds everything is none."""
    for parameter in row.parameters:
        for value in values(parameter):
            if value < size if parameter.is_size else value <= max(ranks, parameter.default):
                text = format_size(value) if parameter.is_size else str(value)
                yield f"{row.name}{opening}{parameter.name}={text}"


def values(parameter: Parameter) -> list[int]:
    """The nearest to the default, in steps of a factor."""
    step = SIZE_STEP if parameter.is_size else STEP
    base = parameter.default or (WHOLE if parameter.is_size else 1)
    near = [base // step, base * step, base * step**2]
    return [value for value in near if max(1, parameter.least) <= value <= parameter.most][:NEIGHBOURS]


def grids(known: Catalogue, grid: Algorithm, collective: str, size: int, job: Shape) -> Iterator[str]:
    """One algorithm in all phases that it serves, and the defaults where nothing is said."""
    forms = [form for form in known.grid_forms if form.collective == collective]
    for form, (text, shape) in itertools.product(forms, job.shapes()):
        if form.full_grid and math.prod(shape) != job.ranks:
            continue
        head = f"{grid.name}:shape={text},form={form.form}"
        yield head
        dimensions = known.grid_dimensions[: len(shape)]
        # In rows of several lengths the library's own takes a communicator for each root of a column.
        if math.prod(shape) == job.ranks or text == BY_NODES:
            yield ",".join([head, *(f"{dimension}={NATIVE}" for dimension in dimensions)])
        phases = phases_of(known, form, len(shape))
        if text == BY_NODES:  # the memory of the node serves the rows
            yield from (f"{head},{dimensions[0]}={name}" for name in in_node(known, phases[0]))
        for row in known.algorithms:
            served = [set(phase) <= set(row.collectives) for phase in phases]
            lengths = [length for length, serves in zip(reversed(shape), served, strict=True) if serves]
            if row.in_grids and lengths and all(fits(row, length, job.nodes) for length in lengths):
                parts = [part for part, serves in zip(dimensions, served, strict=True) if serves]
                for inner in (row.name, *variants(row, size, min(lengths), opening="/")):
                    yield ",".join([head, *(f"{part}={inner}" for part in parts)])


def in_node(known: Catalogue, collectives: Sequence[str]) -> list[str]:
    """What runs all of these through the memory of a node; a name may have several rows."""
    served: dict[str, set[str]] = {}
    for row in known.algorithms:
        if row.in_grids and "one_node" in row.restrictions:
            served.setdefault(row.name, set()).update(row.collectives)
    return [name for name, all_of_it in served.items() if set(collectives) <= all_of_it]


def phases_of(known: Catalogue, form: GridForm, dimensions: int) -> list[tuple[str, ...]]:
    """By dimension, that of adjacent ranks first: the collectives that run along it."""
    if dimensions == 2:
        return [form.rows, (form.columns,)]
    inner = [other for other in known.grid_forms if other.collective == form.columns]
    nested = next((other for other in inner if other.form == form.form), inner[-1])
    return [form.rows, *phases_of(known, nested, dimensions - 1)]


@cache
def exists(collective: str, spec: str) -> bool:
    """Whether unisono-bench takes it."""
    try:
        catalogue.complete_spec(collective, spec)
    except UnisonoError:
        return False
    return True


def balance(candidate: Candidate) -> float:
    """Of a grid: how far its sides are apart; 1 is a square. Other algorithms come first."""
    if not candidate.is_grid:
        return 0.0
    shape = candidate.spec.partition("shape=")[2].partition(",")[0]
    if shape == BY_NODES:
        return 0.5  # before all others: it is the machine's own
    sides = [int(side) for side in shape.split("x")]
    return max(sides) / min(sides) + 0.1 * len(sides)


def select(
    found: Sequence[str], near: Sequence[str], predicted: Mapping[str, float], most: int
) -> list[Candidate]:
    """Winners at neighbouring sizes, one of each family without a price, the best of every other family,
    some grids without a price, then what the model thinks fastest. Without a model plain algorithms, then
    the most balanced grids."""
    candidates = [Candidate(spec, predicted.get(spec)) for spec in found]
    priced = sorted((c for c in candidates if c.predicted_s is not None), key=lambda c: c.predicted_s or 0)
    unpriced = sorted((c for c in candidates if c.predicted_s is None), key=balance)
    chosen = {c.spec: c for c in candidates if c.spec in near[: max(1, most // 3)]}
    if priced:
        fastest = priced[0].predicted_s or 0
        priced = [c for c in priced if (c.predicted_s or 0) <= OUT_OF_QUESTION * fastest]
        plain = [c for c in unpriced if not c.is_grid]
        grids = [c for c in unpriced if c.is_grid]
        ordered = [*first_of_families(plain), *first_of_families(priced), *grids[:UNPRICED], *priced, *plain]
    else:
        ordered = [*first_of_families(c for c in unpriced if not c.is_grid), *unpriced]
    relatives = Counter(candidate.family for candidate in chosen.values())
    for candidate in ordered:
        if len(chosen) >= most:
            break
        if candidate.spec not in chosen and relatives[candidate.family] < OF_A_FAMILY:
            chosen[candidate.spec] = candidate
            relatives[candidate.family] += 1
    return sorted(chosen.values(), key=when)


def when(candidate: Candidate) -> float:
    """The bench tries them in this order, as long as there is time: what sends no messages, and so has no
    price, then the fastest predicted ones, then grids without a price."""
    if candidate.predicted_s is None:
        return math.inf if candidate.is_grid else 0.0
    return candidate.predicted_s


def first_of_families(candidates: Iterator[Candidate] | Sequence[Candidate]) -> list[Candidate]:
    families: dict[str, Candidate] = {}
    for candidate in candidates:
        families.setdefault(candidate.family, candidate)
    return list(families.values())


def over_other_transports(
    known: Catalogue, collective: str, chosen: Sequence[Candidate], near: Sequence[str] = ()
) -> list[Candidate]:
    """Some of those that send messages once more, through the memory of the node: what was fast that way at
    a neighbouring size, then the first. The model knows no price for that; but what is good over one
    transport is seldom bad over the other."""
    sending = {
        row.name: row.transports[1:]
        for row in known.algorithms
        if collective in row.collectives and row.transports and not row.composed
    }
    fresh = [
        Candidate(f"{c.spec}{',' if ':' in c.spec else ':'}transport={transport}")
        for c in chosen
        if "transport=" not in c.spec
        for transport in sending.get(c.name, ())
    ]
    return sorted(fresh, key=lambda c: c.spec not in near)[:OTHER_TRANSPORT]
