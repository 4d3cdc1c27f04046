"""The tables of docs/results, made anew from the raw results beside the pages.

    python -m experiments.pages [PAGE...] [--check]

A table stands between <!-- table: NAME --> and <!-- end -->; the text around is written by hand. One that
cannot be made has <!-- by hand: WHY --> before it, and is counted at the end.
"""

import argparse
import difflib
import itertools
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.core.errors import UnisonoError
from unisono.core.files import write_text

from experiments import harness
from experiments.advice import page as advice_page
from experiments.pictures import PICTURES
from experiments.tables import (
    arrival,
    compiled,
    harmless,
    node,
    orthogonal,
    pipelines,
    refit,
    simulator,
    surface,
    torus,
    unasked,
    waiting,
)
from experiments.whatif import page as whatif_page
from scripts import defaults

RESULTS = harness.ROOT / "docs" / "results"
PLACE = re.compile(r"^( *)<!-- table: (.+?) -->\n.*?<!-- end -->$", re.S | re.M)
BY_HAND = re.compile(r"<!-- by hand: (.+) -->")
TABLE = re.compile(r"^ *\|[ :|-]+\|$", re.M)  # the line below a table's head
SHOWN = 20  # lines of a difference

Maker = Callable[[], Sequence[str]]
PAGES: dict[str, Mapping[str, Maker]] = {
    "arrival.md": arrival.TABLES,
    "compiled.md": compiled.TABLES,
    "foundation.md": {},
    "guidelines.md": node.GUIDELINES,
    "harmless.md": harmless.HARMLESS,
    "installing.md": {},
    "lab.md": refit.LAB,
    "node.md": node.NODE,
    "node/judged.md": node.JUDGED,
    "node/slots.md": {},
    "orthogonal.md": orthogonal.TABLES,
    "pipelines.md": pipelines.TABLES,
    "pipelines/simulator.md": pipelines.SIMULATOR,
    "quality.md": {},
    "refit.md": refit.REFIT,
    "simulator.md": simulator.TABLES,
    "surface.md": surface.TABLES,
    "tuned.md": node.TUNED,
    "torus.md": torus.TABLES,
    "unasked.md": unasked.TABLES,
    "unasked/gym.md": {},
    "unasked/lengths.md": unasked.LENGTHS,
    "unasked/node.md": unasked.NODE,
    "unasked/start.md": unasked.START,
    "waiting.md": waiting.TABLES,
}


# Written as a whole.
WHOLE: dict[str, Callable[[], str]] = {
    "advice.md": advice_page.written,
    "defaults.md": defaults.page,
    "whatif.md": whatif_page.written,
    **PICTURES,
}


@dataclass(frozen=True)
class Page:
    name: str
    made: int  # tables
    by_hand: list[tuple[int, str]]  # line, and why
    text: str


def filled(name: str, text: str, known: Mapping[str, Maker]) -> str:
    used: set[str] = set()

    def fill(place: re.Match[str]) -> str:
        indentation, table = place.groups()
        if table not in known:
            raise UnisonoError(f"{name}: there is no table {table}; there are {', '.join(known)}")
        used.add(table)
        lines = re.sub(r"\n{3,}", "\n\n", "\n".join(known[table]())).strip()
        return textwrap.indent(f"<!-- table: {table} -->\n{lines}\n<!-- end -->", indentation)

    made = PLACE.sub(fill, text)
    if missing := [table for table in known if table not in used]:
        raise UnisonoError(f"{name}: has no place for {', '.join(missing)}: <!-- table: {missing[0]} -->")
    return made


def by_hand(name: str, text: str) -> list[tuple[int, str]]:
    """Where tables stand that nothing makes; each says why."""
    lines = PLACE.sub(lambda place: "\n" * place[0].count("\n"), text).splitlines()
    found = []
    for number, (before, line) in enumerate(itertools.pairwise(["", *map(str.strip, lines)]), 1):
        if not line.startswith("|") or before.startswith("|"):
            continue
        reason = BY_HAND.fullmatch(before)
        if not reason:
            raise UnisonoError(
                f"{name}:{number}: a table that nothing makes: put it into <!-- table: NAME -->, or say why "
                "before it, <!-- by hand: WHY -->"
            )
        found.append((number, reason[1]))
    return found


def present(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def make(name: str, folder: Path = RESULTS) -> Page:
    if name in WHOLE:
        whole = WHOLE[name]()
        return Page(name, len(TABLE.findall(whole)), [], whole)
    made = filled(name, (folder / name).read_text(), PAGES[name])
    left = by_hand(name, made)
    return Page(name, len(TABLE.findall(made)) - len(left), left, made)


def pages_of(names: Sequence[str]) -> list[str]:
    """As a user writes them: docs/results/node.md, node.md or node."""
    known = [*PAGES, *WHOLE]
    plain = [name.removeprefix("docs/results/") for name in names]
    wanted = [name if name in known else name.removesuffix(".md") + ".md" for name in plain]
    for name in wanted:
        if name not in known:
            raise UnisonoError(f"{name}: no page with tables; there are {', '.join(known)}")
    return wanted or known


def tally(pages: Sequence[Page]) -> list[str]:
    """How many tables were made, and which could not be."""
    left = [f"  {page.name}:{line}: {reason}" for page in pages for line, reason in page.by_hand]
    made = sum(page.made for page in pages)
    return [f"tables made from raw results: {made}; by hand: {len(left)}", *left]


def main(arguments: Sequence[str] | None = None, folder: Path = RESULTS) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="only these, as node.md; otherwise all")
    parser.add_argument("--check", action="store_true", help="write nothing: 1 where something would change")
    given = parser.parse_args(arguments)
    pages = [make(name, folder) for name in pages_of(given.pages)]
    stale = [page for page in pages if page.text != present(folder / page.name)]
    for page in stale:
        if not given.check:
            write_text(page.text, folder / page.name)
            print(f"wrote {page.name}")
            continue
        print(f"{page.name} is not what the raw results give: python -m experiments.pages {page.name}")
        before, now = present(folder / page.name).splitlines(), page.text.splitlines()
        print("\n".join(list(difflib.unified_diff(before, now, lineterm="", n=0))[2:SHOWN]))
    print("\n".join(tally(pages)))
    return 1 if given.check and stale else 0


if __name__ == "__main__":
    harness.run(main)
