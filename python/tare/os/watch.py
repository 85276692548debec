"""Observation of a load that others put on the subject."""

from __future__ import annotations

import time

from tare.dbms import local
from tare.interruption import check, deferred
from tare.os.events import Began, Hear, Passed, Stopped, WindowDone
from tare.os.facts import at, now, observation
from tare.os.instrument import Instrument, open_instrument
from tare.os.level import Level
from tare.os.record import Observation, Window
from tare.os.roles import Roles, Rules
from tare.os.subject import Subject

LOAD = "load"
"""Name of the windows."""

_LOOK_EVERY_S = 0.1
_REPORT_EVERY_S = 1.0
_REST_S = 0.01
"""A last window that would be shorter than this is not begun."""


def observe(
    subject: Subject,
    level: Level | None,
    duration_s: float | None,
    *,
    interval_s: float | None = None,
    rules: Rules | None = None,
    hear: Hear = lambda event: None,
) -> Observation:
    """Observe the subject for so long, in windows of `interval_s`, or in one.

    `duration_s`: None: until Ctrl-C or the end of the subject. `level`: None: the deepest that works here. A signal
    ends the observation early, with all that was counted so far. Raises PrivilegeMissing for a level that does not
    work here."""
    roles = Roles.of(subject.server.dbms if subject.server else None, subject.leader, rules)
    started_at = now()
    watch = _Watch(subject, hear)
    with deferred():  # what is loaded into the kernel is taken out again
        instrument = open_instrument(subject, roles, level)
        try:
            hear(Began(subject.name, instrument.level, instrument.lacks))
            watch.run(instrument, duration_s, interval_s)
        finally:
            instrument.stop()
    return observation(
        subject,
        instrument,
        started_at=started_at,
        windows=watch.windows,
        notes=watch.notes,
        is_stopped=watch.is_stopped,
    )


class _Watch:
    """Windows of one observation, in order of time."""

    def __init__(self, subject: Subject, hear: Hear) -> None:
        pids = [pid for processes in subject.processes for pid in processes]
        self._born = {pid: local.born_at(pid) for pid in pids}
        self._hear = hear
        self.windows: list[Window] = []
        self.notes: list[str] = []
        self.is_stopped = False
        self._is_over = False

    def run(self, instrument: Instrument, duration_s: float | None, interval_s: float | None) -> None:
        instrument.begin()
        began_s = time.monotonic()
        ends_s = None if duration_s is None else began_s + duration_s
        while not (self.is_stopped or self._is_over):
            started_at = at(instrument.began_ns)
            window_ends_s = ends_s if interval_s is None else instrument.began_ns / 1e9 + interval_s
            if window_ends_s is not None and ends_s is not None:
                window_ends_s = min(window_ends_s, ends_s)
            try:
                self._wait(began_s, window_ends_s, ends_s)
            except KeyboardInterrupt as interrupt:
                self.is_stopped = True
                self._hear(Stopped(interrupt))
            window, counted = instrument.end(LOAD, len(self.windows), started_at)
            self.windows.append(window)
            self.notes += counted.notes
            self._hear(WindowDone(window))
            if ends_s is not None and time.monotonic() >= ends_s - _REST_S:
                return

    def _wait(self, began_s: float, until_s: float | None, ends_s: float | None) -> None:
        """Wait until the window ends, or the subject does. Raises the signal that comes."""
        next_report_s = 0.0
        while True:
            check()
            at_s = time.monotonic()
            if until_s is not None and at_s >= until_s:
                return
            if not self._is_alive():
                self._is_over = True
                self.notes.append(
                    f"the observed processes ended after {at_s - began_s:.1f} s, and the observation with them"
                )
                return
            if at_s >= next_report_s:
                next_report_s = at_s + _REPORT_EVERY_S
                self._hear(Passed(at_s - began_s, None if ends_s is None else max(0.0, ends_s - at_s)))
            time.sleep(_LOOK_EVERY_S if until_s is None else min(_LOOK_EVERY_S, max(0.0, until_s - at_s)))

    def _is_alive(self) -> bool:
        return any(local.is_alive(pid, born) for pid, born in self._born.items())
