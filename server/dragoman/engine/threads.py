"""How many processor cores this process may use: its affinity and its control group's quota."""

import os
from collections.abc import Iterator
from pathlib import Path

_CGROUP_OF_PROCESS = Path("/proc/self/cgroup")
_CGROUP_ROOT = Path("/sys/fs/cgroup")


def available_cores() -> int:
    """Give the cores that the process may keep busy, at least 1.

    `os.cpu_count()` counts the host's; a container's quota and a restricted affinity mask are
    honoured here. A quota of 1.5 cores counts as 1: threads beyond a quota are throttled.
    """
    quota = cgroup_quota(_CGROUP_OF_PROCESS, _CGROUP_ROOT)
    cores = len(os.sched_getaffinity(0))
    return cores if quota is None else max(1, min(cores, int(quota)))


def cgroup_quota(of_process: Path, root: Path) -> float | None:
    """Give the smallest quota, in cores, among a process's control group and its parents.

    Args:
        of_process: the process's `/proc/<pid>/cgroup`.
        root: where control groups are mounted; version 2, or version 1 with its `cpu` below.

    Returns:
        The quota, or None where none is set or it can't be read.
    """
    try:
        lines = of_process.read_text().splitlines()
    except OSError:
        return None
    quotas = [quota for line in lines for quota in _quotas_of(line, root)]
    return min(quotas, default=None)


def _quotas_of(line: str, root: Path) -> Iterator[float]:
    hierarchy, controllers, path = line.split(":", 2)
    if hierarchy == "0":
        mounts, read = [root], _quota_v2
    elif "cpu" in controllers.split(","):
        mounts, read = [root / "cpu", root / controllers], _quota_v1
    else:
        return
    relative = Path(path.lstrip("/"))
    for mount in mounts:
        for directory in (relative, *relative.parents):
            quota = read(mount / directory)
            if quota is not None:
                yield quota


def _quota_v2(directory: Path) -> float | None:
    try:
        quota, period = (directory / "cpu.max").read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError):
        return None


def _quota_v1(directory: Path) -> float | None:
    try:
        quota = int((directory / "cpu.cfs_quota_us").read_text())
        period = int((directory / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None
    return quota / period if quota > 0 and period > 0 else None
