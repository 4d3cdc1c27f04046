"""Sockets of one process in the network namespaces of many hosts."""

import ctypes
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unisono.core.errors import SetupError
from unisono.lab.cluster import Lab

CLONE_NEWNET = 0x40000000


def enter_network(descriptor: int) -> None:
    # os.setns is new in Python 3.12.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise SetupError(f"lab: cannot enter a network namespace: {reason}")


@contextmanager
def network_of(lab: Lab, host: str) -> Iterator[None]:
    """What this thread opens within the block belongs to that host, for as long as it is open."""
    with Path("/proc/thread-self/ns/net").open("rb") as home, (lab.folder / host / "net").open("rb") as there:
        enter_network(there.fileno())
        try:
            yield
        finally:
            enter_network(home.fileno())


def udp(lab: Lab, host: str, port: int, address: str = "") -> socket.socket:
    with network_of(lab, host):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    made.setblocking(False)
    return made


def tcp_pair(lab: Lab, sender: str, receiver: str, port: int) -> tuple[socket.socket, socket.socket]:
    """A connection between two hosts: both of its ends."""
    addresses = {host.name: host.address for host in lab.hosts}
    with network_of(lab, receiver):
        listening = socket.create_server((addresses[receiver], port), backlog=1)
    with listening:
        with network_of(lab, sender):
            near = socket.socket()
        near.settimeout(10)
        near.connect((addresses[receiver], port))
        listening.settimeout(10)
        far, _ = listening.accept()
    near.setblocking(False)
    far.setblocking(False)
    return near, far


def congestion_control(connection: socket.socket) -> str:
    name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return name.split(b"\0")[0].decode()


def retransmissions(connection: socket.socket) -> int:
    """tcpi_total_retrans of struct tcp_info in linux/tcp.h: eight bytes, then the 24th number."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return int.from_bytes(info[100:104], sys.byteorder)
