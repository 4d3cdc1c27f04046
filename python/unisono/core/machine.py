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


def quota_of(folder: Path) -> float | None:
    """What one control group allows: in version 2 a file, in version 1 two."""
    limit = (read(folder / "cpu.max") or "").split()
    if len(limit) != 2:
        limit = [read(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
    numbers = [int(text) for text in limit if text.isdecimal()]
    return numbers[0] / numbers[1] if len(numbers) == 2 and all(numbers) else None


def smallest_quota(top: Path, group: str) -> float | None:
    """The smallest quota on the way from a group to the top. Within a container the group's path may be the
    host's, which is not there, and the top the container's own."""
    folder = top / group.lstrip("/")
    folders = [folder, *(parent for parent in folder.parents if parent.is_relative_to(top))]
    return min((quota for quota in map(quota_of, folders) if quota is not None), default=None)


def cores(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Cores:
    quotas = []
    for line in (read(own) or "0::/").splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers:
            quotas.append(smallest_quota(root, group))
        elif "cpu" in controllers.split(","):
            quotas += [smallest_quota(root / name, group) for name in ("cpu", controllers)]
    return Cores(
        online=os.cpu_count() or 1,
        allowed=len(os.sched_getaffinity(0)),
        quota=min((quota for quota in quotas if quota is not None), default=None),
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
