"""What would run a call as this environment is set, which rule decides, and what a job has said of its own.

The order of the rules is the library's: unisono-schedule decide asks its selector."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from unisono.core import catalogue, cost_model, files, machine, memory, places, settings
from unisono.core.catalogue import NATIVE, format_size
from unisono.core.console import table
from unisono.core.errors import UnisonoError
from unisono.core.memory import Learned
from unisono.core.words import choice_text, number
from unisono.profile import check

Json = dict[str, Any]
MOST_LOG_BYTES = 1 << 30  # of a log with decisions
# A process of its own: an MPI library that is loaded stays.
VERSION = """import ctypes, sys
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace").splitlines()[0])"""
TO_CHANGE = {
    "off": "unset UNISONO and UNISONO_DISABLE",
    "forced": "unset {variable}",
    "reproducible": "UNISONO_REPRODUCIBLE=off, or {variable}=ALGORITHM",
    "profile": "unset UNISONO_PROFILE",
    "remembered": "unisono platform forget, or unset UNISONO",
    "online": "UNISONO_ONLINE=off, or UNISONO=fixed for what is remembered",
    "safe": "{variable}=native, or any algorithm of unisono list",
    "defaults": "{variable}=native, or any algorithm of unisono list",
    "native": "{variable}=ALGORITHM, any of unisono list",
}
# After what a launcher may put before each line: [0], [1,0]<stderr>:
SAID = re.compile(r"unisono: (?:nonblocking |persistent )?(\w+) of (\S+)B on (\d+) ranks: (\S+) \((.*)\)$")


@dataclass(frozen=True)
class Asked:
    collective: str
    bytes: int
    ranks: int
    hosts: int

    def place(self, cores: int) -> str:
        if self.hosts > 1:
            return "ethernet"
        return "undersubscribed" if self.ranks <= cores else "oversubscribed"


def library_line(mpi: places.Mpi) -> str:
    """What the MPI library calls itself, as profiles and memories have it."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", VERSION, str(mpi.library)],
        check=False, capture_output=True, text=True, env=os.environ | mpi.environment(),
    )  # fmt: skip
    if done.returncode:
        raise UnisonoError(f"{mpi.library}: it cannot be loaded to ask for its version; name another: --mpi")
    return done.stdout.strip()


def remembered(asked: Asked, library: str) -> tuple[Learned | None, Json | None]:
    """Of earlier jobs with this library: of this kind of call, and what the network costs."""
    for path, document in memory.each():
        try:
            same = document["where"]["mpi"]["library"] == library
        except (KeyError, TypeError) as error:
            raise memory.broken(path) from error
        if not same:
            continue
        fitting = (one for one in memory.learned(path, document) if is_of(one, asked))
        return next(fitting, None), document.get("machine")
    return None, None


def is_of(one: Learned, asked: Asked) -> bool:
    least, most = memory.size_class(one.bytes)
    return (one.collective, one.ranks, one.nodes) == (
        asked.collective,
        asked.ranks,
        asked.hosts,
    ) and least <= asked.bytes <= most


def network_rate(asked: Asked, flavour: str) -> float:
    """What only a job can measure: the profile's own, as if the network were that."""
    path = os.environ.get("UNISONO_PROFILE", "")
    if asked.hosts < 2 or not Path(path).is_file():
        return 0.0
    rates = [
        environment.key.network_rate
        for environment in check.load(Path(path)).environments
        if environment.key.flavour == flavour and environment.key.nodes > 1
    ]
    return rates[0] if rates else 0.0


def decide(asked: Asked, mpi: places.Mpi, library: str, known: Learned | None) -> Json:
    cores = machine.cores().usable
    line = ["decide", "--collective", asked.collective, "--bytes", str(asked.bytes)]
    line += ["--ranks", str(asked.ranks), "--nodes", str(asked.hosts), "--flavour", mpi.flavour]
    line += ["--library", library, "--place", asked.place(cores), "--cores", str(cores)]
    line += ["--network-rate", repr(network_rate(asked, mpi.flavour))]
    line += ["--remembered", known.choice] if known else []
    found: Json = files.decoded(catalogue.ask(*line))
    mode = os.environ.get("UNISONO", "auto")
    if wrong := settings.wrong_value("UNISONO", mode):
        found["complaints"].insert(0, f"UNISONO={mode}: {wrong}; auto holds")
    return found


