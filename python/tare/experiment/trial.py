"""Executes a QE with its set-up: prepares, times, checks the answer against its definition, puts back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tare.dbms.base import Session
from tare.errors import WrongAnswer
from tare.experiment.ledger import rows
from tare.experiment.work import Trial
from tare.measure.answer import answer_hash
from tare.measure.records import QE, Outcome


def conduct_trial(session: Callable[[], Session], trial: Trial, timed: Callable[[str], QE]) -> QE:
    """Execute the statement by `timed`; the outcome is `FAILED`, with the reason, if its answer is not as
    defined.

    `session` is called again after the QE, which may have renewed it. Raises WrongAnswer if the database is
    not as it was, and what the statements of set-up raise."""
    for sql in trial.before:
        session().run(sql)
    before = _answer_hash(session(), trial.unchanged)
    try:
        qe = timed(trial.sql)
        if qe.outcome is Outcome.OK:
            qe = _checked(session(), trial, qe)
    finally:
        for sql in trial.after:
            session().run(sql)
    if _answer_hash(session(), trial.unchanged) != before:
        raise WrongAnswer(
            f"what the statement changed was not put back: {trial.unchanged} does not answer as it did before "
            f"{trial.sql}",
            "see whether another program writes to this database; the next run makes the tables again",
        )
    return qe


def _checked(session: Session, trial: Trial, qe: QE) -> QE:
    if trial.answer is not None:
        qe = dataclasses.replace(qe, answer_hash=_answer_hash(session, trial.answer))
    wrong = None
    if trial.rows is not None and qe.row_count != trial.rows:
        wrong = f"gave {qe.row_count} rows; {trial.rows} by its definition"
    elif trial.defined is not None and qe.answer_hash != answer_hash(trial.defined):
        wrong = f"gave another answer than its definition (hash {qe.answer_hash})"
    return qe if wrong is None else dataclasses.replace(qe, outcome=Outcome.FAILED, error=wrong)


def _answer_hash(session: Session, sql: str | None) -> str | None:
    return None if sql is None else answer_hash(rows(session, sql))
