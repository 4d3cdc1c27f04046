"""The whole advice on a trace."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unisono.advise import arms, choose, predict, wake
from unisono.advise import machine as machine_module
from unisono.advise.choose import Choice, Variable
from unisono.advise.machine import Machine
from unisono.advise.predict import Advice, Gain
from unisono.core import catalogue
from unisono.core.errors import RunError, UnisonoError
from unisono.profile.document import Key, Profile
from unisono.trace import reader
from unisono.trace.analysis import duration
from unisono.trace.calls import Count
from unisono.trace.groups import Group, groups
from unisono.trace.reader import Trace

AT_BOUND = 0.05  # of a call: less than that no algorithm can win back, which is not worth a word
LITTLE = 0.001  # of the run: what takes less is left out
COMMUTING = (
    "A trace does not say whether an operation of the program's own (MPI_Op_create) commutes. Calls with one "
    "that does not are not run by {}: they stay as they are."
)


@dataclass(frozen=True)
class Result:
    """On one job, or on several of one program (several.py): numbers are means over these then."""

    traces: tuple[Trace, ...]
    machine: Machine
    seconds: float  # of the run, as traced
    groups: tuple[Group, ...]  # all of the first job
    advices: tuple[Advice, ...]
    left_out: tuple[str, ...]  # what nothing is said of, a line each
    choices: tuple[Choice, ...]
    variables: tuple[Variable, ...]

    @property
    def trace(self) -> Trace:
        return self.traces[0]

    @property
    def notes(self) -> list[str]:
        if len(self.traces) == 1:
            return self.trace.notes
        return [f"{trace.folder}: {note}" for trace in self.traces for note in trace.notes]

    @property
    def gain(self) -> Gain:
        """Of all choices together."""
        own = [choice.gain for choice in self.choices]
        return Gain("", sum(g.seconds for g in own), sum(g.low for g in own), sum(g.high for g in own), "")

    @property
    def doubts(self) -> tuple[str, ...]:
        """What a trace does not say, and what is shown depends on, a line each."""
        names = self.wanting_commutative()
        return (COMMUTING.format(", ".join(names)),) if names else ()

    def wanting_commutative(self) -> list[str]:
        """Algorithms of reductions that are shown, and that not every operation of a program can have."""
        known = catalogue.load()
        shown = [(advice, advice.shown.spec) for advice in self.advices if advice.shown]
        shown += [(site, choice.gain.spec) for choice in self.choices for site in choice.sites]
        every = {each.collective: each.gain.spec for each in self.variables}
        shown += [
            (advice, every[name])
            for advice in self.advices
            if (name := advice.group.kind.collective) in every
        ]
        return sorted(
            {
                f"{advice.group.kind.collective} {spec}"
                for advice, spec in shown
                if arms.must_commute(known, advice.group.kind.collective, spec, advice.group.hosts)
            }
        )

    def waiting_s(self) -> float:
        """For late ranks, mean over the ranks of the program."""
        return sum(advice.waiting_s * advice.group.ranks for advice in self.advices) / self.trace.size

    def collectives_s(self) -> float:
        return sum(advice.elapsed_s * advice.group.ranks for advice in self.advices) / self.trace.size


def of_folder(
    folder: Path, machine_file: Path | None, more: Mapping[str, Sequence[str]] | None = None
) -> Result:
    """`more`: algorithms that are asked about beside the catalogue's, by collective."""
    trace = reader.read(folder)
    count = Count()
    found = groups(trace, count)
    if not found:
        raise UnisonoError(
            f"{folder}: no collective of two ranks or more is complete in it: nothing to advise on"
        )
    machine = machine_module.of_trace(trace, machine_file)
    seconds = duration(trace)
    wanted, left_out = worth(found, seconds)
    left_out += [f"{number} {what}" for number, what in count.left_out() if number]
    with tempfile.TemporaryDirectory(prefix="unisono-advise-") as own:
        machine = awake(machine, [group for group in found if not unpredicted(group)], Path(own))
        advices = predict.advise(wanted, found, machine, Path(own), more)
    result = Result((trace,), machine, seconds, tuple(found), tuple(advices), tuple(left_out), (), ())
    return chosen(result)


def chosen(result: Result) -> Result:
    """With what its advices amount to."""
    size = result.trace.size
    choices = choose.choices(result.advices, size)
    variables = choose.variables(result.advices, choices, size)
    return replace(result, choices=tuple(choices), variables=tuple(variables))


def awake(machine: Machine, found: list[Group], folder: Path) -> Machine:
    """With what the trace tells of waiting for cores, unless the machine file says so itself."""
    known = machine.body.get("wake_s")
    seconds = known if known is not None else wake.estimate(found, machine.body, folder)
    if not seconds:
        return machine
    return replace(machine, body=wake.with_wake(machine.body, seconds))


def worth(found: list[Group], seconds: float) -> tuple[list[Group], list[str]]:
    """Those that take long enough to be asked about, and what is left out."""
    wanted, small, rare, named = [], 0, 0, []
    for group in found:
        if float(predict.completion(group.begin, group.end).sum()) < LITTLE * seconds:
            small += 1
        elif group.calls < predict.ENOUGH_CALLS:
            rare += 1
        elif why := unpredicted(group):
            named.append(f"{group.kind.collective} at {group.place.text}: {why}")
        else:
            wanted.append(group)
    lines = [f"{small} kinds of calls that take less than {LITTLE:.1%} of the run each"] if small else []
    if rare:
        lines.append(f"{rare} kinds that are called fewer than {predict.ENOUGH_CALLS} times")
    return wanted, lines + named


def unpredicted(group: Group) -> str:
    """Why nothing is asked about it; empty: it is."""
    if catalogue.collective(group.kind.collective).peers != "all":
        return "the trace does not say who is whose neighbour"
    if group.ranks < group.kind.of:
        return "not all of its ranks were traced"
    return "too many ranks to follow" if group.ranks > predict.MOST_RANKS else ""


def key_of(result: Result) -> Key:
    """Where the profile will hold; an error of one line where the trace and the memory do not tell."""
    kept = result.machine.memory
    if kept is None:
        raise UnisonoError(
            "-o: a profile says where it holds, which only the memory of a job there tells: run a program "
            "under Unisono there once, or use the variables"
        )
    where: Mapping[str, Any] = kept["where"]
    ranks, nodes = result.trace.size, len({rank.host for rank in result.trace.ranks.values()})
    cores = int(where["host"]["cores"])
    rate = 0.0
    if nodes > 1:
        rate = 8 / result.machine.body["levels"]["between_nodes"]["one_way"][0]["beta_s_per_byte"]
    place = "ethernet" if nodes > 1 else "undersubscribed" if ranks <= cores else "oversubscribed"
    return Key(where["mpi"]["flavour"], where["mpi"]["library"], place, rate, cores, ranks, nodes)


def profile_of(result: Result) -> Profile:
    """An error of one line where there is nothing to write, or no place it holds at."""
    if not result.choices:
        raise RunError("-o: no algorithm surely gains anything, so that there is nothing to write")
    return choose.profile(key_of(result), result.choices)
