"""Which hosts of a simulated network have ranks: from what the user writes after --ranks.

A file lists the host of rank 0, of rank 1, ...; who stands there twice has two ranks. In the other forms
rank i is on the i-th of the hosts by number."""

import random
import re
from collections.abc import Iterator

from unisono.core import files
from unisono.core.errors import UnisonoError
from unisono.sim.platforms import AXES, PREFIX, Platform, Torus

FORMS = "random:N or random:N:seed=S, without:5,17-19,z=3, or a file with the host of each rank"


def hosts_of_ranks(text: str, platform: Platform) -> tuple[int, ...]:
    kind, _, rest = text.partition(":")
    if kind == "random":
        hosts = drawn(text, rest, platform)
    elif kind == "without":
        left_out = {host for term in rest.split(",") for host in hosts_named(text, term, platform)}
        hosts = tuple(host for host in range(platform.hosts) if host not in left_out)
    else:
        hosts = listed(text, platform)
    if len(hosts) < 2:
        raise UnisonoError(f"--ranks {text}: that leaves {len(hosts)} ranks; there must be two")
    return hosts


def drawn(text: str, rest: str, platform: Platform) -> tuple[int, ...]:
    found = re.fullmatch(r"(\d{1,9})(?::seed=(\d{1,18}))?", rest)
    if not found:
        raise UnisonoError(f"--ranks {text}: write {FORMS}")
    number = int(found[1])
    if number > platform.hosts:
        raise UnisonoError(f"--ranks {text}: {platform.spec} has {platform.hosts} hosts")
    return tuple(sorted(random.Random(int(found[2] or 0)).sample(range(platform.hosts), number)))


def listed(text: str, platform: Platform) -> tuple[int, ...]:
    try:
        lines = files.read_bytes(text).decode().splitlines()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UnisonoError(f"--ranks {text}: {why}; write {FORMS}") from None
    words = [word for line in lines for word in line.partition("#")[0].split()]
    return tuple(host for word in words for host in hosts_named(text, word, platform))


def hosts_named(text: str, term: str, platform: Platform) -> Iterator[int]:
    """5, host5, 5-9, (1,0,3), or of a torus z=3 and z=3-5: all hosts of these planes."""
    plane = re.fullmatch(r"([a-z])=(\d{1,9})(?:-(\d{1,9}))?", term)
    if plane and isinstance(platform, Torus):
        axis, first, last = AXES.find(plane[1]), int(plane[2]), int(plane[3] or plane[2])
        if 0 <= axis < len(platform.dimensions) and first <= last < platform.dimensions[axis]:
            yield from (h for h in range(platform.hosts) if first <= platform.coordinates(h)[axis] <= last)
            return
    place = re.fullmatch(r"\((\d{1,9}(?:,\d{1,9})*)\)", term)
    if place and isinstance(platform, Torus):
        coordinates = tuple(map(int, place[1].split(",")))
        host = platform.host_at(coordinates)
        if host is not None:
            yield host
            return
    number = re.fullmatch(rf"(?:{PREFIX})?(\d{{1,9}})(?:-(\d{{1,9}}))?", term)
    if not number or not int(number[1]) <= int(number[2] or number[1]) < platform.hosts:
        raise UnisonoError(
            f"--ranks {text}: '{term}' is no host of {platform.spec}, which has 0 to {platform.hosts - 1}"
        )
    yield from range(int(number[1]), int(number[2] or number[1]) + 1)
