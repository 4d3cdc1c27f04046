"""Is what `unisono whatif` predicts what happens on a network? Of the lab, whose hosts share a few cores.

  sudo .venv/bin/unisono lab up --hosts 8 --rate 50mbit --name advise
  sudo UNISONO_LAB=advise .venv/bin/python -m experiments.advice.verify --rounds 5
  sudo UNISONO_LAB=advise .venv/bin/python -m experiments.whatif.lab
  .venv/bin/python -m experiments.pages whatif

Each application is traced natively on half of the hosts. What it takes on all of them, natively and with
other algorithms, is predicted from that trace alone, with the network as the trace has timed it. It is
compared with what experiments.advice.verify has run there. Seconds go from the last arrival at a call to its
last exit.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unisono.core import places
from unisono.core.catalogue import NATIVE
from unisono.core.files import write_json
from unisono.testbeds import beds
from unisono.trace import reader
from unisono.whatif import asked, calls
from unisono.whatif.replay import Program, Replayed
from unisono.whatif.scaling import STRONG

from experiments import harness
from experiments.advice import measure, verify
from experiments.advice.measure import Place
from experiments.advice.programs import APPLICATIONS, Application
from experiments.whatif import page

Json = Mapping[str, Any]
SAMPLE = 8  # calls of each kind


def program_of(place: Place, application: Application) -> Program:
    """As the command line makes it of a trace, with `--hosts` and `--scaling strong`."""
    traced = reader.read(measure.traced_for_advice(application).folder(place) / "trace")
    found = calls.read(traced)
    where = asked.Where(2 * place.ranks, None, None, None, STRONG, None)
    target, network = asked.place(traced, found, where)
    return Program(found, target, network, asked.selector_of(None, found.mpi), SAMPLE)


def main_loop(program: Program, collective: str) -> list[int]:
    """Kinds of calls, by number: those that verify.main_loop() takes of a trace."""
    kinds = enumerate(program.calls.kinds)
    return [at for at, kind in kinds if kind.collective == collective and kind.calls >= verify.FEWEST_CALLS]


def seconds_of(program: Program, ran: Replayed, collective: str) -> float:
    own = main_loop(program, collective)
    return sum(program.calls.kinds[at].calls * ran.after_last[at] for at in own)


def cells(small: Place, large: Place, application: Application) -> list[Json]:
    program = program_of(small, application)
    native = dict.fromkeys(program.cells, NATIVE)
    base = program.run(native, lambda: True)
    found: list[Json] = []
    for collective, specs in verify.arms_of(large, application).items():
        kinds = main_loop(program, collective)
        of_native = seconds_of(program, base, collective)
        rows = []
        for spec in specs:
            forced = {program.cells[at]: spec for at in kinds}
            ran = program.run({**native, **forced}, lambda: True)
            ratio = seconds_of(program, ran, collective) / of_native
            rows.append(
                {
                    "algorithm": spec,
                    "predicted": ratio,
                    "measured": measured(large, application, collective, spec),
                }
            )
        sizes = [program.cells[at].bytes for at in kinds]
        found.append(
            {
                "application": application.name,
                "collective": collective,
                "predicted_bytes": max(sizes),
                "predicted_native_s": of_native,
                "native_s": natives(large, application, collective),
                "platform": program.platform.spec,
                "arms": rows,
            }
        )
    return found


def natives(place: Place, application: Application, collective: str) -> list[float]:
    [first, *_] = verify.arms_of(place, application)[collective]
    pairs = verify.rounds_of(place, application, collective, first)
    return [verify.typical_seconds(place, job, collective) for job, _ in pairs]


def measured(place: Place, application: Application, collective: str, spec: str) -> list[float]:
    """Of native's time in the same round."""
    ratios = []
    for pair in verify.rounds_of(place, application, collective, spec):
        native, arm = (verify.typical_seconds(place, job, collective) for job in pair)
        ratios.append(arm / native)
    return ratios


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="mpich,openmpi", help="MPI libraries (mpich,openmpi)")
    given = parser.parse_args(arguments)
    bed = beds.current_lab()
    for name in given.mpi.split(","):
        large = Place(bed, places.find_mpi(name), bed.fitting_ranks())
        small = replace(large, ranks=large.ranks // 2)
        for application in APPLICATIONS:
            measure.run(small, measure.traced_for_advice(application))
        told = [cell for application in APPLICATIONS for cell in cells(small, large, application)]
        body = {
            "mpi": large.mpi.flavour,
            "bed": bed.describe(),
            "traced_ranks": small.ranks,
            "ranks": large.ranks,
            "cells": told,
        }
        page.LAB.mkdir(parents=True, exist_ok=True)
        write_json(body, page.LAB / f"{large.mpi.flavour}.json.zst")
    return 0


if __name__ == "__main__":
    harness.run(main)
