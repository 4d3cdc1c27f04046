"""The lab's self-test: is it the cluster that its plan says, and can this machine carry it?"""

import select
import selectors
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.core import machine
from unisono.lab import sockets
from unisono.lab.cluster import Lab
from unisono.lab.layout import Host

PORT = 5001
GROUP_OF_ALL = "239.77.0.1"
GROUP_OF_ONE = "239.77.0.2"
# What a flow must reach of its slowest cable's rate. TCP over the lab's shaper could have 1448/1514;
# the acknowledgements of the flow in the other direction pass the same port.
GOOD_FLOW = 0.94
MOST_BUSY = 0.95
# For all datagrams of a check, those sent again included: the hosts may share their cores with busy programs.
PATIENCE = 60.0


@dataclass(frozen=True)
class Result:
    what: str
    good: bool
    seen: str


def some_of(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def check_names(lab: Lab) -> Result:
    """Every host knows its own name, and all others' addresses."""
    names = [host.name for host in lab.hosts]
    asking = [
        subprocess.Popen(
            [str(lab.enter), name, "uname -n; getent hosts " + " ".join(names)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in names
    ]
    known = [[host.address, host.name] for host in lab.hosts]
    wrong = []
    for name, process in zip(names, asking, strict=True):
        own, *others = process.communicate()[0].splitlines() or [""]
        if own != name or [line.split()[:2] for line in others] != known:
            wrong.append(name)
    return Result("names", not wrong, f"wrong on {some_of(wrong)}" if wrong else f"{len(names)} hosts")


def receive_all(receivers: dict[str, socket.socket], expected: set[tuple[str, str]], patience: float) -> None:
    """Takes (receiver, sender's address) out of `expected` as datagrams arrive."""
    owner = {receiver.fileno(): name for name, receiver in receivers.items()}
    deadline = time.monotonic() + patience
    while expected and (left := deadline - time.monotonic()) > 0:
        for number in select.select(list(owner), [], [], left)[0]:
            name = owner[number]
            _, (address, _) = receivers[name].recvfrom(64)
            expected.discard((name, address))


def check_reach(lab: Lab, patience: float = PATIENCE) -> Result:
    """A datagram from every host to every other; lost ones are sent again."""
    receivers = {host.name: sockets.udp(lab, host.name, PORT) for host in lab.hosts}
    expected = {(to.name, by.address) for to in lab.hosts for by in lab.hosts if to != by}
    total = len(expected)
    deadline = time.monotonic() + patience
    while expected and time.monotonic() < deadline:
        for by in lab.hosts:
            for to in lab.hosts:
                if (to.name, by.address) in expected:
                    receivers[by.name].sendto(b"reach", (to.address, PORT))
            receive_all(receivers, expected, 0)
        receive_all(receivers, expected, 1.0)
    for receiver in receivers.values():
        receiver.close()
    missing = [f"{to} from {address}" for to, address in sorted(expected)]
    return Result("reach", not missing, some_of(missing) if missing else f"{total} pairs of hosts")


def member(lab: Lab, host: Host, group: str) -> socket.socket:
    made = sockets.udp(lab, host.name, PORT, group)
    request = socket.inet_aton(group) + socket.inet_aton(host.address)
    with sockets.network_of(lab, host.name):
        made.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
    return made


def check_multicast(lab: Lab, patience: float = PATIENCE) -> Result:
    """Every host sends a datagram to a group of all; each other gets it, or another, sent again."""
    receivers = {host.name: member(lab, host, GROUP_OF_ALL) for host in lab.hosts}
    expected = {(to.name, by.address) for to in lab.hosts for by in lab.hosts if to != by}
    total = len(expected)
    deadline = time.monotonic() + patience
    while expected and time.monotonic() < deadline:
        for by in lab.hosts:
            if any(address == by.address for _, address in expected):
                with sockets.udp(lab, by.name, 0, by.address) as sender:
                    sender.sendto(b"all", (GROUP_OF_ALL, PORT))
            receive_all(receivers, expected, 0.01)
        receive_all(receivers, expected, 0.5)
    for receiver in receivers.values():
        receiver.close()
    missing = [f"{to} from {address}" for to, address in sorted(expected)]
    seen = some_of(missing) if missing else f"{len(lab.hosts)} senders, {total} datagrams received"
    return Result("multicast", not missing, seen)


def frames_into(lab: Lab, host: str) -> int:
    """How many came out of the host's port at the switch."""
    with sockets.network_of(lab, host):
        # The directory of this thread: /proc/net would be that of the process.
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    fields = next(line.split(":")[1].split() for line in lines if line.strip().startswith("eth0:"))
    return int(fields[1])


def check_pruning(lab: Lab, attempts: int = 20, frames: int = 50) -> Result:
    """What goes to a group of one host does not come out of the ports of the others."""
    if len(lab.hosts) < 3:
        return Result("pruning", True, "needs three hosts")
    by, to, *others = lab.hosts
    with member(lab, to, GROUP_OF_ONE), sockets.udp(lab, by.name, 0, by.address) as sender:
        for _ in range(attempts):
            before = {host.name: frames_into(lab, host.name) for host in others}
            for _ in range(frames):
                sender.sendto(b"one", (GROUP_OF_ONE, PORT))
            time.sleep(0.2)
            # Now and then a question of the switch or of a neighbour comes along.
            flooded = [name for name, count in before.items() if frames_into(lab, name) - count >= frames]
            if not flooded:
                return Result("pruning", True, f"{len(others)} ports stayed free of another's group")
    return Result("pruning", False, f"groups of others come out at {some_of(flooded)}")


@dataclass(frozen=True)
class Flow:
    sender: str
    receiver: str
    limit: float  # bits per second of the slowest cable on the way
    rate: float  # of payload
    retransmissions: int
    congestion_control: str


def slowest_cable(lab: Lab, sender: Host, receiver: Host) -> float:
    limit = min(sender.rate, receiver.rate)
    if sender.switch != receiver.switch:
        limit = min(limit, lab.plan.uplink or lab.plan.rate)
    return limit


def ring(lab: Lab, seconds: float, warm_up: float = 1.0) -> tuple[list[Flow], float]:
    """A TCP flow from every host to the next, all at once. Also returns how busy the machine was."""
    links = list(zip(lab.hosts, [*lab.hosts[1:], lab.hosts[0]], strict=True))
    pairs = [sockets.tcp_pair(lab, by.name, to.name, PORT) for by, to in links]
    selector = selectors.DefaultSelector()
    for i, (near, far) in enumerate(pairs):
        selector.register(near, selectors.EVENT_WRITE, None)
        selector.register(far, selectors.EVENT_READ, i)
    received = [0] * len(pairs)
    data, space = bytes(1 << 16), bytearray(1 << 18)

    def pump(duration: float) -> float:
        start = time.monotonic()
        while (now := time.monotonic()) - start < duration:
            for key, _ in selector.select(0.1):
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                try:
                    if key.data is None:
                        connection.send(data)
                    else:
                        received[key.data] += connection.recv_into(space)
                except BlockingIOError:
                    continue
        return now - start

    pump(warm_up)
    retransmitted = [sockets.retransmissions(near) for near, _ in pairs]
    received[:] = [0] * len(pairs)
    all_before, idle_before = machine.cpu_times(niced_is_idle=True)
    duration = pump(seconds)
    all_after, idle_after = machine.cpu_times(niced_is_idle=True)
    flows = [
        Flow(
            by.name,
            to.name,
            slowest_cable(lab, by, to),
            count * 8 / duration,
            sockets.retransmissions(near) - before,
            sockets.congestion_control(near),
        )
        for (by, to), (near, _), count, before in zip(links, pairs, received, retransmitted, strict=True)
    ]
    selector.close()
    for near, far in pairs:
        near.close()
        far.close()
    busy = 1 - (idle_after - idle_before) / max(1e-9, all_after - all_before)
    return flows, busy


def judge_flows(flows: Sequence[Flow], busy: float, lossy: bool) -> list[Result]:
    shares = [flow.rate / flow.limit for flow in flows]
    rates = sorted(flow.rate / 1e6 for flow in flows)
    spread = f"{rates[0]:.2f} to {rates[-1]:.2f} Mb/s, {min(shares):.1%} of its cable or more"
    again = sum(flow.retransmissions for flow in flows)
    other = sorted({flow.congestion_control for flow in flows} - {"cubic"})
    results = [Result("tcp", not other, f"{some_of(other)} instead of cubic" if other else "cubic")]
    if lossy:
        seen = f"{spread}, {again} retransmissions; not judged, as frames get lost on purpose"
        return [*results, Result("flows", True, seen)]
    slow = [
        f"{flow.sender} to {flow.receiver}"
        for flow, share in zip(flows, shares, strict=True)
        if share < GOOD_FLOW
    ]
    return [
        *results,
        Result(
            "flows",
            not slow,
            f"{len(flows)} at once: {spread}" + (f"; slow: {some_of(slow)}" if slow else ""),
        ),
        Result("sent again", again == 0, f"{again} segments"),
        Result("machine", busy <= MOST_BUSY, f"its processors were {busy:.0%} busy meanwhile"),
    ]


def check(lab: Lab, seconds: float) -> Iterator[Result]:
    yield check_names(lab)
    yield check_reach(lab)
    yield check_multicast(lab)
    yield check_pruning(lab)
    if len(lab.hosts) > 1:
        flows, busy = ring(lab, seconds)
        yield from judge_flows(flows, busy, lab.plan.lossy())