def predicted(asked: Asked, specs: list[str], known_machine: Json | None) -> dict[str, float]:
    """Seconds, where a model of the network is known."""
    if known_machine is None or asked.hosts < 2:
        return {}
    with tempfile.TemporaryDirectory(prefix="unisono-explain-") as folder:
        file = Path(folder) / "machine.json"
        file.write_text(json.dumps(known_machine))
        job = cost_model.Job(asked.collective, asked.ranks, asked.hosts, asked.bytes, specs)
        try:
            rows = cost_model.predict(file, [job])[0]
        except UnisonoError:  # what is remembered is not all that the model wants to know
            return {}
    return {row.spec: row.seconds for row in rows if row.seconds is not None}


def explain_here(asked: Asked, mpi_name: str | None, console: Console) -> Json:
    """Shows it, and returns what unisono-schedule said, with predictions."""
    mpi = places.find_mpi(mpi_name)
    library = library_line(mpi)
    known, costs = remembered(asked, library)
    told = decide(asked, mpi, library, known)
    rules = told["rules"]
    specs = [rule["algorithm"] for rule in rules]
    times = predicted(asked, list(dict.fromkeys(specs)), costs)
    hosts = f"{asked.hosts} hosts" if asked.hosts > 1 else "this host"
    console.print(
        Text(f"{asked.collective} of {format_size(asked.bytes)}B, {asked.ranks} ranks on {hosts}", "bold")
    )
    console.print(Text(library, style="dim"))
    for complaint in told["complaints"]:
        console.print(Text(complaint, style="yellow"))
    made = table("rule", "algorithm", *(["predicted us"] if times else []), left=2)
    for number_of, rule in enumerate(rules):
        word = f"{rule['rule']}, decides" if number_of == 0 else rule["rule"]
        seconds = times.get(rule["algorithm"])
        shown = "" if seconds is None else number(1e6 * seconds)
        cells = [Text(word, style="" if number_of else "bold"), choice_text(rule["algorithm"])]
        made.add_row(*cells, *([shown] if times else []))
    console.print(made)
    for line in sentences(asked, rules[0], known):
        console.print(line)
    timed = [{**rule, "predicted_seconds": times.get(rule["algorithm"])} for rule in rules]
    return {**told, "library": library, "rules": timed}


def sentences(asked: Asked, first: Json, known: Learned | None) -> Iterator[str]:
    if first.get("unmet"):
        yield f"{first['unmet']} {first['why']}: the MPI library's own runs."
    if first["rule"] == "reproducible":
        yield "Sums of floating-point numbers keep one order of their terms, so that nothing is compared."
    if first["rule"] == "online":
        if known:
            yield f"The job begins with what is remembered, {known.choice}: {known.why()}."
        elif tries_all():
            yield "The job's own calls try all algorithms in turn, as STAR-MPI does."
        elif asked.hosts > 1:
            other = "a safe algorithm" if first["algorithm"] == NATIVE else "the MPI library's own"
            yield f"It runs from the first call on; a long program times {other} beside it."
        else:
            yield "Nothing is remembered of such calls: the job's own calls find out what is fastest."
    variable = f"UNISONO_{asked.collective.upper()}"
    yield f"To change it: {TO_CHANGE[ruling(asked, first)].format(variable=variable)}."


def tries_all() -> bool:
    return os.environ.get("UNISONO_ONLINE", "").startswith("star")


def ruling(asked: Asked, first: Json) -> str:
    """The rule that would have to change. A check between hosts begins with what would run without it."""
    if first["rule"] != "online" or asked.hosts == 1 or tries_all():
        return str(first["rule"])
    return "native" if first["algorithm"] == NATIVE else "safe"


def explain_log(path: Path, console: Console) -> list[Json]:
    """The last word of each kind of call, from what a job wrote with UNISONO_LOG=decision."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else files.read_bytes(path, MOST_LOG_BYTES)
    except OSError as error:
        raise UnisonoError(f"--from-log {path}: {error.strerror} (- is standard input)") from error
    text = data.decode(errors="replace")
    last = {said.group(1, 2, 3): said.group(4, 5) for said in map(SAID.search, text.splitlines()) if said}
    if not last:
        raise UnisonoError(
            f"--from-log {path}: no decision is in it; a job with UNISONO_LOG=decision writes them"
        )
    made = table("call", "ranks", "algorithm", "why", left=4)
    made.columns[1].justify = "right"
    for (collective, size, ranks), (spec, why) in last.items():
        made.add_row(f"{collective} {size}", ranks, choice_text(spec), why)
    console.print(made)
    return [
        {"collective": collective, "size": size, "ranks": int(ranks), "algorithm": spec, "why": why}
        for (collective, size, ranks), (spec, why) in last.items()
    ]
