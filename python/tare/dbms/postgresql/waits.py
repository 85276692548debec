"""Waits of a PostgreSQL backend, and the backends that it waits for."""

from __future__ import annotations

from tare.dbms.patience import AT_WORK, Wait
from tare.dbms.postgresql.wire import Wire

_LOCK = (
    "SELECT locktype, mode, CASE WHEN relation IS NOT NULL THEN relation::regclass::text END FROM pg_locks "
    "WHERE pid = {pid} AND NOT granted"
)
_HOLDERS = (
    "SELECT pid, usename::text, application_name, state FROM pg_stat_activity "
    "WHERE pid = ANY (pg_blocking_pids({pid})) ORDER BY pid"
)


def look(own: Wire, pid: int) -> Wait:
    """Ask over another connection. Raises ServerLost if there is no answer."""
    locks = own.query(_LOCK.format(pid=pid))
    if not locks:
        return AT_WORK
    kind, mode, relation = locks[0]
    lock = f"a lock on {relation} ({mode})" if relation else f"a lock ({kind}, {mode})"
    holders = "; ".join(
        f"process {holder} (user {user}, {application or 'no application name'}, {state})"
        for holder, user, application, state in own.query(_HOLDERS.format(pid=pid))
    )
    return Wait(
        f"PostgreSQL waits for {lock}" + (f", held by {holders}" if holders else ""), "end that transaction"
    )
