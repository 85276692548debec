"""A QE with all that surrounds it: set up, timed, its answer held against the definition, put back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tare.dbms.base import Session
from tare.errors import WrongAnswer
from tare.experiment.ledger import rows
from tare.experiment.work import Trial
from tare.measure.answer import answer_hash
from tare.measure.records import QE, Outcome


def conducted(session: Callable[[], Session], trial: Trial, timed: Callable[[str], QE]) -> QE:
    """Return the QE that `timed` makes of the statement; `FAILED`, with the reason, if its answer is not as defined.

    `session` is asked for anew after the QE, which may have renewed it. Raises WrongAnswer if the database is
    not as it was, and what the statements of set-up raise."""
    for sql in trial.before:
        session().run(sql)
    as_found = _told(session(), trial.unchanged)
    try:
        qe = timed(trial.sql)
        if qe.outcome is Outcome.OK:
            qe = _judged(session(), trial, qe)
    finally:
        for sql in trial.after:
            session().run(sql)
    if _told(session(), trial.unchanged) != as_found:
        raise WrongAnswer(
            f"what the statement changed was not put back: {trial.unchanged} does not answer as it did before "
            f"{trial.sql}",
            "see whether another program writes to this database; the tables are made anew by the next run",
        )
    return qe


def _judged(session: Session, trial: Trial, qe: QE) -> QE:
    if trial.answer is not None:
        qe = dataclasses.replace(qe, answer_hash=_told(session, trial.answer))
    wrong = None
    if trial.rows is not None and qe.row_count != trial.rows:
        wrong = f"gave {qe.row_count} rows; {trial.rows} by its definition"
    elif trial.defined is not None and qe.answer_hash != answer_hash(trial.defined):
        wrong = f"gave another answer than its definition (hash {qe.answer_hash})"
    return qe if wrong is None else dataclasses.replace(qe, outcome=Outcome.FAILED, error=wrong)


def _told(session: Session, sql: str | None) -> str | None:
    return None if sql is None else answer_hash(rows(session, sql))
