"""Throw-away servers of this machine: those that run, and those that are stopped in a temporary directory."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.dbms import local
from tare.dbms.servers import record, running
from tare.dbms.servers.record import ServerRecord
from tare.errors import ServerFailed

_DATA = "-D"  # of postgres, in a word of its own
_CONFIGURATION = "--defaults-file="  # of mariadbd and mysqld


@dataclass(frozen=True, slots=True)
class ServerState:
    record: ServerRecord
    pid: int | None  # None: it is stopped
    up_s: float | None

    @property
    def is_running(self) -> bool:
        return self.pid is not None


def servers_here() -> list[ServerState]:
    """Servers whose record this user may read, running ones first. A stopped server in a directory that its user named
    is not found: nothing points to it."""
    found: dict[Path, ServerRecord] = {}
    for directory in (*_directories_of_processes(), *_temporary_directories()):
        with suppress(ServerFailed):
            if directory not in found and (known := record.read(directory)) is not None:
                found[directory] = known
    states = [_state(known) for known in found.values()]
    return sorted(states, key=lambda state: (not state.is_running, state.record.directory))


def state_of(directory: Path) -> ServerState:
    """Raises ServerFailed where the directory holds no server of ours."""
    return _state(running.known(directory))


def _state(server: ServerRecord) -> ServerState:
    pid = running.process_of(server)
    born = local.born_at(pid) if pid else None
    if pid is None or born is None:
        return ServerState(server, None, None)
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    return ServerState(server, pid, max(0.0, since_boot - born / os.sysconf("SC_CLK_TCK")))


def _directories_of_processes() -> Iterator[Path]:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        words = local.command_line(int(entry.name))
        if _DATA in words[:-1] and Path(words[0]).name == "postgres":
            yield Path(words[words.index(_DATA) + 1]).parent
        if len(words) > 1 and words[1].startswith(_CONFIGURATION):
            yield Path(words[1].removeprefix(_CONFIGURATION)).parent


def _temporary_directories() -> Iterator[Path]:
    yield from Path(tempfile.gettempdir()).glob("tare-*")
