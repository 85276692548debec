"""Answers of TPC-H's queries, compared with a reference's after the timed runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tare.cli.weighing import Target, Weighed
from tare.dbms.base import Session
from tare.errors import BadStatement, QueryTimeout, StatementFailed, TareError
from tare.report.asked import Asked
from tare.report.build import warning_result
from tare.report.result import QueryResult, RunResult
from tare.report.warnings import AnswersUnverified
from tare.workload.tpch.reference import LARGEST_SCALE, REFERENCE, difference, reference


def compare_answers(
    weighed: Weighed,
    target: Target,
    asked: Asked,
    numbers: Sequence[int],
    scale: float,
    timeout_s: float | None,
    report: Callable[[str], None],
) -> Weighed:
    """Return the result with each answer compared. Every measured query runs once more, untimed.

    `numbers`: of the result's queries, in its order. Where nothing can be compared, the result has a warning."""
    result = weighed.result
    if weighed.stopped_by is not None or all(query.outcome == "failed" for query in result.results):
        return weighed
    unverified = _without_reference(scale, result.environment.server.dbms)
    if unverified is not None:
        return replace(weighed, result=_warned(result, unverified, asked))
    report(f"comparing the answers with {REFERENCE}'s")
    try:
        compared = _compared(result, target, asked, numbers, scale, timeout_s)
    except TareError as error:
        unverified = AnswersUnverified(None, error.what, error.next_step)
        return replace(weighed, result=_warned(result, unverified, asked))
    except KeyboardInterrupt as interrupt:
        unverified = AnswersUnverified(None, "the comparison was interrupted", "run again")
        return Weighed(_warned(result, unverified, asked), interrupt)
    return replace(weighed, result=compared)


def _without_reference(scale: float, dbms: str) -> AnswersUnverified | None:
    if dbms == REFERENCE.lower():
        return AnswersUnverified(
            None, f"{REFERENCE} is the reference itself", "run another DBMS to have its answers compared"
        )
    if scale > LARGEST_SCALE:
        return AnswersUnverified(
            None,
            f"answers are compared up to scale {LARGEST_SCALE:g}, and this is {scale:g}",
            f"run once with --scale {LARGEST_SCALE:g} --runs 1 on a database of that scale",
        )
    return None


def _compared(
    result: RunResult,
    target: Target,
    asked: Asked,
    numbers: Sequence[int],
    scale: float,
    timeout_s: float | None,
) -> RunResult:
    """Raises what `reference` and connecting raise, and ServerLost."""
    queries: list[QueryResult] = []
    failures: list[AnswersUnverified] = []
    with reference(scale) as source:
        session = target.connect()
        try:
            for number, query in zip(numbers, result.results, strict=True):
                try:
                    queries.append(_with_answer(query, session, source, number, scale, timeout_s))
                except (BadStatement, QueryTimeout, StatementFailed) as error:
                    queries.append(query)
                    failures.append(AnswersUnverified(query.name, error.what, error.next_step))
        finally:
            session.close()
    result = result.model_copy(update={"results": queries})
    for failure in failures:
        result = _warned(result, failure, asked)
    return result


def _with_answer(
    query: QueryResult,
    session: Session,
    source: Session,
    number: int,
    scale: float,
    timeout_s: float | None,
) -> QueryResult:
    if query.outcome == "failed":
        return query
    found = difference(session, source, number, scale, timeout_s)
    answer = query.answer.model_copy(update={"reference": REFERENCE, "reference_difference": found})
    return query.model_copy(update={"answer": answer})


def _warned(result: RunResult, warning: AnswersUnverified, asked: Asked) -> RunResult:
    return result.model_copy(update={"warnings": [*result.warnings, warning_result(warning, asked)]})
