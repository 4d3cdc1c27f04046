"""`unisono advise` held to what really happens: predicted and measured gains side by side.

  sudo .venv/bin/unisono lab up --hosts 8 --rate 50mbit --name advise
  sudo UNISONO_LAB=advise .venv/bin/python -m experiments.advice.verify --rounds 5
  .venv/bin/python -m experiments.pages advice

There is a rank on each host of the lab. Each application is traced natively for the advice, in three jobs
that no round counts: one before each of the first three rounds. For each of its collectives a few algorithms
are forced, one at a time: the best by the model, the worst, and some between. Each round runs native and all
of these, forwards and backwards in turn. What was run is kept, so that an interrupted run goes on; --evaluate
measures nothing and writes docs/results/advice/LIBRARY-RANKS.json.zst from what is there.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from unisono.advise import predict, several
from unisono.advise.machine import Machine
from unisono.core import machine, places
from unisono.core.catalogue import NATIVE
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.testbeds import beds
from unisono.trace import reader
from unisono.trace.groups import Group, groups

from experiments import harness
from experiments.advice import measure
from experiments.advice.measure import Job, Place
from experiments.advice.programs import APPLICATIONS, Application
from experiments.testbeds import ROOT, Json

RESULTS = ROOT / "docs" / "results" / "advice"
FEWEST_CALLS = 5  # of a call site: those of the main loop have more
MOST_ARMS, ARMS, FEW_ARMS = 4, 3, 2  # of the first collective of a program, of another, of a short one
SHORT = 1000  # bytes


def main_loop(found: Sequence[Group], collective: str) -> list[Group]:
    return [g for g in found if g.kind.collective == collective and g.calls >= FEWEST_CALLS]


def all_calls(place: Place, job: Job) -> list[Group]:
    return groups(reader.read(job.folder(place) / "trace"))


def arms_of(place: Place, application: Application) -> dict[str, list[str]]:
    """By collective; kept, so that all rounds have the same."""
    name = application.name.replace(" ", "-")
    native = measure.traced_for_advice(application)
    measure.run(place, native)
    found: dict[str, list[str]] = {}
    for number, collective in enumerate(application.collectives):
        file = place.folder / f"arms-{name}-{collective}.json"
        if not file.exists():
            size = main_loop(all_calls(place, native), collective)[0].size
            first = number == 0 or application.program == "jacobi"
            count = MOST_ARMS if first else ARMS if size > SHORT else FEW_ARMS
            file.write_text(json.dumps(measure.few(place, collective, size, count)))
        found[collective] = json.loads(file.read_text())
    return found


def measure_all(found: Sequence[Place], rounds: int) -> None:
    arms = {
        (place.mpi.flavour, application.name): arms_of(place, application)
        for place in found
        for application in APPLICATIONS
    }
    for number in range(rounds):
        for place in found:
            for application in APPLICATIONS:
                own = arms[place.mpi.flavour, application.name]
                for job in measure.jobs_of(application, own, number):
                    try:
                        measure.run(place, job)
                    except UnisonoError as error:
                        measure.say(str(error))
            measure.say(f"{place.mpi.flavour}: round {number + 1}")


# --- evaluating -----------------------------------------------------------------------------------


def typical_seconds(place: Place, job: Job, collective: str) -> float:
    """Of a run: the median call of each group, from the last arrival to the last exit, times its calls."""
    return sum(
        group.calls * float(np.median(predict.completion(group.begin, group.end)))
        for group in main_loop(all_calls(place, job), collective)
    )


Advices = Sequence[predict.Advice]


def advice_on(place: Place, application: Application, job: Job, more: Mapping[str, Sequence[str]]) -> Advices:
    """From the trace of a native job."""
    found = all_calls(place, job)
    wanted = [group for name in application.collectives for group in main_loop(found, name)]
    costs = Machine(json.loads(measure.machine(place).read_text()), "measured in the lab")
    with tempfile.TemporaryDirectory(prefix="unisono-advice-") as folder:
        return predict.advise(wanted, found, costs, Path(folder), more)


def done(place: Place, job: Job) -> bool:
    return (job.folder(place) / "result.json").exists()


def native_rounds(place: Place, application: Application) -> list[Job]:
    jobs = (Job(application, "", NATIVE, number) for number in range(100))
    return [job for job in jobs if done(place, job)]


def rounds_of(place: Place, application: Application, collective: str, arm: str) -> list[tuple[Job, Job]]:
    """Pairs of native and arm, of each round that has both."""
    pairs = []
    for native in native_rounds(place, application):
        own = Job(application, collective, arm, native.number)
        if done(place, own):
            pairs.append((native, own))
    return pairs


def cells(place: Place, application: Application) -> Iterator[Json]:
    arms = arms_of(place, application)
    traced = (measure.traced_for_advice(application, number) for number in range(measure.ADVICE_JOBS))
    of_jobs = [advice_on(place, application, job, arms) for job in traced if done(place, job)]
    advices = several.together(of_jobs)
    for collective, specs in arms.items():
        own = on_collective(advices, collective)
        rows = [
            row
            for spec in specs
            if (row := arm_row(place, Job(application, collective, spec, measure.BEFORE), advices, of_jobs))
        ]
        group = own[0].group
        yield {
            "application": application.name,
            "collective": collective,
            "bytes": group.size,
            "calls": sum(advice.group.calls for advice in own),
            "traced_s": round(sum(advice.traced_s for advice in own), 5),
            "arms": rows,
        }


def on_collective(advices: Advices, collective: str) -> list[predict.Advice]:
    return [advice for advice in advices if advice.group.kind.collective == collective]


def gain_of(advices: Advices, job: Job) -> list[float] | None:
    """Predicted, least and most; nothing where a call site has no prediction."""
    own = on_collective(advices, job.collective)
    gains = [gain for advice in own if (gain := advice.gain(job.arm))]
    if not gains or len(gains) < len(own):
        return None
    sums = (
        sum(gain.seconds for gain in gains),
        sum(gain.low for gain in gains),
        sum(gain.high for gain in gains),
    )
    return [round(each, 5) for each in sums]


def arm_row(place: Place, of: Job, advices: Advices, of_jobs: Sequence[Advices]) -> Json | None:
    """Beside what is predicted from all traces for the advice, what is from each of them alone."""
    predicted = gain_of(advices, of)
    pairs = rounds_of(place, of.application, of.collective, of.arm)
    if predicted is None or not pairs:
        return None
    measured, loops, base = [], [], []
    for native, arm in pairs:
        times = [typical_seconds(place, job, of.collective) for job in (native, arm)]
        said = [measure.run(place, job)["loop_s"] for job in (native, arm)]
        base.append(round(times[0], 5))
        measured.append(round(times[0] - times[1], 5))
        loops.append(round(said[0] - said[1], 5))
    return {
        "algorithm": of.arm,
        "predicted_s": predicted[0],
        "low_s": predicted[1],
        "high_s": predicted[2],
        "from_job": [gain_of(alone, of) for alone in of_jobs],
        "native_s": base,
        "measured_s": measured,
        "program_s": loops,
    }


def busy_before(place: Place) -> list[float]:
    """The machine before each job of the rounds, by what was none of ours: quartiles and the most."""
    found = [
        json.loads(file.read_text())["busy_before"] for file in place.folder.glob("*/[0-9]*/*/result.json")
    ]
    return [round(float(each), 3) for each in np.quantile(found, (0.25, 0.5, 0.75, 1.0))]


def evaluate(place: Place) -> Json:
    costs = json.loads(measure.machine(place).read_text())
    return {
        "schema": "unisono.advice-verification",
        "schema_version": 1,
        "mpi": costs["mpi"],
        "bed": place.bed.describe(),
        "processor": machine.cores().usable,
        "ranks": place.ranks,
        "busy_before": busy_before(place),
        "machine": costs,
        "cells": [cell for application in APPLICATIONS for cell in cells(place, application)],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    parser.add_argument("--rounds", type=int, default=6, help="of native and every arm (6)")
    parser.add_argument("--evaluate", action="store_true", help="measure nothing, evaluate what is there")
    given = parser.parse_args(arguments)
    bed = beds.current_lab()
    found = [Place(bed, places.find_mpi(name), bed.fitting_ranks()) for name in given.mpi.split(",")]
    if not given.evaluate:
        measure_all(found, given.rounds)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for place in found:
        write_json(evaluate(place), RESULTS / f"{place.mpi.flavour}-{place.ranks}.json.zst")
    return 0


if __name__ == "__main__":
    harness.run(main)
