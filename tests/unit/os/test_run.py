"""Executions in pairs: their order, what fails among them, and what a signal leaves."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tare.errors import BadStatement, ConnectionFailed, ServerLost, StatementFailed
from tare.measure.query import Query
from tare.os.events import Event, Executing, Stopped
from tare.os.level import Level
from tare.os.record import PATIENCE_S, Observation
from tare.os.run import RunRequest, run
from tests.unit.os.doubles import PlannedClock, Tracer, session
from tests.unit.os.planted import Snapshot

Sleeper = subprocess.Popen[bytes]
ONE, TWO = Query("one", "SELECT 1"), Query("two", "SELECT 2")


def observed(
    sleeper: Sleeper,
    request: RunRequest,
    *queries: Query,
    execute: Callable[[str], None] = lambda sql: None,
    hear: Callable[[Event], None] = lambda event: None,
) -> Observation:
    return run(lambda: session(sleeper.pid, execute), queries, request, hear)


def run_of(sleeper: Sleeper, execute: Callable[[], None]) -> None:
    """Warm-up and four pairs."""
    observed(sleeper, RunRequest(runs=4), ONE, execute=lambda sql: execute())


def test_each_query_warms_up_and_runs_in_pairs(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    executed: list[str] = []
    observation = observed(sleeper, RunRequest(runs=3), ONE, TWO, execute=executed.append)
    assert executed == [ONE.sql] * 13 + [TWO.sql] * 13
    for query in (ONE, TWO):
        windows = [window for window in observation.windows if window.name == query.name]
        assert [window.number for window in windows] == [0, 0, 1, 1, 2, 2]
        for pair in zip(windows[::2], windows[1::2], strict=True):
            assert {window.is_traced for window in pair} == {True, False}
    traced = [window for window in observation.windows if window.is_traced]
    assert all([role.role for role in window.roles] == ["query"] for window in traced)
    assert all(window.roles == () for window in observation.windows if not window.is_traced)
    assert observation.queries == {"one": "SELECT 1", "two": "SELECT 2"}
    assert (observation.dbms, observation.level, observation.subject) == (
        "postgresql",
        Level.FULL,
        "PostgreSQL 18.4 (postgresql://here/shop)",
    )


def test_the_order_within_pairs_is_set_by_the_seed(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    def order(seed: int) -> list[bool]:
        return [window.is_traced for window in observed(sleeper, RunRequest(runs=8, seed=seed), ONE).windows]

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_the_tracer_is_off_in_untraced_executions(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    running: list[int] = []
    observation = observed(
        sleeper, RunRequest(runs=4), ONE, execute=lambda sql: running.append(tracer.running)
    )
    assert running[0] == 0
    assert [bool(count) for count in running[2::2]] == [window.is_traced for window in observation.windows]


def test_each_execution_of_a_pair_follows_another_in_the_same_state(
    sleeper: Sleeper, tracer: type[Tracer]
) -> None:
    """So that neither has the pause in which a tracer starts or stops before its clock."""
    running: list[tuple[int, int]] = []
    run_of(sleeper, lambda: running.append((tracer.started, tracer.running)))
    assert running[1::2] == running[2::2]


def test_a_long_query_is_not_executed_twice_as_often(
    sleeper: Sleeper, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    executed: list[int] = []
    monkeypatch.setattr("tare.os.run.LONG_NS", 0)
    run_of(sleeper, lambda: executed.append(1))
    assert len(executed) == 9


def test_no_execution_has_the_wait_for_requests_in_its_time(
    sleeper: Sleeper, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PlannedClock()
    snapshot = tracer.snapshot

    def slow(self: Tracer, patience_s: float = 0.0) -> Snapshot:
        clock.sleep(patience_s)
        return snapshot(self, patience_s)

    monkeypatch.setattr(tracer, "snapshot", slow)
    monkeypatch.setattr("tare.os.run.time", clock)
    observation = observed(sleeper, RunRequest(runs=3), ONE, execute=lambda sql: clock.sleep(0.25))
    assert [window.wall_ns for window in observation.windows] == [250_000_000] * 6
    assert clock.monotonic() == 0.25 * 13 + 3 * PATIENCE_S


def test_level_proc_has_no_pairs(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    observation = observed(sleeper, RunRequest(runs=3, level=Level.PROC), ONE)
    assert tracer.started == 0
    assert [(window.is_traced, len(window.roles)) for window in observation.windows] == [(False, 1)] * 3


def test_a_query_that_fails_is_recorded_and_the_others_follow(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    def execute(sql: str) -> None:
        if sql == ONE.sql:
            raise StatementFailed("no such table")

    observation = observed(sleeper, RunRequest(runs=1), ONE, TWO, execute=execute)
    assert observation.failures == {"one": "no such table"}
    assert [window.name for window in observation.windows] == ["two", "two"]


def test_the_error_of_the_only_query_is_raised(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    def execute(sql: str) -> None:
        raise BadStatement("it writes", "give --allow-writes")

    with pytest.raises(BadStatement, match="it writes"):
        observed(sleeper, RunRequest(runs=1), ONE, execute=execute)


def test_a_lost_server_is_connected_to_again(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    connections: list[int] = []

    def execute(sql: str) -> None:
        if sql == ONE.sql:
            raise ServerLost("it went away")

    def connect() -> object:
        connections.append(1)
        return session(sleeper.pid, execute)

    observation = run(connect, [ONE, TWO], RunRequest(runs=1))  # type: ignore[arg-type]
    assert len(connections) == 2
    assert list(observation.failures) == ["one"]
    assert len(observation.windows) == 2


def test_a_server_that_stays_away_ends_the_run(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    connections: list[int] = []

    def execute(sql: str) -> None:
        if sql == TWO.sql:
            raise ServerLost("it went away")

    def connect() -> object:
        if connections:
            raise ConnectionFailed("nobody listens")
        connections.append(1)
        return session(sleeper.pid, execute)

    three = Query("three", "SELECT 3")
    observation = run(connect, [ONE, TWO, three], RunRequest(runs=1))  # type: ignore[arg-type]
    assert [window.name for window in observation.windows] == ["one", "one"]
    assert observation.failures == {"two": "it went away", "three": "not run: nobody listens"}


def test_a_signal_keeps_whole_pairs(sleeper: Sleeper, tracer: type[Tracer]) -> None:
    heard: list[Event] = []

    def interrupt(event: Event) -> None:
        heard.append(event)
        if isinstance(event, Executing) and event.number == 5:  # the second one of the second pair
            raise KeyboardInterrupt

    observation = observed(sleeper, RunRequest(runs=5), ONE, TWO, hear=interrupt)
    assert [window.number for window in observation.windows] == [0, 0]
    assert observation.is_stopped
    assert isinstance(heard[-1], Stopped)
