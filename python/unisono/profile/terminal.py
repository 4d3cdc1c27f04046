"""Profiles in the terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unisono.core import memory
from unisono.core.catalogue import NATIVE, format_size
from unisono.core.console import table
from unisono.core.errors import RunError
from unisono.core.memory import Learned
from unisono.core.words import choice_text, interval, number
from unisono.profile.choice import WORTH, is_safe, ratio_of
from unisono.profile.document import Arm, Cell, Environment, Measured, Profile


def show(profile: Profile, console: Console) -> None:
    console.print(f"Unisono {profile.unisono}, {profile.created}")
    for environment in profile.environments:
        console.print(Text(environment.key.text(), style="bold"), soft_wrap=True)
        console.print(Text(environment.key.library, style="dim"), soft_wrap=True)
        made = table("collective", "choice", "bytes", "measured at", "ratio to native", left=2)
        for cell in environment.cells:
            sizes = " ".join(format_size(measured.bytes) for measured in cell.measured)
            made.add_row(
                cell.collective,
                choice_text(cell.choice),
                f"{cell.least} - {cell.most}",
                sizes,
                ratios(cell),
            )
        console.print(made)


def ratios(cell: Cell) -> str:
    if cell.choice == NATIVE:
        return ""
    arms = [measured.arm(cell.choice) for measured in cell.measured]
    return " ".join(number(ratio_of(arm)) for arm in arms if arm)


Change = tuple[Environment, str, int, str, str]  # collective, bytes, choice before and after


def changes(former: Profile, latter: Profile) -> list[Change]:
    """At every size that one of them was measured at; "-": says nothing about it."""
    found: list[Change] = []
    for new in latter.environments:
        old = next((env for env in former.environments if env.key.like(new.key)), None)
        if old is None:
            continue
        points = {(cell.collective, m.bytes) for env in (old, new) for cell, m in env.points()}
        for collective, size in sorted(points):
            cells = old.cell(collective, size), new.cell(collective, size)
            before, after = (cell.choice if cell else "-" for cell in cells)
            if before != after:
                found.append((new, collective, size, before, after))
    return found


def only_in(one: Profile, other: Profile) -> list[Environment]:
    return [env for env in one.environments if not any(env.key.like(its.key) for its in other.environments)]


def show_changes(former: Profile, latter: Profile, console: Console) -> None:
    for name, one, other in (("first", former, latter), ("second", latter, former)):
        for environment in only_in(one, other):
            console.print(f"only in the {name}: {environment.key.text()}", soft_wrap=True)
    found = changes(former, latter)
    made = table("where", "collective", "size", "before", "after", left=2)
    for environment, collective, size, before, after in found:
        made.add_row(
            environment.key.text(), collective, format_size(size), choice_text(before), choice_text(after)
        )
    if found:
        console.print(made)
    console.print(f"{len(found)} choices differ")


def explain(environment: Environment, cell: Cell, size: int, console: Console) -> None:
    console.print(Text(environment.key.text(), style="bold"), soft_wrap=True)
    console.print(
        Text(f"{cell.collective}, {cell.least} to {cell.most} bytes: ")
        + choice_text(cell.choice).append("", style="bold"),
        soft_wrap=True,
    )
    if not cell.measured:
        console.print("the profile holds no measurements of it")
        return
    measured = min(cell.measured, key=lambda m: abs(m.bytes - size))
    console.print(reason(cell, measured))
    made = table(
        *("candidate", "predicted us", "measured us", "95 %", "ratio", "95 % of ratio", "blocks", "why"),
        left=1,
    )
    made.columns[-1].justify = "left"
    for arm in sorted(measured.arms, key=lambda arm: arm.median_s):
        made.add_row(
            Text(arm.spec, style="bold" if arm.spec == cell.choice else ""),
            number(1e6 * arm.predicted_s) if arm.predicted_s else "",
            number(1e6 * arm.median_s),
            f"{number(1e6 * arm.low_s)} - {number(1e6 * arm.high_s)}",
            number(arm.ratio_to_native.median) if arm.ratio_to_native else "",
            interval(arm.ratio_to_native),
            str(arm.blocks),
            "chosen" if arm.spec == cell.choice else why_not(arm),
        )
    console.print(f"measured at {format_size(measured.bytes)} bytes:")
    console.print(made)


def reason(cell: Cell, measured: Measured) -> str:
    arm = measured.arm(cell.choice)
    if cell.choice == NATIVE:
        return f"no other took less than {WORTH} of native's time"
    if arm is None or arm.ratio_to_native is None:
        return "no measurement of the choice is kept"
    ratio = arm.ratio_to_native
    text = f"{number(ratio.median)} of native's time, {interval(ratio)} with 95 %"
    return f"the best of those surely not slower than native: {text}"


def why_not(arm: Arm) -> str:
    """What is not chosen always has a reason."""
    if arm.spec == NATIVE:
        return "the chosen one is faster"
    if arm.blocks == 0:
        return "hopeless in its first call"
    if arm.ratio_to_native is None:
        return "not measured beside native"
    if not arm.ratio_to_native.is_sure:
        return "left the race early"
    if not is_safe(arm):
        return "slower than native" if arm.ratio_to_native.is_slower else "perhaps slower than native"
    return "no clear gain on native" if ratio_of(arm) >= WORTH else "gains less than the chosen one"


def explain_remembered(
    collective: str, size: int | None, mpi: str | None, ranks: int | None, console: Console
) -> list[Learned]:
    """What earlier jobs have found out; without a size of all."""

    def is_asked_for(one: Learned) -> bool:
        least, most = memory.size_class(one.bytes)
        return (
            one.collective == collective
            and (size is None or least <= size <= most)
            and ranks in {None, one.ranks}
        )

    shown: list[Learned] = []
    for path, document in memory.each():
        found = [one for one in memory.learned(path, document) if is_asked_for(one)]
        try:
            where = document["where"]["mpi"]
            library, flavour = str(where["library"]), str(where["flavour"])
        except (KeyError, TypeError) as error:
            raise memory.broken(path) from error
        if not found or mpi not in {None, flavour}:
            continue
        shown += found
        console.print(Text(library, style="bold"), soft_wrap=True)
        console.print(remembered_table(found))
    if not shown:
        what = collective if size is None else f"{collective} of {size} bytes"
        raise RunError(
            f"{memory.folder()}: nothing is remembered of {what}: the next job that calls it often enough "
            "finds out; unisono platform measure does it now"
        )
    return shown


def remembered_table(found: list[Learned]) -> Table:
    made = table(
        *("choice", "bytes", "ranks", "nodes", "measured us", "native us", "when", "why"),
        left=1,
    )
    made.columns[-1].justify = "left"
    for one in found:
        least, most = memory.size_class(one.bytes)
        made.add_row(
            choice_text(one.choice),
            f"{least} - {most}",
            str(one.ranks),
            str(one.nodes),
            number(1e6 * (one.native if one.choice == NATIVE else one.seconds)),
            number(1e6 * one.native),
            one.age(),
            one.why(),
        )
    return made
