"""Health of a watched server: which of its processes end, of what, and whether its threads get on.

The kernel says how every task ends (`tare._probe.ExitListener`): that is the way to the signal or exit status of a
process that is no child of ours. Whether threads get on is in /proc/PID/task/TID/schedstat, without any probe: how
often each was given a CPU.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms import local
from tare.profile.server import Server

if TYPE_CHECKING:
    from tare._probe import Exit, ExitListener

WATCH_S = 2.0
"""After the last probe is off."""

STANDSTILL = 0.05
"""Share of the times that threads were given a CPU before, below which a server may hang."""

_SIGNAL, _CORE = 0x7F, 0x80  # of a wait status
_DRAIN_S = 0.5
_LAST_WORDS_S = 0.3  # for the kernel's word on a process that is gone
_KEPT = 4096  # ends of tasks

_CLIENT_WAITS = frozenset({0, 7, 23, 43, 45, 47, 232, 270, 271, 281, 288, 299, 441})
"""Numbers of x86-64 system calls in which a thread waits for a client's next word: read, poll, select, accept, recv…
and epoll_wait."""


_FUTEX = "202"
_OPERATION = 0x7F  # without its flags
_MUTEX_WAITS = (0, 6)


@dataclass(frozen=True, slots=True)
class Death:
    """End of a server's process."""

    pid: int
    name: str
    whole: bool  # the server with it; else one of its processes
    signal: int | None = None  # None: it exited, or the kernel's word did not come
    exit_status: int | None = None
    thread: int | None = None  # that the signal hit; None: not known
    ended_ns: int | None = None  # when it did, CLOCK_MONOTONIC; None: not known


@dataclass(frozen=True, slots=True)
class Progress:
    """Times a second that a server's threads were given a CPU."""

    before: float | None  # None: it was not seen
    after: float | None
    still: frozenset[int] = frozenset()  # threads that had no CPU in all that time

    @property
    def standstill(self) -> bool:
        if not self.before or self.after is None:
            return False
        return self.after < STANDSTILL * self.before


class Health:
    """Looks at one server for as long as a session lasts."""

    def __init__(self, server: Server, listener: ExitListener | None) -> None:
        self._server = server
        self._name = local.command_name(server.pid)
        self._listener = listener
        self._exits: deque[Exit] = deque(maxlen=_KEPT)
        self._drained = 0.0
        self._begun: tuple[float, Mapping[int, int]] | None = None
        self._before: float | None = None
        self.backend: Death | None = None  # the first process that died of a signal while the server lives

    # Deaths ----------------------------------------------------------------------
    def healthy(self) -> bool:
        """Whether no process of the server's died of a signal so far. Cheap: looks twice a second."""
        if self.backend is None and time.monotonic() - self._drained >= _DRAIN_S:
            self._drain()
        return self.backend is None

    def death(self) -> Death | None:
        """End of the server, or of a process of its own by a signal; None: it lives."""
        self._drain()
        if self._server.alive:
            return self.backend
        time.sleep(_LAST_WORDS_S)
        self._drain()
        ends = [one for one in self._exits if one.process.tgid == self._server.pid]
        last = next((one for one in ends if one.last_of_group), None)
        if last is None:
            return Death(self._server.pid, self._name, whole=True)
        return _death(last, ends, whole=True)

    def _drain(self) -> None:
        self._drained = time.monotonic()
        if self._listener is None:
            return
        ours = self._server.pid
        for one in self._listener.drain():
            if one.process.tgid == ours:
                self._exits.append(one)
            elif self._server.follow_children and one.process.ppid == ours:
                self._exits.append(one)
                if self.backend is None and one.exit_code & _SIGNAL and one.last_of_group:
                    self.backend = _death(one, [one], whole=False)

    # Progress --------------------------------------------------------------------
    def begin(self) -> None:
        """From here on threads are as they are before any function is watched."""
        self._begun = (time.monotonic(), self._slices())

    def settle(self) -> None:
        """Up to here."""
        if self._begun is not None:
            self._before = self._rate(*self._begun, self._slices())
            self._begun = None

    def progress(self, seconds: float = WATCH_S) -> Progress:
        """Watches for so long, or until the server is gone."""
        begun, first = time.monotonic(), self._slices()
        while time.monotonic() - begun < seconds and self._server.alive:
            time.sleep(0.1)
        if not self._server.alive:
            return Progress(self._before, None)
        now = self._slices()
        still = frozenset(one for one, count in now.items() if first.get(one) == count)
        return Progress(self._before, self._rate(begun, first, now), still)

    def blocked(self, threads: Collection[int]) -> frozenset[int]:
        """Return the threads that wait for something else than a client."""
        return frozenset(one for one in threads if _system_call(one) not in (*_CLIENT_WAITS, None))

    def locked_out(self, threads: Collection[int]) -> frozenset[int]:
        """Return the threads that wait for a mutex: no thread does so for want of work."""
        return frozenset(one for one in threads if _waits_for_mutex(one))

    def name_of(self, thread: int) -> str:
        return local.command_name(thread)

    def _rate(self, begun: float, first: Mapping[int, int], now: Mapping[int, int]) -> float:
        more = sum(count - first.get(one, 0) for one, count in now.items())
        return more / max(1e-9, time.monotonic() - begun)

    def _slices(self) -> dict[int, int]:
        """By thread, how often it was given a CPU."""
        found: dict[int, int] = {}
        for pid in self._server.processes():
            with suppress(OSError):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    with suppress(OSError, IndexError, ValueError):
                        found[int(task.name)] = int((task / "schedstat").read_text().split()[2])
        return found


