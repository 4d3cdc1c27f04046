"""What a lab consists of, as pure data: hosts, cables, and the lines for ip and tc that make them."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from unisono.core.errors import UnisonoError

# The lab's network is reachable from nowhere else, so any private range will do.
NETWORK = "10.77.0"
PREFIX_LENGTH = 24
MOST_HOSTS = 250

# What a shaper lets through at once after a pause, which no Ethernet does: the timers of a busy machine are
# about as late, and a port that may not make up for it stays below its rate. Before what it times the bench
# sends as much.
MOST_CREDIT = 2e-3  # seconds on the wire
MOST_BURST, LEAST_BURST = 64 << 10, 3028  # bytes; of two frames, below which nothing would pass
PORT_QUEUE = "256kb"
# Full frames that a host holds back, as many as packets in Linux's txqueuelen. With little more than what
# TCP has under way to several others a host drops frames of its own, and waits 200 ms (docs/adr/0031).
HOST_QUEUE = 1000
LEAST_HOST_QUEUE, MOST_HOST_QUEUE = 43, 100_000
FRAME = 1514  # bytes
# A host hands TCP's data down in trains of frames (TSO), and a shaper passes a train as one, when there is
# credit for all of it: 58 KB, 9 ms at 50 Mb/s, in the host and once more in the switch (docs/adr/0046).
LONGEST_TRAIN = 0.5e-3  # seconds on the wire
MOST_FRAMES = 64  # of a train: more than TCP makes

UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}


def rate_of(text: str) -> int:
    """Bits per second, from tc's notation."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(bit|kbit|mbit|gbit)", text.strip().lower())
    rate = round(float(match[1]) * UNITS[match[2]]) if match else 0
    if rate < 10_000:
        raise UnisonoError(f"rate {text}: write a number with kbit, mbit or gbit, at least 10kbit")
    return rate


def rate_text(rate: float) -> str:
    for unit in ("gbit", "mbit", "kbit"):
        if rate >= UNITS[unit]:
            return f"{rate / UNITS[unit]:.10g}{unit}"
    return f"{rate:.10g}bit"


