"""Lists on the command line: names, collectives, algorithms."""

from unisono.core import catalogue
from unisono.core.errors import UnisonoError


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_collective(text: str, option: str = "", valid: str = "") -> str:
    """One collective among all ranks, in any spelling that catalogue.collective_named knows."""
    if len(names(text)) > 1:
        raise UnisonoError(f"{text}: one collective at a time")
    name = catalogue.collective_named(text)
    catalogue.refuse_neighbours(name)
    if name not in catalogue.collectives():
        raise UnisonoError(
            f"{option} {text}: no such collective; valid: "
            f"{valid}{', '.join(catalogue.collectives())}".lstrip()
        )
    return name


def parse_collectives(text: str) -> list[str]:
    if text.strip().lower() == "all":
        return catalogue.collectives()
    chosen = [parse_collective(name, "--collectives", "all, ") for name in names(text)]
    if not chosen:
        raise UnisonoError("--collectives: none given")
    return list(dict.fromkeys(chosen))


def split_specs(text: str) -> list[str]:
    """ "chain:segment=32K,depth=4,ring": a piece that only assigns belongs to the one before it."""
    specs: list[str] = []
    for piece in names(text):
        if specs and "=" in piece and ":" not in piece:
            specs[-1] += f",{piece}"
        else:
            specs.append(piece)
    return list(dict.fromkeys(specs))
