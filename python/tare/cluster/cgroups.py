"""A node's cgroup: CPU quota, memory limit, and the list of its processes. Takes cgroup v2, v1 and their hybrid."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.errors import ServerFailed

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 20_000


@dataclass(frozen=True, slots=True)
class Limits:
    cpus: float | None = None
    memory_bytes: int | None = None


def is_v2() -> bool:
    return (_ROOT / "cgroup.controllers").exists()


def folders(name: str) -> list[Path]:
    """Folders of the group: a single one in v2, one for each controller in v1."""
    if is_v2():
        return [_ROOT / name]
    return [_ROOT / controller / name for controller in ("cpu", "memory") if (_ROOT / controller).is_dir()]


def make(folder: Path, limits: Limits) -> None:
    """Make the group and set its limits. Raises ServerFailed where the kernel refuses.

    Controllers that the root group has not enabled stay so: enabling them would change the machine for everybody."""
    try:
        folder.mkdir(exist_ok=True)
        for file, value in _settings(folder, limits):
            (folder / file).write_text(value)
    except OSError as error:
        raise ServerFailed(
            f"the cgroup {folder} could not be set up: {error}",
            "leave out --cpus and --memory, or enable the controllers cpu and memory in "
            f"{_ROOT}/cgroup.subtree_control",
        ) from error


def processes(folder: Path) -> list[int]:
    try:
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def throttled_s(name: str) -> float | None:
    """Time for which the quota stopped the group; None where the kernel does not report it."""
    for folder in folders(name):
        with suppress(OSError, ValueError):
            pairs = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
            if "throttled_usec" in pairs:
                return int(pairs["throttled_usec"]) / 1e6
            if "throttled_time" in pairs:
                return int(pairs["throttled_time"]) / 1e9
    return None


def _settings(folder: Path, limits: Limits) -> list[tuple[str, str]]:
    quota = None if limits.cpus is None else round(limits.cpus * _PERIOD_US)
    settings: list[tuple[str, str]] = []
    if is_v2():
        if quota is not None:
            settings.append(("cpu.max", f"{quota} {_PERIOD_US}"))
        if limits.memory_bytes is not None:
            settings.append(("memory.max", str(limits.memory_bytes)))
    elif folder.parent.name == "cpu":
        if quota is not None:
            settings += [("cpu.cfs_period_us", str(_PERIOD_US)), ("cpu.cfs_quota_us", str(quota))]
    elif limits.memory_bytes is not None:
        settings.append(("memory.limit_in_bytes", str(limits.memory_bytes)))
    return settings
