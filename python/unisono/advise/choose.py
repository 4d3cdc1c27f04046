"""Which arms to take together: what a profile can choose by, and where call sites want different arms."""

from collections.abc import Sequence
from dataclasses import dataclass

from unisono.advise.predict import Advice, Gain, of_one_arm
from unisono.core import catalogue
from unisono.core.memory import size_class
from unisono.profile.document import Cell, Environment, Key, Profile

WORTH = 0.95  # of the profile's gain: then a variable, which is simpler, does as well


@dataclass(frozen=True)
class Entry:
    """What a profile chooses by: all calls of one collective, size class, and number of ranks and nodes."""

    collective: str
    ranks: int
    nodes: int
    least: int  # bytes, as a profile counts them
    most: int


@dataclass(frozen=True)
class Choice:
    """The arm for an entry; `gain` is the program's, by all its call sites together."""

    entry: Entry
    sites: tuple[Advice, ...]
    gain: Gain
    conflict: str  # in words, where its call sites alone would choose differently; else empty


@dataclass(frozen=True)
class Variable:
    """One arm for all calls of a collective."""

    collective: str
    gain: Gain

    @property
    def line(self) -> str:
        return f"UNISONO_{self.collective.upper()}={self.gain.spec}"


def entry_of(advice: Advice) -> Entry:
    """Of irregular collectives whose counts no rank knows a profile knows no size."""
    group = advice.group
    row = catalogue.collective(group.kind.collective)
    least, most = size_class(group.size) if row.bytes_known else (0, 0)
    return Entry(row.name, group.ranks, group.nodes, least, most)


def entries(all_: Sequence[Advice]) -> dict[Entry, list[Advice]]:
    found: dict[Entry, list[Advice]] = {}
    for advice in all_:
        found.setdefault(entry_of(advice), []).append(advice)
    return found


def together(sites: Sequence[Advice], size: int) -> list[Gain]:
    """Of the arms that all of them know, what the program gains, the best first: the mean over its `size`
    ranks, as communicators that have some of them may be at work at the same time."""
    common = [gain.spec for gain in sites[0].gains if all(site.gain(gain.spec) for site in sites)]
    sums = []
    for spec in common:
        own = [(site.group.ranks / size, gain) for site in sites if (gain := site.gain(spec))]
        sums.append(
            of_one_arm(
                [gain for _, gain in own],
                sum(share * gain.seconds for share, gain in own),
                sum(share * gain.low for share, gain in own),
                sum(share * gain.high for share, gain in own),
            )
        )
    return sorted(sums, key=lambda gain: -gain.seconds)


def choices(all_: Sequence[Advice], size: int) -> list[Choice]:
    """Entries for which some arm surely gains, the largest gain first."""
    found = []
    for entry, sites in entries(all_).items():
        sure = next((gain for gain in together(sites, size) if gain.decision == "gains"), None)
        if sure:
            found.append(Choice(entry, tuple(sites), sure, conflict_of(sites, sure)))
    return sorted(found, key=lambda choice: -choice.gain.seconds)


def conflict_of(sites: Sequence[Advice], taken: Gain) -> str:
    """Who alone would choose another arm, or is slower with the one that is taken."""
    losers = [
        f"{site.group.place.text} alone would take {site.best.spec if site.best else 'native'}"
        for site in sites
        if (site.best.spec if site.best else "native") != taken.spec
    ]
    return f"one entry of a profile: {'; '.join(losers)}" if losers and len(sites) > 1 else ""


def variables(all_: Sequence[Advice], chosen: Sequence[Choice], size: int) -> list[Variable]:
    """Where one arm serves all calls of a collective nearly as well as the profile's entries do."""
    found = []
    for collective in dict.fromkeys(choice.entry.collective for choice in chosen):
        own = [advice for advice in all_ if advice.group.kind.collective == collective]
        best = next((gain for gain in together(own, size) if gain.decision == "gains"), None)
        goal = sum(choice.gain.seconds for choice in chosen if choice.entry.collective == collective)
        if best and best.seconds >= WORTH * goal:
            found.append(Variable(collective, best))
    return found


def profile(key: Key, chosen: Sequence[Choice]) -> Profile:
    """An environment for each number of ranks and nodes."""
    shapes = dict.fromkeys((choice.entry.ranks, choice.entry.nodes) for choice in chosen)
    environments = []
    for ranks, nodes in shapes:
        own = [c for c in chosen if (c.entry.ranks, c.entry.nodes) == (ranks, nodes)]
        cells = [Cell(c.entry.collective, c.entry.least, c.entry.most, c.gain.spec) for c in own]
        rate = key.network_rate if nodes > 1 or key.nodes > 1 else 0
        where = Key(key.flavour, key.library, key.place, rate, key.cores, ranks, nodes)
        environments.append(Environment(where, tuple(sorted(cells, key=lambda c: (c.collective, c.least)))))
    return Profile(tuple(environments))
