"""Thread and process that answer for a connection (TTPv2 §7.1).

The server is one process: query and utility threads share it, so its process is the query
process, and only the leader's thread tells the query's own work from the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tare.dbms import local
from tare.dbms.base import Leader, Role
from tare.dbms.mariadb import spinning

if TYPE_CHECKING:
    from tare._probe import Process

_NAMES = ("mariadbd", "mysqld")

THREAD_MARIADB = "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()"
THREAD_MYSQL = "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()"


def leader(tid: int, how: str) -> Leader | None:
    """None unless a thread of that id is here and belongs to such a server."""
    pid = local.process_of_thread(tid)
    if pid is None or not local.command_name(pid).startswith(_NAMES):
        return None
    return Leader(pid=pid, tid=tid, how=how, whole_process=False)


def spinning_leader(listening: Sequence[int], run: Callable[[str], object]) -> Leader | None:
    """For a server that does not name its threads. `listening`: processes where the connection may lead to."""
    servers = [pid for pid in listening if local.command_name(pid).startswith(_NAMES)]
    if len(servers) != 1:
        return None
    try:
        tid = spinning.thread_of(servers[0], run)
    except OSError:  # it ended, or hides its threads
        return None
    return (
        None if tid is None else Leader(servers[0], tid, how="CPU time of its threads", whole_process=False)
    )


def role(process: Process, leader: Leader) -> Role | None:
    return Role.QUERY if process.tgid == leader.pid else None
