"""The lab as it is: made, used, broken and removed. Needs root, namespaces and tc; says so otherwise."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from unisono import lab as labs
from unisono.core import errors
from unisono.lab import check, cluster, layout, network, sockets
from unisono.lab.cluster import Lab

PROGRAM = [sys.executable, str(Path(__file__).with_name("lab_program.py"))]
NAME = f"test-{os.getpid()}"


def obstacle() -> str | None:
    """Why the lab cannot be tested here. Its own words, not the lab's: a bug must not skip its test."""
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("ip", "tc", "nsenter", "unshare"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    needs = "mount -t sysfs none /sys && ip link add bridge0 type bridge"
    needs += " && ip link add veth0 type veth peer name veth1"
    needs += " && tc qdisc add dev veth0 root tbf rate 1mbit burst 64kb limit 64kb"
    done = subprocess.run(
        ["unshare", "--net", "--uts", "--ipc", "--mount", "sh", "-c", needs],
        check=False,
        capture_output=True,
        text=True,
    )
    return f"no namespaces or shapers here: {done.stderr.strip()}" if done.returncode else None


REASON = obstacle()
lab_marks = [pytest.mark.lab, pytest.mark.skipif(REASON is not None, reason=str(REASON))]
pytestmark = lab_marks


def outside() -> dict[str, object]:
    """What of the machine a lab could touch."""
    settings = Path("/proc/sys/net/ipv4")
    links = subprocess.run(["ip", "-o", "link"], check=True, capture_output=True, text=True).stdout
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return {
        "links": [line.split()[1] for line in links.splitlines()],
        "mounts": sorted(point for point in mounts if not point.startswith(str(cluster.ROOT))),
        "host name": socket.gethostname(),
        "hosts": Path("/etc/hosts").read_text(),
        "congestion": (settings / "tcp_congestion_control").read_text(),
        "allowed": (settings / "tcp_allowed_congestion_control").read_text(),
    }


def nothing_left() -> bool:
    return not (cluster.ROOT / NAME).exists() and not network.mounts_under(cluster.ROOT / NAME)


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def own_lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Labs of other names may be in use on this machine."""
    monkeypatch.setenv("UNISONO_LAB", NAME)
    yield
    network.down(NAME)


def up(**options: Any) -> Lab:
    assert network.up(NAME, layout.Plan(**options))
    return labs.current()


def test_up_and_down_touch_nothing_else(unisono: Run) -> None:
    before = outside()
    assert unisono("lab", "up", "--hosts", "5", "--switches", "2").returncode == 0
    assert outside() == before
    assert "5 hosts at 100mbit, 2 switches joined at 100mbit" in unisono("lab", "status").stdout
    done = unisono("lab", "down")
    assert (done.returncode, done.stdout.strip()) == (0, f"lab {NAME} is down")
    assert nothing_left()
    assert outside() == before


def test_up_twice(unisono: Run) -> None:
    assert unisono("lab", "up", "--hosts", "2").returncode == 0
    again = unisono("lab", "up", "--hosts", "2")
    assert again.returncode == 0
    assert f"lab {NAME} is up already" in again.stdout
    other = unisono("lab", "up", "--hosts", "3")
    assert other.returncode == errors.SETUP
    assert f"lab {NAME} is up with other options" in other.stderr
    assert len(labs.current().hosts) == 2


def test_down_without_up(unisono: Run) -> None:
    done = unisono("lab", "down")
    assert (done.returncode, done.stdout.strip()) == (0, f"lab {NAME} was not up: nothing to do")
    assert nothing_left()


def path_with(tmp_path: Path, tool: str, script: str) -> str:
    """A PATH on which one tool is replaced."""
    (tmp_path / tool).write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / tool).chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def interrupted_up(tmp_path: Path, number: signal.Signals) -> int:
    """`up` of 4 hosts gets a signal while the switch is being made."""
    reached = tmp_path / "reached"
    path = path_with(tmp_path, "tc", f"touch {reached}; exec sleep 600")
    running = subprocess.Popen(
        [sys.executable, "-m", "unisono.cli", "lab", "up", "--hosts", "4"], env=os.environ | {"PATH": path}
    )
    wait_for(reached.exists, "the first call of tc")
    running.send_signal(number)
    return running.wait(timeout=60)


def test_a_killed_up_is_cleaned_by_down(unisono: Run, tmp_path: Path) -> None:
    before = outside()
    assert interrupted_up(tmp_path, signal.SIGKILL) == -signal.SIGKILL
    folder = cluster.ROOT / NAME
    assert network.mounts_under(folder) and network.processes_in(folder)
    status = unisono("lab", "status")
    assert status.returncode == errors.SETUP
    assert f"no lab is up: making {NAME} was interrupted" in status.stderr
    assert unisono("lab", "down").returncode == 0
    assert nothing_left()
    assert outside() == before


def test_a_killed_up_is_cleaned_by_up(tmp_path: Path) -> None:
    interrupted_up(tmp_path, signal.SIGKILL)
    lab = up(hosts=3)
    assert check.check_names(lab).good and len(lab.hosts) == 3


def test_a_terminated_up_cleans_up(tmp_path: Path) -> None:
    assert interrupted_up(tmp_path, signal.SIGTERM) == 128 + signal.SIGTERM
    assert nothing_left()


def test_an_up_that_fails_says_why_and_leaves_nothing(unisono: Run, tmp_path: Path) -> None:
    path = path_with(tmp_path, "tc", 'echo "Error: Specified qdisc kind is unknown." >&2; exit 2')
    done = unisono("lab", "up", "--hosts", "4", PATH=path)
    assert done.returncode == errors.SETUP
    assert "Specified qdisc kind is unknown" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert nothing_left()


def test_one_at_a_time(unisono: Run) -> None:
    with network.alone(NAME):
        done = unisono("lab", "up", "--hosts", "2")
    assert done.returncode == errors.SETUP
    assert f"lab {NAME} is being made or removed right now" in done.stderr


def test_down_while_a_shell_stands_in_the_directory(unisono: Run) -> None:
    up(hosts=2)
    shell = subprocess.Popen(["sleep", "600"], cwd=cluster.ROOT / NAME / "h1")
    try:
        assert unisono("lab", "down").returncode == 0
        assert nothing_left()
    finally:
        shell.kill()
        shell.wait()


def test_down_from_within_is_refused(unisono: Run) -> None:
    up(hosts=2)
    done = unisono("lab", "shell", "h0", f"{sys.executable} -m unisono.cli lab down")
    assert done.returncode == errors.SETUP
    assert f"this is a host of lab {NAME}" in done.stderr
    assert len(labs.current().hosts) == 2


@pytest.mark.parametrize(("hosts", "switches"), [(4, 1), (16, 3), (32, 2)])
def test_the_network(hosts: int, switches: int) -> None:
    lab = up(hosts=hosts, switches=switches)
    for result in (
        check.check_names(lab),
        check.check_reach(lab),
        check.check_multicast(lab),
        check.check_pruning(lab),
    ):
        assert result.good, result


def test_names_and_shared_memory_are_a_hosts_own(unisono: Run) -> None:
    up(hosts=2)
    unisono("lab", "shell", "h1", "touch /dev/shm/of-h1; ipcmk -M 4096")
    seen = unisono("lab", "shell", "h1", "uname -n; ls /dev/shm; ls /sys/class/net; ipcs -m | grep -c 4096")
    assert seen.stdout.split() == ["h1", "of-h1", "eth0", "lo", "1"]
    other = unisono("lab", "shell", "h0", "uname -n; ls /dev/shm; ipcs -m | grep -c 4096")
    assert other.stdout.split() == ["h0", "0"]


def test_shell(unisono: Run) -> None:
    up(hosts=2)
    assert unisono("lab", "shell", "h1", "exit", "7").returncode == 7
    assert unisono("lab", "shell", "h1", "--", "exit", "7").returncode == 7
    unknown = unisono("lab", "shell", "h2", "true")
    assert unknown.returncode == 2
    assert "h2: hosts are h0 to h1" in unknown.stderr


def transfer(lab: Lab, sender: str, receiver: str, size: int) -> float:
    """Seconds that a TCP connection takes for so many bytes."""
    near, far = sockets.tcp_pair(lab, sender, receiver, check.PORT)
    near.setblocking(True)
    far.setblocking(True)
    assert sockets.congestion_control(near) == sockets.congestion_control(far) == "cubic"
    with near, far:
        child = os.fork()
        if child == 0:
            near.sendall(bytes(size))
            os._exit(0)
        start, left = time.monotonic(), size
        while left:
            left -= len(far.recv(1 << 16))
        os.waitpid(child, 0)
        return time.monotonic() - start


def test_no_faster_than_the_slowest_cable() -> None:
    # A busy machine can only be slower; so this holds everywhere. Each shaper passes some at once.
    lab = up(hosts=4, rate=20000000, switches=2, uplink=5000000, speed={"h1": 0.5})
    size, burst = 500_000, 3 * layout.burst(2e7)
    for sender, receiver, rate in (
        ("h0", "h1", 1e7),
        ("h1", "h0", 1e7),
        ("h3", "h2", 2e7),
        ("h0", "h2", 5e6),
    ):
        assert transfer(lab, sender, receiver, size) >= (size - burst) * 8 / rate


def counter(lab: Lab, host: str, column: int) -> int:
    """Of /proc/net/dev, for the host's port."""
    with sockets.network_of(lab, host):
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    return int(next(line.split(":")[1].split()[column] for line in lines if "eth0:" in line))


def bytes_into(lab: Lab, host: str) -> int:
    return counter(lab, host, 0)


def packets_out_of(lab: Lab, host: str) -> int:
    """Frames, or trains of them that were handed down as one."""
    return counter(lab, host, 9)


def test_trains_are_short_and_pass_the_shaper_whole() -> None:
    # Longer ones than its burst a shaper would cut into single frames, twice as many here.
    lab = up(hosts=2, rate=50_000_000)
    size, frame = 2_000_000, 1448  # bytes of TCP's in a frame
    before = packets_out_of(lab, "h0")
    transfer(lab, "h0", "h1", size)
    trains = size / (lab.plan.frames_in_a_train(lab.hosts[0]) * frame)
    assert trains <= packets_out_of(lab, "h0") - before < 1.5 * trains


def corked(lab: Lab, host: str) -> int:
    """How often its TCP kept the end of a message back until what was before it had left."""
    with sockets.network_of(lab, host):
        lines = Path("/proc/thread-self/net/netstat").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("TcpExt:"))
    return int(values[names.index("TCPAutoCorking")])


