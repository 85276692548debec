"""A run from its conditions before to its conditions after, as one result."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tare.dbms.base import Server
from tare.dbms.registry import find
from tare.dbms.url import redacted
from tare.errors import DriverFailed, TareError, UsageError
from tare.experiment.interrupts import Interrupts
from tare.interruption import Interrupted
from tare.measure.environment import machine_facts
from tare.workload.oltp.age import Age, age, restarted
from tare.workload.oltp.child import Driver
from tare.workload.oltp.conditions import LOOK_S, Conditions, ConditionsFail, Hear, all_of, check, last_of
from tare.workload.oltp.measures import Watch
from tare.workload.oltp.neighbours import disturbance
from tare.workload.oltp.request import Check, Request, Run, Trace
from tare.workload.oltp.run import Asked, Measure, OltpRun, Phase
from tare.workload.oltp.run import Trouble as Lost
from tare.workload.oltp.told import Connected, Found, Loaded, Outcome, Second, Started, Told, Trouble

ROWS = 5  # failing ones of each condition that are named
_S = 1e9


class Conductor:
    """Makes one run."""

    def __init__(self, request: Request, hear: Hear, *, checks: bool = True) -> None:
        """`request` is of a run; `hear` gets the events of all that is done for it, checks included."""
        assert isinstance(request.action, Run)
        self._request = request
        self._action = request.action
        self._hear = hear
        self._checks = checks
        self._driver: Driver | None = None
        self.stopped_by: Interrupted | None = None  # the run was ended early
        self.unchecked: TareError | None = (
            None  # why the conditions were not held against the data after the run
        )

    def run(self) -> OltpRun:
        """Ctrl-C ends the run early, with a result; a second one at once (Interrupted). Raises ConditionsFail,
        UsageError, DriverFailed, and what connecting raises."""
        trace = _trace(self._action)
        with Interrupts(self.stop) as interrupts:
            with interrupts.at_once():
                server, age_before = _met(self._request)
                before = self._conditions()
            if before.failing:
                raise ConditionsFail(before)
            events, measures, unmeasured = self._send(interrupts)
            age_after = self._age(interrupts)
            after = self._afterwards(interrupts)
        outcome = last_of(events, Outcome)
        seconds = tuple(all_of(events, Second))
        machine = machine_facts()
        scheduled_s = sum(one.duration_s for one in self._action.phases)
        began = datetime.now(UTC) - timedelta(microseconds=(time.monotonic_ns() - outcome.started_ns) / 1e3)
        return OltpRun(
            uuid=str(uuid.uuid4()),
            started_at=began.isoformat(timespec="milliseconds"),
            ended_at=(began + timedelta(microseconds=outcome.took_ns / 1e3)).isoformat(
                timespec="milliseconds"
            ),
            url=redacted(self._request.url),
            server=_as_met(server, last_of(events, Connected)),
            machine=machine,
            workload=self._request.workload,
            loaded=_loaded(events),
            asked=self._asked(trace),
            isolation=last_of(events, Connected).isolation,
            outcome=outcome,
            seconds=seconds,
            measures=measures,
            before=before.checked,
            after=after.checked,
            troubles=tuple(Lost(one.at_ns / _S, one.text) for one in all_of(events, Trouble)),
            unmeasured=unmeasured,
            restarted=restarted(age_before, age_after),
            disturbed=None
            if "kernel" in unmeasured
            else disturbance(seconds, measures, machine.online_cpus, scheduled_s),
        )

    def stop(self) -> None:
        """End the run early, with a result. Safe in a signal's handler and in `hear`."""
        if self._driver is not None:
            self._driver.stop()

    # Inside --------------------------------------------------------------------------------
    def _conditions(self) -> Conditions:
        if not self._checks:
            return Conditions()
        return check(self._request.model_copy(update={"action": Check(rows=ROWS)}), self._hear)

    def _age(self, interrupts: Interrupts) -> Age | None:
        """None: the server is not there, or does not answer."""
        try:
            with interrupts.at_once():
                return _met(self._request)[1]
        except Interrupted as interrupt:
            self.stopped_by = interrupt
        except TareError:
            pass
        return None

    def _afterwards(self, interrupts: Interrupts) -> Conditions:
        """Whatever happens here, what was measured is kept."""
        try:
            with interrupts.at_once():
                return self._conditions()
        except Interrupted as interrupt:
            self.stopped_by = interrupt
        except TareError as error:
            self.unchecked = error
        return Conditions()

    def _send(self, interrupts: Interrupts) -> tuple[list[Told], tuple[Measure, ...], dict[str, str]]:
        events: list[Told] = []
        watch: Watch | None = None
        with ExitStack() as stack:
            with interrupts.at_once():
                driver = self._driver = stack.enter_context(Driver(self._request))
            stack.enter_context(_told_as(interrupts))
            for event in driver.told(LOOK_S):
                if isinstance(event, Connected):
                    watch = stack.enter_context(Watch(self._request.url, driver.pid))
                elif isinstance(event, Started) and watch is not None:
                    watch.started(event.at_ns)
                if event is not None:
                    events.append(event)
                self._hear(event)
        return events, *_seen(watch, events)

    def _asked(self, trace: str | None) -> Asked:
        asked = self._action
        return Asked(
            arrivals=asked.arrivals.kind,
            phases=tuple(Phase(one.rate, one.duration_s) for one in asked.phases),
            connections=asked.connections,
            seed=self._request.seed,
            warmup_s=asked.warmup_s,
            drain_s=asked.drain_s,
            tries=asked.tries,
            isolation=asked.isolation,
            mix=asked.mix,
            options=self._request.options,
            think=asked.think,
            shed_after_s=asked.shed_after_s,
            trace=trace,
        )


