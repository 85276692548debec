"""The kernel's own counters of processes and networks, against which a trace is checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.dbms import local


@dataclass(frozen=True, slots=True)
class ProcessCounters:
    """`started`: start time in clock ticks, which tells a process from a later one of the same id. `rchar` and others:
    /proc/PID/io, None where it may not be read; they include threads that ended. `cpu_ns` and `run_queue_ns`: of the
    threads that live."""

    started: int
    name: str
    title: str
    threads: frozenset[int]
    cpu_ns: int
    run_queue_ns: int
    faults: int
    rchar: int | None
    wchar: int | None
    syscr: int | None
    syscw: int | None
    read_bytes: int | None
    write_bytes: int | None


@dataclass(frozen=True, slots=True)
class NetworkCounters:
    """Packets and bytes of all links of a network namespace but the loopback one."""

    received_bytes: int = 0
    received_packets: int = 0
    sent_bytes: int = 0
    sent_packets: int = 0


def read_process(pid: int) -> ProcessCounters | None:
    """None if the process is gone."""
    place = Path("/proc", str(pid))
    try:
        start, _, rest = (place / "stat").read_text().rpartition(")")
        fields = rest.split()
        threads = frozenset(int(entry.name) for entry in (place / "task").iterdir())
        times = [_times(place, thread) for thread in threads]
    except OSError:
        return None
    io = _io(place)
    return ProcessCounters(
        started=int(fields[19]),
        name=start.partition("(")[2],
        title=" ".join(local.command_line(pid)).strip(),
        threads=threads,
        cpu_ns=sum(cpu_ns for cpu_ns, _ in times),
        run_queue_ns=sum(run_queue_ns for _, run_queue_ns in times),
        faults=int(fields[7]) + int(fields[9]),
        rchar=io.get("rchar"),
        wchar=io.get("wchar"),
        syscr=io.get("syscr"),
        syscw=io.get("syscw"),
        read_bytes=io.get("read_bytes"),
        write_bytes=io.get("write_bytes"),
    )


def read_processes(pids: Iterable[int]) -> dict[int, ProcessCounters]:
    found = {pid: read_process(pid) for pid in pids}
    return {pid: counters for pid, counters in found.items() if counters is not None}


def processes_of_namespace(number: int) -> list[int]:
    """Ids of the processes in a network namespace, by its inode number."""
    return [pid for pid in local.processes() if network_of(pid) == number]


def network_of(pid: int) -> int | None:
    """Inode number of a process's network namespace; None if it cannot be read."""
    try:
        return Path("/proc", str(pid), "ns", "net").stat().st_ino
    except OSError:
        return None


def read_networks(nodes: Mapping[int, int]) -> dict[int, NetworkCounters]:
    """Counters by node, from the nodes of processes. Left out is a node in the network of Tare itself."""
    own = network_of(os.getpid())
    found: dict[int, NetworkCounters] = {}
    for pid, node in nodes.items():
        if node not in found and network_of(pid) not in (own, None):
            network = read_network(pid)
            if network is not None:
                found[node] = network
    return found


def read_network(pid: int) -> NetworkCounters | None:
    """Counters of the network namespace of a process; None if they cannot be read."""
    try:
        lines = Path("/proc", str(pid), "net", "dev").read_text().splitlines()[2:]
    except OSError:
        return None
    rows = [
        [int(value) for value in values.split()]
        for name, _, values in (line.partition(":") for line in lines)
        if name.strip() != "lo"
    ]
    return NetworkCounters(
        received_bytes=sum(row[0] for row in rows),
        received_packets=sum(row[1] for row in rows),
        sent_bytes=sum(row[8] for row in rows),
        sent_packets=sum(row[9] for row in rows),
    )


def _times(place: Path, thread: int) -> tuple[int, int]:
    """Time on a CPU and time runnable, ns."""
    try:
        cpu_ns, run_queue_ns, _ = (place / "task" / str(thread) / "schedstat").read_text().split()
        return int(cpu_ns), int(run_queue_ns)
    except (OSError, ValueError):
        return 0, 0


def _io(place: Path) -> dict[str, int]:
    try:
        lines = (place / "io").read_text().splitlines()
    except OSError:
        return {}
    return {name: int(value) for name, _, value in (line.partition(":") for line in lines)}
