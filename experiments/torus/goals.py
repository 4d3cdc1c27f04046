"""What was asked of the trees on tori, and whether the results in docs/results/torus bear it out.

    python -m experiments.torus.goals [--folder docs/results/torus]

Only what has been simulated counts; what has not is said to be undecided.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from unisono.core.files import read_json
from unisono.sim import smpi

from experiments import harness
from experiments.harness import Check
from experiments.markdown import table
from experiments.testbeds import Json
from experiments.torus import full, groups, holes, measuring, peers, subsets
from experiments.torus.measuring import MIB, RESULTS, Store

NAMES = ("full", "peers", "holes", "groups", "subsets", "unasked")
LARGE, SMALL = 16 * MIB, MIB

Errors = dict[str, tuple[float, float]]


def least(
    claim: str,
    shares: Sequence[tuple[str, float | None]],
    goal: float,
    text: Callable[[float], str],
    error: tuple[float, float] = (1.0, 1.0),
) -> Check:
    """The worst of them decides; one that is missing leaves it undecided, unless another one fails. So does
    what SMPI, which takes between these parts more, may see otherwise."""
    known = [(name, share) for name, share in shares if share is not None]
    if not known:
        return Check(claim, None, "not simulated")
    name, worst = min(known, key=lambda pair: pair[1])
    missing = [name for name, share in shares if share is None]
    low, high = (worst * factor for factor in error)
    holds = False if high < goal else None if missing or low < goal else True
    below = sum(share < goal for _, share in known)
    numbers = f"least: {text(worst)} ({name}); {len(known) - below} of {len(shares)}"
    if low < goal <= high:
        numbers += "; within the simulators' difference"
    return Check(claim, holds, numbers)


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def of_full(store: Store, errors: Errors) -> list[Check]:
    made = []
    for size, goals in (
        (LARGE, {"bcast": 0.9, "reduce": 0.9, "allreduce": 0.85}),
        (SMALL, dict.fromkeys(("bcast", "reduce", "allreduce"), 0.6)),
    ):
        for collective, speed in full.KINDS:
            shares: list[tuple[str, float | None]] = []
            goal, plain = goals[collective], []
            for shape in full.SHAPES:
                cells = list(full.asked(shape, collective, speed, size))
                found = measuring.best(store, cells)
                # One that was not simulated may be better.
                open_yet = found is None or (found[1] < goal and not all(map(store.get, cells)))
                shares.append((shape, None if open_yet or found is None else found[1]))
                plain.append(store.share(full.standard(shape, collective, speed, size)))
            where = f"{collective}, {measuring.size_text(size)}" + (", hosts of 3.4 Gf" if speed else "")
            check = least(
                f"full tori, {where}: {percent(goal)} of max-flow", shares, goal, percent, errors[collective]
            )
            # The best segment is often one so short that real messages would cost too much.
            known = [share for share in plain if share is not None]
            if known:
                enough = f"{sum(share >= goal for share in known)} of {len(plain)}"
                check = replace(check, numbers=f"{check.numbers}; 4K: {percent(min(known))}, {enough}")
            made.append(check)
    return made


def of_peers(store: Store, ours: Store) -> list[Check]:
    ratios: list[tuple[str, float | None]] = []
    for shape in peers.SHAPES:
        for collective in peers.COLLECTIVES:
            found = [store.rows.get(peers.Peer(shape, collective, LARGE, s).name, {}) for s in smpi.SELECTORS]
            times = [one["seconds"] for one in found if one.get("seconds")]
            own = peers.flows(ours, shape, collective, LARGE)
            complete = len(times) + sum("left_out" in one for one in found) == len(found)
            ratios.append((f"{shape} {collective}", min(times) / own if times and own and complete else None))
    return [least("6 times SMPI's best selector, 16 MiB", ratios, 6, lambda ratio: f"{ratio:.1f}")]


def of_holes(store: Store, errors: Errors) -> list[Check]:
    made = []
    for routing in subsets.ROUTINGS:
        for collective in ("bcast", "reduce", "allreduce"):
            name = collective + ("" if collective == "bcast" else ", hosts of 3.4 Gf")
            shares = [
                (f"{cell.platform.partition(':')[2].partition(',')[0]}, {cell.ranks}", store.share(cell))
                for what, cell in holes.small()
                if what == "1 host" and cell.collective == collective and routing_of(cell.platform) == routing
            ]
            claim = f"one host missing, {name}, {routing}: 80 % of max-flow"
            made.append(least(claim, shares, 0.8, percent, errors[collective]))
    return made


def routing_of(platform: str) -> str:
    return platform.partition("routing=")[2].partition(",")[0] or "minimal"


def of_groups(store: Store) -> list[Check]:
    found = [row for cut in groups.CUTS if (row := store.rows.get(f"{cut} box broadcast"))]
    if not found:
        return []
    most = max(row["groups"] for row in found)
    return [Check("groups that are boxes share no link", most == 1, f"{most} on the busiest link")]


def of_subsets(store: Store) -> list[Check]:
    made = []
    for members, words in subsets.MEMBERS.items():
        rows = [row for seed in range(subsets.SEEDS) if (row := store.rows.get(f"{members} {seed}"))]
        if not rows:
            continue
        for routing in subsets.ROUTINGS:
            links = [row[routing][0] / row[routing][1] for row in rows]
            most = max(row[routing][1] for row in rows)
            ok = min(links) >= 1 and most <= 2
            holds = ok if len(rows) == subsets.SEEDS or not ok else None
            numbers = f"{min(links):g} links at least in {len(rows)}, {most} messages on a link"
            made.append(
                Check(
                    f"random subsets, {words}, {routing}: a link's bandwidth, 2 messages on a link",
                    holds,
                    numbers,
                )
            )
            share = sum(link >= 2 for link in links) / len(links)
            made.append(
                Check(
                    f"random subsets, {words}, {routing}: two links",
                    share == 1 or None,
                    f"in {percent(share)}",
                )
            )
    return made


def of_cost(body: Json) -> list[Check]:
    made = []
    for torus, milliseconds, megabytes in (("16x16x16", 10, 1.0), ("32x32x64", 100, None)):
        rows = [row for row in body["rows"] if row["torus"] == torus and row["kind"] == "auto"]
        slow = max(rows, key=lambda row: row["milliseconds"])
        text = f"{slow['milliseconds']:.0f} ms at most ({slow['members']}, {slow['for']}, {slow['routing']})"
        made.append(
            Check(f"trees on {torus}: below {milliseconds} ms", slow["milliseconds"] < milliseconds, text)
        )
        if megabytes:
            large = max(rows, key=lambda row: row["most_bytes"])
            where = f"{large['members']}, {large['for']}, {large['routing']}"
            text = f"{large['most_bytes'] / 1e6:.2f} MB at most ({where})"
            made.append(
                Check(
                    f"trees on {torus}: below {megabytes:g} MB", large["most_bytes"] < 1e6 * megabytes, text
                )
            )
    return made


def checks(folder: Path) -> list[Check]:
    stores = {name: Store(folder / f"{name}.json.zst", f"torus-{name}", time.monotonic()) for name in NAMES}
    errors = peers.errors(stores["peers"], stores["full"])
    made = [*of_full(stores["full"], errors), *of_peers(stores["peers"], stores["full"])]
    made += [*of_holes(stores["holes"], errors), *of_groups(stores["groups"]), *of_subsets(stores["subsets"])]
    cost = folder / "cost.json.zst"
    return made + (of_cost(read_json(cost)) if cost.exists() else [])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=RESULTS, help="of the results")
    given = parser.parse_args(arguments)
    rows = [(check.claim, check.word, check.numbers) for check in checks(given.folder)]
    print("\n".join(table(("goal", "here", "numbers"), rows, range(3))))
    return 0


if __name__ == "__main__":
    harness.run(main)
