"""Trees over random subsets of the paper's torus, 8x8x16: how many links' bandwidth they have; its Figure 1.

    python -m experiments.torus.subsets [--quick] [--minutes 60]

The bandwidth in links is the number of trees over the messages on the busiest link. Subset i of a density is
`unisono sim --ranks random:N:seed=i`; the root is its first host. Limits: ports, which is what the routing
lets in and out of hosts at most; flow, the least max-flow from the root.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from unisono.sim import network, platforms

from experiments import harness
from experiments.markdown import table
from experiments.testbeds import Json
from experiments.torus import measuring
from experiments.torus.measuring import KIB, MIB, PAPER, Cell, Store, letters, percent, size_text

SHAPE = PAPER.partition(":")[2]
MEMBERS = {31: "31", 102: "10 %", 512: "50 %", 922: "90 %"}
ROUTINGS = ("minimal", "directed", "source")
SEEDS = 200
SAMPLE = {31: 10, 102: 10, 512: 3, 922: 2}  # of them are simulated
SNAKE = "snake"
# Messages are few enough for minutes; the larger a subset, the longer its segments.
SEGMENT = {31: 4 * KIB, 102: 4 * KIB, 512: 16 * KIB, 922: 16 * KIB}
FIGURE = tuple(KIB * (512 << step) for step in range(0, 11, 2))  # 512 KiB to 512 MiB
FIGURE_SEGMENT = {size: max(KIB, size // 4096) for size in FIGURE}
FIGURE_ALGORITHMS = ("chain:segment={}", "circulant:segment={}", "binomial", "scatter_allgather")


def routed(routing: str) -> str:
    return PAPER + ("" if routing == "minimal" else f",routing={routing}")


def ranks(members: int, seed: int) -> str:
    return f"random:{members}:seed={seed}"


def limits(platform: str, hosts: Sequence[int]) -> tuple[int, int]:
    """Of ports and of the max-flow, in links."""
    parsed = platforms.parse(platform)
    with tempfile.TemporaryDirectory() as folder:
        told = json.loads(network.ask("limits", *network.options(parsed, hosts, 0, Path(folder))))
    link, flow, of = parsed.link_bits / 8, told["flow"]["from_root"], told["routes"]
    # Routes that senders choose freely restrict nothing.
    ports = min(of["root_sends"], of["least_received"]) if of else flow
    return round(ports / link), round(flow / link)


def counted(members: int, seed: int) -> Json:
    """Trees over messages on the busiest link by routing, of the snake, and the limits in links."""
    hosts = measuring.hosts_of(PAPER, ranks(members, seed))
    found: Json = {}
    for routing in ROUTINGS:
        made = measuring.trees(SHAPE, hosts, "--routing", routing)
        found[routing] = (len(made["trees"]), made["links"]["most"])
        found[f"{routing} ports"], found["flow"] = limits(routed(routing), hosts)
    made = measuring.trees(SHAPE, hosts, "--trees", SNAKE)
    found[SNAKE] = (len(made["trees"]), made["links"]["most"])
    return found


def sample(members: int) -> Iterator[Cell]:
    for seed in range(SAMPLE[members]):
        for routing in ROUTINGS:
            algorithm = f"torus:segment={letters(SEGMENT[members])}"
            yield Cell(routed(routing), "bcast", algorithm, 16 * MIB, ranks(members, seed))


def figure() -> Iterator[Cell]:
    """The paper's: Bcast on 31 of 1024 hosts."""
    for size in FIGURE:
        segment = letters(FIGURE_SEGMENT[size])
        for routing in ROUTINGS:
            yield Cell(routed(routing), "bcast", f"torus:segment={segment}", size, ranks(31, 1))
        yield Cell(PAPER, "bcast", f"torus:trees=snake,segment={segment}", size, ranks(31, 1))
        for name in FIGURE_ALGORITHMS:
            yield Cell(PAPER, "bcast", name.format(segment), size, ranks(31, 1))


def count_table(store: Store) -> list[str]:
    rows = []
    for members, words in MEMBERS.items():
        found = [row for seed in range(SEEDS) if (row := store.rows.get(f"{members} {seed}"))]
        if not found:
            continue
        for routing in (*ROUTINGS, SNAKE):
            links = [row[routing][0] / row[routing][1] for row in found]
            ports = [row[f"{routing} ports"] for row in found] if routing != SNAKE else []
            at_ports = sum(own >= port for own, port in zip(links, ports, strict=False))
            rows.append(
                [
                    *(words, routing, str(len(found)), str(max(row[routing][1] for row in found))),
                    *(f"{min(links):g}", f"{sum(links) / len(links):.2f}", f"{max(links):g}"),
                    *(percent(sum(link >= n for link in links) / len(links)) for n in (1, 2)),
                    f"{sum(ports) / len(ports):.2f}" if ports else "",
                    percent(at_ports / len(ports)) if ports else "",
                    f"{sum(row['flow'] for row in found) / len(found):.2f}",
                ]
            )
    head = ["of 1024 hosts", "routing", "subsets", "most messages on a link", "links: fewest", "mean", "most"]
    head += ["% with 1", "% with 2", "ports: mean", "% that reach the ports", "max-flow: mean"]
    return table(head, rows, (0, 1))


def sample_table(store: Store) -> list[str]:
    rows = []
    for members, words in MEMBERS.items():
        for routing in ROUTINGS:
            cells = [c for c in sample(members) if c.platform == routed(routing) and store.get(c)]
            if not cells:
                continue
            results = [store.cells[cell] for cell in cells]
            of_flow = [r["limit"] / r["seconds"] for r in results]
            of_ports = [(r["routing_limit"] or r["limit"]) / r["seconds"] for r in results]
            rate = [cell.bytes / r["seconds"] / 1e6 for cell, r in zip(cells, results, strict=True)]
            numbers = [f"{min(rate):.0f}", f"{sum(rate) / len(rate):.0f}"]
            numbers += [percent(f(x)) for x in (of_ports, of_flow) for f in (min, lambda x: sum(x) / len(x))]
            rows.append([words, routing, str(len(cells)), letters(SEGMENT[members]), *numbers])
    head = ["of 1024 hosts", "routing", "subsets", "segment", "MB/s: least", "mean"]
    head += ["% of the ports' limit: least", "mean", "% of the max-flow: least", "mean"]
    return table(head, rows, (0, 1))


def figure_table(store: Store) -> list[str]:
    """Megabytes a second."""
    names: dict[str, list[str]] = {}
    for cell in figure():
        found = store.get(cell)
        routing = cell.platform.partition("routing=")[2] or "minimal"
        kind, _, parameters = cell.algorithm.partition(":")
        name = "torus:trees=snake" if "snake" in parameters else kind
        label = f"`{name}`, {routing}" if kind == "torus" else f"`{name}`"
        names.setdefault(label, []).append(f"{cell.bytes / found['seconds'] / 1e6:.0f}" if found else "")
    return table(("MB/s", *map(size_text, FIGURE)), [[name, *row] for name, row in names.items()], (0,))


def main(arguments: Sequence[str] | None = None) -> int:
    given, store = measuring.options(__doc__ or "", "subsets", arguments)
    for members in MEMBERS:
        for seed in range(2 if given.quick else SEEDS):
            store.ask_row(f"{members} {seed}", partial(counted, members, seed))
    if not given.quick:
        store.ask([*figure(), *(cell for members in MEMBERS for cell in sample(members))])
    print("\n".join([*count_table(store), *sample_table(store), *figure_table(store)]))
    return 0


if __name__ == "__main__":
    harness.run(main)
