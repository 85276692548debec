"""Windows of a watch: their number, their ends, and the level that works."""

from __future__ import annotations

import subprocess
import time

import pytest

from tare.errors import PrivilegeMissing
from tare.os.events import Event, Passed, Stopped, WindowDone
from tare.os.level import Level
from tare.os.subject import Subject, of_processes
from tare.os.watch import observe
from tests.unit.os.doubles import PlannedClock, Tracer, probe_error
from tests.unit.os.planted import Snapshot

Sleeper = subprocess.Popen[bytes]


def subject(sleeper: Sleeper) -> Subject:
    return of_processes([sleeper.pid])


def test_a_watch_is_one_window(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    observation = observe(subject(sleeper), Level.FULL, 0.05)
    (window,) = observation.windows
    assert (window.name, window.number, window.is_traced) == ("load", 0, True)
    assert window.total().times.on_cpu_ns == 1_000_000
    assert (observation.level, observation.subject) == (Level.FULL, f"process {sleeper.pid}")
    assert (observation.notes, observation.is_stopped) == ((), False)


def test_intervals_follow_each_other(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    heard: list[Event] = []
    observation = observe(subject(sleeper), None, 0.25, interval_s=0.1, hear=heard.append)
    assert [window.number for window in observation.windows] == [0, 1, 2]
    assert [event.window for event in heard if isinstance(event, WindowDone)] == list(observation.windows)
    assert all(window.read_ns == 1_000_000 for window in observation.windows)


def test_a_wait_for_requests_takes_nothing_from_the_next_window(
    sleeper: Sleeper, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PlannedClock()
    ends: list[float] = []
    snapshot = tracer.snapshot

    def slow(self: Tracer, patience_s: float = 0.0) -> Snapshot:
        ends.append(round(clock.monotonic(), 6))
        clock.sleep(0.06 if patience_s else 0.0)
        return snapshot(self, patience_s)

    monkeypatch.setattr(tracer, "snapshot", slow)
    for module in ("watch", "instrument", "facts"):
        monkeypatch.setattr(f"tare.os.{module}.time", clock)
    observe(subject(sleeper), Level.FULL, 0.4, interval_s=0.1)
    assert ends == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_a_window_starts_where_the_last_one_ended(
    sleeper: Sleeper, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []
    monkeypatch.setattr("tare.os.watch.at", lambda ns: starts.append(ns) or str(ns))
    heard: list[int] = []

    def hear(event: Event) -> None:
        if isinstance(event, WindowDone):
            heard.append(time.monotonic_ns())

    windows = observe(subject(sleeper), Level.FULL, 0.2, interval_s=0.1, hear=hear).windows
    assert [window.started_at for window in windows] == [str(ns) for ns in starts]
    assert all(start < end for start, end in zip(starts[1:], heard, strict=False))


def test_parts_that_the_kernel_refuses_are_named(
    sleeper: Sleeper, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracer, "absent", {"cache": "no tracepoint"})
    observation = observe(subject(sleeper), Level.LIGHT, 0.02)
    (role,) = observation.windows[0].roles
    assert observation.absent == {"cache": "no tracepoint"}
    assert (role.calls, role.cache) == (None, None)


def test_without_the_right_to_trace_proc_is_read(
    sleeper: Sleeper, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracer, "refusal", probe_error("BPF is not allowed\n  next: run as root"))
    observation = observe(subject(sleeper), None, 0.02)
    assert (observation.level, observation.lacks) == (Level.PROC, "BPF is not allowed; run as root")
    (window,) = observation.windows
    assert not window.is_traced
    assert [role.role for role in window.roles] == ["sleep"]


def test_a_level_that_was_requested_must_work(
    sleeper: Sleeper, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracer, "refusal", probe_error("BPF is not allowed\n  next: run as root"))
    with pytest.raises(
        PrivilegeMissing, match="level light does not work here: BPF is not allowed"
    ) as raised:
        observe(subject(sleeper), Level.LIGHT, 0.02)
    assert raised.value.next_step.startswith("run as root; or take --level proc")


def test_the_end_of_the_processes_ends_the_window(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    watched = subject(sleeper)

    def end(event: Event) -> None:
        if isinstance(event, Passed):
            sleeper.kill()

    observation = observe(watched, Level.FULL, None, hear=end)
    assert len(observation.windows) == 1
    assert "the observed processes ended" in observation.notes[0]
    assert not observation.is_stopped


def test_a_signal_keeps_what_was_counted(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    heard: list[Event] = []

    def interrupt(event: Event) -> None:
        heard.append(event)
        if isinstance(event, Passed):
            raise KeyboardInterrupt

    observation = observe(subject(sleeper), Level.FULL, None, hear=interrupt)
    assert len(observation.windows) == 1
    assert observation.is_stopped
    assert any(isinstance(event, Stopped) for event in heard)
