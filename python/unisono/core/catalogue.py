"""What the C++ side knows, asked through unisono-schedule."""

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from unisono.core import files, places
from unisono.core.errors import UnisonoError


@dataclass(frozen=True)
class Parameter:
    name: str
    default: int
    least: int
    most: int
    is_size: bool
    meaning: str
    names: tuple[str, ...] = ()  # of the values from least to most, if they have any

    def value_text(self, value: int) -> str:
        if self.names:
            return self.names[value - self.least]
        return format_size(value) if self.is_size else str(value)

    @property
    def limits(self) -> str:
        if self.names:
            return ", ".join(self.names)
        return f"{self.value_text(self.least)} to {self.value_text(self.most)}"


@dataclass(frozen=True)
class Algorithm:
    name: str
    collectives: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    composed: bool  # of others: see docs/reference/grids.md
    in_grids: bool  # may be one of those others
    transports: tuple[str, ...]  # of its messages, the default first; empty: it sends none
    predicts: bool  # takes late=5.7: see docs/guide/forcing-algorithms.md
    restrictions: tuple[str, ...]
    needs: str
    order: str  # in which reductions combine: see docs/algorithms.md; empty: nothing is combined
    order_depends_on: tuple[str, ...]  # besides the number of ranks
    cost: str
    source: str

    @property
    def order_text(self) -> str:
        return self.order + ("; by " + ", ".join(self.order_depends_on) if self.order_depends_on else "")


@dataclass(frozen=True)
class GridForm:
    """What a grid of this form is made of."""

    collective: str
    form: str
    rows: tuple[str, ...]  # collectives along the last dimension: one, or a first and a second
    columns: str  # along the other dimensions
    full_grid: bool  # only rows of equal length
    commutative: bool  # its sums are not in rank order


@dataclass(frozen=True)
class Side:
    """Who has a buffer, and how it is described: nothing, block, blocks, counts or types."""

    who: str
    shape: str


@dataclass(frozen=True)
class Collective:
    """A row of src/schedule/semantics.h, which says what the words mean."""

    name: str
    rooted: bool
    send: Side
    receive: Side
    one_buffer: bool
    combines: str
    in_place: str
    measure: str
    knows_bytes: str
    regular: str  # the form with equal blocks
    peers: str
    synchronises: bool

    @property
    def reduces(self) -> bool:
        return self.combines != "nobody"

    @property
    def bytes_known(self) -> bool:
        """By all ranks: a profile can choose by them."""
        return self.knows_bytes == "all"

    @property
    def counts_all_blocks(self) -> bool:
        """Its size is that of the vector that it cuts, one block for each rank."""
        return self.measure == "blocks"

    @property
    def from_root(self) -> bool:
        return self.rooted and self.receive.who == "all"


@dataclass(frozen=True)
class Catalogue:
    algorithms: tuple[Algorithm, ...]
    grid_dimensions: tuple[str, ...]  # names, that of adjacent ranks first
    grid_forms: tuple[GridForm, ...]
    collectives: tuple[Collective, ...] = ()


@dataclass(frozen=True)
class Variable:
    name: str
    default: str
    meaning: str


NATIVE = "native"  # the MPI library's own, beside the algorithms of every collective


def format_size(value: int) -> str:
    """The shortest exact form, as src/base/size.cpp writes it."""
    for suffix in ("", "K", "M", "G", "T"):
        if value == 0 or value % 1024 or suffix == "T":
            return f"{value}{suffix}"
        value //= 1024
    raise AssertionError


def ask(*arguments: str) -> str:
    tool = places.program("unisono-schedule")
    done = subprocess.run([tool, *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise UnisonoError(done.stderr.strip().removeprefix("unisono-schedule: "))
    return done.stdout


@cache
def load() -> Catalogue:
    """All that `unisono-schedule list --json` tells."""
    return msgspec.convert(files.decoded(ask("list", "--json")), Catalogue)


def algorithms() -> list[Algorithm]:
    return list(load().algorithms)


@cache
def all_collectives() -> dict[str, Collective]:
    return {row.name: row for row in load().collectives}


def collective(name: str) -> Collective:
    return all_collectives()[name]


@cache
def collectives() -> list[str]:
    """Those among all ranks, which need no topology; in the order of MPI's enumeration here."""
    return [name for name, row in all_collectives().items() if row.peers == "all"]


# In MPI's names of functions, and in our own of variables and log lines, what is not the collective's.
BEFORE = re.compile(r"^(?:p?mpi_|unisono_|nonblocking |persistent )", re.IGNORECASE)
AFTER = re.compile(r"(?:_init|_c|_f08|_)$", re.IGNORECASE)


def letters(text: str) -> str:
    """Separators and capitals do not count."""
    return re.sub(r"[_ -]", "", text).lower()


def collective_named(text: str) -> str:
    """The collective as this table names it, of any name that the standard or our outputs have for it:
    MPI_Iallreduce, PMPI_Allreduce_init_c, mpi_allreduce_, Allreduce, UNISONO_ALLREDUCE. The text itself
    where it
    is none of these: who asks says which are valid."""
    rest, former = BEFORE.sub("", text.strip()), ""
    known = {letters(name): name for name in all_collectives()}
    while rest != former:
        for candidate in (letters(rest), letters(rest).removeprefix("i")):
            if candidate in known:
                return known[candidate]
        rest, former = AFTER.sub("", rest), rest
    return text


def forced_sets() -> list[dict[str, str]]:
    """Environments that together force every algorithm of every collective."""
    names = {of: [row.name for row in algorithms() if of in row.collectives] for of in collectives()}
    most = max(map(len, names.values()))
    return [{f"UNISONO_{of.upper()}": n[i % len(n)] for of, n in names.items()} for i in range(most)]


def refuse_neighbours(name: str) -> None:
    """What they take depends on a topology: nothing is compared, tuned or remembered of them."""
    name = collective_named(name)
    if name in all_collectives() and name not in collectives():
        raise UnisonoError(
            f"{name}: depends on who is whose neighbour; unisono-bench --neighbours measures it"
        )


def variables() -> list[Variable]:
    return msgspec.convert(files.decoded(ask("variables", "--json")), list[Variable])


def complete_spec(collective: str, spec: str) -> str:
    """The spec with all its parameters; the error names what is valid."""
    return ask("spec", "--collective", collective, "--algorithm", spec).strip()


def schedule(arguments: list[str]) -> dict[str, Any]:
    loaded: dict[str, Any] = files.decoded(ask("show", *arguments, "--format", "json"))
    return loaded
