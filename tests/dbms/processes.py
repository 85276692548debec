"""Reading /proc beside the adapter, to check what it says of processes."""

from __future__ import annotations

from pathlib import Path


def run_ns(pid: int, tid: int | None = None) -> int:
    """CPU time so far of one thread, or of all threads of the process (the scheduler's clock)."""
    tasks = [Path(f"/proc/{pid}/task/{tid}")] if tid else list(Path(f"/proc/{pid}/task").iterdir())
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


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