@contextmanager
def _told_as(interrupts: Interrupts) -> Iterator[None]:
    """A run that a signal left nothing to tell of has failed in the driver's words, with the signal's code."""
    try:
        yield
    except DriverFailed as failed:
        try:
            interrupts.check()
        except Interrupted as interrupt:
            failed.exit_code = interrupt.exit_code
        raise


def _met(request: Request) -> tuple[Server, Age]:
    """The server as it is now. Raises what connecting raises."""
    session = find(request.url).connect(request.url, timeout_s=request.connect_timeout_s)
    try:
        return session.server, age(session)
    finally:
        with suppress(TareError):
            session.close()


def _as_met(server: Server, connected: Connected) -> Server:
    """SQLite is a library, and the driver has its own: what was looked up through another is not the run's."""
    if server.dbms != "sqlite":
        return server
    return replace(server, version=connected.server.removeprefix("SQLite "), settings={})


def _seen(watch: Watch | None, events: list[Told]) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """Return the measures of the seconds that the driver reported, and by source why others are missing."""
    if watch is None:
        return (), {"server": "the run ended before its connections were open"}
    numbers = {one.number for one in all_of(events, Second)}
    found = watch.measures(last_of(events, Outcome).started_ns)
    return tuple(one for one in found if one.second in numbers), watch.unmeasured


def _loaded(events: list[Told]) -> Loaded:
    loaded = last_of(events, Found).loaded
    if loaded is None:  # the driver refuses to run on nothing
        raise UsageError("the database holds no workload", "load one first: tare bench oltp load")
    return loaded


def _trace(action: Run) -> str | None:
    """A file of arrivals by its name and content, which say which it was."""
    if not isinstance(action.arrivals, Trace):
        return None
    file = Path(action.arrivals.file)
    try:
        with file.open("rb") as stream:
            return f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except OSError as error:
        raise UsageError(
            f"the trace {file} cannot be read: {error.strerror}",
            "name a file of arrivals: --arrivals trace:FILE",
        ) from error
