"""The server's process and its DBMS: from a URL, a name, or a process id. Only on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms import local
from tare.dbms.known import SERVERS
from tare.dbms.registry import find
from tare.dbms.url import parse, redacted, scheme_of, shown_name
from tare.errors import ConnectionFailed, ServerLost, UsageError
from tare.meant import meant

if TYPE_CHECKING:
    from tare.dbms.base import Session

BY_PROCESS = ("postgresql",)
"""Whose server makes a process for each connection: its children are watched with it."""

LIBRARIES = {"sqlite": ("libsqlite3", "_sqlite3"), "duckdb": ("libduckdb", "_duckdb", "duckdb.")}
"""Beginnings of the names of files that hold an engine without a server."""

MYSQL_PORT = 3306

_NAMES = ("postgresql", "mariadb")


@dataclass(frozen=True, slots=True)
class Server:
    """A running process to watch."""

    pid: int  # of the postmaster, or of the only process
    born: int | None  # with the pid it names one life of a process
    dbms: str | None
    version: str  # "" where it is not known
    library: str = ""  # the file that holds the engine, where it is not the program
    settings: Mapping[str, str] = field(default_factory=dict)
    children: bool | None = None  # whether they are watched too; None: as usual for this kind of server

    @property
    def major(self) -> int:
        digits = self.version.partition(".")[0]
        return int(digits) if digits.isdigit() else 0

    @property
    def follow_children(self) -> bool:
        return self.dbms in BY_PROCESS if self.children is None else self.children

    @property
    def alive(self) -> bool:
        return local.is_alive(self.pid, self.born)

    def processes(self) -> list[int]:
        """Its own process, and its children where they are watched too."""
        found = [self.pid]
        if self.follow_children:
            with suppress(OSError):
                for task in Path(f"/proc/{self.pid}/task").iterdir():
                    with suppress(OSError):
                        found += map(int, (task / "children").read_text().split())
        return found


def server(
    db: str | None, pid: int | None, *, timeout_s: float = 10.0, children: bool | None = None
) -> Server:
    """Raises UsageError where it is not one process of this machine; what connecting raises, for a URL.

    `children`: watch those of the process too; None: where the server has a process for each connection, or has forked
    children that run the same program."""
    found = _named(db, pid, timeout_s)
    if children is None and found.dbms not in BY_PROCESS and local.twins_beneath(found.pid):
        children = True
    return replace(found, children=children)


def _named(db: str | None, pid: int | None, timeout_s: float) -> Server:
    if (db is None) == (pid is None):
        raise UsageError(
            "name one server to watch",
            "give --db URL, --db postgresql (the one that runs here), or --pid N",
        )
    if pid is not None:
        return of_process(pid)
    assert db is not None
    return _of_url(db, timeout_s) if "://" in db else _of_name(db)


def of_process(pid: int) -> Server:
    born = local.born_at(pid)
    if born is None:
        raise UsageError(f"there is no process {pid}", "ps -e lists them")
    dbms = SERVERS.get(local.command_name(pid))
    if dbms == "postgresql":
        pid = _postmaster(pid)
        return Server(pid, local.born_at(pid), dbms, _postgresql_version(pid))
    dbms = "mariadb" if dbms == "mysql" else dbms
    if dbms is not None:
        return Server(pid, born, dbms, "")
    engine, library = _engine_in(pid)
    return Server(pid, born, engine, "", library)


def _of_name(name: str) -> Server:
    """The only server of this kind that runs here."""
    kind = {"postgres": "postgresql", "mysql": "mariadb"}.get(name.lower(), name.lower())
    if kind not in _NAMES:
        raise UsageError(
            f"--db {shown_name(name)}: neither a URL nor a DBMS that can be found running here",
            meant(kind, _NAMES, f"give a URL, {' or '.join(_NAMES)}, or --pid N"),
        )
    comms = {comm for comm, dbms in SERVERS.items() if dbms == kind or (kind, dbms) == ("mariadb", "mysql")}
    there = [pid for pid in processes() if local.command_name(pid) in comms]
    roots = [pid for pid in there if local.parent_of(pid) not in there]
    if not roots:
        raise UsageError(
            f"no {kind} server runs on this machine", f"start one: tare server start {kind}, or give its URL"
        )
    if len(roots) > 1:
        raise UsageError(
            f"{len(roots)} {kind} servers run here: processes {', '.join(map(str, roots))}",
            f"take one: --pid {roots[0]}, or give its URL",
        )
    return of_process(roots[0])


def _of_url(url: str, timeout_s: float) -> Server:
    scheme = scheme_of(url)
    if scheme in LIBRARIES:
        raise UsageError(
            f"{redacted(url)}: {scheme} has no server; it runs in the process of its application",
            "name that process: --pid N --txn statement, or start it: tare profile run --txn statement -- COMMAND",
        )
    session = find(url).connect(url, timeout_s=timeout_s)
    try:
        return _of_session(session, url)
    finally:
        session.close()


def _of_session(session: Session, url: str) -> Server:
    leader = session.leader()
    if leader is None and (pid := _listening(session.server.dbms, url)) is not None:
        told = session.server
        return Server(pid, local.born_at(pid), told.dbms, told.version, settings=dict(told.settings))
    if leader is None:
        raise ConnectionFailed(
            f"the server of {redacted(url)} runs on another machine, or in another container: "
            "its functions cannot be watched from here",
            "run this command on the server's machine, outside of containers",
        )
    told = session.server
    pid = _postmaster(leader.pid) if told.dbms == "postgresql" else leader.pid
    return Server(pid, local.born_at(pid), told.dbms, told.version, settings=dict(told.settings))


def _listening(dbms: str, url: str) -> int | None:
    """The process of a MySQL server that reports no thread of its own (before 5.7): the one that listens where the URL
    leads to on this machine."""
    parts = parse(url)
    if dbms not in ("mysql", "mariadb") or not local.is_loopback(parts.host):
        return None
    socket = parts.parameters.get("socket") or parts.parameters.get("unix_socket")
    there = local.listeners(parts.port or MYSQL_PORT, socket)
    found = [pid for pid in there if SERVERS.get(local.command_name(pid)) in ("mysql", "mariadb")]
    return found[0] if len(found) == 1 else None


def _postmaster(pid: int) -> int:
    """The highest ancestor that is a postgres too."""
    while (parent := local.parent_of(pid)) is not None and SERVERS.get(
        local.command_name(parent)
    ) == "postgresql":
        pid = parent
    if local.born_at(pid) is None:
        raise ServerLost(f"the server's process {pid} is gone", "look at the end of the server's log")
    return pid


def _postgresql_version(postmaster: int) -> str:
    """Return the version of its data directory. The process itself does not show it."""
    try:
        return Path(f"/proc/{postmaster}/cwd/PG_VERSION").read_text().strip()
    except OSError:
        return ""


def _engine_in(pid: int) -> tuple[str | None, str]:
    for file in mapped_files(pid):
        for dbms, beginnings in LIBRARIES.items():
            if Path(file).name.startswith(beginnings):
                return dbms, file
    return None, ""


DELETED = " (deleted)"
"""Follows the path of a file in /proc whose name is gone or is another file's by now."""


def mapped_files(pid: int) -> list[str]:
    """Executables and libraries in a process's memory, each once, in the order of their addresses."""
    return list(dict.fromkeys(path for _, path in mappings(pid)))


def mappings(pid: int) -> list[tuple[Path, str]]:
    """Executable parts of a process's memory that a file backs: the kernel's link to that file, and its path."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return []
    parts = [line.split(maxsplit=5) for line in lines]
    return [
        (Path(f"/proc/{pid}/map_files/{_unpadded(part[0])}"), part[5])
        for part in parts
        if len(part) == 6 and "x" in part[1] and part[5].startswith("/")
    ]


def _unpadded(addresses: str) -> str:
    """`00400000-00401000` as the name of a link: `400000-401000`."""
    return "-".join(part.lstrip("0") or "0" for part in addresses.split("-"))


def processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def children(number: int) -> str:
    """Count of child processes, for a message."""
    return "one child" if number == 1 else f"{number} children"
