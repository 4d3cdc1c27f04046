"""What the shell offers for a name that has been begun. Asked at every key: quick, and never an error."""

from collections.abc import Callable, Iterable

from unisono.core import catalogue
from unisono.core.errors import UnisonoError

ANYWHERE = ("native", "default")  # beside a collective's algorithms

Complete = Callable[[str], list[str]]


def of_a_list(names: Callable[[], Iterable[str]]) -> Complete:
    """Of A,B: for the last of them, without those that are there."""

    def complete(incomplete: str) -> list[str]:
        former, comma, begun = incomplete.rpartition(",")
        present = former.split(",")
        try:
            fitting = [name for name in names() if name.startswith(begun) and name not in present]
        except (UnisonoError, OSError, ValueError):  # without a build nothing is offered
            return []
        return [f"{former}{comma}{name}" for name in fitting]

    return complete


def algorithm_names() -> list[str]:
    return [*ANYWHERE, *dict.fromkeys(row.name for row in catalogue.algorithms())]


def forcings() -> list[str]:
    """COLLECTIVE=ALGORITHM"""
    rows = catalogue.algorithms()
    return [f"{name}={row.name}" for row in rows for name in row.collectives]


collectives = of_a_list(catalogue.collectives)
algorithms = of_a_list(algorithm_names)
force = of_a_list(forcings)
