"""The trial of a QE on a real SQLite: set up, timed, checked against the definition, and put back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import StatementFailed, WrongAnswer
from tare.experiment.ledger import rows
from tare.experiment.trial import conducted
from tare.experiment.work import Trial
from tare.measure.answer import answer_hash
from tare.measure.records import QE, Outcome
from tests.servers import ROWS, make_sqlite
from tests.unit.protocol.qe_records import qe

STATE = "SELECT count(*), sum(id) FROM numbers"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    url = make_sqlite(tmp_path / "numbers.db")
    opened = find(url).connect(url, allow_writes=True)
    opened.run("CREATE TABLE kept (id integer, grp integer)")
    yield opened
    opened.close()


def weighed(session: Session) -> Callable[[str], QE]:
    """The statement is executed; the times are of no account here."""

    def execute(sql: str) -> QE:
        fetched = session.prepare(sql).execute(None)
        return dataclasses.replace(qe(), row_count=fetched.row_count, answer_hash=answer_hash(fetched.rows()))

    return execute


def count(session: Session, table: str) -> int:
    return int(str(rows(session, f"SELECT count(*) FROM {table}")[0][0]))


def test_a_statement_that_fills_a_relation_is_answered_by_what_it_left_there(session: Session) -> None:
    trial = Trial(
        "INSERT INTO kept SELECT id, grp FROM numbers WHERE id <= 3",
        before=["DELETE FROM kept"],
        answer="SELECT * FROM kept",
        rows=3,
        defined=[(3, 3), (1, 1), (2, 2)],
    )
    first = conducted(lambda: session, trial, weighed(session))
    second = conducted(lambda: session, trial, weighed(session))
    assert (first.outcome, first.row_count) == (Outcome.OK, 3)
    assert first.answer_hash == second.answer_hash == answer_hash([(1, 1), (2, 2), (3, 3)])


def test_too_few_rows_are_a_wrong_answer_and_not_a_fast_query(session: Session) -> None:
    trial = Trial("SELECT id FROM numbers WHERE id < 3", rows=3)
    found = conducted(lambda: session, trial, weighed(session))
    assert found.outcome is Outcome.FAILED
    assert found.error == "gave 2 rows; 3 by its definition"


def test_the_right_number_of_wrong_rows_is_a_wrong_answer_too(session: Session) -> None:
    trial = Trial("SELECT min(id) FROM numbers", rows=1, defined=[(0,)])
    found = conducted(lambda: session, trial, weighed(session))
    assert found.outcome is Outcome.FAILED
    assert "another answer than its definition" in (found.error or "")


def test_an_update_is_put_back_and_the_putting_back_is_proved(session: Session) -> None:
    trial = Trial(
        f"UPDATE numbers SET id = {ROWS + 1} WHERE id = 7",
        after=[f"UPDATE numbers SET id = 7 WHERE id = {ROWS + 1}"],
        unchanged=STATE,
        rows=1,
    )
    before = rows(session, STATE)
    assert conducted(lambda: session, trial, weighed(session)).row_count == 1
    assert rows(session, STATE) == before


def test_a_change_that_was_not_put_back_ends_the_run(session: Session) -> None:
    trial = Trial("DELETE FROM numbers WHERE id = 7", unchanged=STATE, rows=1)
    with pytest.raises(WrongAnswer, match="was not put back"):
        conducted(lambda: session, trial, weighed(session))


def test_what_was_changed_is_put_back_also_where_the_qe_broke_off(session: Session) -> None:
    def broken(sql: str) -> QE:
        session.run(sql)
        raise StatementFailed("the server hung up in the middle")

    trial = Trial("INSERT INTO kept VALUES (1, 1)", after=["DELETE FROM kept"])
    with pytest.raises(StatementFailed, match="hung up"):
        conducted(lambda: session, trial, broken)
    assert count(session, "kept") == 0
