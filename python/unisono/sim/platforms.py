"""Simulated networks: from what the user writes to SimGrid's XML, and to the cuts that limit them.

All links are full duplex. `hosts` of a method are the hosts of the ranks, in their order.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Self
from xml.etree import ElementTree

from unisono.core.errors import UnisonoError
from unisono.core.limits import Cut
from unisono.sim import units

MOST_HOSTS = 65536
PREFIX = "host"  # of the hosts' names; their numbers follow
AXES = "xyzuvw"  # of a torus, as users write them


@dataclass(frozen=True)
class Platform(ABC):
    """`bw` and `lat` are those of every link, `speed` that of a host."""

    shape: str
    bw: str
    lat: str
    speed: str

    kind: ClassVar[str]
    form: ClassVar[str]  # how users write the shape

    @classmethod
    def parse(cls, shape: str, options: dict[str, str]) -> Self:
        known = {field.name for field in fields(cls)} - {"shape"}
        for key in options:
            if key not in known:
                raise UnisonoError(
                    f"--platform {cls.kind}: no option '{key}'; valid: {', '.join(sorted(known))}"
                )
        made = cls(shape=shape, **options)
        made.check()
        return made

    def check(self) -> None:
        units.bits_per_second(self.bw)
        units.seconds(self.lat)
        units.flops(self.speed)
        if not 2 <= self.hosts <= MOST_HOSTS:
            raise self.wrong_shape(f"has {self.hosts} hosts; 2 to {MOST_HOSTS} are possible")

    def wrong_shape(self, why: str) -> UnisonoError:
        return UnisonoError(f"--platform {self.kind}:{self.shape} {why}; write {self.form}")

    def numbers(self, text: str) -> tuple[int, ...]:
        parts = text.split("x")
        if not all(part.isdigit() and int(part) > 0 for part in parts):
            raise self.wrong_shape("is no shape")
        return tuple(map(int, parts))

    @property
    def spec(self) -> str:
        return f"{self.kind}:{self.shape},bw={self.bw},lat={self.lat},speed={self.speed}"

    @property
    def link_bits(self) -> float:
        return units.bits_per_second(self.bw)

    @property
    @abstractmethod
    def hosts(self) -> int: ...

    @property
    @abstractmethod
    def links_of_a_host(self) -> int:
        """That a host can send on at once, and receive on at once."""

    def topology(self) -> dict[str, str]:
        """Attributes of the cluster; none: a star."""
        return {}

    @property
    def only_flows(self) -> str:
        """What SMPI cannot do of it; empty: nothing."""
        return ""

    def topology_file(self) -> str:
        """For UNISONO_TOPOLOGY; empty: it says nothing that ranks cannot find out."""
        return ""

    def inner_cuts(self, hosts: Sequence[int], root: int) -> list[Cut]:
        """Beside the hosts' own ports."""
        return []

    def ports(self, hosts: Sequence[int], root: int) -> list[Cut]:
        rate = self.links_of_a_host * self.link_bits
        return [Cut(ranks, host == hosts[root], rate) for host, ranks in Counter(hosts).items()]

    def host_names(self, hosts: Sequence[int]) -> list[str]:
        return [f"{PREFIX}{host}" for host in hosts]

    def xml(self) -> str:
        # A rank's message to itself is a copy, and copies cost nothing here.
        cluster = {
            "id": self.kind,
            "prefix": PREFIX,
            "suffix": "",
            "radical": f"0-{self.hosts - 1}",
            "speed": self.speed,
            "bw": self.bw,
            "lat": self.lat,
            "loopback_bw": "1TBps",
            "loopback_lat": "0s",
            "sharing_policy": "SPLITDUPLEX",
            **self.topology(),
        }
        platform = ElementTree.Element("platform", version="4.1")
        ElementTree.SubElement(platform, "cluster", cluster)
        ElementTree.indent(platform)
        head = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        return head + ElementTree.tostring(platform, encoding="unicode") + "\n"


@dataclass(frozen=True)
class Ethernet(Platform):
    """Hosts around a switch that is never the bottleneck. A path is two links."""

    bw: str = "1Gbps"
    lat: str = "25us"
    speed: str = "1Gf"

    kind: ClassVar = "ethernet"
    form: ClassVar = "ethernet:HOSTS, as in ethernet:64"

    @property
    def hosts(self) -> int:
        numbers = self.numbers(self.shape)
        if len(numbers) != 1:
            raise self.wrong_shape("is no number of hosts")
        return numbers[0]

    @property
    def links_of_a_host(self) -> int:
        return 1


ROUTINGS = ("minimal", "directed", "source")


