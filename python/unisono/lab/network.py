"""Makes and removes a lab: the calls of ip, tc, unshare and mount."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from unisono.core.errors import SetupError, UnisonoError
from unisono.lab import layout, owner
from unisono.lab.cluster import READY_FILE, ROOT, is_stale, read_plan, trusted, write_plan

SWITCH = "switch"
NAMESPACES = ("net", "uts", "ipc")
TOOLS = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}


def demand_root_and_tools() -> None:
    if os.geteuid() != 0:
        raise SetupError("the lab makes network namespaces: run it as root, as in sudo unisono lab up")
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise SetupError(f"{tool} is missing: install {package}")


def failure(line: Sequence[str], stderr: str) -> UnisonoError:
    said = []
    for part in filter(None, (part.strip() for part in stderr.splitlines())):
        # ip and tc name a line of their batch, which will be gone when this is read.
        match = re.fullmatch(r"Command failed (.+):(\d+)", part)
        said.append(batch_line(Path(match[1]), int(match[2])) if match else part)
    reason = " / ".join(said) or "no reason given"
    return SetupError(f"lab: {line[0]} failed: {reason}; the kernel or the container may not allow it")


def batch_line(file: Path, number: int) -> str:
    try:
        return f"in: {file.name} {file.read_text().splitlines()[number - 1]}"
    except (OSError, IndexError):
        return f"line {number} of {file}"


def inside(folder: Path) -> list[str]:
    return ["nsenter", *(f"--{kind}={folder / kind}" for kind in NAMESPACES)]


def call_all(lines: Sequence[list[str]]) -> None:
    """Starts all, then waits for all; the first failure is raised."""
    running = [
        (line, subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        for line in lines
    ]
    said = [process.communicate()[1] for _, process in running]
    for (line, process), stderr in zip(running, said, strict=True):
        if process.returncode != 0:
            raise failure(line, stderr)


# What a shell does in each new namespace: hosts without IPv6 keep silent until they are asked to talk,
# frames through a bridge need not visit the packet filter, and the last frames of a message do not wait
# until those before have left, as in a train of a network card they would not (docs/adr/0047).
CONFIGURE = """
set_if_there() { [ ! -e "/proc/sys/net/$1" ] || echo "$2" >"/proc/sys/net/$1"; }
set_if_there ipv6/conf/all/disable_ipv6 1
set_if_there ipv6/conf/default/disable_ipv6 1
set_if_there bridge/bridge-nf-call-iptables 0
set_if_there ipv4/tcp_autocorking 0
ip -batch "$1/ip" && tc -batch "$1/tc"
"""


def make_namespaces(folder: Path, names: Sequence[str]) -> None:
    lines = []
    for name in names:
        home = folder / name
        (home / "shm").mkdir(parents=True, mode=0o755)
        (home / "shm").chmod(0o1777)
        for kind in NAMESPACES:
            (home / kind).touch()
        options = [f"--{kind}={home / kind}" for kind in NAMESPACES]
        script = "echo $1 >/proc/sys/kernel/hostname"
        lines.append(["unshare", *options, "sh", "-c", script, "sh", name])
    call_all(lines)


def configure(folder: Path, batches: dict[str, layout.Batch]) -> None:
    lines = []
    for name, batch in batches.items():
        home = folder / name
        (home / "ip").write_text("\n".join(batch.ip) + "\n")
        (home / "tc").write_text("\n".join(batch.tc) + "\n")
        lines.append([*inside(home), "sh", "-c", CONFIGURE, "sh", str(home)])
    call_all(lines)


def alone(name: str) -> socket.socket:
    """A lock that the kernel gives back however we end: an abstract socket's name."""
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind(f"\0unisono-lab-{name}")
    except OSError:
        lock.close()
        raise SetupError(f"lab {name} is being made or removed right now: wait for it") from None
    return lock


def up(name: str, plan: layout.Plan) -> bool:
    """False when exactly this lab was up already."""
    demand_root_and_tools()
    with alone(name):
        folder = trusted(name)
        if (folder / READY_FILE).exists() and not is_stale(folder):
            owner.refuse_others(
                folder, f"take another name, as in unisono lab up --name {name}-2, and UNISONO_LAB={name}-2"
            )
            if read_plan(folder) == plan:
                return False
            raise SetupError(
                f"lab {name} is up with other options (see unisono lab status): run unisono lab down "
                f"first, or take "
                f"another name, as in --name {name}-2"
            )
        remove(folder)
        try:
            build(folder, plan)
        except BaseException:
            remove(folder)
            raise
    return True


def build(folder: Path, plan: layout.Plan) -> None:
    folder.mkdir(parents=True, mode=0o755)
    # A file system of its own: in one stroke gone, executable whatever /run is, and private, so that
    # the namespace files mounted in it do not spread to other mount namespaces.
    call_all([["mount", "--make-private", "-t", "tmpfs", "-o", "mode=755", "unisono-lab", str(folder)]])
    owner.write(folder)
    write_plan(folder, plan)
    (folder / "hosts").write_text(layout.hosts_file(plan))
    (folder / "cgroup").mkdir()
    enter = folder / "enter"
    shutil.copyfile(Path(__file__).with_name("enter.sh"), enter)
    enter.chmod(0o755)
    hosts = plan.all_hosts()
    make_namespaces(folder, [SWITCH, *(host.name for host in hosts)])
    configure(folder, {SWITCH: layout.switch_batch(plan, f"{folder}/{{}}/net")})
    configure(folder, {host.name: layout.host_batch(plan, host) for host in hosts})
    (folder / READY_FILE).touch()


def down(name: str, force: bool = False) -> bool:
    """False when there was nothing to remove. What an interrupted `up` left, or a restart of the machine, is
    nobody's."""
    demand_root_and_tools()
    with alone(name):
        folder = trusted(name)
        if (folder / READY_FILE).exists() and not is_stale(folder) and not force:
            owner.refuse_others(folder, "--any-owner removes it, and ends what runs in it")
        return remove(folder)


def mounts_under(folder: Path) -> list[str]:
    """Innermost first."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = line.split()[4]
        if point == str(folder) or point.startswith(f"{folder}/"):
            found.append(point)
    return found[::-1]


def identity(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_dev, state.st_ino


def processes_in(folder: Path, host: str = "*") -> list[int]:
    """Those in the network namespaces of this lab, which are ours alone."""
    # The device too: before a namespace is mounted on it, the file is one like any other.
    ours = {identity(file) for file in folder.glob(f"{host}/net")}
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and identity(process / "ns" / "net") in ours:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def end_processes(folder: Path) -> None:
    for number, patience in ((signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0)):
        processes = processes_in(folder)
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue
        deadline = time.monotonic() + patience
        while processes and time.monotonic() < deadline:
            time.sleep(0.02)
            processes = processes_in(folder)


def remove(folder: Path) -> bool:
    """Whatever there is of a lab, also of one that was interrupted while being made."""
    if not folder.exists():
        return False
    if identity(Path("/proc/self/ns/net")) in {identity(file) for file in folder.glob("*/net")}:
        raise SetupError(f"this is a host of lab {folder.name}: leave it before removing it")
    for last in (False, False, True):
        end_processes(folder)
        try:
            if mounts := mounts_under(folder):
                # Lazily: a shell that stands in the directory shall not keep the lab.
                call_all([["umount", "--lazy", *mounts]])
            shutil.rmtree(folder)
            break
        except (UnisonoError, OSError):
            # What a killed `up` had started may still have been mounting.
            if last:
                raise
            time.sleep(0.2)
    if not any(ROOT.iterdir()):
        ROOT.rmdir()
    return True
