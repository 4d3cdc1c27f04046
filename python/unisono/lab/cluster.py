"""A lab that is up, and how a program is started in it."""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path

from unisono.core import files, launch, places
from unisono.core.errors import SetupError, UnisonoError
from unisono.lab import owner
from unisono.lab.layout import Host, Plan, burst

# Each lab is a directory here: its plan, the files that hold its namespaces, and `enter`.
ROOT = Path("/run/unisono-lab")
PLAN_FILE = "plan.json"
READY_FILE = "ready"


def chosen_name(name: str | None = None) -> str:
    chosen = name or os.environ.get("UNISONO_LAB") or "lab"
    if not chosen.replace("-", "").replace("_", "").isalnum():
        raise UnisonoError(f"lab {chosen}: a name consists of letters, digits, - and _")
    return chosen


def trusted(name: str) -> Path:
    """The folder of that lab, whether it is there or not."""
    for folder in (ROOT, ROOT / name):
        owner.demand_own_folder(folder)
    return ROOT / name


def is_stale(folder: Path) -> bool:
    """Its network is gone: the machine was started anew since."""
    made_by = owner.read(folder)
    return made_by is not None and not made_by.is_of_this_boot()


def all_names() -> list[str]:
    return sorted(folder.name for folder in ROOT.iterdir()) if ROOT.exists() else []


def write_plan(folder: Path, plan: Plan) -> None:
    (folder / PLAN_FILE).write_text(json.dumps(plan.as_data(), indent=2) + "\n")


def read_plan(folder: Path) -> Plan:
    try:
        return Plan(**files.decoded(files.read_bytes(folder / PLAN_FILE)))
    except (OSError, TypeError, ValueError):
        raise SetupError(
            f"lab {folder.name} was made by another version of unisono: run unisono lab down"
        ) from None


@dataclass(frozen=True)
class Lab:
    name: str
    hosts: tuple[Host, ...]
    rate: float  # bits per second of a port
    plan: Plan
    folder: Path

    @property
    def wire_efficiency(self) -> float:
        """Of a full Ethernet frame with its preamble and gap, the share that TCP with timestamps
        gives to the program."""
        return 1448 / 1538

    @property
    def enter(self) -> Path:
        return self.folder / "enter"

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        # exec all the way: a signal to the process that the caller starts reaches the command.
        return [str(self.enter), host, "exec " + shlex.join(command)]

    def command(
        self,
        mpi: places.Mpi,
        ranks: int,
        per_host: int,
        command: Sequence[str],
        environment: Mapping[str, str],
        in_turn: bool = False,
    ) -> tuple[list[str], dict[str, str]]:
        """Command line and environment that run a program on the hosts, `per_host` ranks on each: the first
        so many on the first, or `in_turn`, one on each host and then again.

        mpiexec runs on the first host, so that its connections go over the lab's network too. The
        environment is this process's with `environment` added; both go before what the lab sets.
        """
        hosts = self.hosts[: -(-ranks // per_host)]
        if len(hosts) * per_host < ranks:
            raise UnisonoError(f"{ranks} ranks do not fit on {len(hosts)} hosts of {per_host}")
        settings = dict(OPEN_MPI_SETTINGS if mpi.flavour == "openmpi" else UCX_SETTINGS)
        if mpi.flavour == "openmpi" and per_host > 1:
            settings["OMPI_MCA_btl"] += ",vader" if is_open_mpi_4(mpi) else ",sm"
        if is_open_mpi_4(mpi):
            settings |= {"OMPI_MCA_oob_tcp_if_include": "eth0", "OMPI_MCA_plm_rsh_agent": str(self.enter)}
        settings["UNISONO_BENCH_DRAIN"] = str(max(burst(host.rate) for host in hosts))
        complete = settings | dict(os.environ) | mpi.environment() | dict(environment)
        if mpi.name == places.INTEL:
            complete |= intel_settings()
        if mpi.flavour == "openmpi":
            complete["PRTE_MCA_plm_ssh_agent"] = str(self.enter)
            if in_turn:
                complete["PRTE_MCA_rmaps_default_mapping_policy"] = "node:oversubscribe"
            line = launch.with_variables(mpi, open_mpi_line(mpi, hosts, ranks, per_host), complete)
        else:
            complete["LD_PRELOAD"] = ":".join(filter(None, [str(yielding()), complete.get("LD_PRELOAD")]))
            line = hydra_line(mpi, hosts, ranks, 1 if in_turn else per_host, self.enter)
        return self.on_host(hosts[0].name, [*line, *command]), complete


# MPICH's network layer here is UCX; ranks of one host use MPICH's own shared memory.
UCX_SETTINGS = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}

OPEN_MPI_SETTINGS = {
    "PRTE_MCA_prte_if_include": "eth0",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def is_open_mpi_4(mpi: places.Mpi) -> bool:
    """Its launcher and its shared memory have other names than those of Open MPI 5."""
    return mpi.name == "debian-openmpi"


def intel_settings() -> dict[str, str]:
    """Messages between hosts go by the system's libfabric, which Intel MPI's package has not."""
    if find_library("fabric") is None:
        raise UnisonoError(
            "--mpi intel: in a lab it needs libfabric, which is not there: apt-get install libfabric1"
        )
    return {
        "I_MPI_FABRICS": "shm:ofi",
        "I_MPI_OFI_LIBRARY_INTERNAL": "1",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
    }


def yielding() -> Path:
    """What MPICH's ranks need where they share cores, as Open MPI's have mpi_yield_when_idle."""
    library = places.preload_library("unisono-lab-yield")
    if not library.exists():
        raise SetupError(f"{library} is not built: run make")
    return library


def hydra_line(mpi: places.Mpi, hosts: Sequence[Host], ranks: int, per_host: int, enter: Path) -> list[str]:
    names = ",".join(host.name for host in hosts)
    line = [str(mpi.mpiexec), "-launcher", "ssh", "-launcher-exec", str(enter)]
    return [*line, "-iface", "eth0", "-hosts", names, "-ppn", str(per_host), "-n", str(ranks)]


def open_mpi_line(mpi: places.Mpi, hosts: Sequence[Host], ranks: int, per_host: int) -> list[str]:
    names = ",".join(f"{host.name}:{per_host}" for host in hosts)
    # Every host believes that core 0 is its own: bound, all ranks would share it.
    return [str(mpi.mpiexec), "--host", names, "--bind-to", "none", "-n", str(ranks)]


def current(name: str | None = None) -> Lab:
    """The lab of that name, of UNISONO_LAB, or `lab`."""
    name = chosen_name(name)
    folder = trusted(name)
    if is_stale(folder):
        raise SetupError(
            f"no lab is up: {name} is from before this machine was started; run sudo unisono lab up"
        )
    if not (folder / READY_FILE).exists():
        if folder.exists():
            raise SetupError(f"no lab is up: making {name} was interrupted; run unisono lab down")
        raise SetupError("no lab is up: run sudo unisono lab up")
    plan = read_plan(folder)
    return Lab(name, plan.all_hosts(), float(plan.rate), plan, folder)


def own(name: str | None = None) -> Lab:
    """The same, where it is ours: a program of others in a lab changes what its owner measures there."""
    lab = current(name)
    owner.refuse_others(lab.folder, "take one of your own (unisono lab up --name mine, UNISONO_LAB=mine)")
    return lab