@dataclass(frozen=True)
class Torus(Platform):
    """Links to both neighbours in every dimension, as in BlueGene/P: 425 MB/s a direction, all
    usable at once; its cores ran at 850 MHz. Host number: x + y X + z X Y. A dimension with an m
    behind its size does not wrap around."""

    bw: str = "425MBps"
    lat: str = "100ns"
    speed: str = "850Mf"
    routing: str = "minimal"  # of Routing in src/patterns/torus.h

    kind: ClassVar = "torus"
    form: ClassVar = "torus:XxYxZ, any number of dimensions, as in torus:8x8x8"

    def check(self) -> None:
        super().check()
        if self.routing not in ROUTINGS:
            raise UnisonoError(f"--platform torus: routing={self.routing}: valid are {', '.join(ROUTINGS)}")

    @property
    def spec(self) -> str:
        chosen = "" if self.routing == "minimal" else f",routing={self.routing}"
        return super().spec + chosen

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.numbers("x".join(part.removesuffix("m") for part in self.shape.split("x")))

    @property
    def wraps(self) -> tuple[bool, ...]:
        return tuple(not part.endswith("m") for part in self.shape.split("x"))

    @property
    def only_flows(self) -> str:
        if self.routing != "minimal":
            return f"routing={self.routing}"
        return "" if all(self.wraps) else "a dimension that does not wrap around"

    def topology_file(self) -> str:
        wraps = ",".join("yes" if wraps else "no" for wraps in self.wraps)
        shape = "x".join(map(str, self.dimensions))
        first = f"Torus={shape} Routing={self.routing}" + ("" if all(self.wraps) else f" Wrap={wraps}")
        return f"{first}\nNodeName={PREFIX}[0-{self.hosts - 1}]\n"

    def coordinates(self, host: int) -> tuple[int, ...]:
        found = []
        for size in self.dimensions:
            found.append(host % size)
            host //= size
        return tuple(found)

    def host_at(self, coordinates: Sequence[int]) -> int | None:
        """None: no host is there."""
        sizes = self.dimensions
        if len(coordinates) != len(sizes) or any(c >= n for c, n in zip(coordinates, sizes, strict=True)):
            return None
        host = 0
        for c, n in zip(reversed(coordinates), reversed(sizes), strict=True):
            host = host * n + c
        return host

    @property
    def hosts(self) -> int:
        return math.prod(self.dimensions)

    @property
    def links_of_a_host(self) -> int:
        # Of a ring of two SimGrid's routes use one link in each direction.
        return sum(min(2, size - 1) for size in self.dimensions)

    def topology(self) -> dict[str, str]:
        return {"topology": "TORUS", "topo_parameters": ",".join(map(str, self.dimensions))}

    def inner_cuts(self, hosts: Sequence[int], root: int) -> list[Cut]:
        """The torus in halves, across each dimension; only when all hosts take part, for otherwise
        the messages may go round by the others."""
        if len(set(hosts)) < self.hosts:
            return []
        cuts, stride = [], 1
        for size, wraps in zip(self.dimensions, self.wraps, strict=True):
            half = size // 2
            rings = self.hosts // size
            if half:
                crossings = rings * (min(2, size - 1) if wraps else 1)
                inside = [host // stride % size < half for host in hosts]
                cuts.append(Cut(sum(inside), inside[root], crossings * self.link_bits))
            stride *= size
        return cuts


@dataclass(frozen=True)
class FatTree(Platform):
    """Levels of switches, 100 Gb/s links. `fattree:16x4:8`: 16 hosts to a leaf switch, 4 of these, 8
    links up from each. Without the last part as many links up as down, so that nothing blocks."""

    bw: str = "100Gbps"
    lat: str = "250ns"
    speed: str = "1Gf"

    kind: ClassVar = "fattree"
    form: ClassVar = "fattree:DOWNxDOWN or fattree:DOWNxDOWN:UP, as in fattree:16x4:8"

    @property
    def down(self) -> tuple[int, ...]:
        return self.numbers(self.shape.split(":")[0])

    @property
    def up(self) -> tuple[int, ...]:
        """Of a host, then of the switches of each level but the last."""
        _, colon, text = self.shape.partition(":")
        given = self.numbers(text) if colon else self.down[:-1]
        if len(given) != len(self.down) - 1:
            raise self.wrong_shape("needs a number of links up for each level of switches but the last")
        return (1, *given)

    def check(self) -> None:
        super().check()
        assert self.up

    @property
    def hosts(self) -> int:
        return math.prod(self.down)

    @property
    def links_of_a_host(self) -> int:
        return 1

    def topology(self) -> dict[str, str]:
        levels = (self.down, self.up, (1,) * len(self.down))
        numbers = ";".join(",".join(map(str, level)) for level in levels)
        return {"topology": "FAT_TREE", "topo_parameters": f"{len(self.down)};{numbers}"}

    def inner_cuts(self, hosts: Sequence[int], root: int) -> list[Cut]:
        """Around every subtree of switches that has ranks."""
        return [
            Cut(ranks, subtree == hosts[root] // size, links * self.link_bits)
            for size, links in self.subtrees()
            for subtree, ranks in sorted(Counter(host // size for host in hosts).items())
        ]

    def subtrees(self) -> Iterator[tuple[int, int]]:
        """Of each level: hosts, and links that leave it."""
        for level in range(1, len(self.down)):
            yield math.prod(self.down[:level]), math.prod(self.up[: level + 1])


KINDS: Sequence[type[Platform]] = (Torus, FatTree, Ethernet)


def parse(text: str) -> Platform:
    head, *rest = text.split(",")
    name, _, shape = head.partition(":")
    options = {}
    for item in rest:
        key, equals, value = item.partition("=")
        if not equals:
            raise UnisonoError(f"--platform {text}: '{item}' is not of the form option=value")
        options[key] = value
    for kind in KINDS:
        if kind.kind == name:
            return kind.parse(shape, options)
    raise UnisonoError(
        f"--platform {text}: no such network; write " + "; or ".join(kind.form for kind in KINDS)
    )
