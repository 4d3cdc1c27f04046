"""Which cells are measured, and how they make up jobs."""

from collections.abc import Sequence
from dataclasses import dataclass

from unisono.compare.results import PATTERNS, Point, Setting
from unisono.core import catalogue
from unisono.core.arguments import names, split_specs
from unisono.core.errors import UnisonoError
from unisono.core.limits import Sized, size_kind

# shared by the tables of peers in docs/results: what a program spends its time in
STANDARD_COLLECTIVES = "bcast,reduce,allreduce,scan,allgather,alltoall,gather,scatter,reduce_scatter_block"
STANDARD_SIZES = "8,1K,64K,1M"
STANDARD_BLOCK_SIZES = "8,1K,64K"  # p blocks of a megabyte would keep a slow wire busy for minutes


@dataclass(frozen=True)
class Job:
    """One run of unisono-bench: one collective, all sizes and arms interleaved."""

    setting: Setting
    collective: str
    sizes: tuple[int, ...]
    arms: tuple[str, ...]

    def points(self) -> list[Point]:
        return [Point(self.setting, self.collective, size) for size in self.sizes]


def parse_patterns(text: str) -> list[str]:
    chosen = list(PATTERNS) if text == "all" else list(dict.fromkeys(names(text)))
    for name in chosen or [text]:
        if name not in PATTERNS:
            raise UnisonoError(f"--pattern {name}: valid are all, {', '.join(PATTERNS)}")
    return chosen


def parse_arms(text: str) -> list[str]:
    arms = [arm for arm in split_specs(text) if arm != "native"]
    if not arms:
        raise UnisonoError("--arms: nothing to compare with native; give default, all or algorithms")
    return arms


def arms_by_collective(arms: Sequence[str], collectives: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Of the arms those that the collective has, parameters checked; an arm that none has is a
    mistake."""
    rows = catalogue.algorithms()
    found: dict[str, tuple[str, ...]] = {}
    known = {"default", "all"}
    for collective in collectives:
        own = {row.name for row in rows if collective in row.collectives}
        fitting = [arm for arm in arms if arm in {"default", "all"} or arm.partition(":")[0] in own]
        for arm in fitting:
            if arm != "all":
                catalogue.complete_spec(collective, arm)
        known.update(fitting)
        found[collective] = tuple(fitting)
    for arm in arms:
        if arm not in known:
            raise UnisonoError(f"--arms {arm}: no algorithm of {', '.join(collectives)}; see unisono list")
    return found


def plan(
    settings: Sequence[Setting],
    arms: dict[str, tuple[str, ...]],
    vector_sizes: Sequence[int],
    block_sizes: Sequence[int],
) -> list[Job]:
    """Collectives without any of the arms are left out."""
    sizes = {Sized.VECTOR: vector_sizes, Sized.BLOCK: block_sizes, Sized.NOTHING: (0,)}
    return [
        Job(setting, collective, tuple(sizes[size_kind(collective)]), own)
        for setting in settings
        for collective, own in arms.items()
        if own
    ]
