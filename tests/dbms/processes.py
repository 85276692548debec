"""Reading /proc beside the adapter, to check what it says of processes."""

from __future__ import annotations

from pathlib import Path


def ran_and_waited_ns(pid: int, tid: int | None = None) -> int:
    """CPU time so far and time spent waiting for a CPU: what a busy machine takes away is in it."""
    return sum(sum(int(part) for part in text.split()[:2]) for text in _schedstats(pid, tid))


def run_ns(pid: int, tid: int | None = None) -> int:
    """CPU time so far of one thread, or of all threads of the process (the scheduler's clock)."""
    return sum(int(text.split()[0]) for text in _schedstats(pid, tid))


def _schedstats(pid: int, tid: int | None) -> list[str]:
    tasks = [Path(f"/proc/{pid}/task/{tid}")] if tid else list(Path(f"/proc/{pid}/task").iterdir())
    return [(task / "schedstat").read_text() for task in tasks]


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(stat.parent.name))
    return found
