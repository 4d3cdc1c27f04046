"""What a call site's figures say, in one sentence."""

from unisono.core import catalogue
from unisono.core.shown import line
from unisono.trace.reader import ranks_text
from unisono.trace.summary import Late, Site, collective_name

LONGEST_NAME = 60
LONGEST_TITLE = 200
ALIKE = 0.05  # a smaller share of waiting is not worth a word


def time_text(seconds: float | None) -> str:
    """Three digits: 1.23 ms."""
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= scale or unit == "us":
            value = seconds / scale
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    raise AssertionError


def factor_text(factor: float | None) -> str:
    """As the paper writes them: 0.20, 24.0, 1.2K."""
    if factor is None:
        return "-"
    if factor >= 1000:
        return f"{factor / 1000:.1f}K" if factor < 10000 else f"{factor / 1000:.0f}K"
    return f"{factor:.0f}" if factor >= 100 else f"{factor:.1f}" if factor >= 10 else f"{factor:.2f}"


def percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def bytes_text(least: float, most: float) -> str:
    return f"{least:.0f}" if round(least) == round(most) else f"{least:.0f}-{most:.0f}"


def function_text(name: str) -> str:
    """A C++ function without its parameters, and not longer than a line can bear."""
    name = name.replace("(anonymous namespace)::", "").removesuffix(" const")
    depth = 0
    for at in range(len(name) - 1, 0, -1) if name.endswith(")") else ():
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            name = name[:at]
            break
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def title(site: Site) -> str:
    place = site.place
    function = f" ({function_text(place.function)})" if place.function and not place.line else ""
    return line(
        f"{collective_name(site.collective)} at {place.text}{function}{inside_text(site)}", LONGEST_TITLE
    )


def inside_text(site: Site) -> str:
    return f", in {site.place.inside}" if site.place.inside else ""


def late_text(late: list[Late]) -> str:
    return ranks_text([each.rank for each in late]) if late else "a different rank each time"


def whom(site: Site) -> str:
    row = catalogue.collective(site.collective)
    if row.from_root:
        return "the root"
    if row.combines in {"ranks_up_to", "ranks_before"}:
        return "ranks before one's own"
    return late_text(site.late)


def shares(site: Site) -> tuple[float, float, float]:
    """Of the time in the site's calls: waiting, inefficiency, transfer."""
    own = site.statistic
    if own.elapsed <= 0:
        return 0.0, 0.0, 0.0
    return own.waiting / own.elapsed, own.inefficiency / own.elapsed, own.transfer / own.elapsed


def verdict(site: Site) -> str:
    own = site.statistic
    waiting, inefficiency, _ = shares(site)
    win = f"another algorithm can win back at most {percent(inefficiency)}"
    if own.below_clock_error:
        start = (
            f"its ranks arrive within {time_text(own.worst_time)}, less than the clocks can tell "
            f"({time_text(own.clock_error)})"
        )
    elif waiting < ALIKE:
        start = (
            f"its ranks arrive within {time_text(own.worst_time)}, {percent(waiting)} of its time is waiting"
        )
    else:
        start = f"{percent(waiting)} of its time is waiting for {whom(site)}"
    more = f"; it changes, in {len(site.phases)} phases" if len(site.phases) > 1 else ""
    return f"{title(site)}: {start}; {win}{more}"
