"""Whether a program computes under Unisono what it computes natively."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from experiments.programs.program import Quantity, Ran


class Kind(IntEnum):
    """From best to worst; the worst quantity of a program decides."""

    BITWISE = 0
    SPREAD = 1
    ORDER = 2
    BEYOND = 3
    NEAR = 4
    IDLE = 5
    DIFFERENT = 6
    FAILS = 7
    MISSING = 8

    @property
    def words(self) -> str:
        return WORDS[self]


WORDS: dict["Kind", str] = {
    Kind.BITWISE: "bitwise as natively",
    Kind.SPREAD: "within what differs natively",
    Kind.ORDER: "as near as natively with other orders of sums",
    Kind.BEYOND: "undecided: beyond what differs natively",
    Kind.NEAR: "near, though natively always equal",
    Kind.IDLE: "few calls by Unisono",
    Kind.DIFFERENT: "**different**",
    Kind.FAILS: "fails natively",
    Kind.MISSING: "not run",
}
# Equal results show nothing where Unisono ran less than this share of the collectives, or fewer.
FEW, FEWEST = 0.1, 5
# As near as with other orders of sums is what is up to so many times as far as the furthest of those native
# runs, which have a handful of all orders.
AS_FAR = 2.0
SAME = (Kind.BITWISE, Kind.SPREAD)


@dataclass(frozen=True)
class Verdict:
    """`apart`: the largest relative difference from the nearest native value; 0 where numbers count as zero.
    `by_order`: the same of native runs with other orders of sums. `varies`: runs under Unisono differ among
    themselves where native ones agree."""

    kind: Kind
    why: str = ""
    apart: float = 0.0
    varies: bool = False
    by_order: float = 0.0


def worst_of(judged: Sequence[Verdict]) -> Verdict:
    worst = max(judged, key=lambda verdict: (verdict.kind, verdict.apart))
    return replace(worst, varies=any(verdict.varies for verdict in judged))


def number(text: str) -> float | None:
    try:
        return float(text.replace("D", "E").replace("d", "e"))
    except ValueError:
        return None


def distance(value: float, low: float, high: float, zero: float) -> float:
    """From what lies between low and high, relative to the larger of these; 0 within."""
    if not math.isfinite(value):
        return math.inf
    outside = max(low - value, value - high, 0.0)
    native = max(abs(low), abs(high))
    if outside == 0 or max(native, abs(value)) <= zero:
        return 0.0
    return outside / native if native > 0 else math.inf


def of_place(of: Quantity, native: Sequence[str], ours: Sequence[str]) -> Verdict:
    """One place of a quantity, in all runs."""
    if set(ours) <= set(native):
        return Verdict(Kind.BITWISE if len(set(native)) == 1 else Kind.SPREAD)
    numbers, own = [number(text) for text in native], [number(text) for text in ours]
    known = [value for value in numbers if value is not None and math.isfinite(value)]
    if len(known) < len(numbers) and len(set(native)) > 1:
        return Verdict(Kind.FAILS, f"{of.name} differs natively, and is no number")
    if len(known) < len(numbers) or None in own:
        differing = next(text for text in ours if text not in native)
        return Verdict(Kind.DIFFERENT, f"{of.name}: {differing}, natively {native[0]}", math.inf)
    apart = max(distance(value, min(known), max(known), of.zero) for value in own if value is not None)
    if apart > of.tolerance:
        differing = next(text for text in ours if text not in native)
        return Verdict(Kind.DIFFERENT, f"{of.name}: {differing}, natively {native[0]}", apart)
    if len(set(native)) > 1:
        # A tolerance widens nothing: few runs do not show how far the native ones spread.
        return Verdict(Kind.BEYOND, of.name, apart) if apart > 0 else Verdict(Kind.SPREAD, of.name)
    return Verdict(Kind.NEAR, of.name, apart, len(set(ours)) > 1)


def of_quantity(of: Quantity, native: Sequence[Ran], ours: Sequence[Ran]) -> Verdict:
    values = [[run.values[of.name][: of.first] for run in arm] for arm in (native, ours)]
    lengths = [{len(row) for row in rows} for rows in values]
    if not lengths[1] <= lengths[0]:
        return Verdict(
            Kind.DIFFERENT, f"{of.name}: {max(lengths[1])} values, natively {max(lengths[0])}", math.inf
        )
    if lengths[0] == {0}:
        return Verdict(Kind.FAILS, f"prints no {of.name}")
    places = min(lengths[0])
    if places == 0:
        return Verdict(Kind.FAILS, f"prints {of.name} in some runs only")
    judged = [
        of_place(of, [row[i] for row in values[0]], [row[i] for row in values[1]]) for i in range(places)
    ]
    worst = worst_of(judged)
    if len(lengths[0]) > 1 and worst.kind < Kind.SPREAD:
        return Verdict(Kind.SPREAD)
    return worst


def has_few_calls(ours: Sequence[Ran]) -> bool:
    """In some run."""
    return any(run.own < max(FEWEST, FEW * (run.own + run.left)) for run in ours)


def beside_orders(of: Quantity, near: Verdict, native: Sequence[Ran], orders: Sequence[Ran]) -> Verdict:
    """A verdict on a quantity, where native runs with other orders of sums are known."""
    if near.kind != Kind.NEAR or near.varies or not orders:
        return near
    aparts = [of_quantity(of, native, [run]).apart for run in orders]
    by_order = max(filter(math.isfinite, aparts), default=0.0)
    if by_order == 0 or near.apart > AS_FAR * by_order:
        return replace(near, by_order=by_order)
    return replace(near, kind=Kind.ORDER, by_order=by_order)


def judge(
    quantities: Sequence[Quantity], native: Sequence[Ran], ours: Sequence[Ran], orders: Sequence[Ran] = ()
) -> Verdict:
    """Of at least one run natively and one under Unisono. `orders`: native ones with other orders of sums."""
    failed, ours_failed = ([run.problem for run in runs if run.problem] for runs in (native, ours))
    # What fails natively now and then may fail under Unisono, and no more often.
    if ours_failed and len(ours_failed) * len(native) > len(failed) * len(ours):
        why = f"{len(ours_failed)} of {len(ours)} runs: {ours_failed[0]}"
        return Verdict(
            Kind.DIFFERENT, why + f"; natively {len(failed)} of {len(native)}" * bool(failed), math.inf
        )
    if failed:
        beside = f"; under Unisono {len(ours_failed)} of {len(ours)}" * bool(ours_failed)
        return Verdict(Kind.FAILS, f"{len(failed)} of {len(native)} runs{beside}: {failed[0]}")
    ended = [run for run in orders if not run.problem]
    worst = worst_of([beside_orders(of, of_quantity(of, native, ours), native, ended) for of in quantities])
    # A result that is not the native one is told, whoever ran the calls.
    if worst.kind in SAME and has_few_calls(ours):
        return Verdict(Kind.IDLE, "nearly all collectives were passed on")
    return worst
