"""How long a server has been running, asked before and after a run: a server that is younger than it must be was
restarted."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.dbms.base import Session
from tare.errors import TareError

_ANSWER_S = 5.0
_SLACK_S = (
    1.5  # MariaDB counts whole seconds: one that was younger than 2.5 s when it ended is told by its process
)
_ONE_PROCESS = "mariadb"  # all sessions of such a server are in one process
_STARTED = 19  # place of the start in /proc/PID/stat, behind the name
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
    process: tuple[int, int] | None = None  # id and start of the one process of a server on this machine


def age(session: Session) -> Age:
    """Read the ages. An embedded DBMS has none."""
    dbms = session.server.dbms
    ages = tuple(_asked(session, sql) for sql in _SQL.get(dbms, ()))
    return Age(time.monotonic(), ages, _process(session) if dbms == _ONE_PROCESS else None)


def restarted(before: Age | None, after: Age | None) -> bool | None:
    """Whether the server was restarted between the two. None: it reported no age, or could not be asked."""
    if before is None or after is None:
        return None
    if before.process is not None and after.process is not None:
        return before.process != after.process
    passed_s = after.at_s - before.at_s
    found = [
        later < earlier + passed_s - _SLACK_S
        for earlier, later in zip(before.ages_s, after.ages_s, strict=True)
        if earlier is not None and later is not None
    ]
    return any(found) if found else None


def _process(session: Session) -> tuple[int, int] | None:
    """None: on another machine, or not shown to this user."""
    with suppress(TareError, OSError):
        if (leader := session.leader()) is not None:
            stat = Path(f"/proc/{leader.pid}/stat").read_text(errors="replace")
            return leader.pid, int(stat.rpartition(")")[2].split()[_STARTED])
    return None


def _asked(session: Session, sql: str) -> float | None:
    try:
        rows = list(session.prepare(sql).execute(_ANSWER_S).rows())
    except TareError:
        return None
    value = rows[0][-1] if rows else None
    return None if value is None else float(str(value))
