"""The limit of a cell on a test bed: the wire in the lab, copying on a node."""

import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from unisono import lab as lab_module
from unisono.compare.results import Point, Setting
from unisono.core import files, machine, places
from unisono.core.errors import RunError, SetupError
from unisono.core.limits import Cut, memory_seconds, moved_bytes, wire_seconds
from unisono.testbeds.beds import Bed, Lab

BENCHMARKS = "unisono-benchmarks"
SECONDS_PER_SIZE = 0.05
REPETITIONS = 3  # of which the fastest counts: what disturbs can only slow it down


class Yardstick(Protocol):
    def prepare(self, settings: Iterable[Setting]) -> None:
        """Measures what limits in these settings need, before the jobs: not beside them."""
        ...

    def limit_us(self, point: Point) -> float | None: ...
    def describe(self) -> dict[str, Any]: ...


class Wire:
    """Bytes in a port over its line rate. Headers are not taken off: TCP's best is a little above 1."""

    def __init__(self, lab: lab_module.Lab) -> None:
        self.lab = lab

    def prepare(self, settings: Iterable[Setting]) -> None:
        """The rates of the lab are given."""

    def limit_us(self, point: Point) -> float | None:
        ranks, per_host = point.setting.ranks, point.setting.ranks_per_host
        on_host = [min(per_host, ranks - first) for first in range(0, ranks, per_host)]
        used = self.lab.hosts[: len(on_host)]
        ports = [Cut(count, host is used[0], host.rate) for host, count in zip(used, on_host, strict=True)]
        seconds = wire_seconds(
            point.collective, point.size, ranks, ports, self.uplinks(list(zip(used, ports, strict=True)))
        )
        return None if seconds is None else seconds * 1e6

    def uplinks(self, ports: Sequence[tuple[lab_module.Host, Cut]]) -> list[Cut]:
        """Switches hang on the first one, each by one cable; the root is always at the first."""
        plan = self.lab.plan
        behind = [sum(cut.ranks for host, cut in ports if host.switch == s) for s in range(plan.switches)]
        return [Cut(ranks, False, float(plan.uplink or plan.rate)) for ranks in behind[1:]]

    def describe(self) -> dict[str, Any]:
        return {"kind": "wire", "bits_per_second": self.lab.rate}


class Copying:
    """Bytes that must be read and written over what the cores manage when they copy; with a core for each
    rank also bytes that must go from one core to another over what one takes in from another."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.rates: dict[int, dict[int, float]] = {}  # by cores, then by bytes that each copies
        self.across: dict[int, float] = {}  # into a core, by bytes

    def prepare(self, settings: Iterable[Setting]) -> None:
        for cores in sorted({self.cores_of(setting) for setting in settings}):
            self.rates[cores] = copy_rates(f"copy/.*threads:{cores}$")
        if self.cores > 1:
            self.across = copy_rates("copy_across/")

    def cores_of(self, setting: Setting) -> int:
        return min(setting.ranks, self.cores)

    def limit_us(self, point: Point) -> float | None:
        cores = self.cores_of(point.setting)
        per_core = moved_bytes(point.collective, point.size, point.setting.ranks) // (2 * cores)
        rate = rate_for(self.rates[cores], per_core)
        seconds = memory_seconds(point.collective, point.size, point.setting.ranks, rate)
        if seconds is None:
            return None
        return max(seconds, self.crossing_seconds(point)) * 1e6

    def crossing_seconds(self, point: Point) -> float:
        """0 where ranks share cores: what they tell each other need not leave one."""
        ranks = point.setting.ranks
        if ranks > self.cores or not self.across:
            return 0.0
        rate = 8 * rate_for(self.across, point.size)
        ports = [Cut(1, rank == 0, rate) for rank in range(ranks)]
        return wire_seconds(point.collective, point.size, ranks, ports) or 0.0

    def describe(self) -> dict[str, Any]:
        return {
            "kind": "copying",
            "rates": [
                {"cores": cores, "bytes": size, "bytes_per_second": rate}
                for cores, rates in self.rates.items()
                for size, rate in rates.items()
            ],
            "rates_across": [{"bytes": size, "bytes_per_second": rate} for size, rate in self.across.items()],
        }


def rate_for(rates: dict[int, float], size: int) -> float:
    """That of the largest measured size that is no larger: caches make it no slower than it is."""
    sizes = sorted(rates)
    return rates[sizes[max(0, bisect_right(sizes, size) - 1)]]


def copy_rates(benchmark: str) -> dict[int, float]:
    """Bytes a second in the benchmark, by the bytes that each core copies."""
    command = [str(places.program(BENCHMARKS))]
    command += [f"--benchmark_filter=^{benchmark}", "--benchmark_format=json"]
    command += [f"--benchmark_min_time={SECONDS_PER_SIZE}", f"--benchmark_repetitions={REPETITIONS}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        runs = files.decoded(done.stdout)["benchmarks"]
    except (ValueError, KeyError) as error:
        reason = (done.stderr.strip().splitlines() or [str(error)])[-1]
        raise RunError(f"unisono-benchmarks: copying was not measured: {reason}") from error
    rates: dict[int, float] = {}
    for run in runs:
        if run["run_type"] == "iteration":
            size = int(run["name"].split("/")[1])
            rates[size] = max(rates.get(size, 0.0), run["bytes_per_second"])
    if not rates:
        raise SetupError(f"unisono-benchmarks: has no {benchmark}: run make")
    return rates


class Unknown:
    """Where there is no unisono-benchmarks: an installation has none, as it is linked to Google Benchmark."""

    def prepare(self, settings: Iterable[Setting]) -> None:
        """Says why a column is empty."""
        print(
            "unisono: no limits are shown: unisono-benchmarks, which measures copying, is not installed",
            file=sys.stderr,
        )

    def limit_us(self, point: Point) -> float | None:
        return None

    def describe(self) -> dict[str, Any]:
        return {"kind": "unknown"}


def yardstick_of(bed: Bed) -> Yardstick:
    if isinstance(bed, Lab):
        return Wire(bed.lab)
    if places.prefix() == places.build_directory() and not places.exists(BENCHMARKS):
        return Unknown()
    return Copying(machine.cores().usable)
