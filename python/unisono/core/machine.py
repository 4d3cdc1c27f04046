"""What this machine gives to a program: cores by affinity and quota, shared memory."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cores:
    online: int
    allowed: int  # by the affinity mask
    quota: float | None  # by the control group, in cores

    @property
    def usable(self) -> int:
        """Ranks beyond this number have no core of their own."""
        return max(1, min(self.allowed, int(self.quota) if self.quota else self.allowed))


def read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def quota_v2(root: Path, group: str) -> float | None:
    """The smallest cpu.max on the way from our group to the top."""
    smallest: float | None = None
    folder = root / group.lstrip("/")
    while True:
        limit = (read(folder / "cpu.max") or "max").split()
        if limit[0] != "max":
            cores = int(limit[0]) / int(limit[1])
            smallest = cores if smallest is None else min(smallest, cores)
        if folder == root or root not in folder.parents:
            return smallest
        folder = folder.parent


def quota_v1(root: Path) -> float | None:
    quota, period = read(root / "cpu/cpu.cfs_quota_us"), read(root / "cpu/cpu.cfs_period_us")
    if quota and period and int(quota) > 0:
        return int(quota) / int(period)
    return None


def cores(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Cores:
    group = "/"
    for line in (read(own) or "").splitlines():
        if line.startswith("0::"):
            group = line[3:]
    quota = quota_v2(root, group)
    return Cores(
        online=os.cpu_count() or 1,
        allowed=len(os.sched_getaffinity(0)),
        quota=quota if quota is not None else quota_v1(root),
    )


def shared_memory() -> tuple[int, int] | None:
    """Size and free bytes of /dev/shm."""
    try:
        state = os.statvfs("/dev/shm")
    except OSError:
        return None
    return state.f_blocks * state.f_frsize, state.f_bavail * state.f_frsize


def cpu_times(niced_is_idle: bool = False) -> tuple[float, float]:
    """Seconds of all cores together, and those of them that were idle; `niced_is_idle`: or spent on work that
    gives way."""
    import psutil  # noqa: PLC0415 - few commands measure

    times = psutil.cpu_times()
    # What runs in a guest is counted under user and nice, too (proc(5)).
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return total, times.idle + times.iowait + (times.nice if niced_is_idle else 0.0)


def busy_share(seconds: float = 0.5) -> float:
    """How much of all cores' time somebody uses now. What runs beside a measurement slows it down."""
    try:
        total, idle = cpu_times()
        time.sleep(seconds)
        total_after, idle_after = cpu_times()
    except OSError:
        return 0.0
    return 1 - (idle_after - idle) / max(1e-9, total_after - total)
