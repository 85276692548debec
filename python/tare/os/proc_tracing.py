"""Windows from /proc alone, for users who may not trace: times of processes, calls and bytes of their own ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType

from tare.os import counters
from tare.os.calls import OUTSIDE
from tare.os.counters import ProcessCounters
from tare.os.nodes import Node, descendants
from tare.os.sums import CallSum, Process, Sums
from tare.os.tracing import Mark

SHOWN = {
    "rchar": "read_call_bytes",
    "wchar": "write_call_bytes",
    "syscr": "read_calls",
    "syscw": "write_calls",
    "read_bytes": "block_read_bytes",
    "write_bytes": "block_write_bytes",
}
"""Counters of /proc/PID/io, and what they are called among a trace's."""


class ProcTracing:
    """The same as `Tracing`, without a trace: children that begin and end between two marks stay unknown."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = dict(enumerate(nodes, 1))
        self._began_ns = time.monotonic_ns()
        self._first: dict[int, int] = {}  # when a process was seen first

    def __enter__(self) -> ProcTracing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def mark(self) -> Mark:
        numbers = {pid: number for number, node in self._nodes.items() for pid in _members(node)}
        read = counters.read_processes(numbers)
        now = time.monotonic_ns()
        sums = Sums(
            began_ns=self._began_ns,
            ended_ns=now,
            calls={(numbers[pid], pid, OUTSIDE): self._spent(pid, found, now) for pid, found in read.items()},
            counts={(numbers[pid], pid): _counts(found) for pid, found in read.items()},
            processes={pid: Process(numbers[pid], found.name) for pid, found in read.items()},
        )
        return Mark(sums, read, read, counters.read_networks(numbers), b"")

    begin = end = mark

    def _spent(self, pid: int, found: ProcessCounters, now: int) -> CallSum:
        """Time since the process was seen first, but CPU time since its beginning: only differences are used."""
        present = (now - self._first.setdefault(pid, now)) * len(found.threads)
        asleep = present - found.cpu_ns - found.run_queue_ns
        return CallSum(spent_ns=(found.cpu_ns, found.run_queue_ns, asleep, 0, 0))


def _members(node: Node) -> list[int]:
    if node.namespace is not None:
        return counters.processes_of_namespace(node.namespace)
    return list(
        dict.fromkeys([*node.processes, *(pid for root in node.processes for pid in descendants(root))])
    )


def _counts(found: ProcessCounters) -> dict[str, int]:
    counts = {"faults_user": found.faults}
    for field, name in SHOWN.items():
        value = getattr(found, field)
        if value is not None:
            counts[name] = value
    return counts
