"""Process arrival patterns, Figures 4 and 5, Tables 6 and 7: imbalance though the load is balanced.

  .venv/bin/python -m experiments.arrival.microbenchmark --bed node --ranks 2 --mpi openmpi
  .venv/bin/python -m experiments.arrival.microbenchmark --bed lab --ranks 16 --compute sleep

All ranks compute equally long, then call the collective, again and again. Worst-case imbalance factors
(last less first, by the time of one message) of exits, computations and arrivals, with 95 % confidence
intervals over all calls of --repeats jobs. --compute work computes as the paper does; with more ranks
than cores that measures the scheduler, and --compute sleep what hosts of their own would do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from rich import box
from rich.table import Table
from unisono.core.catalogue import format_size

from experiments import harness, markdown
from experiments.arrival import measuring
from experiments.arrival.measuring import Mean, Outcome, Place
from experiments.harness import Check, above, below, every
from experiments.testbeds import Json

KINDS = ("exit", "computation", "arrival")
# Tables 6 and 7: computation in ms, then the factors of KINDS.
PAPER = {
    "Lemieux": (
        (50, 15.2, 23.4, 32.5),
        (100, 15.2, 46.8, 54.5),
        (200, 15.0, 87.4, 92.7),
        (400, 15.1, 160.0, 164.0),
        (800, 15.0, 320.0, 322.0),
    ),
    "Beowulf": (
        (50, 5.07, 3.16, 7.02),
        (100, 4.32, 7.52, 9.53),
        (200, 3.71, 14.18, 15.17),
        (400, 6.22, 31.41, 33.17),
        (800, 11.62, 56.24, 56.29),
    ),
}


@dataclass(frozen=True)
class Row:
    """At one computation time; worst-case imbalance factors."""

    computation_ms: int
    exit: Mean
    computation: Mean
    arrival: Mean
    calls: tuple[float, ...] = ()  # the arrivals' factors of the first job

    @property
    def means(self) -> tuple[Mean, ...]:
        return self.exit, self.computation, self.arrival

    def cells(self) -> tuple[str, ...]:
        texts = (f"{own.value:.3g}" + (f" ± {own.half:.2g}" if own.half else "") for own in self.means)
        return f"{self.computation_ms} ms", *texts


def row_of(computation_ms: int, message_s: float, outcomes: Sequence[Outcome]) -> Row:
    patterns = [pattern for one in outcomes for pattern in one.at(1)]

    def factors(kind: str) -> list[float]:
        return [seconds / message_s for own in patterns for seconds in getattr(own, f"{kind}_s")]

    exits, computations, arrivals = (measuring.mean(factors(kind)) for kind in KINDS)
    first = tuple(seconds / message_s for seconds in patterns[0].arrival_s)
    return Row(computation_ms, exits, computations, arrivals, first)


def paper_rows(machine: str) -> list[Row]:
    def known(value: float) -> Mean:
        return Mean(value, 0, 5000)

    return [
        Row(ms, known(left), known(computed), known(arrived))
        for ms, left, computed, arrived in PAPER[machine]
    ]


def checks(rows: Sequence[Row]) -> list[Check]:
    """What section 5 concludes from both tables; each by the ends of the intervals."""
    first, last = rows[0].computation, rows[-1].computation
    times = rows[-1].computation_ms / rows[0].computation_ms
    least, most = last.low / max(first.high, 1e-9), last.high / max(first.low, 1e-9)
    growth = last.value / first.value
    return [
        Check(
            "arrivals are imbalanced though the load is balanced",
            every(above(row.arrival.low, row.arrival.high, 1) for row in rows),
            f"factor {min(row.arrival.low for row in rows):.3g} at least",
        ),
        Check(
            "the computation's imbalance grows about as the computation",
            every((above(least, most, times / 2), below(least, most, 2 * times))),
            f"{growth:.2g} ({least:.2g} to {most:.2g}) times as much after {times:.3g} times as long"
            " (paper 14, 18 after 16)",
        ),
        Check(
            "arrivals are more imbalanced than computations",
            every(
                above(row.arrival.low - row.computation.high, row.arrival.high - row.computation.low, 0)
                for row in rows
            ),
            f"{min(row.arrival.value / row.computation.value for row in rows):.3g} times at least"
            " (paper 1.00)",
        ),
    ]


HEAD = ("computation", *KINDS)


def table(title: str, rows: Sequence[Row]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    for column in HEAD:
        made.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        made.add_row(*row.cells())
    return made


def plot(results: dict[str, list[Row]]) -> Figure:
    figure = Figure(figsize=(10, 3.5), layout="constrained")
    tables, series = figure.subplots(1, 2)
    for name, rows in results.items():
        times = [row.computation_ms for row in rows]
        (line,) = tables.plot(times, [r.arrival.value for r in rows], marker="o", markersize=3, label=name)
        tables.plot(times, [r.computation.value for r in rows], "--", color=line.get_color())
        series.plot(rows[len(rows) // 2].calls, linewidth=0.7, color=line.get_color())
    tables.set(
        xscale="log", yscale="log", xlabel="computation (ms)", title="factor: arrival, - - computation"
    )
    series.set(yscale="log", xlabel="call", title="arrival, in the middle row (Figure 5)")
    figure.legend(loc="outside right center", frameon=False)
    return figure


def measured(place: Place, given: "Settings") -> list[Row]:
    message = place.message_seconds(given.bytes)
    rows = []
    for ms in given.computations:
        calls = max(20, round(given.seconds / given.repeats / (ms * 1e-3)))
        arguments = ["--bytes", str(given.bytes), "--computation", str(ms), "--calls", str(calls)]
        arguments += ["--message-us", repr(message * 1e6), *(["--work"] if given.work else [])]
        rows.append(row_of(ms, message, [place.run(arguments, {}, n) for n in range(given.repeats)]))
    return rows


@dataclass(frozen=True)
class Settings:
    bytes: int
    computations: tuple[int, ...]
    seconds: float
    repeats: int
    work: bool


def main(arguments: Sequence[str] | None = None) -> int:
    parser = measuring.parser(__doc__ or "", ranks=2)
    add = parser.add_argument
    add("--bytes", type=int, default=65536, help="a block of MPI_Alltoall (65536)")
    add("--computations", default="50,100,200,400,800", help="ms (50,100,200,400,800)")
    add("--seconds", type=float, default=10, help="for one row (10)")
    add("--repeats", type=int, default=5, help="jobs (5)")
    add("--compute", choices=("work", "sleep"), default="work")
    given = parser.parse_args(arguments)
    times = measuring.numbers_of(given.computations, "--computations")
    settings = Settings(given.bytes, times, given.seconds, given.repeats, given.compute == "work")
    results = {f"paper: {name}": paper_rows(name) for name in PAPER}
    for name, rows in results.items():
        harness.console.print(table(f"{name}, 64K", rows))
    found: dict[str, list[Row]] = {}
    for place in measuring.places_of(given):
        name = f"{place.name}, {format_size(given.bytes)}, {given.compute}"
        found[name] = measured(place, settings)
        harness.console.print(table(name, found[name]))
    harness.save(plot(found), "arrival-microbenchmark")
    verdicts = {name: checks(rows) for name, rows in found.items()}
    harness.report(verdicts)
    sections = [
        "\n".join([f"### {name}", "", *markdown.table(HEAD, [r.cells() for r in rows], ())])
        + "\n".join(["", *markdown.verdicts(verdicts[name])])
        for name, rows in found.items()
    ]
    measuring.write(given, "arrival-microbenchmark", document(found), sections)
    return 0


def document(found: dict[str, list[Row]]) -> Json:
    return {
        name: [
            {"computation_ms": row.computation_ms}
            | {
                kind: {"factor": own.value, "half_interval": own.half, "calls": own.count}
                for kind, own in zip(KINDS, row.means, strict=True)
            }
            for row in rows
        ]
        for name, rows in found.items()
    }


if __name__ == "__main__":
    harness.run(main)
