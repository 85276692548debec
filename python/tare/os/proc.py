"""Counts from /proc alone, which need no privilege: time on a CPU, in a run queue, faults, switches and I/O."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tare._probe import TICK_NS
from tare.dbms import local
from tare.dbms.local import Life
from tare.os.counts import Counts
from tare.os.nodes import PROC, parents_now, with_descendants
from tare.os.record import Kept, RoleCounts, Times, summed

_IO = {
    "read_chars": "rchar",
    "write_chars": "wchar",
    "read_calls": "syscr",
    "write_calls": "syscw",
    "read_bytes": "read_bytes",
    "write_bytes": "write_bytes",
}
_SWITCHES = {"voluntary": "voluntary_ctxt_switches", "involuntary": "nonvoluntary_ctxt_switches"}
_USER, _SYSTEM, _MINOR, _MAJOR, _BORN = 11, 12, 7, 9, 19  # places in /proc/PID/stat, from the state on
_RECEIVED, _SENT = 1, 9  # places of packets in a line of /proc/PID/net/dev, behind the interface's name


@dataclass(frozen=True, slots=True)
class ProcThread:
    """Counters of a thread since it was born. None where another user's process hides them."""

    node: int
    tid: int
    tgid: int
    comm: str
    born_ticks: int  # since boot
    born_ns: int  # monotonic
    user_ticks: int
    system_ticks: int
    run_ns: int | None
    run_delay_ns: int | None
    minor_faults: int
    major_faults: int
    switches: tuple[int, int]  # voluntary, involuntary
    io: Mapping[str, int] | None
    title: str = ""  # empty while it lives, as a tracer has it


@dataclass(frozen=True, slots=True)
class ProcReading:
    """Threads of the subject at one moment."""

    at_ns: int
    threads: tuple[ProcThread, ...]


_Pair: TypeAlias = tuple[ProcThread | None, ProcThread]
"""Counters of a thread at both ends of a window; None: born in between."""


class ProcReader:
    """Reads the threads of nodes, and of the processes that they have forked since. `left_out`: one that is none of
    them, though a child."""

    def __init__(self, nodes: Sequence[Sequence[int]], left_out: Life | None = None) -> None:
        self._nodes = [set(processes) for processes in nodes]
        self._left_out = left_out

    def read(self) -> ProcReading:
        """Return the counters of this moment. A thread that has ended is left out, also where its parent has not yet
        taken notice."""
        parents = parents_now()
        if self._left_out is not None and self._left_out.lasts():
            parents.pop(self._left_out.pid, None)
        at_ns = time.monotonic_ns()
        since_boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - at_ns
        threads: list[ProcThread] = []
        for number, processes in enumerate(self._nodes):
            # A process whose parent has ended is known from before.
            processes |= with_descendants(processes, parents)
            processes &= parents.keys()
            for pid in sorted(processes):
                threads += _threads(number, pid, since_boot_ns)
        return ProcReading(at_ns, tuple(threads))


def count(
    first: ProcReading, second: ProcReading, nodes: Sequence[str], role_of: Callable[[ProcThread], str]
) -> Counts:
    """Return the counts between two readings. Threads that ended in between are named in a note."""
    earlier = {(thread.tid, thread.born_ticks): thread for thread in first.threads}
    members: dict[tuple[int, str], list[_Pair]] = defaultdict(list)
    for thread in second.threads:
        before = earlier.pop((thread.tid, thread.born_ticks), None)
        members[thread.node, role_of(thread)].append((before, thread))
    read_ns = second.at_ns - first.at_ns
    all_ticks = _ticks(second.threads)
    roles = tuple(
        _role_counts(nodes[node], role, members[node, role], first.at_ns, second.at_ns, all_ticks)
        for node, role in sorted(members)
    )
    notes: tuple[str, ...] = ()
    if earlier:
        threads = "thread" if len(earlier) == 1 else "threads"
        notes = (f"{len(earlier)} {threads} ended between two readings: /proc keeps no counts of these",)
    return Counts(read_ns=read_ns, roles=roles, notes=notes)


