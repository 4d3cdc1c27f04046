"""Which algorithms a call of a trace could run with."""

import re
from collections.abc import Sequence

from unisono.core import catalogue
from unisono.core.catalogue import Algorithm, Catalogue
from unisono.tune.candidates import BY_NODES, fits

AUTO = "segment=auto"
COMMUTES = "commutative"  # a restriction


def legal(known: Catalogue, collective: str, ranks: int, nodes: int) -> list[str]:
    """Every row that can serve it, with its default parameters and, where it cuts what it sends, with the
    segment that the model finds best. Of the grids those whose rows are the nodes."""
    found: list[str] = []
    for row in known.algorithms:
        if collective not in row.collectives or not fits(row, ranks, nodes):
            continue
        if not row.composed:
            found += plain(row)
        elif 1 < nodes < ranks:
            forms = [form.form for form in known.grid_forms if form.collective == collective]
            found += [f"{row.name}:shape={BY_NODES},form={form}" for form in forms]
    return list(dict.fromkeys(found))


def plain(row: Algorithm) -> list[str]:
    segmented = any(parameter.name == "segment" for parameter in row.parameters)
    return [row.name, f"{row.name}:{AUTO}"] if segmented else [row.name]


def must_commute(known: Catalogue, collective: str, spec: str, hosts: Sequence[int]) -> bool:
    """Whether it reduces only with operations that commute; a grid where its form, one of its phases, or rows
    of ranks that are not adjacent want that. `hosts`: of the ranks."""
    name, *inner = re.split("[:,=/]", spec)
    row = next((row for row in known.algorithms if row.name == name and collective in row.collectives), None)
    if row is None or not row.composed:
        return row is not None and COMMUTES in row.restrictions
    forms = [form for form in known.grid_forms if form.collective == collective]
    form = next((form for form in forms if form.form in inner), forms[0] if forms else None)
    phases = {row.name for row in known.algorithms if row.in_grids and COMMUTES in row.restrictions}
    if form is None or not catalogue.collective(collective).reduces:
        return False
    adjacent = BY_NODES not in inner or list(hosts) == sorted(hosts)
    return form.commutative or not adjacent or not phases.isdisjoint(inner)
