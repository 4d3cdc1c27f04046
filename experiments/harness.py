"""What the experiments share: jobs on test beds, their raw results kept, checks, plots.

A script here measures what one table or figure of a paper shows, prints it beside the paper's own
numbers, and checks whether what the paper concludes from them holds here. Raw results are kept by
everything that they depend on, so that a second run only evaluates; --fresh measures anew.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console
from rich.text import Text
from unisono.compare.words import BUSY
from unisono.core import machine, places
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json

from experiments import testbeds
from experiments.testbeds import Json, Run, Simulated, Testbed

ROOT = testbeds.ROOT
LIBRARIES = "several by commas: mpich, openmpi, intel, debian-mpich, debian-openmpi"  # of --mpi
STORE = ROOT / ".cache" / "experiments"
PICTURES = ROOT / "build" / "experiments"

console = Console(highlight=False, width=None if Console().is_terminal else 140)


@dataclass(frozen=True)
class Options:
    testbeds: list[Testbed]
    fresh: bool
    seconds: float  # for one point of the figure


def options(description: str, seconds: float, arguments: Sequence[str] | None = None) -> Options:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bed", default="node", help="node, lab, sim:PLATFORM, several by commas (node)")
    parser.add_argument("--mpi", default="mpich,openmpi", help=f"{LIBRARIES} (mpich,openmpi)")
    parser.add_argument("--fresh", action="store_true", help="measure anew what is kept from before")
    parser.add_argument("--seconds", type=float, default=seconds, help=f"for one point ({seconds:g})")
    given = parser.parse_args(arguments)
    mpis = [places.find_mpi(name) for name in given.mpi.split(",")]
    return Options(testbeds.parse(given.bed, mpis), given.fresh, given.seconds)


# --- measuring ------------------------------------------------------------------------------------


def key_of(testbed: Testbed, run: Run) -> Json:
    """Everything that the result depends on, as far as one can know."""
    return {
        "testbed": testbed.describe(),
        "program": run.program.name,
        "ranks": run.ranks,
        "per_host": run.per_host,
        "arguments": list(run.arguments),
        "files": {file.name: fingerprint(file) for file in testbed.files(run.program)},
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith("UNISONO_")},
        "variables": dict(sorted(run.variables.items())),
        "repetition": run.repetition,
    }


def revision() -> str:
    """Of the checkout; with a + where it has changes."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def fingerprint(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.exists() else "none"


def measure(testbed: Testbed, run: Run, silence: float, fresh: bool = False) -> Json:
    """What the program printed: now, or when it ran before with the same key."""
    who = f"{testbed.name}, {run.ranks} ranks: {run.program.name}"
    key = key_of(testbed, run)
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]
    kept = STORE / f"{run.program.name}-{name}.json"
    if kept.exists() and not fresh:
        before = json.loads(kept.read_text())
        when = f"kept from {before['date']}{beside(before['busy_before'])}"
        console.print(f"[dim]{who}: {when}[/dim]", soft_wrap=True)
        result: Json = before["result"]
        return result
    busy = 0.0 if isinstance(testbed, Simulated) else machine.busy_share()
    console.print(f"[dim]{who}: measuring{beside(busy)}[/dim]", soft_wrap=True)
    outcome = testbed.execute(run, silence)
    if not outcome.ok:
        raise UnisonoError(f"{who}: {outcome.problem}")
    result = printed_object(outcome.output, who)
    STORE.mkdir(parents=True, exist_ok=True)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    write_json({"key": key, "date": date, "busy_before": busy, "result": result}, kept)
    return result


def beside(busy: float) -> str:
    return f", while others used {100 * busy:.0f} % of the machine" if busy > BUSY else ""


def printed_object(output: str, who: str) -> Json:
    """The JSON object in the output; MPI libraries may have written lines around it."""
    decoder = json.JSONDecoder()
    for position, character in enumerate(output):
        if character != "{" or (position and output[position - 1] != "\n"):
            continue
        try:
            found: Json = decoder.raw_decode(output, position)[0]
        except ValueError:
            continue
        return found
    raise UnisonoError(f"{who}: printed no JSON object")


# --- saying what came out -------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """A conclusion of the paper, and whether the numbers here bear it out."""

    claim: str
    holds: bool | None  # None: undecided, the interval holds both answers
    numbers: str

    @property
    def word(self) -> str:
        return "undecided" if self.holds is None else "holds" if self.holds else "does not hold"


def below(low: float, high: float, limit: float) -> bool | None:
    """Whether a number is below a limit, by its interval."""
    return True if high < limit else False if low >= limit else None


def above(low: float, high: float, limit: float) -> bool | None:
    return True if low > limit else False if high <= limit else None


def every(answers: Iterable[bool | None]) -> bool | None:
    """Of a claim about several: one that surely fails is enough against it."""
    found = list(answers)
    return False if False in found else None if None in found else True


def some(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    return True if True in found else None if None in found else False


STYLES = {True: "green", False: "red", None: "yellow"}


def report(checks: Mapping[str, Sequence[Check]]) -> None:
    """Prints all by where they were made."""
    for where, own in checks.items():
        console.print(Text(where, style="bold"), soft_wrap=True)
        for check in own:
            word = Text(f"{check.word:>13}  ", style=STYLES[check.holds])
            console.print(word + Text(f"{check.claim}: {check.numbers}"), soft_wrap=True)
    console.print(tally([check for own in checks.values() for check in own]))


def tally(checks: Sequence[Check]) -> str:
    answers = [check.holds for check in checks]
    undecided = f", {answers.count(None)} undecided" if None in answers else ""
    return f"{answers.count(True)} of {len(answers)} hold{undecided}"


def save(figure: Figure, name: str) -> Path:
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.svg"
    figure.savefig(path)
    console.print(f"wrote {path.relative_to(ROOT)}", soft_wrap=True)
    return path


def run(main: Callable[[], int]) -> None:
    """An experiment's entry point: a user's error is one line, Ctrl-C no traceback."""
    try:
        sys.exit(main())
    except UnisonoError as error:
        Console(stderr=True, highlight=False).print(Text(str(error), style="bold red"), soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