def packets(nodes: Iterable[Sequence[int]]) -> tuple[int, int] | None:
    """Return packets received and sent by all interfaces of the nodes' network namespaces, each namespace once.

    None where no namespace can be read."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for pid in (pid for processes in nodes for pid in processes):
        try:
            namespace = (PROC / str(pid) / "ns/net").stat()
            key = (namespace.st_dev, namespace.st_ino)
            if key not in found:
                found[key] = _packets((PROC / str(pid) / "net/dev").read_text())
        except OSError:
            continue
    if not found:
        return None
    return sum(received for received, _ in found.values()), sum(sent for _, sent in found.values())


def _packets(text: str) -> tuple[int, int]:
    rows = [line.partition(":")[2].split() for line in text.splitlines() if ":" in line]
    return sum(int(row[_RECEIVED]) for row in rows), sum(int(row[_SENT]) for row in rows)


def _threads(node: int, pid: int, since_boot_ns: int) -> Iterable[ProcThread]:
    tasks = PROC / str(pid) / "task"
    try:
        names = os.listdir(tasks)  # noqa: PTH208
    except OSError:
        return
    for name in sorted(names, key=int):
        try:
            thread = _thread(tasks / name, node, pid, since_boot_ns)
        except OSError:
            continue
        if thread is not None:
            yield thread


def _thread(task: Path, node: int, pid: int, since_boot_ns: int) -> ProcThread | None:
    """Counters of a thread; None where it has ended."""
    stat = (task / "stat").read_text(errors="replace")
    fields = stat.rpartition(")")[2].split()
    if fields[0] in local.ENDED:
        return None
    status = _numbers((task / "status").read_text(errors="replace"))
    run = _optional_text(task / "schedstat").split()
    io = _numbers(_optional_text(task / "io"))
    return ProcThread(
        node=node,
        tid=int(task.name),
        tgid=pid,
        comm=stat.partition("(")[2].rpartition(")")[0],
        born_ticks=int(fields[_BORN]),
        born_ns=int(fields[_BORN]) * TICK_NS - since_boot_ns,
        user_ticks=int(fields[_USER]),
        system_ticks=int(fields[_SYSTEM]),
        run_ns=int(run[0]) if run else None,
        run_delay_ns=int(run[1]) if run else None,
        minor_faults=int(fields[_MINOR]),
        major_faults=int(fields[_MAJOR]),
        switches=(status.get(_SWITCHES["voluntary"], 0), status.get(_SWITCHES["involuntary"], 0)),
        io={name: io[key] for name, key in _IO.items()} if io.keys() >= set(_IO.values()) else None,
    )


def _optional_text(path: Path) -> str:
    """Text of a file that this user may have no right to; empty then."""
    try:
        return path.read_text(errors="replace")
    except (PermissionError, FileNotFoundError):
        return ""


def _numbers(text: str) -> dict[str, int]:
    """Values of `name: number` lines."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if value.strip().isdigit():
            found[name] = int(value)
    return found


def _role_counts(
    node: str, role: str, members: Sequence[_Pair], begin_ns: int, end_ns: int, all_ticks: tuple[int, int]
) -> RoleCounts:
    parts = [
        RoleCounts(
            node=node,
            role=role,
            threads=1,
            times=_times(before, after, begin_ns, end_ns),
            kept=_kept(before, after),
        )
        for before, after in members
    ]
    counts = summed(parts, node, role)
    since_birth = _ticks(after for _, after in members)
    earlier = _ticks(before for before, _ in members if before is not None)
    in_window = (since_birth[0] - earlier[0], since_birth[1] - earlier[1])
    system_ns = _system_ns(counts.times.on_cpu_ns, in_window, since_birth, all_ticks)
    times = counts.times.model_copy(update={"system_ns": system_ns})
    lacking = dict.fromkeys(("calls", "cache", "disk", "sockets"))
    return counts.model_copy(update={"times": times, **lacking})


def _ticks(threads: Iterable[ProcThread]) -> tuple[int, int]:
    """Ticks of threads since they were born, in user mode and in the kernel."""
    ticks = [(thread.user_ticks, thread.system_ticks) for thread in threads]
    return sum(user for user, _ in ticks), sum(system for _, system in ticks)


def _system_ns(on_cpu_ns: int, *ticks: tuple[int, int]) -> int | None:
    """Time in the kernel by the share of its ticks. The first ticks (user, kernel) that are any decide: a role without
    ticks in the window leaves less than a tick of each thread to split."""
    for user, system in ticks:
        if user + system > 0:
            return on_cpu_ns * system // (user + system)
    return None


def _times(before: ProcThread | None, after: ProcThread, begin_ns: int, end_ns: int) -> Times:
    """Times without the kernel's part."""
    run_ns = _difference(before, after, "run_ns")
    if run_ns is None:
        ticks = after.user_ticks + after.system_ticks
        run_ns = TICK_NS * (ticks - (before.user_ticks + before.system_ticks if before else 0))
    return Times(
        present_ns=end_ns - (begin_ns if before else min(end_ns, max(begin_ns, after.born_ns))),
        on_cpu_ns=run_ns,
        run_queue_ns=_difference(before, after, "run_delay_ns"),
        sleep_ns=None,
        block_io_ns=None,
        other_wait_ns=None,
    )


def _kept(before: ProcThread | None, after: ProcThread) -> Kept:
    io: dict[str, int | None]
    if after.io is None or (before is not None and before.io is None):
        io = dict.fromkeys(_IO)
    else:
        earlier = before.io if before is not None and before.io is not None else {}
        io = {name: value - earlier.get(name, 0) for name, value in after.io.items()}
    return Kept(
        run_ns=_difference(before, after, "run_ns"),
        run_delay_ns=_difference(before, after, "run_delay_ns"),
        minor_faults=after.minor_faults - (before.minor_faults if before else 0),
        major_faults=after.major_faults - (before.major_faults if before else 0),
        voluntary=after.switches[0] - (before.switches[0] if before else 0),
        involuntary=after.switches[1] - (before.switches[1] if before else 0),
        **io,
    )


def _difference(before: ProcThread | None, after: ProcThread, name: str) -> int | None:
    latest: int | None = getattr(after, name)
    if latest is None or before is None:
        return latest
    earlier: int | None = getattr(before, name)
    return None if earlier is None else latest - earlier
