"""Measures by the kernel: of the server's processes, of the machine, and of Tare itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from tare._probe import TICK_NS, CpuTicks, Process, read_process
from tare.measure.machine.interrupts import rescheduling
from tare.measure.resources import can_have_waited_ns

_S = 1e9  # ns
_COUNTERS = {
    "server_cpu": ("run_ns", _S),
    "server_cpu_user": ("user_ns", _S),
    "server_cpu_system": ("system_ns", _S),
    "server_run_queue": ("run_queue_ns", _S),
    "server_block_io": ("block_io_ns", _S),
    "server_read_bytes": ("read_bytes", 1.0),
    "server_write_bytes": ("write_bytes", 1.0),
}
_Life = tuple[int, int]  # process id and its start


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works for the database."""

    belongs: Callable[[Process], bool]
    session: tuple[int, int] | None = None  # process and thread that answer the session that measures


class ServerProcesses:
    """Sums over processes that come and go: each adds what it used since it was first seen, or born."""

    def __init__(self) -> None:
        self._last: dict[_Life, Process] | None = None
        self._read_ns = 0
        self._sums = dict.fromkeys(_COUNTERS, 0.0)
        self.unread: dict[str, str] = {}  # why a measure cannot be had, by its name

    def read(self, crew: Crew, processes: Iterable[Process]) -> dict[str, float]:
        """Counters since the first call, and gauges. `processes`: all of the machine's."""
        own = crew.session if crew.session and crew.session[0] != crew.session[1] else None
        aside = crew.session[0] if crew.session and own is None else None  # a process of its own
        found = (one for one in processes if crew.belongs(one))
        now = {(one.tgid, one.start_ns): one for one in found if one.tgid != aside}
        read_ns = time.monotonic_ns()
        if self._last is not None:
            self._add(self._last, now.items(), read_ns - self._read_ns)
        self._last, self._read_ns = now, read_ns
        values = {name: value for name, value in self._sums.items() if name not in self.unread}
        return {**values, "server_processes": float(len(now))}

    def forget(self) -> None:
        """The server is another than before: its processes' past is not this run's."""
        self._last = None

    def _add(
        self, before: dict[_Life, Process], now: Iterable[tuple[_Life, Process]], interval_ns: int
    ) -> None:
        for life, process in now:
            earlier = before.get(life)
            for name, (counter, unit) in _COUNTERS.items():
                value = getattr(process, counter)
                if value is None:
                    self.unread[name] = _unreadable(counter, process)
                    continue
                since = (getattr(earlier, counter) or 0) if earlier else 0
                if counter == "block_io_ns" and value - since > can_have_waited_ns(
                    process.threads, interval_ns
                ):
                    self.unread[name] = (
                        f"the kernel counted more block-I/O delay of process {process.pid} ({process.comm}) than its "
                        "threads can have waited"
                    )
                self._sums[name] += max(0, value - since) / unit


def _unreadable(counter: str, process: Process) -> str:
    who = f"process {process.pid} ({process.comm})"
    if counter == "block_io_ns":
        return f"{who} has no block-I/O delay: delay accounting was off when it was born"
    return f"{counter} of {who} is not readable by this user"


def machine(total: CpuTicks) -> dict[str, float]:
    """All CPUs together."""
    busy = total.user + total.nice + total.system + total.irq + total.softirq  # guests are in user and nice
    ticks = {"machine_cpu": busy, "machine_iowait": total.iowait, "machine_steal": total.steal}
    values = {name: value * TICK_NS / _S for name, value in ticks.items()}
    with suppress(OSError):  # hidden in some containers
        if (calls := rescheduling()) is not None:
            values["machine_reschedules"] = float(calls)
    return values


def tare(crew: Crew | None) -> dict[str, float]:
    """Return the cost of measuring: this process, and the server's share for our session."""
    values = {"tare_cpu": time.process_time_ns() / _S}
    if crew is not None and crew.session is not None:
        with suppress(OSError):  # it has just gone
            run_ns = read_process(*crew.session).run_ns
            if run_ns is not None:
                values["tare_session_cpu"] = run_ns / _S
    return values
