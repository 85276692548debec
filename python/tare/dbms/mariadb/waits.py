"""Waits of a connection of MariaDB or MySQL, and the connections that it waits for, as far as the server shows them."""

from __future__ import annotations

from contextlib import suppress

from tare.dbms.mariadb.wire import Wire
from tare.dbms.patience import AT_WORK, Wait
from tare.errors import StatementFailed

_STATE = "SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}"
_WAITING = "Waiting for"  # how the names of all such states begin
# Whoever holds a lock on what the connection waits for: by a plugin of MariaDB, by the performance schema of both.
_HOLDERS = (
    "SELECT DISTINCT THREAD_ID, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.METADATA_LOCK_INFO "
    "WHERE THREAD_ID <> {id} AND TABLE_NAME <> ''",
    "SELECT DISTINCT t.PROCESSLIST_ID, CONCAT(h.OBJECT_SCHEMA, '.', h.OBJECT_NAME) "
    "FROM performance_schema.metadata_locks w JOIN performance_schema.threads me ON me.THREAD_ID = w.OWNER_THREAD_ID "
    "JOIN performance_schema.metadata_locks h USING (OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME) "
    "JOIN performance_schema.threads t ON t.THREAD_ID = h.OWNER_THREAD_ID WHERE me.PROCESSLIST_ID = {id} "
    "AND w.LOCK_STATUS = 'PENDING' AND h.LOCK_STATUS = 'GRANTED' AND h.OWNER_THREAD_ID <> w.OWNER_THREAD_ID",
)
_CONNECTION = "SELECT USER, HOST, COMMAND, TIME FROM information_schema.PROCESSLIST WHERE ID = {id}"
_NOT_SHOWN = (
    "the server does not show which connection holds it (INSTALL SONAME 'metadata_lock_info' lets MariaDB)"
)


def look(own: Wire, connection: int) -> Wait:
    """Ask over another connection. Raises ServerLost if there is no answer."""
    state = "".join(str(state) for (state,) in own.query(_STATE.format(id=connection)))
    if not state.startswith(_WAITING):
        return AT_WORK
    holders = [text for id_, name in _holders(own, connection) for text in _described(own, id_, name)]
    return Wait(
        f"the server reports {state!r}"
        + (f", held by {'; '.join(holders)}" if holders else f"; {_NOT_SHOWN}"),
        "end the transaction or UNLOCK TABLES there" if holders else "see SHOW PROCESSLIST for who holds it",
    )


def _holders(own: Wire, connection: int) -> list[tuple[int, str]]:
    for sql in _HOLDERS:
        with suppress(StatementFailed):  # without that plugin, without rights
            if found := own.query(sql.format(id=connection)):
                return [(int(id_), str(name)) for id_, name in found]
    return []


def _described(own: Wire, connection: int, name: str) -> list[str]:
    return [
        f"connection {connection} on {name} (user {user} from {host}, {command} for {seconds} s)"
        for user, host, command, seconds in own.query(_CONNECTION.format(id=connection))
    ]
