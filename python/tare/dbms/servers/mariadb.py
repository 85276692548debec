"""A throw-away MariaDB: install, start as a daemon, restart, stop.

What differs from MariaDB's defaults: socket (or 127.0.0.1) only, `root@localhost` without a
password, no name resolution, temporary tables in a directory of its own, and the buffer pool is
neither dumped at shutdown nor loaded at start, so that a restart empties it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from tare.dbms import local
from tare.dbms.servers import binaries, copies, owner, place, program, record
from tare.dbms.servers.record import ServerRecord

KIND = "mariadb"
DATABASE = "tare"
START_S = 60.0
STOP_S = 120.0
_PROTOCOL_10 = 0x0A  # the first byte of the handshake's payload
_SERVER = "mariadbd"
_SOCKET = "mariadb.sock"
_PID_FILE = "mariadb.pid"


def create(
    directory: Path | None,
    *,
    settings: Mapping[str, str],
    version: str | None,
    port: int | None,
    own_programs: bool = False,
) -> ServerRecord:
    install = binaries.mariadb()
    if version is not None and not install.version.startswith(version):
        raise program.failed(f"MariaDB {version} was asked for, {install.version} is installed", "", None)
    runs_as = owner.choose("mysql")
    with place.new(directory, runs_as, KIND) as where:
        made = ServerRecord(
            kind=KIND,
            version=install.version,
            url=_url(where.sockets, port),
            directory=where.directory,
            data_directory=where.directory / "data",
            binaries=copies.own_program(install.binaries / _SERVER, where.directory)
            if own_programs
            else install.binaries,
            socket_directory=where.sockets,
            log=where.directory / "server.log",
            port=port,
            pid=0,
            temporary=where.temporary,
        )
        _configure(made, settings)
        program.run(
            [
                binaries.program(install.binaries, "mariadb-install-db"),
                f"--defaults-file={_configuration(made)}",
                f"--datadir={made.data_directory}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ],
            runs_as,
            what="mariadb-install-db failed",
            log=made.log,
            timeout_s=START_S * 2,
        )
        return start(made, {})


def start(server: ServerRecord, settings: Mapping[str, str]) -> ServerRecord:
    runs_as = owner.of_directory(server.directory)
    if settings:
        _configure(server, settings)
    command = [str(server.binaries / _SERVER), f"--defaults-file={_configuration(server)}"]
    # The shell ends at once and leaves the server to init, as pg_ctl does: it outlives us, and
    # is nobody's zombie.
    begun = subprocess.run(
        ["/bin/sh", "-c", '"$@" >/dev/null 2>&1 </dev/null & echo $!', "sh", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env=program.environment(),
        start_new_session=True,
        check=True,
        **runs_as.as_user(),
    )
    pid = int(begun.stdout)
    running = replace(server, pid=pid)
    try:
        _await_greeting(running)
        record.write(running)
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        raise
    return running


def restart(server: ServerRecord) -> ServerRecord:
    stop(server)
    return start(server, {})


def stop(server: ServerRecord) -> None:
    pid = _process(server)
    if pid is None:
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_S
    while is_running(server):
        if time.monotonic() > deadline:
            raise program.failed(f"MariaDB (pid {pid}) did not stop in {STOP_S:g} s", "", server.log)
        time.sleep(0.02)


def is_running(server: ServerRecord) -> bool:
    return _process(server) is not None


def _process(server: ServerRecord) -> int | None:
    """The process we started, or the one that another restart left in its place. It is known by
    its command line: process ids are used again."""
    try:
        noted = int((server.directory / _PID_FILE).read_text())
    except (OSError, ValueError):
        noted = 0
    ours = f"--defaults-file={_configuration(server)}"
    return next((pid for pid in (server.pid, noted) if pid and ours in local.command_line(pid)), None)


def _configure(server: ServerRecord, settings: Mapping[str, str]) -> None:
    ours = {
        "datadir": str(server.data_directory),
        "socket": str(server.socket_directory / _SOCKET),
        "pid-file": str(server.directory / _PID_FILE),
        "log-error": str(server.log),
        "init-file": str(_first_statements(server)),
        "tmpdir": str(_scratch(server)),
        "skip-name-resolve": "1",
        "innodb-buffer-pool-dump-at-shutdown": "0",
        "innodb-buffer-pool-load-at-startup": "0",
    }
    if server.port:
        ours |= {"port": str(server.port), "bind-address": "127.0.0.1"}
    else:
        ours["skip-networking"] = "1"
    lines = [f"{key} = {value}" for key, value in {**ours, **settings}.items()]
    _configuration(server).write_text("[mariadbd]\n" + "\n".join(lines) + "\n")
    _first_statements(server).write_text(f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n")
    for file in (_configuration(server), _first_statements(server)):
        file.chmod(0o644)


def _scratch(server: ServerRecord) -> Path:
    """Where its temporary tables lie. A server that starts removes all that lie in this directory, also another's."""
    scratch = server.directory / "tmp"
    if not scratch.is_dir():
        scratch.mkdir()
        place.give(scratch, owner.of_directory(server.directory))
    return scratch


def _configuration(server: ServerRecord) -> Path:
    return server.directory / "my.cnf"


def _first_statements(server: ServerRecord) -> Path:
    return server.directory / "init.sql"


def _await_greeting(server: ServerRecord) -> None:
    path = str(server.socket_directory / _SOCKET)
    deadline = time.monotonic() + START_S
    while True:
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.settimeout(1.0)
            connection.connect(path)
            head = connection.recv(5)
            if len(head) == 5 and head[4] == _PROTOCOL_10:
                return
        if not is_running(server) or time.monotonic() > deadline:
            what = f"MariaDB {server.version} in {server.directory} did not start"
            raise program.failed(what, "", server.log)
        time.sleep(0.02)


def _url(sockets: Path, port: int | None) -> str:
    if port:
        return f"mariadb://root@127.0.0.1:{port}/{DATABASE}"
    return f"mariadb://root@localhost/{DATABASE}?socket={quote(str(sockets / _SOCKET), safe='/')}"
