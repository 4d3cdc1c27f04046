"""Programs whose collectives go by multicast, on hosts of a lab of its own."""

import contextlib
import subprocess
from collections.abc import Iterator

import pytest
from conftest import COMMAND
from test_lab import REASON
from test_multicast import NAME, PATIENCE
from unisono import lab as labs
from unisono.core import places
from unisono.lab import layout, network

pytestmark = [pytest.mark.lab, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

HOSTS = 4
FORCED = {
    "UNISONO_BCAST": "multicast",
    "UNISONO_SCATTER": "multicast",
    "UNISONO_SCATTERV": "multicast_receivers",
    "UNISONO_ALLGATHER": "multicast",
    "UNISONO_LOG": "decision",
}


@pytest.fixture(scope="module")
def lab() -> Iterator[labs.Lab]:
    patch = pytest.MonkeyPatch()
    patch.setenv("UNISONO_LAB", NAME + "-collectives")
    network.up(NAME + "-collectives", layout.Plan(hosts=HOSTS))
    yield labs.current()
    network.down(NAME + "-collectives")
    patch.undo()


def run(monkeypatch: pytest.MonkeyPatch, mpi: str, *options: str, ranks: int = HOSTS, **settings: str) -> str:
    for name, value in (FORCED | settings).items():
        monkeypatch.setenv(name, value)
    program = str(places.program(f"multicast_{mpi}"))
    done = subprocess.run(
        [
            *COMMAND,
            "lab",
            "run",
            "--mpi",
            mpi,
            "-n",
            str(ranks),
            "--ppn",
            str(ranks // HOSTS),
            "--",
            program,
            *options,
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "multicast: passed" in said, said
    return said


@pytest.mark.parametrize("reliability", ["nack", "ack"])
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_all_forms_are_right(
    lab: labs.Lab, monkeypatch: pytest.MonkeyPatch, mpi: str, reliability: str
) -> None:
    said = run(monkeypatch, mpi, "carried", UNISONO_MCAST_RELIABILITY=reliability)
    assert "bcast of 70000B on 4 ranks: multicast (forced)" in said
    assert "no multicast" not in said


@contextlib.contextmanager
def at_all_hosts(lab: labs.Lab, lines: list[str]) -> Iterator[None]:
    """What tc says of frames that arrive."""
    inside = [network.inside(lab.folder / host.name) for host in lab.hosts]
    for host in inside:
        subprocess.run([*host, "sh", "-c", " && ".join(f"tc {line}" for line in lines)], check=True)
    try:
        yield
    finally:
        for host in inside:
            subprocess.run([*host, "tc", "qdisc", "del", "dev", "eth0", "clsact"], check=True)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_lost_acknowledgements_are_made_good(
    lab: labs.Lab, monkeypatch: pytest.MonkeyPatch, mpi: str
) -> None:
    with at_all_hosts(lab, layout.drop_some("eth0", 0.05)):
        said = run(monkeypatch, mpi, "lossy")
    assert "no multicast" not in said


def test_few_groups_at_a_time(lab: labs.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run(monkeypatch, "mpich", "carried", UNISONO_MCAST_GROUPS="6")
    assert "no multicast" not in said


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_one_of_two_ranks_on_a_host_receives(
    lab: labs.Lab, monkeypatch: pytest.MonkeyPatch, mpi: str
) -> None:
    grid = "grid:shape=nodes,columns=multicast,rows=shm"
    said = run(monkeypatch, mpi, "shared", ranks=2 * HOSTS, UNISONO_BCAST=grid)
    assert "bcast of 70000B on 8 ranks: grid:shape=nodes" in said
    assert "scatter on 8 ranks: multicast needs one rank on each node" in said


def test_without_room_for_any_group(lab: labs.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run(monkeypatch, "mpich", UNISONO_MCAST_GROUPS="0")
    assert "no multicast: all UNISONO_MCAST_GROUPS=0 groups of some process are in use" in said


def test_an_interface_that_is_not_there(lab: labs.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run(monkeypatch, "openmpi", UNISONO_MCAST_INTERFACE="eth7")
    assert "no multicast: not all hosts have an interface UNISONO_MCAST_INTERFACE=eth7" in said


def test_a_network_that_carries_none(lab: labs.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    # The address that a frame goes to, and of that the first four bits: 1110.
    is_multicast = "32 0 0 30,84 0 0 4026531840,21 0 1 3758096384"
    drop = f'"5,{is_multicast},6 0 0 2,6 0 0 4294967295"'
    lines = [
        "qdisc add dev eth0 clsact",
        f"filter add dev eth0 ingress bpf direct-action bytecode {drop}",
    ]
    with at_all_hosts(lab, lines):
        said = run(monkeypatch, "mpich")
    assert "no multicast: the network between the hosts does not carry it" in said
