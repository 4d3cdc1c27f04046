"""What each call of a trace would take with other algorithms, given when its ranks arrive.

The calls of a group are followed one after the other: the ranks arrive at the first as they did, and at each
next one when they have done what the trace has between the two (meanwhile.py). What counts is the time from
the last arrival to the last exit, because what comes before it is waiting for whoever is late.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono.advise import arms as arms_module
from unisono.advise.machine import FILE_ERROR, Machine
from unisono.advise.meanwhile import after_call
from unisono.core import catalogue, cost_model, files, memory
from unisono.core.catalogue import NATIVE
from unisono.trace.groups import Group

Float = NDArray[np.float64]
FOLLOWED = 512  # calls times ranks that are followed, at most; of longer groups some in a row
LEAST_FOLLOWED = 2
MANY = 16  # groups of calls in a trace; of more, fewer calls are followed: each is looked for in all of them
MOST_RANKS = 256  # beyond, a walk through the schedules takes too long
LOST = 0.05  # seconds on the average: what lost messages cost at least, of timeouts of 0.2
ENOUGH_CALLS = 3  # of an arm in the trace, to believe them
# Times as long as predicted: so much an algorithm may well take. Of 122 that were run 9 took longer, of 122
# on another network 23: what slows long messages down is not all known (docs/results/advice.md).
SLOWER = 2.5
# Of what short calls say that ranks wait for a core: likely, and what is thought possible for others.
SHARES_OF_WAKE = (1.0, 0.0, 2.0)


@dataclass(frozen=True)
class Gain:
    """Seconds of a run that an arm saves in a group; below 0 it loses. `low` to `high`: what is possible."""

    spec: str
    seconds: float
    low: float
    high: float
    source: str  # "model", "trace" or "memory": measured beats modelled
    may_lose_packets: bool = False

    @property
    def decision(self) -> str:
        return "gains" if self.low > 0 else "loses" if self.high < 0 else "undecided"


def of_one_arm(every: Sequence[Gain], seconds: float, low: float, high: float) -> Gain:
    """What its gains at several sites or in several jobs amount to."""
    source = every[0].source if len({gain.source for gain in every}) == 1 else "model"
    return Gain(every[0].spec, seconds, low, high, source, any(gain.may_lose_packets for gain in every))


@dataclass(frozen=True)
class Advice:
    """What is known of a group: its arms, the best first. Of several jobs numbers are means over these."""

    groups: tuple[Group, ...]  # of each job
    traced_s: float  # in a run, from the last arrival to the last exit
    gains: tuple[Gain, ...]
    unknown: tuple[str, ...]  # arms without a prediction

    @property
    def group(self) -> Group:
        return self.groups[0]

    @property
    def waiting_s(self) -> float:
        """For late ranks, mean over the ranks of the group."""
        return mean(float(group.split.waiting.sum()) for group in self.groups)

    @property
    def elapsed_s(self) -> float:
        """In the calls, mean over the ranks of the group."""
        return mean(float(group.elapsed.sum()) for group in self.groups)

    def gain(self, spec: str) -> Gain | None:
        return next((gain for gain in self.gains if gain.spec == spec), None)

    @property
    def best(self) -> Gain | None:
        """Of those that surely gain."""
        return next((gain for gain in self.gains if gain.decision == "gains"), None)

    @property
    def shown(self) -> Gain | None:
        """The best; where nothing surely gains, what may."""
        return self.best or next((gain for gain in self.gains if gain.decision == "undecided"), None)


def completion(begin: Float, end: Float) -> Float:
    """Of each call, from the last arrival to the last exit."""
    return np.asarray(end.max(axis=1) - begin.max(axis=1))


def followed(group: Group, others: int) -> slice:
    """Calls in a row, those in the middle of the group."""
    most = max(LEAST_FOLLOWED, FOLLOWED // (group.ranks * max(1, others // MANY)))
    if group.calls <= most:
        return slice(0, group.calls)
    first = (group.calls - most) // 2
    return slice(first, first + most)


def question(group: Group, specs: Sequence[str], others: Sequence[Group]) -> cost_model.Job:
    kind, part = group.kind, followed(group, len(others))
    first = group.begin[part.start]
    delays: list[list[float]] = [(first - first.min()).tolist()]
    waits: list[list[tuple[int, int, float]]] = [[]]
    traffic: list[list[tuple[int, int, int, float]]] = [[]]
    computing: list[list[float]] = []
    for call in range(part.start, part.stop):
        if call + 1 == group.calls:
            computing.append([0.0] * group.ranks)
            break
        done = after_call(group, others, call)
        computing.append(done.computing.tolist())
        if call + 1 < part.stop:
            delays.append(np.diagonal(done.after).tolist())
            waits.append(waits_of(done.after))
            traffic.append(list(done.traffic))
    return cost_model.Job(
        kind.collective,
        group.ranks,
        group.nodes,
        group.size,
        specs,
        max(kind.root, 0),
        delays,
        waits,
        computing,
        traffic,
        group.hosts,
    )


def waits_of(after: Float) -> list[tuple[int, int, float]]:
    """What a rank waits for but itself."""
    pairs = zip(*np.nonzero(np.isfinite(after)), strict=True)
    return [(int(rank), int(other), float(after[other, rank])) for other, rank in pairs if rank != other]


def predicted_completion(told: cost_model.Prediction) -> Float:
    return completion(np.array(told.arrivals), np.array(told.exits))


def advise(
    groups: Sequence[Group],
    others: Sequence[Group],
    machine: Machine,
    folder: Path,
    more: Mapping[str, Sequence[str]] | None = None,
) -> list[Advice]:
    """`others`: all that the ranks do, `groups` among it; `folder`: for files of our own; `more`: what else
    is asked about, by collective."""
    known = catalogue.load()
    wanted = []
    for group in groups:
        specs = arms_module.legal(known, group.kind.collective, group.ranks, group.nodes)
        specs = [*specs, *(more or {}).get(group.kind.collective, ())]
        wanted.append(question(group, list(dict.fromkeys(specs)), others))
    answers = [ask(body, wanted, folder / "machine.json") for body in possible(machine)]
    return [advice(group, [answer[at] for answer in answers], machine) for at, group in enumerate(groups)]


def possible(machine: Machine) -> list[Mapping[str, Any]]:
    """Machines that may be this one: first what is thought most likely."""
    plain = machine.without_loss()
    found: list[Mapping[str, Any]] = [plain]
    if wake := plain.get("wake_s", 0.0):
        found = [{**plain, "wake_s": wake * share} for share in SHARES_OF_WAKE]
    return [*found, {**found[0], "incast": machine.body["incast"]}] if machine.loses else found


Told = dict[str, cost_model.Prediction]  # by the spec that was asked


def ask(body: Mapping[str, Any], wanted: Sequence[cost_model.Job], file: Path) -> list[Told]:
    files.write_json(body, file)
    return [{each.spec: each for each in own} for own in cost_model.predict(file, wanted)] if wanted else []


def advice(
    group: Group,
    answers: Sequence[Told],
    machine: Machine,
) -> Advice:
    """`answers`: of each possible machine."""
    took = completion(group.begin, group.end)
    base = typical(group, took)
    doubted = replace(base, error=base.error + clock_error(group))
    found: dict[str, Gain] = {}
    for spec, likely in answers[0].items():
        # Each machine may find another segment best: what runs is that of the likely one.
        if likely.exits and likely.runs not in found:
            times = [predicted_completion(told[spec]) for told in answers if told[spec].exits]
            found[likely.runs] = modelled(likely.runs, group, doubted, times, machine)
    found |= {**traced(group, took, base), **remembered(group, took, base, machine)}
    found.pop(running(group), None)
    gains = sorted(found.values(), key=lambda gain: -gain.seconds)
    unknown = [spec for spec, told in answers[0].items() if not told.exits and not told.unmet]
    return Advice((group,), base.seconds * group.calls, tuple(gains), tuple(unknown))


@dataclass(frozen=True)
class Typical:
    """A call as traced: the median, because an interruption by something else says nothing of algorithms;
    and how far the median of as many other calls may be away. `most`: the mean, as no algorithm saves more
    than all calls together took, and medians of calls of two kinds may add up to more."""

    seconds: float
    error: float
    most: float


def has_native(group: Group) -> bool:
    return int(np.count_nonzero(group.algorithm == NATIVE)) >= ENOUGH_CALLS


def running(group: Group) -> str:
    """The arm of most calls, where there is no native to compare with: it gains nothing that it has not."""
    specs, calls = np.unique(group.algorithm.astype(str), return_counts=True)
    return NATIVE if has_native(group) else str(specs[calls.argmax()])


def typical(group: Group, took: Float) -> Typical:
    """Of the run as traced: if it had calls of several algorithms, each has its share."""
    parts = [(np.mean(own), typical_of(took[own])) for own in by_algorithm(group).values()]
    mean = float(np.mean(took))
    seconds = float(sum(share * part.seconds for share, part in parts))
    return Typical(min(seconds, mean), float(sum(share * part.error for share, part in parts)), mean)


def by_algorithm(group: Group) -> dict[str, NDArray[np.bool_]]:
    return {str(spec): group.algorithm == spec for spec in dict.fromkeys(group.algorithm)}


def typical_of(took: Float) -> Typical:
    spread = 1.4826 * float(np.median(np.abs(took - np.median(took))))
    return Typical(float(np.median(took)), 2 * 1.25 * spread / math.sqrt(len(took)), float(np.mean(took)))


def is_trusted(group: Group, machine: Machine) -> bool:
    """Within a node messages cost cores more than time, and the MPI library has other ways than messages: of
    single ones, as a trace or MPI_Init times them, gains were predicted that were losses."""
    return group.nodes > 1 or machine.error <= FILE_ERROR


def clock_error(group: Group) -> float:
    """Of a completion, the median: it goes from one rank's clock to another's."""
    calls = np.arange(group.calls)
    last, left = group.begin.argmax(axis=1), group.end.argmax(axis=1)
    both = group.error[calls, last] + group.error[calls, left]
    return float(np.median(np.where(last == left, 0.0, both)))


def modelled(spec: str, group: Group, base: Typical, times: Sequence[Float], machine: Machine) -> Gain:
    """`times`: of the calls, on each possible machine; the mean of those in which messages are lost."""
    n, middle = group.calls, float(np.median(times[0]))
    others = [float(np.median(each)) for each in times]
    risky = float(np.mean(times[-1])) > LOST + float(np.max(times[0]))
    slowest = max(*others, float(np.mean(times[-1])) if risky else 0.0)
    low = base.seconds - base.error - slowest * max(machine.error, SLOWER)
    high = min(base.seconds + base.error, base.most) - min(others) / machine.error
    if not is_trusted(group, machine):
        low, high = min(low, 0.0), max(high, 0.0)
    return Gain(spec, n * (base.seconds - middle), n * low, n * high, "model", risky)


def traced(group: Group, took: Float, base: Typical) -> dict[str, Gain]:
    """Arms that the trace itself has beside others."""
    found: dict[str, Gain] = {}
    n = group.calls
    for spec, own in by_algorithm(group).items():
        if spec == NATIVE or not ENOUGH_CALLS <= np.count_nonzero(own) < n:
            continue
        arm = typical_of(took[own])
        seconds, error = base.seconds - arm.seconds, base.error + arm.error
        found[spec] = Gain(spec, n * seconds, n * (seconds - error), n * (seconds + error), "trace")
    return found


def remembered(group: Group, took: Float, base: Typical, machine: Machine) -> dict[str, Gain]:
    """What jobs have measured of such calls: the ratio to native, within a tenth. Of calls that are none of
    native's it says nothing."""
    found: dict[str, Gain] = {}
    if machine.memory is None or not has_native(group):
        return found
    n, native = group.calls, typical_of(took[group.algorithm == NATIVE]).seconds
    for one in learned(machine):
        if not fits(one, group) or one.choice == NATIVE:
            continue
        arm = native * one.seconds / one.native
        seconds, spread = base.seconds - arm, 0.1 * arm
        found[one.choice] = Gain(
            one.choice, n * seconds, n * (seconds - spread), n * (seconds + spread), "memory"
        )
    return found


def learned(machine: Machine) -> Iterator[memory.Learned]:
    yield from memory.learned(Path(machine.source), machine.memory or {})


def fits(one: memory.Learned, group: Group) -> bool:
    alike = one.collective == group.kind.collective
    places = one.ranks == group.ranks and one.nodes == group.nodes
    return alike and places and group.kind.least <= one.bytes <= group.kind.most
