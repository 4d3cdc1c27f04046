"""Algorithms that can be simulated."""

from unisono.core import catalogue
from unisono.core.arguments import split_specs


def parse_algorithms(text: str, collective: str) -> list[str]:
    """With every parameter, so that a table says what it shows; without native."""
    own = [row for row in catalogue.algorithms() if collective in row.collectives]
    rows = [row.name for row in own if "one_node" not in row.restrictions]  # no shared memory is simulated
    specs = [spec for given in split_specs(text) for spec in (rows if given == "all" else [given])]
    specs = [catalogue.complete_spec(collective, spec) for spec in specs if spec != "native"]
    return list(dict.fromkeys(specs))
