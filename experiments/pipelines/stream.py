"""Bcasts of 64 KiB back to back in the lab: from one root, from changing roots, and with one rank late.

  sudo .venv/bin/python -m experiments.pipelines.stream --bed lab --json F --markdown T
  .venv/bin/python -m experiments.pipelines.stream --report F --markdown T

50 calls (benchmarks/calls/stream.cpp, which checks every byte), natively, with what Unisono chooses, which
learns in the calls that are not counted, and with algorithms forced, in turn. Time per call over the wire;
of a late rank's series without its 50 ms.
"""

import argparse
import statistics
from collections.abc import Iterator, Mapping, Sequence

from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import harness, testbeds
from experiments.arrival.measuring import paired_ratio
from experiments.harness import Check, below
from experiments.markdown import table, verdicts
from experiments.pipelines import measuring, wire
from experiments.pipelines.measuring import DEFAULT, NATIVE, Ratio
from experiments.testbeds import ROOT, Json, Program, Real, Run

EXPERIMENT = "pipelines-stream"
STREAM = Program("unisono-stream", ROOT / "benchmarks/calls/stream.cpp", with_unisono=True)
ARMS = (NATIVE, DEFAULT, "chain:segment=4K", "circulant:segment=4K")
BYTES, CALLS, LATE_MS, SERIES = 64 << 10, 50, 50, 1
MOST = 1.08  # times the wire: the goal of calls in a row, that pipeline over calls
LATE_COSTS = 1.10  # what a late rank may add to the other calls

Key = tuple[str, str, bool, bool]  # test bed, arm, changing roots, late


def variables(arm: str) -> dict[str, str]:
    if arm == NATIVE:
        return {}
    return {"UNISONO_BCAST": arm}


def measure(given: argparse.Namespace) -> Json:
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    beds = [bed for bed in testbeds.parse(given.bed, mpis) if isinstance(bed, Real)]
    measuring.lab_only(beds)
    jobs: list[Json] = []

    def one_round(turn: int) -> Iterator[Json]:
        for bed in beds:
            for arm in given.arms.split(",") if given.arms else ARMS:
                numbers = [str(number) for number in (BYTES, CALLS, LATE_MS, SERIES)]
                run = Run(STREAM, given.ranks, numbers, variables=variables(arm), repetition=turn)
                raw = harness.measure(bed, run, measuring.LIMIT, given.fresh)
                yield {"bed": bed.name, "arm": arm, "round": turn, **raw}

    described = {bed.name: bed.describe() for bed in beds}
    for job in measuring.in_rounds(one_round, given.rounds, given.minutes):
        jobs.append(job)
        if given.json:
            write_json(measuring.document(EXPERIMENT, described, jobs), given.json)
    return {"beds": described, "results": jobs}


def times(jobs: Sequence[Json], beds: Mapping[str, Json]) -> dict[Key, dict[int, float]]:
    """By round: of a job the median series, per call over the wire, without the late rank's own delay."""
    found: dict[Key, dict[int, float]] = {}
    for job in jobs:
        if job["wrong"]:
            raise UnisonoError(f"{job['bed']}, {job['arm']}: {job['wrong']} wrong bytes")
        bits = beds[job["bed"]]["bits_per_second"]
        one = wire.seconds("bcast", job["bytes"], job["ranks"], bits)
        for kind in job["kinds"]:
            # Of changing roots the busiest port is that of who is root least often: a root receives nothing.
            taken = job["calls"] - (job["calls"] // job["ranks"] if kind["changing"] else 0)
            late = 1e-3 * job["late_ms"] if kind["late"] else 0.0
            key = (job["bed"], job["arm"], kind["changing"], kind["late"])
            # At least 1 us: what waited for the late rank may have gone on meanwhile.
            seconds = max(1e-6, statistics.median(kind["seconds"]) - late)
            found.setdefault(key, {})[job["round"]] = seconds / (taken * one)
    return found


def over_wire(found: Mapping[Key, dict[int, float]], key: Key) -> Ratio | None:
    own = list(found.get(key, {}).values())
    return Ratio(*paired_ratio(own, [1.0] * len(own))) if own else None


def ratio(found: Mapping[Key, dict[int, float]], own: Key, other: Key) -> Ratio | None:
    mine, theirs = found.get(own, {}), found.get(other, {})
    both = [turn for turn in mine if turn in theirs]
    return Ratio(*paired_ratio([mine[t] for t in both], [theirs[t] for t in both])) if both else None


def arms_of(found: Mapping[Key, dict[int, float]], bed: str) -> list[str]:
    return list(dict.fromkeys(arm for where, arm, *_ in found if where == bed))


def checks(found: Mapping[Key, dict[int, float]], bed: str) -> list[Check]:
    """Of the fastest of Unisono's in each series."""
    made = []
    own = [arm for arm in arms_of(found, bed) if arm != NATIVE]
    for changing in (False, True):
        there = [arm for arm in own if (bed, arm, changing, False) in found]
        if not there:
            continue
        best = min(there, key=lambda arm: statistics.median(found[bed, arm, changing, False].values()))
        roots = "changing roots" if changing else "one root"
        time = over_wire(found, (bed, best, changing, False))
        if time:
            answer = below(time.low, time.high, MOST)
            claim = f"{roots}: a call in a row takes at most {MOST:g} of the wire"
            made.append(Check(claim, answer, f"{best} {time.text()}"))
        late = ratio(found, (bed, best, changing, True), (bed, best, changing, False))
        if late:
            answer = below(late.low, late.high, LATE_COSTS)
            made.append(
                Check(
                    f"{roots}: a late rank costs its delay and 10 % at most", answer, f"{best} {late.text()}"
                )
            )
    return made


def section(found: Mapping[Key, dict[int, float]], bed: str, made: Sequence[Check]) -> str:
    rows = []
    for arm in arms_of(found, bed):
        cells = [
            over_wire(found, (bed, arm, changing, late))
            for late in (False, True)
            for changing in (False, True)
        ]
        rows.append((arm, *(cell.text() if cell else "" for cell in cells)))
    head = (
        "times the wire, per call",
        "one root",
        "changing",
        "one root, a rank late",
        "changing, a rank late",
    )
    return "\n".join([f"### {bed}", "", *table(head, rows, (0,)), *verdicts(made)])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.lab_parser(__doc__)
    add = parser.add_argument
    add("--ranks", type=int, default=16, help="(16)")
    add("--arms", default="", help=f"native, default, algorithms of Bcast ({','.join(ARMS)})")
    add("--rounds", type=int, default=4, help="jobs of each arm (4)")
    add("--minutes", type=float, default=3.0, help="for all rounds (3); two are run in any case")
    given = parser.parse_args(arguments)
    body = measuring.read(given.kept, EXPERIMENT) if given.kept else measure(given)
    found = times(body["results"], body["beds"])
    made = {bed: checks(found, bed) for bed in body["beds"]}
    harness.report(made)
    if given.markdown:
        given.markdown.write_text("\n".join(section(found, bed, made[bed]) for bed in body["beds"]))
    return 0


if __name__ == "__main__":
    harness.run(main)
