"""Why a run ended before its time: the cause once, at the query that it is about."""

from __future__ import annotations

from tare.report.result import QueryResult, RunResult


def early_end(result: RunResult, query: QueryResult | None = None) -> list[str]:
    """Return the line for the verdict on a query, or on the whole run; nothing where the run came to its end.

    Only the verdict on the query that ended the run names the cause, if one did. Where no run of that query was timed,
    the verdict itself has it."""
    if not (result.interrupted or result.error):
        return []
    cause = f": {result.error or 'interrupted'}"
    if query is not None and result.ended_by is not None:
        cause = cause if ended(query, result) and query.outcome != "failed" else ""
    return [f"the run ended early{cause}; this report holds what had been measured"]


def ended(query: QueryResult, result: RunResult) -> bool:
    """Whether a failure of this query ended the run."""
    return result.ended_by == query.name