def test_the_end_of_a_message_is_not_kept_back() -> None:
    # Behind a shaper without credit: 10 KB take 16 ms, and the end is not a whole train.
    lab = up(hosts=2, rate=5_000_000)
    near, far = sockets.tcp_pair(lab, "h0", "h1", check.PORT)
    with near, far:
        far.setblocking(True)
        for _ in range(10):
            near.sendall(bytes(10_000))
            left = 10_000
            while left:
                left -= len(far.recv(left))
    assert corked(lab, "h0") == 0


def received_of(lab: Lab, sender: str, receiver: str, count: int) -> int:
    address = next(host.address for host in lab.hosts if host.name == receiver)
    with sockets.udp(lab, receiver, check.PORT) as far, sockets.udp(lab, sender, 0) as near:
        near.setblocking(True)
        got = 0
        for i in range(count):
            near.sendto(b"x", (address, check.PORT))
            far.settimeout(1.0 if i == count - 1 else 0.0)
            try:
                while far.recv(16):
                    got += 1
            except (BlockingIOError, TimeoutError):
                continue
        return got


def test_loss_at_one_host() -> None:
    lab = up(hosts=3, loss_on={"h1": 0.3})
    count = 2000
    for sender in ("h0", "h2"):
        # Ten standard deviations of the binomial distribution.
        lost = count - received_of(lab, sender, "h1", count)
        assert abs(lost - 0.3 * count) < 10 * (count * 0.3 * 0.7) ** 0.5
    assert received_of(lab, "h0", "h2", count) == count


