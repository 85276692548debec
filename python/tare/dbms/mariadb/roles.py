"""Thread and process that answer for a connection (TTPv2 §7.1).

The server is one process: query and utility threads share it, so its process is the query
process, and only the leader's thread tells the query's own work from the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.dbms import local
from tare.dbms.base import Leader, Role

if TYPE_CHECKING:
    from tare._probe import Process

_NAMES = ("mariadbd", "mysqld")

THREAD_MARIADB = "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()"
THREAD_MYSQL = "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()"


def leader(tid: int, how: str) -> Leader | None:
    """None unless a thread of that id is here and belongs to such a server."""
    pid = local.process_of_thread(tid)
    if pid is None or not is_server(pid):
        return None
    return Leader(pid=pid, tid=tid, how=how, whole_process=False)


def is_server(pid: int) -> bool:
    return local.command_name(pid).startswith(_NAMES)


def role(process: Process, leader: Leader) -> Role | None:
    return Role.QUERY if process.tgid == leader.pid else None
