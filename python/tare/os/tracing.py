"""Windows of a trace: the tracer's sums with the kernel's own counters at both ends."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from tare._probe import OsTracer, ProbeError
from tare.errors import PrivilegeMissing
from tare.os import counters
from tare.os.counters import NetworkCounters, ProcessCounters
from tare.os.levels import Level
from tare.os.nodes import Node, descendants
from tare.os.sums import Sums, difference, read_sums


@dataclass(frozen=True, slots=True)
class Mark:
    """All sums and counters at one moment. `messages`: those since the mark before.

    Counters are read before and after the sums, since neither waits for the other."""

    sums: Sums
    earlier: Mapping[int, ProcessCounters]
    later: Mapping[int, ProcessCounters]
    networks: Mapping[int, NetworkCounters]  # by node; absent where it shares Tare's network
    messages: bytes


@dataclass(frozen=True, slots=True)
class Window:
    """Everything between two marks."""

    sums: Sums
    before: Mark
    after: Mark

    @property
    def messages(self) -> bytes:
        return self.after.messages

    @property
    def titles(self) -> Mapping[int, str]:
        """Command lines by process id, at the latest moment known."""
        ended = {pid: process.title for pid, process in self.sums.processes.items() if process.title}
        for known in (self.before.later, self.after.later):
            ended |= {pid: found.title for pid, found in known.items() if found.title}
        return ended


class Tracing:
    """A trace of nodes, on from its creation to its end. Nodes have the numbers 1, 2, …"""

    def __init__(self, nodes: Sequence[Node], level: Level) -> None:
        """Raises PrivilegeMissing where the kernel refuses."""
        self._nodes = dict(enumerate(nodes, 1))
        processes = [(number, pid) for number, node in self._nodes.items() for pid in node.processes]
        namespaces = [
            (number, node.namespace) for number, node in self._nodes.items() if node.namespace is not None
        ]
        try:
            self._tracer = OsTracer(processes, namespaces, level)
        except ProbeError as error:
            what, _, step = (error.strerror or str(error)).partition("\n  next: ")
            raise PrivilegeMissing(what, step or "see `tare doctor`") from error
        # Children of those listed, born before the programs saw forks.
        listed = {pid for _, pid in processes}
        born = [
            (number, pid)
            for number, node in self._nodes.items()
            for root in node.processes
            for pid in descendants(root)
            if pid not in listed
        ]
        if born:
            self._tracer.add(list(dict.fromkeys(born)))
        self._began_ns = self._tracer.snapshot().at_ns
        self._known: Collection[int] = ()
        self._sums()  # finds the processes of namespaces

    def __enter__(self) -> Tracing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tracer.stop()

    def mark(self) -> Mark:
        earlier = counters.read_processes(self._known)
        sums = self._sums()
        return Mark(
            sums,
            earlier,
            counters.read_processes(sums.processes),
            counters.read_networks(_nodes(sums)),
            self._tracer.messages(),
        )

    def begin(self) -> Mark:
        """A mark whose sums are taken last: for nodes that rest until the work begins."""
        self._sums()
        read = counters.read_processes(self._known)
        networks = counters.read_networks(_nodes(self._latest))
        messages = self._tracer.messages()
        return Mark(self._sums(), read, read, networks, messages)

    def end(self) -> Mark:
        """A mark whose sums are taken first: for nodes that rest since the work ended."""
        sums = self._sums()
        read = counters.read_processes(sums.processes)
        return Mark(sums, read, read, counters.read_networks(_nodes(sums)), self._tracer.messages())

    def _sums(self) -> Sums:
        self._latest = read_sums(self._tracer.snapshot(), self._began_ns)
        self._known = self._latest.processes.keys()
        return self._latest


def best_level(level: Level) -> tuple[Level, PrivilegeMissing | None]:
    """The level where this user may trace, else PROC and the reason."""
    if level is Level.PROC:
        return level, None
    try:
        with Tracing([Node("self", (os.getpid(),))], level):
            return level, None
    except PrivilegeMissing as error:
        return Level.PROC, error


def window(before: Mark, after: Mark) -> Window:
    return Window(difference(before.sums, after.sums), before, after)


def _nodes(sums: Sums) -> dict[int, int]:
    """Nodes by process id."""
    return {pid: process.node for pid, process in sums.processes.items()}
