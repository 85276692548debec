"""Restarting a MariaDB or MySQL. One that Tare did not start gets SHUTDOWN, then its own command line again.

One option is added to it, so that the buffer pool is not filled again from its last dump. A
server that a service manager watches is then no longer that manager's: hence `allow_restart`.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms import local, servers
from tare.dbms.servers import ServerRecord
from tare.errors import CacheNotCleared, ServerLost, StatementFailed, TareError

if TYPE_CHECKING:
    from tare.dbms.mariadb.session import MariaDBSession

WAIT_S = 120.0
_NO_LOAD = "--innodb-buffer-pool-load-at-startup=0"


def refusal(session: MariaDBSession) -> str:
    """Return the reason for which Tare may not restart the session's server; empty where it may."""
    if _ours(session) is not None:
        return ""
    if not session.allow_restart:
        return "Tare did not start it"
    return "" if session.leader() is not None else "its process is not known to this user"


def restart(session: MariaDBSession) -> None:
    """Restart the session's server. Raises CacheNotCleared or ServerFailed where it does not come back."""
    ours, leader = _ours(session), session.leader()
    if ours is not None:
        servers.restart(ours)
    elif leader is not None:
        foreign(session, leader.pid)


def _ours(session: MariaDBSession) -> ServerRecord | None:
    directory = session.server.data_directory
    return None if directory is None else servers.of_data_directory(directory)


def foreign(session: MariaDBSession, pid: int) -> None:
    """Raises CacheNotCleared where this user may not, or where the server does not come back."""
    command = local.command_line(pid)
    binary = local.executable(pid)
    owner = Path(f"/proc/{pid}").stat()
    if binary is None or not command or os.geteuid() not in (0, owner.st_uid):
        raise CacheNotCleared(
            f"the server (process {pid}) belongs to the user id {owner.st_uid}: this user cannot restart it",
            "run Tare as root or as the server's operating system user",
        )
    born = local.born_at(pid)
    try:
        with suppress(ServerLost):  # it may be gone before it has answered
            session.run("SHUTDOWN")
    except StatementFailed as error:
        raise CacheNotCleared(
            f"the server did not accept SHUTDOWN: {error.what}", "connect as a user with the SHUTDOWN right"
        ) from error
    _until(lambda: not local.is_alive(pid, born), "the server did not stop")
    as_owner = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    subprocess.run(
        ["/bin/sh", "-c", '"$@" >/dev/null 2>&1 </dev/null &', "sh", str(binary), *command[1:], _NO_LOAD],
        stdin=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        check=True,
        **as_owner,  # type: ignore[call-overload]
    )
    _until(lambda: _answers(session), "the server did not come back")


def _answers(session: MariaDBSession) -> bool:
    with suppress(TareError):
        session.reconnect()
        return True
    return False


def _until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not done():
        if time.monotonic() > deadline:
            raise CacheNotCleared(
                f"{what} within {WAIT_S:g} s", "look at its log; start it with the system's own means"
            )
        time.sleep(0.05)
