"""Jobs of unisono-kinds in the lab: cells, what the wire takes in each, and files of what was measured."""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unisono.core import limits, places
from unisono.core.files import read_json, write_json
from unisono.lab import layout

GOODPUT = 1448 / 1514  # of TCP in full Ethernet frames
VECTORS = {"bcast", "reduce", "allreduce", "scan"}
LONG_VECTOR, LONG_BLOCK = 512 << 10, 32 << 10
PATIENCE = 600  # seconds for a job
PAUSE = 30  # milliseconds
CORK = "echo 1 > /proc/sys/net/ipv4/tcp_autocorking"  # Linux's default, and not the lab's
Times = dict[str, dict[str, Any]]  # of a job, by kind
Round = dict[str, Any]


@dataclass(frozen=True)
class Hosts:
    """So many, with so many ranks on each: the first ones on the first host, or in turn."""

    number: int
    ranks_on_each: int = 1
    in_turn: bool = False

    @property
    def ranks(self) -> int:
        return self.number * self.ranks_on_each

    def __str__(self) -> str:
        if self.ranks_on_each == 1:
            return f"{self.number} hosts"
        order = " in turn" if self.in_turn else ""
        return f"{self.number} hosts of {self.ranks_on_each} ranks{order}"

    def code(self) -> str:
        """As --hosts has it."""
        each = "" if self.ranks_on_each == 1 else f"x{self.ranks_on_each}" + ("t" if self.in_turn else "")
        return f"{self.number}{each}"


def hosts_of(text: str) -> Hosts:
    found = re.fullmatch(r"(\d+)(?:x(\d+)(t?))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: valid are 7, 8x2 and, ranks in turn, 6x3t")
    return Hosts(int(found[1]), int(found[2] or 1), found[3] == "t")


@dataclass(frozen=True)
class Cell:
    mpi: str
    hosts: Hosts
    rate: str
    calls: int
    native_calls: int  # measured
    length: int = 0  # bytes of vectors and blocks; 0: the long ones
    uplink: str = ""  # between two switches; none: one switch
    host_queue: int = layout.HOST_QUEUE  # frames
    condition: str = ""  # scripts/unasked.py has them

    def code(self) -> str:
        parts = [self.mpi, self.hosts.code(), self.rate]
        parts += [f"uplink{self.uplink}"] if self.uplink else []
        parts += [f"queue{self.host_queue}"] if self.host_queue != layout.HOST_QUEUE else []
        parts += [f"{self.length}B"] if self.length else []
        parts += [self.condition] if self.condition else []
        return "-".join(parts)

    def __str__(self) -> str:
        switches = f", two switches joined at {self.uplink}" if self.uplink else ""
        queue = f", {self.host_queue} frames in a host" if self.host_queue != layout.HOST_QUEUE else ""
        length = f", {self.length} B" if self.length else ""
        condition = f", {self.condition}" if self.condition else ""
        return f"{self.mpi}, {self.hosts} at {self.rate}{switches}{queue}{length}{condition}"

    def limit(self, kind: str) -> float:
        """Seconds that a call takes at least, its pause included."""
        return self.wire(kind) + (PAUSE / 1e3 if self.condition == "pauses" else 0)

    def wire(self, kind: str) -> float:
        size = self.length or (LONG_VECTOR if kind in VECTORS else LONG_BLOCK)
        port = through_a_port(kind, size, self.hosts) * 8 / (layout.rate_of(self.rate) * GOODPUT)
        if not self.uplink:
            return port
        link = through_the_uplink(kind, size, self.hosts) * 8 / (layout.rate_of(self.uplink) * GOODPUT)
        return max(port, link)


def through_a_port(kind: str, size: int, hosts: Hosts) -> float:
    """Bytes that some host's port must pass, one way."""
    others = hosts.ranks - hosts.ranks_on_each
    if kind == "scan" and hosts.in_turn:
        # Of each of its ranks, the sum of the ranks between the one before it there and this one.
        return size * hosts.ranks_on_each
    if kind in VECTORS:
        return size * (2 * others / hosts.ranks if kind == "allreduce" else 1)
    return size * others * (hosts.ranks_on_each if kind == "alltoall" else 1)