def share_of(text: str) -> float:
    """1% is 0.01."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text.strip())
    share = float(match[1]) / 100 if match else -1.0
    if not 0 <= share < 1:
        raise UnisonoError(f"loss {text}: write a percentage below 100, as in 1% or 0.1%")
    return share


@dataclass(frozen=True)
class Host:
    name: str
    address: str
    hardware: str
    switch: int
    rate: float  # bits per second of its port, in both directions
    loss: float  # share of the frames that arrive here and vanish


@dataclass(frozen=True)
class Plan:
    """What `lab up` was asked for."""

    hosts: int = 16
    rate: int = 100_000_000
    switches: int = 1
    uplink: int | None = None  # between two switches; without it as `rate`
    loss: float = 0.0
    loss_on: Mapping[str, float] = field(default_factory=dict)
    speed: Mapping[str, float] = field(default_factory=dict)  # factor of a host's rate
    host_queue: int = HOST_QUEUE  # frames

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= MOST_HOSTS:
            raise UnisonoError(f"--hosts {self.hosts}: valid are 1 to {MOST_HOSTS}")
        if not 1 <= self.switches <= self.hosts:
            raise UnisonoError(f"--switches {self.switches}: valid are 1 to the number of hosts")
        if self.uplink is not None and self.switches == 1:
            raise UnisonoError("--uplink: there is one switch only; add --switches")
        if not LEAST_HOST_QUEUE <= self.host_queue <= MOST_HOST_QUEUE:
            raise UnisonoError(
                f"--host-queue {self.host_queue}: valid are {LEAST_HOST_QUEUE} to {MOST_HOST_QUEUE} frames"
            )
        names = {f"h{i}" for i in range(self.hosts)}
        for option, values in (("--loss-on", self.loss_on), ("--speed", self.speed)):
            for name in values:
                if name not in names:
                    raise UnisonoError(f"{option} {name}: hosts are h0 to h{self.hosts - 1}")
        for name, factor in self.speed.items():
            if not (0 < factor <= 100 and self.rate * factor >= 10_000):
                raise UnisonoError(f"--speed {name}={factor:g}: leaves a rate that tc cannot keep")

    def all_hosts(self) -> tuple[Host, ...]:
        # Neighbours in rank order share a switch, as the scheduler of a cluster would place them.
        return tuple(
            Host(
                name=f"h{i}",
                address=f"{NETWORK}.{i + 1}",
                hardware=f"02:00:00:00:00:{i + 1:02x}",
                switch=i * self.switches // self.hosts,
                rate=self.rate * self.speed.get(f"h{i}", 1.0),
                loss=self.loss_on.get(f"h{i}", self.loss),
            )
            for i in range(self.hosts)
        )

    def lossy(self) -> bool:
        return self.loss > 0 or any(share > 0 for share in self.loss_on.values())

    def frames_in_a_train(self, host: Host) -> int:
        """One where some get lost: a loss would take the whole train."""
        as_long = int(host.rate * LONGEST_TRAIN / 8 / FRAME)
        return 1 if self.lossy() else min(max(1, as_long), MOST_FRAMES)

    def describe(self) -> str:
        text = f"{self.hosts} hosts at {rate_text(self.rate)}"
        if self.switches > 1:
            text += f", {self.switches} switches joined at {rate_text(self.uplink or self.rate)}"
        if self.loss > 0:
            text += f", loss {self.loss:.4g} of the frames to a host"
        for name, share in self.loss_on.items():
            text += f", {name}: loss {share:.4g}"
        for name, factor in self.speed.items():
            text += f", {name}: speed {factor:g}"
        if self.host_queue != HOST_QUEUE:
            text += f", {self.host_queue} frames in a host"
        return text

    def as_data(self) -> dict[str, object]:
        return asdict(self)


def hosts_file(plan: Plan) -> str:
    lines = ["127.0.0.1 localhost", *(f"{host.address} {host.name}" for host in plan.all_hosts())]
    return "\n".join(lines) + "\n"


def burst(rate: float) -> int:
    """Bytes that a shaper of so many bits per second passes on credit."""
    return min(max(LEAST_BURST, int(rate * MOST_CREDIT / 8)), MOST_BURST)


def shaper(device: str, rate: float, queue: str | int) -> str:
    return (
        f"qdisc add dev {device} root handle 1: tbf rate {round(rate)}bit burst {burst(rate)} limit {queue}"
    )


def drop_some(device: str, share: float) -> list[str]:
    """A share of the arriving frames, drawn at random by a classic BPF program.

    The kernels of small machines lack netem and act_gact; cls_bpf needs neither them nor a compiler.
    SKF_AD_RANDOM (linux/filter.h) is an "offset" whose load gives 32 random bits; TC_ACT_SHOT is 2,
    TC_ACT_UNSPEC is -1.
    """
    load_random = f"32 0 0 {2**32 - 0x1000 + 56}"
    keep_if_at_least = f"53 1 0 {min(round(share * 2**32), 2**32 - 1)}"
    code = f"4,{load_random},{keep_if_at_least},6 0 0 2,6 0 0 {2**32 - 1}"
    return [
        f"qdisc add dev {device} clsact",
        f'filter add dev {device} ingress bpf direct-action bytecode "{code}"',
    ]


@dataclass(frozen=True)
class Batch:
    """Input of `ip -batch` and of `tc -batch` in one network namespace."""

    ip: list[str]
    tc: list[str]


def switch_batch(plan: Plan, host_namespace: str) -> Batch:
    """All switches live in one namespace. The first is the centre of a star of the others.

    `host_namespace` is the path of a host's namespace file, with {} for its name.
    """
    ip, tc = [], []
    for s in range(plan.switches):
        # Ports are forwarding at once. Groups are pruned as soon as an answer to a query must have come:
        # after one second instead of ten, if that is known before the querier starts.
        ip.append(
            f"link add s{s} type bridge stp_state 0 forward_delay 0"
            " mcast_snooping 1 mcast_query_response_interval 100"
        )
        ip.append(f"link set s{s} type bridge mcast_querier 1")
        ip.append(f"link set s{s} up")
    for i, host in enumerate(plan.all_hosts()):
        eth0 = f"eth0 address {host.hardware} netns {host_namespace.format(host.name)}"
        ip.append(f"link add p{i} type veth peer name {eth0}")
        ip.append(f"link set p{i} master s{host.switch} up")
        tc.append(shaper(f"p{i}", host.rate, PORT_QUEUE))
    uplink = plan.uplink or plan.rate
    for s in range(1, plan.switches):
        up, down = f"up{s}", f"down{s}"
        ip.append(f"link add {up} type veth peer name {down}")
        ip.append(f"link set {up} master s{s} up")
        ip.append(f"link set {down} master s0 up")
        # The way to the centre is known to lead to the querier: all groups go there.
        ip.append(f"link set {up} type bridge_slave mcast_router 2")
        tc += [shaper(up, uplink, PORT_QUEUE), shaper(down, uplink, PORT_QUEUE)]
    return Batch(ip, tc)


def host_batch(plan: Plan, host: Host) -> Batch:
    network = f"{NETWORK}.0/{PREFIX_LENGTH}"
    ip = [
        "link set lo up",
        f"addr add {host.address}/{PREFIX_LENGTH} broadcast + dev eth0 noprefixroute",
        f"link set eth0 gso_max_segs {plan.frames_in_a_train(host)} up",
        # The congestion control of a route: in a namespace the sysctl may only name those which the
        # whole machine allows to everyone, and bbr, the standard of some machines, distorts.
        f"route add {network} dev eth0 src {host.address} congctl cubic",
        "route add 224.0.0.0/4 dev eth0",
        # Known for good, as after a while in a cluster. Those which are asked for (ARP) share a table of
        # 1024 entries with all other namespaces, and 32 hosts that talk to each other fill it.
        *(
            f"neigh add {other.address} lladdr {other.hardware} nud permanent dev eth0"
            for other in plan.all_hosts()
            if other != host
        ),
    ]
    tc = [shaper("eth0", host.rate, plan.host_queue * FRAME)]
    if host.loss > 0:
        tc += drop_some("eth0", host.loss)
    return Batch(ip, tc)


def ranks_per_host(ranks: int, hosts: int, chosen: int | None) -> int:
    """Ranks are laid out in blocks: the first so many on h0, the next on h1."""
    per_host = chosen or math.ceil(ranks / hosts)
    if ranks > per_host * hosts:
        raise UnisonoError(
            f"{ranks} ranks do not fit: {hosts} hosts of {per_host} ranks each; raise --ppn or --hosts"
        )
    return per_host
