"""How the ranks of an Alltoall can drift apart on a shared network, in the smallest model that shows it.

  .venv/bin/python -m experiments.advice.drift

Connections share ports max-min fairly, and ports give no credit. Ranks compute for a while, with a jitter of
half a millisecond, and call again. A rank goes on to its next round when it has its message, and either when
its own has left or at once, as a socket takes it from the sender. Prints how far apart the ranks of a call
begin and what it takes from the last of these on, in ms: of every other call,
from nearly together to where it settles.
"""

import argparse
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

FRAMES = 1.0456 * 1.02  # bytes on the wire for a byte of a message: headers, and acknowledgements of others
JITTER = 0.5e-3  # seconds

Round = tuple[int, int, float]  # to, from, seconds alone
Key = tuple[int, int, int, int]  # from, to, call, round


def fair_rates(flows: Sequence[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Shares of a port: all become faster until a port of theirs is full."""
    left = {(side, flow[side]): 1.0 for flow in flows for side in (0, 1)}
    rates: dict[tuple[int, int], float] = {}
    while len(rates) < len(flows):
        open_flows = [flow for flow in flows if flow not in rates]
        sharing = {port: sum(flow[port[0]] == port[1] for flow in open_flows) for port in left}
        fair = {port: left[port] / n for port, n in sharing.items() if n > 0}
        least = min(fair.values())
        for flow in open_flows:
            if min(fair[0, flow[0]], fair[1, flow[1]]) <= least * (1 + 1e-9):
                rates[flow] = least
                left[0, flow[0]] -= least
                left[1, flow[1]] -= least
    return rates


@dataclass
class Program:
    """Calls of one collective, with computing between."""

    ranks: int
    rounds: Callable[[int], list[Round]]
    think: float
    waits_for_sends: bool
    calls: int = 20
    begun: dict[tuple[int, int], float] = field(default_factory=dict)  # by call and rank
    done: dict[tuple[int, int], float] = field(default_factory=dict)

    def run(self, apart: float, chance: random.Random) -> list[tuple[float, float]]:
        starts = [(chance.random() * apart, rank, 0) for rank in range(self.ranks)]
        at: dict[int, tuple[int, int]] = {}  # of ranks: call and round
        left: dict[Key, float] = {}
        arrived: set[Key] = set()
        now = 0.0

        def enter(rank: int, call: int, number: int) -> None:
            rounds = self.rounds(rank)
            if number == len(rounds):
                del at[rank]
                self.done[call, rank] = now
                if call + 1 < self.calls:
                    starts.append((now + self.think + chance.random() * JITTER, rank, call + 1))
                return
            at[rank] = call, number
            left[rank, rounds[number][0], call, number] = rounds[number][2]

        def may_go_on(rank: int) -> bool:
            call, number = at[rank]
            to, source, _ = self.rounds(rank)[number]
            has_sent = (rank, to, call, number) in arrived or not self.waits_for_sends
            return has_sent and (source, rank, call, number) in arrived

        while starts or at:
            for start in sorted(start for start in starts if start[0] <= now + 1e-12):
                starts.remove(start)
                self.begun[start[2], start[1]] = now
                enter(start[1], start[2], 0)
            ready = [rank for rank in at if may_go_on(rank)]
            for rank in ready:
                enter(rank, at[rank][0], at[rank][1] + 1)
            if ready:
                continue
            first = {pair: min(keys) for pair, keys in itertools.groupby(sorted(left), lambda key: key[:2])}
            rates = fair_rates(list(first))
            steps = [left[key] / rates[pair] for pair, key in first.items()]
            step = min([*steps, *(start[0] - now for start in starts)])
            now += step
            for pair, key in first.items():
                left[key] -= step * rates[pair]
                if left[key] < 1e-9:
                    del left[key]
                    arrived.add(key)
        return [self.figures(call) for call in range(self.calls)]

    def figures(self, call: int) -> tuple[float, float]:
        begun = [self.begun[call, rank] for rank in range(self.ranks)]
        done = [self.done[call, rank] for rank in range(self.ranks)]
        return max(begun) - min(begun), max(done) - max(begun)


def main() -> None:
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape)
    parser.add_argument("--hosts", type=int, default=4, help="a power of two")
    parser.add_argument("--mbits", type=float, default=40)
    parser.add_argument("--block", type=int, default=147456)
    parser.add_argument("--think", type=float, default=8, help="ms between two calls")
    given = parser.parse_args()
    p, block = given.hosts, given.block * FRAMES * 8 / given.mbits / 1e6
    forms: dict[str, Callable[[int], list[Round]]] = {
        "pair": lambda r: [(r ^ k, r ^ k, block) for k in range(1, p)],
        "ring": lambda r: [((r + k) % p, (r - k) % p, block) for k in range(1, p)],
        "bruck": lambda r: [
            ((r + k) % p, (r - k) % p, block * p / 2) for k in (1 << i for i in range(p.bit_length() - 1))
        ],
    }
    for (name, rounds), waits, apart in itertools.product(forms.items(), (True, False), (0, 0.01, 0.04)):
        program = Program(p, rounds, given.think / 1e3, waits)
        figures = program.run(apart, random.Random(1))
        text = " ".join(f"{begin * 1e3:.0f}/{took * 1e3:.0f}" for begin, took in figures[::2])
        sends = "when they have left" if waits else "at once"
        print(f"{name}: sends complete {sends}, at first {apart * 1e3:.0f} ms apart: {text}")


if __name__ == "__main__":
    main()