def through_the_uplink(kind: str, size: int, hosts: Hosts) -> float:
    """Bytes that must go one way between the second half of the hosts and the others, rank 0 among these."""
    if kind == "scan" and hosts.in_turn:
        return through_a_port(kind, size, hosts)
    half = hosts.number // 2 * hosts.ranks_on_each
    return limits.bytes_over(kind, size, hosts.ranks, limits.Cut(half, False, 1))


def job(
    cell: Cell, options: argparse.Namespace, native: bool, cache: str, settings: Mapping[str, str] = {}
) -> Times:
    command = [*options.lab, "run", "--name", options.name, "--mpi", cell.mpi]
    command += ["-n", str(cell.hosts.ranks), "--ppn", str(cell.hosts.ranks_on_each)]
    command += ["--in-turn"] if cell.hosts.in_turn and cell.hosts.ranks_on_each > 1 else []
    command += ["--native"] if native else []
    calls = cell.native_calls if native else cell.calls
    command += ["--", str(places.program(f"unisono-kinds-{places.find_mpi(cell.mpi).flavour}")), str(calls)]
    pause = cell.condition == "pauses"
    if cell.length or pause:
        command += [str(cell.length or LONG_VECTOR), str(cell.length or LONG_BLOCK)]
    command += ["all", str(PAUSE)] if pause else []
    environment = os.environ | {"XDG_CACHE_HOME": cache, **settings}
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    return by_kind(done.stdout)


def by_kind(output: str) -> Times:
    """What unisono-kinds has printed."""
    rows = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    return {row.pop("collective"): row for row in rows}


@dataclass(frozen=True)
class BesidePeers:
    """A kind of call in a cell: seconds a call, by arm, without those that always failed."""

    cell: Cell
    kind: str
    seconds: dict[str, float]
    peers: tuple[str, ...]  # the arms that the others are compared with

    @property
    def best_peer(self) -> str:
        return min((name for name in self.peers if name in self.seconds), key=self.seconds.__getitem__)

    def over_best(self, arm: str) -> float:
        """Times as fast as the best peer."""
        return self.seconds[self.best_peer] / self.seconds[arm]


def unisono_command() -> str:
    return str(Path(sys.executable).with_name("unisono"))


def lab_command() -> list[str]:
    return [unisono_command(), "lab"]


@contextmanager
def a_lab(cell: Cell, options: argparse.Namespace) -> Iterator[list[str]]:
    """Of the cell's hosts. Yields what runs a command on a host, whose name follows."""
    up = [*options.lab, "up", "--name", options.name, "--hosts", str(cell.hosts.number), "--rate", cell.rate]
    up += ["--switches", "2", "--uplink", cell.uplink] if cell.uplink else []
    up += ["--host-queue", str(cell.host_queue)]
    up += ["--loss-on", "h1=1%"] if cell.condition == "loss" else []
    subprocess.run(up, check=True, stdout=subprocess.DEVNULL)
    try:
        shell = [*options.lab, "shell", "--name", options.name]
        for host in range(cell.hosts.number if cell.condition == "corking" else 0):
            subprocess.run([*shell, f"h{host}", CORK], check=True)
        yield shell
    finally:
        subprocess.run([*options.lab, "down", "--name", options.name], check=True, stdout=subprocess.DEVNULL)


def why(error: subprocess.SubprocessError) -> str:
    """The end of what it said."""
    said = getattr(error, "stderr", None) or ""
    text = said.decode() if isinstance(said, bytes) else said
    return f"{type(error).__name__}: {text.strip()[-500:]}"


def file_of(cell: Cell, folder: Path) -> Path:
    return folder / f"{cell.code()}.json.zst"


def read(file: Path) -> tuple[Cell, list[Round]]:
    document = read_json(file)
    fields = document["cell"]
    return Cell(**{**fields, "hosts": Hosts(**fields["hosts"])}), document["rounds"]


def write(file: Path, cell: Cell, rounds: list[Round]) -> None:
    write_json({"cell": asdict(cell), "rounds": rounds}, file)


def rounds_of(cell: Cell, folder: Path) -> list[Round]:
    file = file_of(cell, folder)
    if not file.exists():
        return []
    was, rounds = read(file)
    if was != cell:
        raise SystemExit(f"{file} was measured with other calls: give another --out")
    return rounds
