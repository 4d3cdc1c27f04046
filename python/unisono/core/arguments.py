"""Lists on the command line: names, collectives, algorithms."""

from unisono.core import catalogue
from unisono.core.errors import UnisonoError


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_collectives(text: str) -> list[str]:
    chosen = catalogue.collectives() if text == "all" else list(dict.fromkeys(names(text)))
    for name in chosen:
        catalogue.refuse_neighbours(name)
        if name not in catalogue.collectives():
            raise UnisonoError(
                f"--collectives {name}: no such collective; valid: all, {', '.join(catalogue.collectives())}"
            )
    if not chosen:
        raise UnisonoError("--collectives: none given")
    return chosen


def split_specs(text: str) -> list[str]:
    """ "chain:segment=32K,depth=4,ring": a piece that only assigns belongs to the one before it."""
    specs: list[str] = []
    for piece in names(text):
        if specs and "=" in piece and ":" not in piece:
            specs[-1] += f",{piece}"
        else:
            specs.append(piece)
    return list(dict.fromkeys(specs))
