"""Clones of a throw-away server: its data as they were when it was stopped, under a server of their own.

The server stands still only while its data are copied. The copy and each clone lie in its directory, so they are on its
disk and go with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from tare.dbms import local
from tare.dbms.conninfo import url_of
from tare.dbms.servers import owner, place, postgresql, program, record
from tare.dbms.servers.record import ServerRecord
from tare.dbms.servers.running import KINDS, restart
from tare.dbms.url import parse
from tare.errors import ServerFailed
from tare.interruption import deferred

_FOLDER = "clones"
_COPYING = "copying"
"""Folder that is there while a server that ran is stopped."""

_TEMPLATE = "data"
_CLONE = "server"
COPY_S = 3600.0
START_S = 30.0
_SPARE_BYTES = 1 << 30
"""Room for what a clone writes."""


class Template:
    """Copy of a server's data, from which clones start. `remove_clones` removes it."""

    def __init__(self, server: ServerRecord) -> None:
        """Stop the server, copy its data, and start it again if it ran. Raises ServerFailed, before the stop if data
        lie elsewhere or the disk lacks room."""
        self._server = server
        self._owner = owner.of_directory(server.directory)
        self._folder = server.directory / _FOLDER
        _check(server)
        remove_clones(server.directory)
        copying = self._folder / _COPYING
        is_running = KINDS[server.kind].process(server) is not None
        for folder in (self._folder, copying) if is_running else (self._folder,):
            folder.mkdir(mode=0o700)
            place.give(folder, self._owner)
        KINDS[server.kind].stop(server)
        try:
            self._copy(server.data_directory, self._folder / _TEMPLATE)
        finally:
            if is_running:
                with deferred():
                    restart(server)
                    copying.rmdir()

    @contextmanager
    def clone(self, settings: Mapping[str, str]) -> Iterator[ServerRecord]:
        """A running clone with fresh data; `settings` win over the server's own. It is killed and removed at the end.
        Raises ServerFailed, with the end of its log if it does not start."""
        kind = KINDS[self._server.kind]
        directory = self._folder / _CLONE
        with place.new(directory, self._owner, self._server.kind) as where:
            port = _free_port() if self._server.port else None
            clone = _cloned(self._server, where, port, kind.url(where.sockets, port))
            record.write(clone)  # whoever finds the directory can then stop the server
            self._copy(self._folder / _TEMPLATE, clone.data_directory)
            kind.override(self._server, clone, settings)
        try:
            yield kind.start(clone, {})
        finally:
            _remove(directory)

    # Inside ----------------------------------------------------------------------------
    def _copy(self, data: Path, to: Path) -> None:
        """Copy data, and write them to the disk, so that no window pays for it."""
        program.run(
            ["cp", "--archive", "--reflink=auto", "--", data, to],
            self._owner,
            what=f"{data} could not be copied",
            log=None,
            timeout_s=COPY_S,
        )
        program.run(
            ["sync", "--file-system", to],
            self._owner,
            what=f"{to} could not be synced",
            log=None,
            timeout_s=COPY_S,
        )


def remove_clones(directory: Path) -> None:
    """Kill and remove the clones of the server in this directory, also those of a killed process, and start the server
    if it was stopped for the copy. Safe to repeat. Raises ServerFailed."""
    folder = directory / _FOLDER
    if not folder.is_dir():
        return
    for pid in local.with_argument(str(folder / _TEMPLATE)):  # copies that go on without the killed process
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _remove(folder / _CLONE)
    server = record.read(directory)
    if (folder / _COPYING).is_dir() and server is not None:
        _kill_controllers(server)
        _await_process(server)
        restart(server)  # it may be just stopping, or starting
    shutil.rmtree(folder, ignore_errors=True)


def url_at(clone: ServerRecord, url: str) -> str:
    """The URL of a database of the server, at its clone."""
    given = urlsplit(url_of(url))
    parameters = dict(parse_qsl(given.query))
    netloc = given.netloc
    if given.port is not None:
        netloc = f"{netloc.rpartition('@')[0]}@127.0.0.1:{clone.port}".removeprefix("@")
    elif clone.kind == postgresql.KIND:
        parameters |= {"host": str(clone.socket_directory)} | (
            {"port": str(clone.port)} if clone.port else {}
        )
    else:
        parameters["socket"] = parse(clone.url).parameters["socket"]
    query = urlencode(parameters, quote_via=quote, safe="/")
    return f"{given.scheme}://{netloc}{given.path}" + (f"?{query}" if query else "")


def _cloned(server: ServerRecord, where: place.Place, port: int | None, url: str) -> ServerRecord:
    """Return the record of a clone that is to be made in `where`."""
    return replace(
        server,
        url=url,
        directory=where.directory,
        data_directory=where.directory / "data",
        socket_directory=where.sockets,
        log=where.directory / "server.log",
        port=port,
        pid=0,
        temporary=True,
    )


def _remove(clone: Path) -> None:
    server = record.read(clone)
    if server is not None:
        KINDS[server.kind].kill(server)
        if server.outside is not None:
            shutil.rmtree(server.outside, ignore_errors=True)
    shutil.rmtree(clone, ignore_errors=True)


def _kill_controllers(server: ServerRecord) -> None:
    """Kill the programs that a killed process began to stop or start the server with: a late stop would end the server
    that is about to be started. What they have started lives on."""
    name = KINDS[server.kind].CONTROLLER
    if name is None:
        return
    for pid in local.with_argument(KINDS[server.kind].argument(server)):
        if Path(next(iter(local.command_line(pid)), "")).name == name:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _await_process(server: ServerRecord) -> None:
    """Wait while a program that a killed process began starts the server: a second one would wait for its files."""
    until = time.monotonic() + START_S
    argument = KINDS[server.kind].argument(server)
    while (
        KINDS[server.kind].process(server) is None
        and local.with_argument(argument)
        and time.monotonic() < until
    ):
        time.sleep(0.02)


def _check(server: ServerRecord) -> None:
    """Raises ServerFailed for data that a copy would share with the server, and for a disk without room."""
    size = 0
    for path in server.data_directory.rglob("*"):
        with suppress(FileNotFoundError):  # the server still runs
            if path.is_symlink() or path.suffix in (".isl", ".ibd-link"):
                raise ServerFailed(
                    f"data of the server lie outside of its directory ({path})",
                    "use a server without tablespaces elsewhere",
                )
            size += path.stat().st_blocks * 512
    free = shutil.disk_usage(server.directory).free
    needed = 2 * size + _SPARE_BYTES
    if free < needed:
        raise ServerFailed(
            f"{server.directory} has {free >> 20} MB free, and a copy and a clone of its data need {needed >> 20} MB",
            "free space on that disk, or start the server on another one",
        )


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
