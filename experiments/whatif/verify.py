"""Is what `unisono whatif` predicts what happens? In the simulator, where nothing is noise.

    ninja -C build simulated_apps
    python -m experiments.whatif.verify [--ranks 64] [--only jacobi] [--folder docs/results/whatif]

Each program is traced on 8 hosts. Unisono predicts what it takes on more hosts, and what algorithms would
gain there. Then the program itself is run there: natively, and with each of these algorithms forced.
Compared are the seconds that a rank is in the calls of the main collective, a place in the program for
itself.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unisono.core.catalogue import NATIVE
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.sim import platforms
from unisono.whatif import calls, study
from unisono.whatif.calls import Calls
from unisono.whatif.replay import Program, Replayed
from unisono.whatif.scaling import Target
from unisono.whatif.study import CellStudy

from experiments.whatif import page, programs
from experiments.whatif.programs import Application

TRACED = 8
Json = dict[str, Any]


def offset(place: str) -> str:
    """The simulator gives every rank's copy of a program a name of its own."""
    return place.rpartition("+")[2]


def seconds_of(ran: Calls, collective: str, place: str) -> tuple[float, int]:
    """In the calls of that place: those that are as large as most there."""
    own = [k for k in ran.kinds if k.collective == collective and offset(k.place) == offset(place)]
    if not own:
        return 0.0, 0
    return sum(k.seconds for k in own), sum(k.calls for k in own)


def verify(application: Application, ranks: int, budget: float) -> Json:
    began = time.monotonic()
    traced = calls.read(programs.trace(application, TRACED, f"ethernet:{TRACED}", {}))
    platform = f"ethernet:{ranks}"
    target = Target(ranks, 1, application.scaling)
    program = Program(traced, target, platforms.parse(platform), "ompi", 3)
    found = study.study(program, budget, 0, online=False, say=lambda _: None)
    main = max(
        (cell for cell in found.cells.values() if cell.cell.collective == application.main),
        key=lambda cell: cell.total,
    )
    predicted_for = time.monotonic() - began
    native = calls.read(programs.trace(application, ranks, platform, {}))
    place = next(kind for kind, cell in zip(traced.kinds, program.cells, strict=True) if cell == main.cell)
    arms = []
    for spec in some(main):
        seconds = study.calls_of(program, replay_of(program, main, spec), main.cell)
        ratio = seconds[1] / seconds[0] / main.native
        arms.append(arm_of(application, ranks, main, spec, ratio, native, place.place))
    measured, count = seconds_of(native, application.main, place.place)
    return {
        "program": application.label,
        "scaling": application.scaling,
        "traced_ranks": TRACED,
        "ranks": ranks,
        "platform": platform,
        "collective": application.main,
        "predicted_bytes": main.cell.bytes,
        "bytes": bytes_of(native, application.main, place.place),
        "calls": count,
        "predicted_native_seconds": main.native,
        "native_seconds": measured / count if count else None,
        "arms": arms,
        "runs": [whole(program, found.native, native)],
        "predicting_took_seconds": round(predicted_for, 1),
        "running_took_seconds": round(time.monotonic() - began - predicted_for, 1),
        "notes": found.notes,
    }


def some(main: CellStudy) -> list[str]:
    """Of those timed alone the best two, one of the middle, and one that is slow but not hopeless."""
    timed = [arm for arm in main.arms if arm.screened is not None]
    able = [arm for arm in timed if (arm.screened or 0.0) < 10 * (timed[0].screened or 0.0)]
    places = dict.fromkeys((0, 1, len(able) // 2, len(able) - 1))
    return [able[place].spec for place in places if place < len(able)]


def replay_of(program: Program, main: CellStudy, spec: str) -> Replayed:
    native = dict.fromkeys(program.cells, NATIVE)
    return program.run({**native, main.cell: spec}, lambda: True)


def arm_of(
    application: Application,
    ranks: int,
    main: CellStudy,
    spec: str,
    predicted: float,
    native: Calls,
    place: str,
) -> Json:
    variables = {f"UNISONO_{main.cell.collective.upper()}": spec}
    ran = calls.read(programs.trace(application, ranks, f"ethernet:{ranks}", variables))
    seconds, count = seconds_of(ran, main.cell.collective, place)
    base, base_count = seconds_of(native, main.cell.collective, place)
    measured = (seconds / count) / (base / base_count) if count and base_count and base else None
    return {"algorithm": spec, "predicted_ratio": predicted, "measured_ratio": measured}


def bytes_of(ran: Calls, collective: str, place: str) -> float:
    own = [k for k in ran.kinds if k.collective == collective and offset(k.place) == offset(place)]
    total = sum(k.calls for k in own)
    return sum(k.bytes * k.calls for k in own) / total if total else 0.0


def whole(program: Program, native: Replayed, ran: Calls) -> Json:
    """Seconds of the mean rank in the loop: in all calls but those that are made once, and before them. In
    the first of these the ranks meet whom the tracer has started at different times, and at the end rank 0
    receives what it prints from each rank, in messages that are no collectives and that nobody scales."""
    predicted = sum(
        kind.calls * (native.in_call[number] + native.computing[number])
        for number, kind in enumerate(program.calls.kinds)
        if kind.calls > 1
    )
    again = [number for number, kind in enumerate(ran.kinds) if kind.calls > 1]
    computing = ran.computing[[kind in again for kind in ran.kind_of]].mean(axis=1).sum()
    measured = float(computing) + sum(ran.kinds[number].seconds for number in again)
    return {"run": NATIVE, "predicted_seconds": predicted, "measured_seconds": measured}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--only", default="", help="programs whose name has this in it")
    parser.add_argument("--budget", type=float, default=120.0, help="seconds for a program's prediction")
    parser.add_argument("--folder", type=Path, default=page.FOLDER)
    options = parser.parse_args(arguments)
    os.nice(19)
    for application in programs.APPLICATIONS:
        if options.only not in application.file:
            continue
        try:
            found: Mapping[str, Any] = verify(application, options.ranks, options.budget)
        except UnisonoError as error:
            print(f"{application.label}: {error}", file=sys.stderr)
            continue
        print(application.file, json.dumps(found), flush=True)
        write_json(found, options.folder / f"{application.file}-{options.ranks}.json.zst")
    return 0


if __name__ == "__main__":
    sys.exit(main())
