"""A pooler between Tare and the server: one that pools transactions holds no session, and is refused.

The server's process of a session is not the one that a pooler named when the connection was opened: PgBouncer makes
that number up. Where transactions are pooled, two open connections are served by one process in turn, or one
connection by several; where sessions are pooled, never.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from tare.dbms.postgresql.wire import Wire
from tare.errors import ConnectionFailed, ServerLost

LOOKS = 4  # by each of two connections: others may take a process in between

_HOLDS_NO_SESSION = (
    "connect to the server itself, or to a pool of sessions (pool_mode = session): what a run sets and prepares must "
    "hold for the next one"
)


def check_pooling(wire: Wire, another: Callable[[], Wire]) -> int:
    """Return the id of the server's process. Nothing is changed in the server's sessions.

    Raises ConnectionFailed where a pooler pools transactions."""
    first = wire.backend_pid()
    if first == wire.pid:
        return first
    with closing(another()) as other:
        try:
            pids = [(wire.backend_pid(), other.backend_pid()) for _ in range(LOOKS)]
        except ServerLost as error:
            raise ConnectionFailed(
                f"a pooler stands before the server, and opens no second session: {error.what}",
                "raise its pool_size to 2 or more, or connect to the server itself",
            ) from error
    ours, others = {first} | {one for one, _ in pids}, {two for _, two in pids}
    if len(ours) > 1 or len(others) > 1 or ours & others:
        raise ConnectionFailed(
            "a pooler (PgBouncer or one like it) pools transactions here: two open connections share process "
            f"{min(ours & others, default=first)} of the server",
            _HOLDS_NO_SESSION,
        )
    return first
