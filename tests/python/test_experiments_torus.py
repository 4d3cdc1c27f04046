"""Tori: simulated numbers to the last digit, what the pages say of them, claims that can fail."""

import json
import math
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from unisono.core import places
from unisono.core.files import read_json

from experiments.torus import cost, full, goals, groups, holes, measuring, peers, subsets, unasked
from experiments.torus.measuring import MIB, RESULTS, Cell, Store

MOST_MESSAGES = 30_000  # of a call that is simulated anew: some tenths of a second
EACH = 12  # calls of a file


def store(name: str, folder: Path = RESULTS) -> Store:
    return Store(folder / f"{name}.json.zst", f"torus-{name}", time.monotonic())


def spread(name: str) -> list[Cell]:
    """Some of the short ones, of all platforms and algorithms that the file has."""
    known = store(name)
    short = [cell for cell, found in known.cells.items() if found.get("messages", math.inf) <= MOST_MESSAGES]
    return short[:: max(1, math.ceil(len(short) / EACH))]


@pytest.mark.parametrize("name", ["full", "holes", "subsets"])
def test_every_digit_comes_again(name: str) -> None:
    cells, known = spread(name), store(name)
    assert len(cells) >= EACH // 2
    with ThreadPoolExecutor(2) as pool:
        for cell, found in zip(cells, pool.map(measuring.simulate, cells), strict=True):
            assert found == known.cells[cell], f"{cell.command}; if that is meant: docs/results/torus.md"


@pytest.mark.parametrize("members", subsets.MEMBERS)
def test_trees_on_random_subsets_are_as_many_as_counted(members: int) -> None:
    for seed in (0, 1):
        assert (
            json.loads(json.dumps(subsets.counted(members, seed)))
            == store("subsets").rows[f"{members} {seed}"]
        )


def test_groups_are_as_counted() -> None:
    cut = groups.CUTS[-1]
    assert groups.counted(cut, "box", "broadcast") == store("groups").rows[f"{cut} box broadcast"]
    assert sum(len(hosts) for hosts in groups.boxes(cut)) == 1024
    assert measuring.hosts_of(measuring.PAPER, groups.first_box(cut)) == tuple(groups.boxes(cut)[0])


def test_limits_of_a_box() -> None:
    whole, half = (1, 1, 1), (1, 1, 2)
    assert groups.bcast_limit(whole) == 6 and groups.bcast_limit(half) == 5
    assert groups.allreduce_limit(whole) == pytest.approx(1024 * 6 / (2 * 1023))


def test_planes_are_of_the_dimensions_asked_for() -> None:
    found = holes.planes("torus:4x4x4", "xz", 0)
    assert {term[0] for term in found.removeprefix("without:").split(",")} == {"x", "z"}
    assert found == holes.planes("torus:4x4x4", "xz", 0) != holes.planes("torus:4x4x4", "xyz", 0)
    assert 0 < len(measuring.hosts_of("torus:4x4x4", found)) < 64


def test_a_store_asks_nothing_twice_and_stops_in_time(tmp_path: Path) -> None:
    file, cell = tmp_path / "some.json", Cell("torus:4x4", "bcast", "torus:segment=4K", 65536)
    made = Store(file, "some", time.monotonic() + 60)
    made.ask([cell])
    share = made.share(cell)
    assert share is not None and 0 < share < 1
    again = Store(file, "some", time.monotonic() - 1)
    again.ask([cell, Cell("torus:4x4", "bcast", "binomial", 65536)])
    assert list(again.cells) == [cell] and again.share(cell) == share


# --- goals: what holds must be able not to ------------------------------------------------------------


def answers(folder: Path) -> dict[str, bool | None]:
    return {check.claim: check.holds for check in goals.checks(folder)}


def made_up(folder: Path, seconds: float) -> None:
    """All calls of full tori and of holes take so many times their limit; peers a hundred limits."""
    result: dict[str, Any] = {"seconds": seconds, "limit": 1.0, "routing_limit": None, "messages": 1}
    cells = [
        *full.own(False),
        *(Cell(f"torus:{s}", c, peers.OWN, 16 * MIB) for s in peers.SHAPES for c in peers.COLLECTIVES),
    ]
    one = store("full", folder)
    one.cells = dict.fromkeys(cells, result)
    one.save()
    two = store("holes", folder)
    two.cells = dict.fromkeys([cell for _, cell in holes.small()], result)
    two.save()
    three = store("peers", folder)
    three.rows = {peer.name: {"seconds": 7.0} for peer in peers.selectors()}
    three.save()


def test_goals_hold_for_fast_and_fail_for_slow_calls(tmp_path: Path) -> None:
    for folder, seconds, holds in ((tmp_path / "fast", 1.05, True), (tmp_path / "slow", 2.0, False)):
        folder.mkdir()
        made_up(folder, seconds)
        found = answers(folder)
        assert len(found) == 20
        assert set(found.values()) == {holds}, found


def test_what_was_not_simulated_is_undecided(tmp_path: Path) -> None:
    assert set(answers(tmp_path).values()) == {None}


def test_a_link_of_two_groups_is_a_failure(tmp_path: Path) -> None:
    some = store("groups", tmp_path)
    some.rows = {f"{groups.CUTS[0]} box broadcast": {"hosts": 512, "trees": 5, "messages": 2, "groups": 2}}
    some.save()
    assert answers(tmp_path)["groups that are boxes share no link"] is False


def test_unasked_is_compared_with_the_best_peer(tmp_path: Path) -> None:
    some = store("unasked", tmp_path)
    early = [9.0] * (unasked.CALLS - unasked.LAST)
    calls = {"ompi": 4e-3, "mpich": 2e-3, unasked.OWN: 1e-3}
    one = {
        who: {"seconds": 3 * last, "calls": [*early, *[last] * unasked.LAST]} for who, last in calls.items()
    }
    some.rows = {"4x4 bcast 1048576": one, "4x4 reduce 1048576": {"left_out": "no time"}}
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in unasked.tables(some)[2:] if row]
    assert rows[1] == ["4x4", "bcast", "1 MiB", "4000", "2000", "", "", "1000", "2.0", "2.0"]
    # What failed, or was not run, has a row without numbers.
    assert len(rows) == len(list(unasked.cells()))
    assert rows[3] == ["4x4", "reduce", "1 MiB", *[""] * 7]


def test_trees_cost_what_the_page_says() -> None:
    body = read_json(RESULTS / "cost.json.zst")
    program = [str(places.program("unisono-torus-benchmark")), "1", "4096"]
    told = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    now = [json.loads(line) for line in told.splitlines()]
    before = [row for row in body["rows"] if row["torus"] == "16x16x16"]
    names = ("members", "kind", "for", "routing", "trees")
    assert [[row[n] for n in names] for row in now] == [[row[n] for n in names] for row in before]
    # Bytes are those of this C library's blocks; times are no test's business.
    for old, new in zip(before, now, strict=True):
        assert new["most_bytes"] == pytest.approx(old["most_bytes"], rel=0.1)
        assert new["most_bytes"] < cost.LIMITS[4096][1]
    assert len(cost.tables(body)) > len(before)
