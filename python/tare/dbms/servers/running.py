"""Starting, restarting and stopping throw-away servers, whatever their kind."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, TracebackType

from tare.dbms.servers import mariadb, mysql, postgresql, record
from tare.dbms.servers.copies import are_own
from tare.dbms.servers.record import ServerRecord
from tare.errors import ServerFailed

KINDS: Mapping[str, ModuleType] = {kind.KIND: kind for kind in (postgresql, mariadb, mysql)}
"""Kinds of servers that Tare starts: a module each, with the same functions."""


class RunningServer:
    """A server of ours, stopped at the end of a `with` block. It also lives on without this object."""

    def __init__(self, server: ServerRecord) -> None:
        self._server = server

    @property
    def record(self) -> ServerRecord:
        return self._server

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def directory(self) -> Path:
        return self._server.directory

    @property
    def pid(self) -> int:
        """The postmaster's or the server's process id, also after a restart."""
        now = record.read(self._server.directory)
        return now.pid if now else self._server.pid

    def stop(self) -> None:
        """Also removes the directory if it was made without a name of its own. Safe to repeat."""
        if self._server.directory.exists():
            stop(self._server.directory)

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_postgresql(
    directory: Path | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    version: str | None = None,
    port: int | None = None,
    own_programs: bool = False,
) -> RunningServer:
    """A new server, or the one that is already in `directory` started again.

    `version` is a major version ("15", "18"); by default the newest of the wheel, else the
    newest installed. Without `port` it listens on a socket only. `own_programs`: a copy of them
    in its directory, so that a probe on their file touches no other server. Raises ServerFailed."""
    return _started(postgresql.KIND, directory, settings or {}, version, port, own_programs)


def start_mariadb(
    directory: Path | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    version: str | None = None,
    port: int | None = None,
    own_programs: bool = False,
) -> RunningServer:
    """The same for the installed MariaDB; `version` must be the start of its version. Raises ServerFailed."""
    return _started(mariadb.KIND, directory, settings or {}, version, port, own_programs)


def start_mysql(
    directory: Path | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    version: str | None = None,
    port: int | None = None,
    own_programs: bool = False,
) -> RunningServer:
    """The same for MySQL 5.6.24, whose programs npm downloads the first time. Raises ServerFailed."""
    return _started(mysql.KIND, directory, settings or {}, version, port, own_programs)


def restart(server: ServerRecord) -> ServerRecord:
    """Raises ServerFailed."""
    restarted: ServerRecord = KINDS[server.kind].restart(record.read(server.directory) or server)
    return restarted


def known(directory: Path) -> ServerRecord:
    """Return the server of this directory. Raises ServerFailed if it holds none of ours."""
    server = record.read(directory.absolute())
    if server is None:
        raise ServerFailed(
            f"{directory} holds no server of Tare's", "give the --dir that `tare server start` printed"
        )
    return server


def stop(directory: Path) -> None:
    """Stops the server of this directory; data stay unless the directory is a temporary one."""
    server = known(directory)
    KINDS[server.kind].stop(server)
    if server.outside is not None:
        shutil.rmtree(server.outside, ignore_errors=True)
    if server.temporary:
        shutil.rmtree(server.directory, ignore_errors=True)


def _started(
    kind: str,
    directory: Path | None,
    settings: Mapping[str, str],
    version: str | None,
    port: int | None,
    own_programs: bool,
) -> RunningServer:
    module = KINDS[kind]
    known = record.read(directory.absolute()) if directory else None
    if known is None:
        return RunningServer(
            module.create(directory, settings=settings, version=version, port=port, own_programs=own_programs)
        )
    other_version = version is not None and not known.version.startswith(version)
    if known.kind != kind or other_version or port not in (None, known.port):
        raise ServerFailed(
            f"{directory} holds {known.kind} {known.version} on {known.url}",
            "choose another --dir, or leave out version and port",
        )
    if own_programs and not are_own(known.binaries, known.directory):
        raise ServerFailed(
            f"{directory} holds a server of the installed programs in {known.binaries}",
            "choose another --dir, or leave out --own-programs",
        )
    if module.process(known) is not None:
        return RunningServer(known)
    if known.outside is not None:
        known.outside.mkdir(mode=0o700, exist_ok=True)
        stat = known.directory.stat()
        shutil.chown(known.outside, stat.st_uid, stat.st_gid)
    return RunningServer(module.start(known, settings))
