"""Requests to the executor of a run: rows that it looks for between two executions, and marks as obeyed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from tare.lab.schema import request
from tare.lab.store import Lab


class Action(StrEnum):
    PAUSE = "pause"  # wait after the current execution, and keep the run
    RESUME = "resume"  # continue after a pause
    STOP = "stop"  # end after the current query's visit; `tare experiment resume` continues
    ABORT = "abort"  # end after the current execution; the run counts as failed


@dataclass(frozen=True, slots=True)
class Request:
    id: int
    run_id: int
    action: Action
    requested_at: str  # UTC, ISO 8601
    obeyed_at: str | None


def make_request(lab: Lab, run_id: int, action: Action) -> None:
    """Record a request, unless the newest one that waits is the same. Raises LabError."""
    with lab.writing() as connection:
        newest = connection.scalar(
            select(request.c.action)
            .where(request.c.run_id == run_id, request.c.obeyed_at.is_(None))
            .order_by(request.c.id.desc())
            .limit(1)
        )
        if newest != action:
            row = {"run_id": run_id, "action": action.value, "requested_at": _now()}
            connection.execute(insert(request).values(row))


def newest_requests(lab: Lab, run_id: int, most: int = 10) -> list[Request]:
    """Return the run's newest requests, newest first. Raises LabError."""
    with lab.reading() as connection:
        rows = connection.execute(
            select(request).where(request.c.run_id == run_id).order_by(request.c.id.desc()).limit(most)
        ).all()
    return [_request(row) for row in rows]


def last_id(lab: Lab, run_id: int) -> int:
    """Return the id of the run's newest request, 0 if there is none. Raises LabError."""
    with lab.reading() as connection:
        return connection.scalar(select(func.max(request.c.id)).where(request.c.run_id == run_id)) or 0


def waiting(lab: Lab, run_id: int, after: int) -> Sequence[Request]:
    """Return requests with ids above `after` that are not obeyed yet, oldest first. Raises LabError."""
    with lab.reading() as connection:
        rows = connection.execute(
            select(request)
            .where(request.c.run_id == run_id, request.c.id > after, request.c.obeyed_at.is_(None))
            .order_by(request.c.id)
        ).all()
    return [_request(row) for row in rows]


def mark_obeyed(lab: Lab, requests: Sequence[Request]) -> None:
    """Mark them as obeyed now; asked twice, the first time stands. Raises LabError."""
    ids = [one.id for one in requests]
    with lab.writing() as connection:
        connection.execute(
            update(request)
            .where(request.c.id.in_(ids), request.c.obeyed_at.is_(None))
            .values(obeyed_at=_now())
        )


def _request(row: Row[Any]) -> Request:
    return Request(row.id, row.run_id, Action(row.action), row.requested_at, row.obeyed_at)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
