"""Observation of queries that Tare runs itself: traced and untraced executions in pairs, in random order."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tare.dbms.base import Prepared, Session
from tare.errors import ConnectionFailed, ServerLost, StatementFailed, TareError
from tare.measure.caches import check_state, empty_buffers, evict_files
from tare.measure.choices import CacheState
from tare.measure.query import Query
from tare.measure.settle import settle
from tare.os.events import Began, Executing, Hear, QueryFailed, Stopped, WindowDone
from tare.os.facts import now, observation
from tare.os.instrument import Instrument, open_instrument
from tare.os.level import Level
from tare.os.nodes import NodeSpec
from tare.os.record import Observation, Window
from tare.os.roles import Roles, Rules
from tare.os.subject import Subject, of_session, read_ahead_kb

WARM_UP, TRACED, UNTRACED, FROM_PROC = "warm-up", "traced", "untraced", "from /proc"

LONG_NS = 1_000_000_000
"""Duration from which on the state of CPU caches at the start makes little of an execution."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Conditions of the executions. `runs`: pairs of a traced and an untraced execution of each query; at level proc,
    executions. `level`: None: the deepest that works here."""

    runs: int = 5
    level: Level | None = None
    is_cold: bool = False
    timeout_s: float | None = None
    seed: int = 0
    nodes: tuple[NodeSpec, ...] = ()
    rules: Rules | None = None

    @property
    def cache(self) -> CacheState:
        return CacheState.COLD if self.is_cold else CacheState.WARM


def run(
    connect: Callable[[], Session],
    queries: Sequence[Query],
    request: RunRequest,
    hear: Hear = lambda event: None,
) -> Observation:
    """Execute each query once to warm up, then in pairs, and count what the server does for it.

    A query that fails is recorded, and the next one follows. A signal ends the observation; whole pairs are kept.
    `connect`: opens the session; called again where the server was lost. Raises what it raises at first,
    PrivilegeMissing for a level that does not work here, and the error of the only query."""
    runner = Runner(connect, request, hear)
    try:
        return runner.run(queries)
    finally:
        runner.close()


@dataclass
class Runner:
    """A session, and the windows of the queries that it ran."""

    connect: Callable[[], Session]
    request: RunRequest
    hear: Hear
    windows: list[Window] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._session = self.connect()
        self._random = random.Random(self.request.seed)
        self._lasts_ns = 0  # of the query's first execution

    def run(self, queries: Sequence[Query]) -> Observation:
        started_at = now()
        check_state(self._session, self.request.cache)
        subject, instrument = self._instrument(self.request.level)
        instrument.stop()
        read_ahead = read_ahead_kb(self._session)
        self.hear(Began(subject.name, instrument.level, instrument.lacks))
        error: TareError | None = None
        is_stopped = False
        try:
            for query in queries:
                if isinstance(error, ConnectionFailed):
                    self.failures[query.name] = f"not run: {error.what}"
                else:
                    error = self._attempt(query, instrument.level) or error
        except KeyboardInterrupt as interrupt:
            is_stopped = True
            self.hear(Stopped(interrupt))
        if error is not None and len(queries) == 1 and not self.windows:
            raise error
        return observation(
            replace(subject, read_ahead_kb=read_ahead),
            instrument,
            started_at=started_at,
            windows=self.windows,
            notes=self.notes,
            is_stopped=is_stopped,
            queries={query.name: query.sql for query in queries},
            failures=self.failures,
            cold=self.request.is_cold,
        )

    def close(self) -> None:
        with suppress(Exception):  # a lost server cannot be said goodbye to
            self._session.close()

    def _attempt(self, query: Query, level: Level) -> TareError | None:
        """Run all executions of a query; the error that ended them, if one did."""
        is_admitted = False
        try:
            self._admit(query)
            is_admitted = True
            self._run_query(query, level)
        except StatementFailed as error:
            dbms = self._session.server.dbms
            self._record(query, error if is_admitted else query.explained(error, dbms))
            return query.failed(error) if is_admitted else query.refused(error, dbms)
        except TareError as error:
            self._record(query, error)
            return (self._reconnect() or error) if isinstance(error, ServerLost) else error
        return None

    def _record(self, query: Query, error: TareError) -> None:
        self.failures[query.name] = error.what
        self.hear(QueryFailed(query.name, error.what))

    def _admit(self, query: Query) -> None:
        """Prepare and plan a query, which shows the mistakes of the request."""
        prepared = self._session.prepare(query.sql)
        try:
            self._session.plan_of(prepared, query.sql)
        finally:
            with suppress(Exception):
                prepared.close()

    def _reconnect(self) -> ConnectionFailed | None:
        """Open another session; the error where the server does not answer."""
        self.close()
        try:
            self._session = self.connect()
        except TareError as error:
            return ConnectionFailed(error.what, error.next_step)
        return None

    def _run_query(self, query: Query, level: Level) -> None:
        kinds = (FROM_PROC,) if level is Level.PROC else (TRACED, UNTRACED)
        total = 1 + self.request.runs * len(kinds)
        self.hear(Executing(query.name, WARM_UP, 1, total))
        self._lasts_ns = self._warm_up(query)
        done = 0
        for number in range(self.request.runs):
            pair: list[Window] = []
            for kind in self._random.sample(kinds, len(kinds)):
                self.hear(Executing(query.name, kind, 2 + done + len(pair), total))
                pair.append(self._window(query, number, kind, level))
            done += len(pair)
            self.windows += pair
            for window in pair:
                self.hear(WindowDone(window))

    def _window(self, query: Query, number: int, kind: str, level: Level) -> Window:
        """Execute a query once, and count where the kind of the execution requests it."""
        empty_buffers(self._session, self.request.cache)
        prepared = self._session.prepare(query.sql)
        try:
            return (self._bare if kind == UNTRACED else self._counted)(query, number, prepared, level)
        finally:
            with suppress(Exception):
                prepared.close()

    def _bare(self, query: Query, number: int, prepared: Prepared, level: Level) -> Window:
        """Execute untraced. A tracer is started and stopped before: what it takes from CPU caches, both kinds of a pair
        lose."""
        subject, instrument = self._instrument(level)
        try:
            instrument.begin()
        finally:
            instrument.stop()
        self._ready(prepared, subject)
        started_at = now()
        wall_ns = self._clock(prepared)
        return Window(
            name=query.name,
            number=number,
            is_traced=False,
            started_at=started_at,
            wall_ns=wall_ns,
            read_ns=wall_ns,
        )

    def _counted(self, query: Query, number: int, prepared: Prepared, level: Level) -> Window:
        subject, instrument = self._instrument(level)
        try:
            self._ready(prepared, subject)
            started_at = now()
            instrument.begin()
            wall_ns = self._clock(prepared)
            self._rest(subject)
            window, counted = instrument.end(query.name, number, started_at, wall_ns)
        finally:
            instrument.stop()
        self.notes += counted.notes
        return window

    def _ready(self, prepared: Prepared, subject: Subject) -> None:
        """Bring the machine into the state of which the execution is: without the data if that was requested, else
        just after an execution. To start or stop a tracer takes 0.1 s and more, and a short query takes up to 1.6 times
        as long after 0.3 s in which the machine idles."""
        if self.request.cache is CacheState.COLD:
            evict_files(self._session, self.request.cache, None)  # last of all, with what preparing has read
        elif self._lasts_ns < LONG_NS:
            self._clock(prepared)
        self._rest(subject)

    def _warm_up(self, query: Query) -> int:
        prepared = self._session.prepare(query.sql)
        try:
            return self._clock(prepared)
        finally:
            with suppress(Exception):
                prepared.close()

    def _clock(self, prepared: Prepared) -> int:
        """Execute and receive the whole answer; wall time, ns."""
        prepared.limit(self.request.timeout_s)
        collecting = gc.isenabled()
        gc.disable()
        try:
            began_ns = time.monotonic_ns()
            prepared.plan_and_execute(self.request.timeout_s)
            return time.monotonic_ns() - began_ns
        finally:
            if collecting:
                gc.enable()

    def _instrument(self, level: Level | None) -> tuple[Subject, Instrument]:
        """Return an instrument on the processes that the server has now: a restart brings others."""
        subject = of_session(self._session, self.request.nodes)
        assert subject.server is not None
        roles = Roles.of(subject.server.dbms, subject.leader, self.request.rules)
        return subject, open_instrument(subject, roles, level)

    def _rest(self, subject: Subject) -> None:
        """Wait for the leader to sleep, so that its counters are whole."""
        if subject.leader is not None:
            settle(subject.leader.pid, subject.leader.tid)
