"""unisono-multicast on hosts of a lab of its own: what is lost, late, killed, or sent by others."""

import os
import re
import subprocess
import time
from collections.abc import Iterator

import pytest
from test_lab import REASON
from unisono import lab as labs
from unisono.core import places
from unisono.lab import layout, network

pytestmark = [pytest.mark.lab, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

NAME = f"multicast-{os.getpid()}"
MEMBERS = 5  # and one host that is none
# Seconds: these tests are nice to jobs that spin, and a member may get no core for seconds.
SILENCE, FOR_A_DEAD_ONE, PATIENCE = 30, 10, 200


@pytest.fixture(scope="module")
def lab() -> Iterator[labs.Lab]:
    patch = pytest.MonkeyPatch()
    patch.setenv("UNISONO_LAB", NAME)
    network.up(NAME, layout.Plan(hosts=MEMBERS + 1))
    yield labs.current()
    network.down(NAME)
    patch.undo()


def start(lab: labs.Lab, host: int, *arguments: str) -> "subprocess.Popen[str]":
    command = [str(places.program("unisono-multicast")), *arguments]
    return subprocess.Popen(
        lab.on_host(f"h{host}", command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def addresses(lab: labs.Lab) -> str:
    return ",".join(host.address for host in lab.hosts[:MEMBERS])


def run(
    lab: labs.Lab, *options: str, attack: int = 0, silence: int = SILENCE
) -> tuple[int, dict[str, int], str]:
    """The status of the first member, what it counted of all, and what everybody said."""
    hosts = addresses(lab)
    running = [
        start(lab, i, "run", "--hosts", hosts, "--me", str(i), "--limit", str(silence), *options)
        for i in range(MEMBERS)
    ]
    if attack:
        attacker = start(
            lab, MEMBERS, "attack", "--hosts", hosts, "--interface", "eth0", "--count", str(attack)
        )
        said, _ = attacker.communicate(timeout=PATIENCE)
        assert attacker.returncode == 0, said
    all_said = [process.communicate(timeout=PATIENCE)[0] for process in running]
    counts = re.findall(r"^(\D+?) +(\d+) in all", all_said[0], re.M)
    return running[0].returncode, {name: int(count) for name, count in counts}, "".join(all_said)


@pytest.mark.parametrize("family", ["ack", "nack"])
@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_everything_comes(lab: labs.Lab, family: str, loss: float) -> None:
    options = ["--family", family, "--loss", str(loss), "--messages", "6", "--size", "200001", "--root", "-1"]
    status, counted, said = run(lab, *options)
    assert status == 0, said
    assert counted["data sent"] == 6 * 140  # 1432 bytes each
    assert ("lost" in counted) == (loss > 0)
    if loss:
        assert counted.get("repairs to all", 0) + counted.get("repairs to one", 0) > 0
    assert not {"forged", "malformed", "senseless", "foreign"} & set(counted), said


def test_what_the_network_loses(lab: labs.Lab) -> None:
    """Frames that vanish before they reach a socket."""
    on_host = [*network.inside(lab.folder / "h2"), "sh", "-c"]
    lines = " && ".join(f"tc {line}" for line in layout.drop_some("eth0", 0.02))
    subprocess.run([*on_host, lines], check=True)
    try:
        status, counted, said = run(lab, "--messages", "4", "--size", "1M")
    finally:
        subprocess.run([*on_host, "tc qdisc del dev eth0 clsact"], check=True)
    assert status == 0, said
    assert counted["repairs to one"] > 0


def test_a_late_receiver_is_waited_for(lab: labs.Lab) -> None:
    begun = time.monotonic()
    status, counted, said = run(lab, "--messages", "2", "--size", "4M", "--late", "2:1.5")
    assert status == 0, said
    assert time.monotonic() - begun > 1.5
    # What went out before is within the credit, and was lost by nobody: without it nearly all of a message
    # would be repaired, half of what is sent here. A member without a core for a while loses some as well.
    assert counted.get("repairs to one", 0) < counted["data sent"] / 8


@pytest.mark.parametrize(("root", "dead"), [(0, 2), (2, 2)])
def test_a_killed_member_is_named(lab: labs.Lab, root: int, dead: int) -> None:
    options = ["--messages", "1000", "--size", "1M", "--root", str(root), "--kill", f"{dead}:0.5"]
    status, _, said = run(lab, *options, silence=FOR_A_DEAD_ONE)
    assert status == 1
    assert re.search(rf"member 0 .*member {dead} was silent", said), said


def test_an_attack_changes_nothing(lab: labs.Lab) -> None:
    status, counted, said = run(lab, "--messages", "40", "--size", "1M", attack=2000)
    assert status == 0, said
    for kind in ("forged", "malformed", "foreign", "replayed"):
        assert counted[kind] > 1000, f"{kind}: {said}"
    assert "senseless" not in counted


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--hosts", "10.0.0.1", "--me", "1"], "members are 0 to 0"),
        (["--hosts", "10.0.0.1", "--me", "0"], "10.0.0.1"),
        (["--hosts", "127.0.0.1", "--me", "0", "--secret", "12"], "hexadecimal"),
        (["--hosts", "127.0.0.1", "--me", "0", "--group-address", "10.0.0.1"], "is no group"),
        (["--hosts", "127.0.0.1", "--me", "0", "--kill", "x"], "MEMBER:SECONDS"),
        (["--hosts", "127.0.0.1", "--me", "0", "--size", "much"], "is no size"),
    ],
)
def test_what_is_wrong_is_said(options: list[str], reason: str) -> None:
    done = subprocess.run(
        [str(places.program("unisono-multicast")), "run", *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode != 0
    assert reason in done.stderr + done.stdout
