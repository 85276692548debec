"""How long a server has been running, asked before and after a run: a server that is younger than it must be was
restarted."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tare.dbms.base import Session
from tare.errors import TareError

_ANSWER_S = 5.0
_SLACK_S = 1.5  # MariaDB counts whole seconds
_SQL = {
    # A crash of one backend ends them all and starts them anew, under the same postmaster. Without the right to see
    # other users' sessions the checkpointer's start is null.
    "postgresql": (
        "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())",
        "SELECT extract(epoch FROM clock_timestamp() - backend_start) FROM pg_stat_activity "
        "WHERE backend_type = 'checkpointer'",
    ),
    "mariadb": ("SHOW GLOBAL STATUS LIKE 'Uptime'",),
    "mysql": ("SHOW GLOBAL STATUS LIKE 'Uptime'",),
}


@dataclass(frozen=True, slots=True)
class Age:
    """Ages of a server's main process and of those behind its sessions, s; None where one is not reported."""

    at_s: float  # CLOCK_MONOTONIC
    ages_s: tuple[float | None, ...]


def age(session: Session) -> Age:
    """Read the ages. An embedded DBMS has none."""
    ages = tuple(_asked(session, sql) for sql in _SQL.get(session.server.dbms, ()))
    return Age(time.monotonic(), ages)


def restarted(before: Age | None, after: Age | None) -> bool | None:
    """Whether the server was restarted between the two. None: it reported no age, or could not be asked."""
    if before is None or after is None:
        return None
    passed_s = after.at_s - before.at_s
    found = [
        later < earlier + passed_s - _SLACK_S
        for earlier, later in zip(before.ages_s, after.ages_s, strict=True)
        if earlier is not None and later is not None
    ]
    return any(found) if found else None


def _asked(session: Session, sql: str) -> float | None:
    try:
        rows = list(session.prepare(sql).execute(_ANSWER_S).rows())
    except TareError:
        return None
    value = rows[0][-1] if rows else None
    return None if value is None else float(str(value))