def test_loss_everywhere() -> None:
    lab = up(hosts=2, loss=0.05)
    assert 0 < received_of(lab, "h0", "h1", 2000) < 2000
    assert 0 < received_of(lab, "h1", "h0", 2000) < 2000
    assert "not judged" in check.judge_flows(*check.ring(lab, 0.5, 0.1), lab.plan.lossy())[1].seen


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
@pytest.mark.parametrize(("hosts", "ranks", "on_node"), [(4, 4, 1), (2, 4, 2)])
def test_a_program(unisono: Run, mpi: str, hosts: int, ranks: int, on_node: int) -> None:
    lab = up(hosts=hosts)
    before = [bytes_into(lab, host.name) for host in lab.hosts]
    done = unisono("lab", "run", "--mpi", mpi, "-n", str(ranks), "--force", "bcast=chain", "--log", *PROGRAM)
    assert done.returncode == 0, done.stderr
    lines = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda line: line["rank"])
    assert [line["rank"] for line in lines] == list(range(ranks))
    assert [line["name"] for line in lines] == [f"h{rank // on_node}" for rank in range(ranks)]
    assert all(line["ranks"] == ranks and line["on_node"] == on_node and line["right"] for line in lines)
    assert all(line["forced"] == "chain" and line["preloaded"] for line in lines)
    assert "chain" in done.stderr
    # A megabyte went to each host through its port, and not around it.
    grown = [bytes_into(lab, host.name) - count for host, count in zip(lab.hosts, before, strict=True)]
    assert all(count > 1 << 20 for count in grown[1:])


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_native(unisono: Run, mpi: str) -> None:
    up(hosts=2)
    done = unisono("lab", "run", "--mpi", mpi, "--native", *PROGRAM)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(line["name"] for line in lines) == ["h0", "h1"]
    assert all(line["right"] and not line["preloaded"] for line in lines)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_ends_everywhere(mpi: str, number: signal.Signals) -> None:
    lab = up(hosts=3)
    arguments = ["lab", "run", "--mpi", mpi, "-n", "3", "--native", *PROGRAM, "--wait"]
    running = subprocess.Popen(
        [sys.executable, "-m", "unisono.cli", *arguments], stdout=subprocess.PIPE, text=True
    )
    assert running.stdout
    for _ in range(3):
        assert json.loads(running.stdout.readline())["right"]
    running.send_signal(number)
    running.wait(timeout=60)
    running.stdout.close()
    wait_for(lambda: not network.processes_in(lab.folder), "the ranks to end")


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_down_ends_what_still_runs(unisono: Run, mpi: str) -> None:
    up(hosts=3)
    arguments = ["lab", "run", "--mpi", mpi, "-n", "3", *PROGRAM, "--wait"]
    running = subprocess.Popen(
        [sys.executable, "-m", "unisono.cli", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout and running.stderr
    for _ in range(3):
        running.stdout.readline()
    assert unisono("lab", "down").returncode == 0
    assert running.wait(timeout=60) != 0
    running.stdout.close()
    running.stderr.close()
    assert nothing_left()


def test_too_many_ranks(unisono: Run) -> None:
    up(hosts=2)
    done = unisono("lab", "run", "--mpi", "mpich", "-n", "5", "--ppn", "2", "true")
    assert done.returncode == 2
    assert "5 ranks do not fit: 2 hosts of 2 ranks each" in done.stderr


def test_check_prints_every_part(unisono: Run) -> None:
    up(hosts=3, rate=5000000)
    done = unisono("lab", "check", "--budget", "0.5")
    parts = ["names", "reach", "multicast", "pruning", "tcp", "flows", "sent again", "machine"]
    for part, line in zip(parts, done.stdout.splitlines(), strict=False):
        assert line.split(None, 1)[1].startswith(part)
    assert done.returncode == (1 if "FAILED" in done.stdout else 0)
