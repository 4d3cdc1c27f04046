"""Runs the applications natively and with forced algorithms, traced each time, and keeps what was traced.

What a job left is kept in .cache/experiments/advice by lab, library, application, round and arm, so that an
interrupted measurement goes on where it was.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.advise import arms as arms_module
from unisono.advise import wake
from unisono.core import catalogue, cost_model, jobs, places
from unisono.core.catalogue import NATIVE
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.core.machine import busy_share, cores
from unisono.lab import layout
from unisono.testbeds import calibrate
from unisono.testbeds.beds import Lab
from unisono.trace import reader
from unisono.trace.groups import groups

from experiments import harness
from experiments.advice.programs import Application
from experiments.testbeds import ROOT, Json

STORE = ROOT / ".cache" / "experiments" / "advice"
SILENCE = 90.0  # seconds for a job
LOOK = 0.1  # seconds before each job, for how busy others keep the machine
BEFORE = -1  # all rounds, and -2 and so on: what the advice is taken from is compared with nothing
ADVICE_JOBS = 3  # of each application, one before each of the first rounds
DEAREST = 12.0  # times the fastest: what takes longer is not run, a job would take minutes


@dataclass(frozen=True)
class Place:
    bed: Lab
    mpi: places.Mpi
    ranks: int

    @property
    def folder(self) -> Path:
        return STORE / self.bed.lab.name / f"{self.mpi.flavour}-{self.ranks}"


@dataclass(frozen=True)
class Job:
    application: Application
    collective: str  # that is forced; empty: none
    arm: str
    number: int  # of the round, or BEFORE and below

    @property
    def name(self) -> str:
        what = f"{self.collective}={self.arm}" if self.collective else NATIVE
        return what.replace("/", "_")

    def folder(self, place: Place) -> Path:
        return place.folder / self.application.name.replace(" ", "-") / str(self.number) / self.name

    def variables(self, trace: Path) -> dict[str, str]:
        """All other collectives stay the MPI library's. The network is measured in MPI_Init, as in any job,
        since long messages go in portions where that says so (docs/adr/0033)."""
        own = {"UNISONO_TRACE": str(trace), "UNISONO_LOG": "decision"}
        if not self.collective:
            return own | {"UNISONO_DISABLE": "1"}
        return own | {
            "UNISONO": "measure",
            "UNISONO_ONLINE": "off",
            f"UNISONO_{self.collective.upper()}": self.arm,
        }


def run(place: Place, job: Job) -> Json:
    """What the program printed, beside its trace in `folder`/trace."""
    folder = job.folder(place)
    kept = folder / "result.json"
    if kept.exists():
        before: Json = json.loads(kept.read_text())
        return before
    trace = folder / "trace"
    trace.mkdir(parents=True, exist_ok=True)
    for old in trace.iterdir():
        old.unlink()
    settings = (f"{name}={value}" for name, value in job.variables(trace).items())
    result = folder / "program.json"
    line = ["env", *settings, str(places.program("unisono-exec"))]
    line += [*job.application.command(place.mpi.flavour), "--json", str(result)]
    command, environment = place.bed.command(
        place.mpi, place.ranks, place.bed.per_host(place.ranks, None), line
    )
    busy = busy_share(LOOK)
    done = jobs.run(command, environment, SILENCE)
    if not done.ok:
        raise UnisonoError(f"{place.mpi.flavour}, {job.application.name}, {job.name}: {done.problem}")
    said = json.loads(result.read_text())
    lines = [line for line in done.output.splitlines() if line.startswith("unisono")]
    body = {"loop_s": said["seconds"], "busy_before": round(busy, 3), "said": lines}
    write_json(body, kept)
    return body


def machine(place: Place) -> Path:
    """What messages cost there, and what the model cannot find out by itself: the credit of the lab's
    shapers, that its hosts share the machine's cores, and how long a rank that has a core waits until it is
    woken, by a program of its own. Measured once."""
    file = place.folder / "machine.json"
    if file.exists():
        return file
    calibrated = place.folder / "calibrated.json"
    if not calibrated.exists():
        place.folder.mkdir(parents=True, exist_ok=True)
        calibrate.calibrate(place.bed, place.mpi, place.ranks, calibrated, seconds=0.05)
    body = {
        **without_credit(json.loads(calibrated.read_text())),
        "credit_bytes": float(layout.burst(place.bed.lab.rate)),
        "shared_cores": cores().usable,
    }
    probe = Application("sweep, small", "sweep", ("--n", "64", "--steps", "40"), ("allreduce",))
    job = Job(probe, "allreduce", "recursive_doubling", BEFORE)
    run(place, job)
    found = groups(reader.read(job.folder(place) / "trace"))
    seconds = wake.estimate(found, body, place.folder)
    write_json(wake.with_wake(body, seconds or 0.0), file)
    return file


def without_credit(body: Json) -> Json:
    """Single messages pass the lab's shapers on credit, which the calibration takes for the network's rate. A
    stream does not: its slope for the longest messages is the rate."""
    between = body["levels"]["between_nodes"]
    slope = between["gap"][-1]["beta_s_per_byte"]
    start = max(0.0, between["one_way"][0]["alpha_s"])
    line = [{"from_bytes": 0.0, "alpha_s": start, "beta_s_per_byte": slope}]
    level = {"one_way": line, "gap": line, "exchange": [], "active": 1}
    return {**body, "levels": {"between_nodes": level}}


def few(place: Place, collective: str, size: int, count: int) -> list[str]:
    """The best by the model, the worst, and those in the middle, with the segment that the model chose."""
    specs = arms_module.legal(catalogue.load(), collective, place.ranks, place.ranks)
    [told] = cost_model.predict(
        machine(place), [cost_model.Job(collective, place.ranks, place.ranks, size, specs)]
    )
    able = [each for each in told if each.seconds is not None]
    able = [each for each in able if (each.seconds or 0) <= DEAREST * (able[0].seconds or 0)]
    at = [round(i * (len(able) - 1) / max(1, count - 1)) for i in range(count)]
    return [able[i].runs for i in dict.fromkeys(at)]


def traced_for_advice(application: Application, number: int = 0) -> Job:
    return Job(application, "", NATIVE, BEFORE - number)


def jobs_of(application: Application, arms: Mapping[str, Sequence[str]], number: int) -> Iterator[Job]:
    """Those of a round, forwards and backwards in turn."""
    if number < ADVICE_JOBS:
        yield traced_for_advice(application, number)
    made = [Job(application, "", NATIVE, number)]
    made += [Job(application, of, arm, number) for of, own in arms.items() for arm in own]
    yield from made if number % 2 == 0 else reversed(made)


def say(text: str) -> None:
    harness.console.print(f"[dim]{text}[/dim]", soft_wrap=True)
