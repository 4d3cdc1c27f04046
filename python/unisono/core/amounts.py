"""How sizes and times are written on the command line (docs/reference/cli/index.md)."""

import re

from unisono.core.errors import UnisonoError

FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MOST = (1 << 63) - 1  # bytes
# The same as src/base/size.cpp accepts, what our outputs print among them: tests/base/sizes.inc.
SIZE = re.compile(r" *([0-9]+) *(?:([KMGT]?)(?:i?B)?|bytes?) *", re.IGNORECASE | re.ASCII)
RANGE = re.compile(r"([^:]+)(?::([^:]+)(?::(\d+))?)?")
TIME = re.compile(r"(\d+(?:\.\d+)?)([smh]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def parse_size(text: str, option: str) -> int:
    size = size_of(text)
    if size is None:
        raise UnisonoError(f"{option} {text}: no size; write 8, 64K, 1M, or 8:1M for powers of two between")
    return size


def size_of(text: str) -> int | None:
    """The bytes of "64K", "512KB" or "1 MiB", powers of 1024; None when the text is no size."""
    match = SIZE.fullmatch(text)
    if not match or (text.strip()[-2:].lower() == "ib" and not match[2]):
        return None
    size = int(match[1]) * FACTORS[(match[2] or "").upper()]
    return size if size <= MOST else None


def parse_sizes(text: str, option: str = "--sizes") -> tuple[int, ...]:
    """As unisono-bench reads them: "8,64K,1M", "8:1M" (each twice the one before), "8:1M:4" (four times), or
    all of it mixed."""
    sizes: list[int] = []
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        match = RANGE.fullmatch(piece)
        if not match or (factor := int(match[3] or 2)) < 2:
            raise UnisonoError(f"{option} {piece}: write FIRST:LAST, or FIRST:LAST:FACTOR from factor 2 on")
        size, end = parse_size(match[1], option), parse_size(match[2] or match[1], option)
        if not 0 < size <= end:
            raise UnisonoError(f"{option} {piece}: sizes begin at 1, and the first is the smaller")
        while size <= end:
            sizes.append(size)
            size *= factor
    if not sizes:
        raise UnisonoError(f"{option}: no size")
    return tuple(sorted(set(sizes)))


def parse_time(text: str, option: str = "--budget") -> float:
    """Seconds."""
    match = TIME.fullmatch(text)
    if not match or float(match[1]) == 0:
        raise UnisonoError(f"{option} {text}: no time; write 90s, 20m or 2h")
    return float(match[1]) * SECONDS[match[2]]
