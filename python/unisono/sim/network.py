"""Schedules as flows on a network's links, and what no schedule can beat there: asked of unisono-network."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from unisono.core import files, jobs, places
from unisono.core.errors import UnisonoError
from unisono.core.limits import plain_form
from unisono.sim import units
from unisono.sim.platforms import Platform, Torus


def options(platform: Platform, hosts: Sequence[int], root: int, folder: Path) -> list[str]:
    """Of every command. `folder` is for a file."""
    routing = platform.routing if isinstance(platform, Torus) else "minimal"
    placed = folder / "hosts"
    placed.write_text("\n".join(map(str, hosts)) + "\n")
    return [
        *("--network", f"{platform.kind}:{platform.shape}", "--routing", routing),
        *("--bandwidth", repr(platform.link_bits / 8), "--latency", repr(units.seconds(platform.lat))),
        *("--flops", repr(units.flops(platform.speed)), "--hosts", str(placed), "--root", str(root)),
    ]


@dataclass(frozen=True)
class Limits:
    """Bytes a second; see src/network/limits.h."""

    hosts: int  # that have ranks
    flow: dict[str, float]  # empty: not known
    routes: dict[str, float]

    def flow_seconds(self, collective: str, size: int) -> float | None:
        """All `size` bytes must get from one rank to each other one (bcast, and rank 0's part of a scan),
        from each to one (reduce), or both."""
        if not self.flow:
            return None
        rate = {
            "bcast": self.flow["from_root"],
            "scan": self.flow["from_root"],
            "reduce": self.flow["to_root"],
            "allreduce": min(self.flow.values()),
        }.get(plain_form(collective))
        return size / rate if rate else None

    def route_seconds(self, collective: str, size: int, ranks: int, on_a_host: int) -> float | None:
        """By the links that the network's own routes begin and end with. Of blocks a host with
        `on_a_host` ranks, the most of any, wants the others' at least."""
        if not self.routes:
            return None
        of = self.routes
        out, into = min(of["root_sends"], of["least_received"]), min(of["root_receives"], of["least_sent"])
        blocks = (ranks - on_a_host) * size
        every = min(of["least_received"], of["root_receives"]), min(of["least_sent"], of["root_sends"])
        seconds = {
            "bcast": size / out,
            "scan": size / out,
            "reduce": size / into,
            # Ports altogether take in 2 (h - 1) vectors: compare.limits.wire_seconds().
            "allreduce": max(size / out, size / into, 2 * (self.hosts - 1) * size / of["all_receive"]),
            "gather": blocks / of["root_receives"],
            "scatter": blocks / of["root_sends"],
            "allgather": blocks / every[0],
            "reduce_scatter_block": blocks / ranks / every[1],
            "alltoall": blocks / min(every),
        }.get(plain_form(collective), 0.0)
        return seconds or None


@cache
def limits(platform: Platform, hosts: tuple[int, ...], root: int) -> Limits:
    with tempfile.TemporaryDirectory(prefix="unisono-network-") as folder:
        told = files.decoded(ask("limits", *options(platform, hosts, root, Path(folder))))
    # Every member of a star or of a fat tree has one link each way: its routes restrict nothing.
    routes = told["routes"] if isinstance(platform, Torus) else None
    return Limits(told["hosts"], told["flow"] or {}, routes or {})


def ask(*arguments: str) -> str:
    line = [str(places.program("unisono-network")), *arguments]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode:
        raise UnisonoError(done.stderr.strip().removeprefix("unisono-network: ") or "unisono-network failed")
    return done.stdout


def times(
    platform: Platform,
    hosts: Sequence[int],
    root: int,
    call: Sequence[str],
    keep_on: Callable[[], bool],
) -> dict[str, Any]:
    """The line of JSON; "left_out" and "is_error" where it failed."""
    with tempfile.TemporaryDirectory(prefix="unisono-network-") as folder:
        line = [str(places.program("unisono-network")), "times"]
        line += [*options(platform, hosts, root, Path(folder)), *call]
        kept = {name: value for name, value in os.environ.items() if not places.is_ours(name)}
        outcome = jobs.run(line, kept, silence=10**9, sign_of_life=keep_on)
    if not outcome.ok:
        return {"left_out": outcome.problem, "is_error": True}
    found: dict[str, Any] = files.decoded(outcome.output)
    return found