def _death(last: Exit, ends: Collection[Exit], *, whole: bool) -> Death:
    """`ends`: of all threads of its process. Where a core is dumped, its flag is in the status of the one thread that
    the signal hit, which dumps it; the others have the bare signal. Otherwise the thread that was hit ends first."""
    code = last.exit_code
    signal = code & _SIGNAL
    if not signal:
        return Death(last.process.tgid, last.process.comm, whole, exit_status=code >> 8 & 0xFF)
    same = [one for one in ends if one.exit_code & _SIGNAL == signal] or [last]
    dumped = [one for one in same if one.exit_code & _CORE]
    first = min(dumped or same, key=lambda one: one.ended_ns)
    hit = (first.process.pid, first.ended_ns) if len(dumped) < 2 else (None, None)
    return Death(last.process.tgid, last.process.comm, whole, signal, None, *hit)


def _system_call(thread: int) -> int | None:
    """Number of the system call that the thread is in; None: it runs, is gone, or may not be looked at."""
    words = _system_call_words(thread)
    return int(words[0]) if words and words[0].lstrip("-").isdigit() else None


def _waits_for_mutex(thread: int) -> bool:
    """Whether it is in futex(FUTEX_WAIT) or futex(FUTEX_LOCK_PI), as glibc waits for a mutex. For condition variables
    and semaphores it uses FUTEX_WAIT_BITSET."""
    words = _system_call_words(thread)
    return words[:1] == [_FUTEX] and len(words) > 2 and int(words[2], 16) & _OPERATION in _MUTEX_WAITS


def _system_call_words(thread: int) -> list[str]:
    """Its number, then its arguments."""
    try:
        return Path(f"/proc/{thread}/syscall").read_text().split()
    except OSError:
        return []


@contextmanager
def health_of(server: Server) -> Iterator[Health]:
    """Within the block the kernel tells of ended tasks, where it may be asked."""
    from tare._probe import Probe, ProbeError

    probe = listener = None
    with suppress(ProbeError):
        probe = Probe()
        listener = probe.listen()
    try:
        yield Health(server, listener)
    finally:
        if listener is not None:
            listener.stop()
        if probe is not None:
            probe.close()
