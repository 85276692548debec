"""Planning as a part of its own: the whole statement gives the same answer, and has the clocks after planning."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.base import Fetched, Prepared, Session
from tare.dbms.planned import cpu_time_ns
from tare.dbms.postgresql.session import PostgreSQLSession
from tare.dbms.registry import find
from tare.errors import QueryTimeout, StatementFailed
from tare.measure.choices import CacheState, Clocked
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.rig import Rig
from tests.servers import ROWS

GROUPS = "SELECT grp, count(*), min(txt) FROM numbers GROUP BY grp"
NAP_S = 0.4  # that planning `SELECT nap()` takes: an immutable function is called by the planner

NAP = f"""
CREATE OR REPLACE FUNCTION nap() RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'this comes before the planner is done';
    PERFORM pg_sleep({NAP_S});
    RETURN 7;
END $$
"""


@pytest.fixture
def napping(postgresql_url: str) -> Iterator[Session]:
    """A session with PostgreSQL whose function `nap` lengthens planning and nothing else."""
    opened = find(postgresql_url).connect(postgresql_url, allow_writes=True)
    opened.run(NAP)
    yield opened
    opened.run("DROP FUNCTION nap()")
    opened.close()


def values(fetched: Fetched) -> list[tuple[str, ...]]:
    return sorted(tuple(str(value) for value in row) for row in fetched.rows())


def ran(prepared: Prepared, timeout_s: float | None = None) -> tuple[int, Fetched, int]:
    before = time.monotonic_ns()
    fetched = prepared.plan_and_execute(timeout_s)
    return before, fetched, time.monotonic_ns()


def test_the_whole_statement_gives_the_answer_of_the_prepared_one(session: Session) -> None:
    prepared = session.prepare(GROUPS)
    executed, whole = prepared.execute(60), prepared.plan_and_execute(60)
    assert values(executed) == values(whole)
    assert executed.row_count == whole.row_count == 100
    assert executed.planned is None


def test_planning_is_split_from_execution_or_the_reason_is_given(session: Session) -> None:
    prepared = session.prepare(GROUPS)
    before, fetched, after = ran(prepared)
    if prepared.planning_inside:
        assert fetched.planned is None
        return
    assert fetched.planned is not None
    assert before < fetched.planned.at_ns < after


def test_the_cpu_clock_between_is_the_leaders(session: Session) -> None:
    prepared = session.prepare(GROUPS)
    leader = session.leader()
    assert leader is not None
    prepared.plan_and_execute(None)
    first = cpu_time_ns(leader.pid)
    fetched = prepared.plan_and_execute(None)
    if fetched.planned is not None:
        last = cpu_time_ns(leader.pid)
        assert first is not None
        assert last is not None
        assert fetched.planned.cpu_ns is not None
        assert first < fetched.planned.cpu_ns < last


def test_a_statement_that_fails_leaves_a_session_that_works(writing: Session) -> None:
    writing.run("CREATE TABLE passing (a integer)")
    prepared = writing.prepare("SELECT a FROM passing")
    writing.run("DROP TABLE passing")
    with pytest.raises(StatementFailed):
        prepared.plan_and_execute(60)
    assert writing.prepare("SELECT count(*) FROM numbers").plan_and_execute(60).row_count == 1


def test_every_row_arrives(session: Session) -> None:
    fetched = session.prepare("SELECT id, txt FROM numbers").plan_and_execute(60)
    assert fetched.row_count == ROWS
    assert len(values(fetched)) == ROWS


def test_a_statement_that_writes_writes_once(writing: Session) -> None:
    writing.run("CREATE TABLE written (a integer)")
    try:
        fetched = writing.prepare(
            "INSERT INTO written SELECT id FROM numbers WHERE id <= 9"
        ).plan_and_execute(60)
        assert fetched.row_count == 9
        assert values(writing.prepare("SELECT count(*) FROM written").execute(60)) == [("9",)]
    finally:
        writing.run("DROP TABLE written")


def test_what_the_planner_computes_is_planning(napping: Session) -> None:
    prepared = napping.prepare("SELECT nap()")
    before, fetched, after = ran(prepared)
    assert values(fetched) == [("7",)]
    assert fetched.planned is not None
    planning, execution = fetched.planned.at_ns - before, after - fetched.planned.at_ns
    assert planning >= NAP_S * 1e9 > execution


def test_a_time_out_while_planning_leaves_a_session_that_works(napping: Session) -> None:
    prepared = napping.prepare("SELECT nap()")
    with pytest.raises(QueryTimeout):
        prepared.plan_and_execute(NAP_S / 4)
    assert values(napping.prepare("SELECT 1").plan_and_execute(60)) == [("1",)]


def test_a_time_out_while_executing_leaves_a_session_that_works(postgresql_url: str) -> None:
    session = find(postgresql_url).connect(postgresql_url)
    prepared = session.prepare("SELECT count(*) FROM pg_sleep(60)")
    with pytest.raises(QueryTimeout):
        prepared.plan_and_execute(0.1)
    assert values(session.prepare("SELECT 1").plan_and_execute(60)) == [("1",)]
    session.close()


def test_a_statement_longer_than_the_sockets_buffer_is_sent_whole(session: Session) -> None:
    keys = ",".join(str(i) for i in range(1, ROWS + 1))
    sql = f"SELECT count(*) FROM numbers WHERE id IN ({keys}) /* {'x' * (1 << 20)} */"
    assert values(session.prepare(sql).plan_and_execute(60)) == [(str(ROWS),)]


def test_utility_statements_run_too(postgresql_url: str) -> None:
    session = find(postgresql_url).connect(postgresql_url)
    assert values(session.prepare("SHOW server_version_num").plan_and_execute(60))[0][0].startswith("18")
    session.close()


def test_an_interrupt_while_planning_leaves_a_session_that_works(napping: Session) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    prepared = napping.prepare("SELECT nap()")
    usual = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, NAP_S / 4)
    try:
        with pytest.raises(KeyboardInterrupt):
            prepared.plan_and_execute(None)
    finally:
        signal.signal(signal.SIGALRM, usual)
    assert values(napping.prepare("SELECT 1").plan_and_execute(60)) == [("1",)]


def test_what_is_copied_out_leaves_a_session_that_works(postgresql_url: str) -> None:
    session = find(postgresql_url).connect(postgresql_url, allow_writes=True)
    copied = session.prepare("COPY (SELECT id FROM numbers) TO STDOUT").plan_and_execute(60)
    assert copied.row_count == ROWS
    assert values(session.prepare("SELECT 1").plan_and_execute(60)) == [("1",)]
    session.close()


@pytest.mark.parametrize("run", ["execute", "plan_and_execute"])
def test_the_time_out_is_set_before_the_clock(run: str, postgresql_url: str, tmp_path: Path) -> None:
    """Everything that libpq sends while the statement runs is traced."""
    session = find(postgresql_url).connect(postgresql_url)
    assert isinstance(session, PostgreSQLSession)
    prepared = session.prepare("SELECT current_setting('statement_timeout')")
    prepared.limit(7)
    pgconn = session._wire.connection.pgconn
    with (tmp_path / "trace").open("w") as file:
        pgconn.trace(file.fileno())
        fetched = getattr(prepared, run)(7)
        pgconn.untrace()
    sent = (tmp_path / "trace").read_text()
    assert values(fetched) == [("7s",)]
    session.close()
    assert "Execute" in sent
    assert "SET" not in sent


def test_planning_is_clocked_by_request_only(url: str) -> None:
    """An experiment, which requests nothing, keeps the paper's measure."""
    query = Query("groups", GROUPS)
    with Rig(lambda: find(url).connect(url)) as rig:
        qes = [
            time_single_qe(
                rig,
                query,
                index=0,
                query_index=0,
                warmup=False,
                cache=CacheState.WARM,
                timeout_s=None,
                **more,
            )
            for more in ({}, {"clocked": Clocked.TOTAL})
        ]
        inside = rig.prepared(GROUPS).planning_inside
    execution, total = qes
    assert execution.phases is None
    assert total.phases is not None
    assert total.elapsed is not None
    if inside:
        assert total.phases.planning_ns is None
    else:
        assert total.phases.planning_ns is not None
        assert total.phases.execution_ns is not None
        assert total.phases.planning_ns + total.phases.execution_ns == total.elapsed.wall_ns
