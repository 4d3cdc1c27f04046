"""What the ports of the lab carry in a call, beside how long it takes: is there anything left to gain?

  sudo .venv/bin/python -m experiments.pipelines.ports --bed lab --json F --markdown T

The shaper of every host counts what it lets out, with all headers, and with the acknowledgements of what
the host receives. Two jobs of each arm, of FEW and of MANY calls: their difference is the calls alone, with
what drains the ports before each, which two jobs of a Bcast of 8 bytes say and which is taken off. All in
units of the bytes that must pass the busiest port (experiments/pipelines/wire.py).
"""

import argparse
import re
import statistics
import subprocess
from collections.abc import Mapping, Sequence

from unisono.core import places
from unisono.core.catalogue import format_size
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.testbeds import beds

from experiments import harness, testbeds
from experiments.markdown import table
from experiments.pipelines import measuring, wire
from experiments.pipelines.measuring import SUM, Plan
from experiments.testbeds import Json, Real

EXPERIMENT = "pipelines-ports"
SIZE, SHORT = 8 << 20, 8
FEW, MANY = 1, 5  # calls
ARMS = (
    *(("bcast", arm) for arm in ("chain:segment=8K", "chain:segment=16K", "two_tree:segment=8K,window=16")),
    ("reduce", "two_tree:segment=8K"),
    *(("allreduce", arm) for arm in ("ring:segment=16K", "chain:segment=16K")),
    ("scan", "chain:segment=16K"),
)
SENT = re.compile(r"qdisc tbf [^\n]*\n\s*Sent (\d+) bytes")


def sent(bed: Real, hosts: int) -> list[int]:
    """Bytes, by the shaper of each host, so far."""
    if not isinstance(bed.bed, beds.Lab):
        raise UnisonoError(f"{bed.name}: no lab")
    counts = []
    for host in bed.bed.lab.hosts[:hosts]:
        command = bed.bed.lab.on_host(host.name, ["tc", "-s", "qdisc", "show", "dev", "eth0"])
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = SENT.search(said)
        if found is None:
            raise UnisonoError(f"{host.name}: no shaper on eth0")
        counts.append(int(found[1]))
    return counts


def measured(bed: Real, ranks: int, collective: str, arm: str, size: int = SIZE) -> Json:
    """Seconds and bytes out of every port of a call, draining included."""
    counts, seconds = [], []
    for calls in (FEW, MANY):
        before = sent(bed, ranks)
        plan = Plan("ports", ranks, [(collective, str(size), [arm])], calls, budget=calls, calls=1)
        job = measuring.run(bed, plan, 0, fresh=True)
        counts.append([now - then for now, then in zip(sent(bed, ranks), before, strict=True)])
        seconds = job["cells"][0]["arms"][arm]
        if len(seconds) != calls:
            raise UnisonoError(f"{arm}: {len(seconds)} calls measured, not {calls}")
    by_call = [(many - few) / (MANY - FEW) for few, many in zip(*counts, strict=True)]
    head = {"bed": bed.name, "ranks": ranks, "collective": collective, "bytes": size, "op": SUM, "arm": arm}
    return {**head, "seconds": seconds, "port_bytes": by_call}


def measure(given: argparse.Namespace) -> Json:
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    found = [bed for bed in testbeds.parse(given.bed, mpis) if isinstance(bed, Real)]
    measuring.lab_only(found)
    described = {bed.name: bed.describe() for bed in found}
    results = []
    for bed in found:
        drain = measured(bed, given.ranks, "bcast", "chain", SHORT)["port_bytes"]
        for collective, arm in ARMS:
            one = measured(bed, given.ranks, collective, arm)
            results.append({**one, "drain_bytes": drain})
    if given.json:
        write_json(measuring.document(EXPERIMENT, described, results), given.json)
    return {"beds": described, "results": results}


def page(results: Sequence[Json], described: Mapping[str, Json]) -> str:
    rows: list[tuple[str, ...]] = []
    for one in results:
        least = wire.bytes_in_port(one["collective"], one["bytes"], one["ranks"])
        bits = described[one["bed"]]["bits_per_second"]
        time = statistics.median(one["seconds"]) * bits / 8
        own = [all_of - drain for all_of, drain in zip(one["port_bytes"], one["drain_bytes"], strict=True)]
        busiest = max(own)
        row = (one["bed"].removeprefix("lab, "), one["collective"], one["arm"])
        rows.append((*row, f"{busiest / least:.3f}", f"{statistics.median(own) / least:.3f}"))
        rows[-1] += (f"{time / least:.3f}", f"{time / busiest:.3f}")
    head = ("MPI", "collective", "arm", "bytes of the busiest port", "median port", "time", "time over bytes")
    title = f"{format_size(SIZE)}, in units of the wire."
    return "\n".join([title, "", *table(head, rows, (0, 1, 2))])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.lab_parser(__doc__)
    parser.add_argument("--ranks", type=int, default=16, help="(16)")
    given = parser.parse_args(arguments)
    body = measuring.read(given.kept, EXPERIMENT) if given.kept else measure(given)
    text = page(body["results"], body["beds"])
    harness.console.print(text)
    if given.markdown:
        given.markdown.write_text(text)
    return 0


if __name__ == "__main__":
    harness.run(main)
