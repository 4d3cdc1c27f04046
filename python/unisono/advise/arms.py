"""Which algorithms a call of a trace could run with."""

from unisono.core.catalogue import Algorithm, Catalogue
from unisono.tune.candidates import BY_NODES, fits

AUTO = "segment=auto"


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
