"""One pass over a trace: a line for each call, and for each call site who was late and its worst call."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unisono.trace import bounds
from unisono.trace.calls import Block, Count, Matcher
from unisono.trace.metrics import Imbalance, OneWay, imbalance, message_bytes
from unisono.trace.reader import Trace
from unisono.trace.sites import Sites

Float = NDArray[np.float64]
Int = NDArray[np.int64]

CALL = np.dtype(
    [
        ("row", "i4"),  # of the call site and collective
        ("ranks", "i4"),
        ("bytes", "f8"),  # as the trace counts them, mean over ranks
        ("algorithm", "i4"),
        ("begin", "f8"),  # first arrival; s since the first event of the trace
        ("message", "f4"),  # bytes of one message
        ("one_way", "f4"),  # s: T of the paper, nan if not measured
        ("average", "f4"),  # s: average-case imbalance time
        ("worst", "f4"),  # s: worst-case imbalance time
        ("error", "f4"),  # s: of `worst`, from the clocks
        ("elapsed", "f8"),  # s: mean per rank; the sum of the following three
        ("waiting", "f8"),
        ("transfer", "f8"),
        ("inefficiency", "f8"),
        ("several", "?"),  # its ranks called from several places
    ]
)
Calls = NDArray[np.void]


@dataclass
class Worst:
    """The call of a row with the largest worst-case imbalance time."""

    worst: float
    members: Int  # ranks of the world
    begin: Float
    end: Float


@dataclass
class Row:
    """A call site and a collective, over all calls."""

    site: int
    collective: str
    ranks: Int  # traced ones, of the world; the following are by them
    calls_of: Int  # calls it took part in
    last_in: Int  # calls in which it surely arrived last or as late as the last
    imbalance_of: Float  # s: worst-case imbalance times of the calls it took part in
    late_in: Float  # s: of those, in calls in which it arrived in the later half of the window
    worst: Worst | None = None


@dataclass
class Analysis:
    trace: Trace
    one_way: OneWay
    calls: Calls
    rows: list[Row]
    algorithms: list[str]
    sites: Sites
    count: Count
    alone: int  # calls on communicators of one rank: left out
    seconds: float  # of the program, as far as it was traced


@dataclass
class Pass:
    trace: Trace
    one_way: OneWay
    sites: Sites = field(default_factory=Sites)
    rows: dict[tuple[int, str], int] = field(default_factory=dict)
    made: list[Row] = field(default_factory=list)
    algorithms: dict[str, int] = field(default_factory=lambda: {"native": 0})
    parts: list[Calls] = field(default_factory=list)
    alone: int = 0

    def __post_init__(self) -> None:
        self.traced = np.array(sorted(self.trace.ranks), np.int64)

    def take(self, block: Block, network: bounds.Network) -> None:
        if block.of < 2:
            self.alone += len(block.begin_s)
            return
        found = imbalance(block.begin_s, block.end_s, block.error_s)
        calls = np.zeros(len(block.begin_s), CALL)
        calls["ranks"], calls["begin"] = block.of, block.begin_s.min(axis=1)
        calls["bytes"] = block.bytes.mean(axis=1)
        calls["algorithm"] = self.specs(block)
        for name in ("average", "worst", "error", "elapsed"):
            calls[name] = getattr(found, name)
        site = self.columns_sites(block)
        calls["several"] = (site != site[:, :1]).any(axis=1)
        self.by_collective(block, network, calls)
        self.by_row(block, found, calls, site[:, 0])
        self.parts.append(calls)

    def columns_sites(self, block: Block) -> Int:
        ranks = self.trace.ranks
        return np.column_stack(
            [
                self.sites.numbers(ranks[int(member)], block.site[:, column], block.program[:, column])
                for column, member in enumerate(block.members)
            ]
        )

    def specs(self, block: Block) -> Int:
        known = self.trace.ranks[int(block.members[0])].algorithms
        unique, inverse = np.unique(block.algorithm, return_inverse=True)
        names = [known.get(int(n), f"algorithm {n}") if n else "native" for n in unique]
        numbers = [self.algorithms.setdefault(name, len(self.algorithms)) for name in names]
        return np.array(numbers, np.int64)[inverse]

    def by_collective(self, block: Block, network: bounds.Network, calls: Calls) -> None:
        for number in np.unique(block.collective):
            own = block.collective == number
            name = self.trace.collectives[int(number)]
            size = calls["bytes"][own]
            message = message_bytes(name, size, block.of)
            calls["message"][own], calls["one_way"][own] = message, self.one_way.time(message)
            parts = bounds.split(name, block.begin_s[own], block.end_s[own], block.root[own], size, network)
            for part in ("waiting", "transfer", "inefficiency"):
                calls[part][own] = getattr(parts, part)

    def by_row(self, block: Block, found: Imbalance, calls: Calls, site: Int) -> None:
        # Of what is later than the middle of the window, the others wait for all.
        middle = (block.begin_s.min(axis=1) + block.begin_s.max(axis=1)) / 2
        sure = found.worst > found.error
        late = (block.begin_s > middle[:, None]) & sure[:, None]
        last = (block.begin_s == block.begin_s.max(axis=1, keepdims=True)) & sure[:, None]
        members = np.searchsorted(self.traced, block.members)
        key = site << 16 | block.collective
        for pair in np.unique(key):
            own = key == pair
            at = self.row(int(pair) >> 16, self.trace.collectives[int(pair) & 0xFFFF])
            calls["row"][own] = at
            row, weight = self.made[at], found.worst[own]
            row.calls_of[members] += int(np.count_nonzero(own))
            row.last_in[members] += np.count_nonzero(last[own], axis=0)
            row.imbalance_of[members] += weight.sum()
            row.late_in[members] += weight @ late[own]
            worst = int(weight.argmax())
            if row.worst is None or weight[worst] > row.worst.worst:
                call = np.flatnonzero(own)[worst]
                times = block.begin_s[call].copy(), block.end_s[call].copy()
                row.worst = Worst(float(weight[worst]), block.members, *times)

    def row(self, site: int, collective: str) -> int:
        at = self.rows.setdefault((site, collective), len(self.rows))
        if at == len(self.made):
            size = len(self.traced)
            counts = np.zeros(size, np.int64), np.zeros(size, np.int64)
            self.made.append(Row(site, collective, self.traced, *counts, np.zeros(size), np.zeros(size)))
        return at


def analyse(trace: Trace) -> Analysis:
    matcher, one_way = Matcher(trace), OneWay(trace.one_way)
    work = Pass(trace, one_way)
    hosts = len({rank.host for rank in trace.ranks.values()})
    networks: dict[int, bounds.Network] = {}
    for block in matcher.blocks():
        if block.group not in networks:
            own = [trace.ranks[int(member)].host for member in block.members]
            networks[block.group] = bounds.network(own, hosts, one_way.alpha, one_way.beta)
        work.take(block, networks[block.group])
    calls = np.concatenate([np.zeros(0, CALL), *work.parts])
    return Analysis(
        trace, one_way, calls[np.argsort(calls["begin"], kind="stable")], work.made, list(work.algorithms),
        work.sites, matcher.count, work.alone, duration(trace),
    )  # fmt: skip


def duration(trace: Trace) -> float:
    """s, from MPI_Init (or the first event) to MPI_Finalize (or the last event)."""
    begins, ends = [], []
    for rank in trace.ranks.values():
        local = [reading.at_ns for reading in rank.readings[:1]]
        local += [int(at) for at in rank.events["begin_ns"][:1]]
        if not local:
            continue
        last = rank.events[-1:]
        end = [*local, *last["end_ns"].tolist(), *last["begin_ns"].tolist()]
        if rank.ended_ns is not None:
            end.append(rank.ended_ns)
        times = rank.clock.corrected(np.array([min(local), max(end)], np.int64))
        begins.append(int(times[0]))
        ends.append(int(times[1]))
    return 1e-9 * (max(ends) - min(begins)) if begins else 0.0
