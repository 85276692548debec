"""The servers that Tare started on this machine, as they are now.

No list of them is kept: a server that runs is found by its command line, and one in a temporary directory by its
record there. A directory that the user named is looked at when it is named again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from tare.dbms import local
from tare.dbms.servers import place, program, record
from tare.dbms.servers.record import ServerRecord
from tare.dbms.servers.running import KINDS
from tare.errors import ServerFailed


class State(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"
    DIED = "died"  # ended without a shutdown


@dataclass(frozen=True, slots=True)
class Status:
    """A server at one moment. What only a running server has is None for any other."""

    record: ServerRecord
    state: State
    pid: int | None = None
    since: datetime | None = None  # UTC
    memory_bytes: int | None = None  # of all its processes; None also without the right to see it
    connections: int | None = None
    last_line: str | None = None  # of its log, if it died


def status(directory: Path) -> Status:
    """Return the status of the server in this directory. Raises ServerFailed if there is none of Tare's."""
    server = record.read(directory.absolute())
    if server is None:
        raise ServerFailed(
            f"{directory} holds no server of Tare's", "give the --dir that `tare server start` printed"
        )
    return _status(server)


def statuses(named: Sequence[Path] = ()) -> list[Status]:
    """Return the status of each server that runs or has a temporary directory, and of those in directories `named`.

    Servers of other users are left out where this user may not read their directories. Raises ServerFailed."""
    found = {one.record.directory: one for one in map(status, named)}
    for directory in (*_running(), *place.temporary_directories(tempfile.gettempdir())):
        server = record.read(directory) if directory not in found else None
        if server is not None:
            found[directory] = _status(server)
    return sorted(found.values(), key=lambda one: str(one.record.directory))


def _running() -> list[Path]:
    found = []
    for pid in local.processes():
        line = local.command_line(pid)
        found += [where for kind in KINDS.values() if (where := kind.directory(line)) is not None]
    return found


def _status(server: ServerRecord) -> Status:
    kind = KINDS[server.kind]
    pid: int | None = kind.process(server)
    if pid is not None:
        began_at = local.began_at(pid)
        parts = [local.memory(one) for one in (pid, *local.twins_beneath(pid))]
        return Status(
            server,
            State.RUNNING,
            pid,
            None if began_at is None else datetime.fromtimestamp(began_at, UTC),
            None if None in parts else sum(part for part in parts if part is not None),
            local.clients(server.port, str(kind.socket_file(server))),
        )
    if kind.pid_file(server).exists():
        lines = [line for line in program.log_end(server.log) if line.strip()]
        return Status(server, State.DIED, last_line=lines[-1] if lines else None)
    return Status(server, State.STOPPED)
