"""The events of one rank: mapped, not loaded."""

import mmap
import os

import numpy as np

from unisono.core import files
from unisono.trace.schema import EVENT, LATEST, MOST_BYTES, Events

ZEROS = 2 << 20  # bytes: twice the window that a killed process leaves
BLOCK = 1 << 16  # events that are looked at together


def read_events(name: str, folder: int, notes: list[str]) -> Events:
    """Without a last part record, without the zeros of a killed process, and without what cannot be."""
    nothing: Events = np.empty(0, EVENT)
    try:
        file = files.opened(name, folder)
    except OSError as error:
        notes.append(f"{name}: {error.strerror}")
        return nothing
    try:
        size = held(file, name, notes)
        if size % EVENT.itemsize:
            notes.append(f"{name}: cut off in a record, which is left out")
        if size < EVENT.itemsize:
            return nothing
        mapped = mmap.mmap(file, size, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        notes.append(f"{name}: {getattr(error, 'strerror', None) or 'cannot be mapped'}")
        return nothing
    finally:
        os.close(file)
    events: Events = np.frombuffer(mapped, EVENT, size // EVENT.itemsize)
    return possible(events[: written(events, name, notes)], name, notes)


def held(file: int, name: str, notes: list[str]) -> int:
    """Bytes up to the first hole: a file may claim any size, and a hole that is mapped takes time."""
    size = os.fstat(file).st_size
    hole = os.lseek(file, 0, os.SEEK_HOLE) if size else 0
    if size - hole > ZEROS:
        notes.append(f"{name}: has a hole of {size - hole} bytes, and is read up to there")
    return hole // EVENT.itemsize * EVENT.itemsize if hole < size else size


def written(events: Events, name: str, notes: list[str]) -> int:
    """The records before the zeros at the end."""
    tail = events["begin_ns"][-(ZEROS // EVENT.itemsize) :]
    used = np.flatnonzero(tail)
    if len(used):
        return len(events) - len(tail) + int(used[-1]) + 1
    if len(tail) < len(events):
        notes.append(f"{name}: ends in more zeros than a killed process leaves, and is left out")
    return 0


def possible(events: Events, name: str, notes: list[str]) -> Events:
    """All of them where nothing is damaged, which needs no copy. `end_ns` 0: never left."""
    wrong = np.zeros(len(events), bool)
    for start in range(0, len(events), BLOCK):
        part = events[start : start + BLOCK]
        begin, end = part["begin_ns"], part["end_ns"]
        wrong[start : start + BLOCK] = (
            (begin <= 0) | (begin > LATEST) | (end < 0) | (end > LATEST) | (part["bytes"] > MOST_BYTES)
        )
    if not wrong.any():
        return events
    notes.append(f"{name}: {np.count_nonzero(wrong)} event(s) are damaged and left out")
    return events[~wrong]
