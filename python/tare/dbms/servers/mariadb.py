"""A throw-away MariaDB: install, start as a daemon, restart, stop. All but the first are MySQL's, too.

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
CONTROLLER: str | None = None
MYSQL = "mysql"
DATABASE = "tare"
START_S = 60.0
STOP_S = 120.0
_PROTOCOL_10 = 0x0A  # the first byte of the handshake's payload
PROGRAMS = {KIND: "mariadbd", MYSQL: "mysqld"}


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
            url=url(KIND, where.sockets, port),
            directory=where.directory,
            data_directory=where.directory / "data",
            binaries=copies.own_program(install.binaries / PROGRAMS[KIND], where.directory)
            if own_programs
            else install.binaries,
            socket_directory=where.sockets,
            log=where.directory / "server.log",
            port=port,
            pid=0,
            temporary=where.temporary,
        )
        configure(made, settings)
        program.run(
            [
                binaries.program(install.binaries, "mariadb-install-db"),
                f"--defaults-file={configuration(made)}",
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
        configure(
            server, {**_settings(server), **{_variable(name): value for name, value in settings.items()}}
        )
    command = [str(server.binaries / PROGRAMS[server.kind]), argument(server)]
    # The shell ends at once and leaves the server to init, as pg_ctl does: it outlives us, and
    # is nobody's zombie.
    begun = subprocess.run(
        ["/bin/sh", "-c", '"$@" >/dev/null 2>&1 </dev/null & echo $!', "sh", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env=program.base_environment() | binaries.own_libraries(server.binaries) | server.graft_environment,
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


def cloned(server: ServerRecord, where: place.Place, port: int | None) -> ServerRecord:
    """Record of a clone that is to be made in `where`. It has no graft."""
    return replace(
        server,
        url=url(server.kind, where.sockets, port),
        directory=where.directory,
        data_directory=where.directory / "data",
        socket_directory=where.sockets,
        log=where.directory / "server.log",
        port=port,
        pid=0,
        temporary=True,
        has_graft=False,
    )


def override(server: ServerRecord, clone: ServerRecord, settings: Mapping[str, str]) -> None:
    """Settings of a clone before its start: those of `server`, then these."""
    configure(clone, {**_settings(server), **{_variable(name): value for name, value in settings.items()}})


def kill(server: ServerRecord) -> None:
    """End a server whose data nobody needs, also one that is just being started."""
    deadline = time.monotonic() + STOP_S
    while (pids := local.with_argument(argument(server))) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def restart(server: ServerRecord) -> ServerRecord:
    stop(server)
    return start(server, {})


def stop(server: ServerRecord) -> None:
    pid = process_of(server)
    if pid is None:
        return
    with suppress(ProcessLookupError):  # it has ended meanwhile
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_S
    while is_running(server):
        if time.monotonic() > deadline:
            raise program.failed(f"{server.kind} (pid {pid}) did not stop in {STOP_S:g} s", "", server.log)
        time.sleep(0.02)


def is_running(server: ServerRecord) -> bool:
    return process_of(server) is not None


def process_of(server: ServerRecord) -> int | None:
    """Process that Tare started, or that another restart left in its place. It is known by its command line: process
    ids are used again."""
    try:
        noted = int((server.directory / f"{server.kind}.pid").read_text())
    except (OSError, ValueError):
        noted = 0
    mark = argument(server)
    return next((pid for pid in (server.pid, noted) if pid and mark in local.command_line(pid)), None)


def argument(server: ServerRecord) -> str:
    """Argument of the server's process, and of the shell that starts it."""
    return f"--defaults-file={configuration(server)}"


def configure(server: ServerRecord, settings: Mapping[str, str]) -> None:
    """Writes the files that the server reads at its start. `settings` come after those it needs."""
    lines = [f"{name} = {value}" for name, value in {**_needed(server), **settings}.items()]
    configuration(server).write_text(f"[{PROGRAMS[server.kind]}]\n" + "\n".join(lines) + "\n")
    _first_statements(server).write_text(f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n")
    for file in (configuration(server), _first_statements(server)):
        file.chmod(0o644)


def _needed(server: ServerRecord) -> dict[str, str]:
    """Settings of every server: its place, and what keeps it a throw-away one."""
    needed = {
        "datadir": str(server.data_directory),
        "socket": str(server.socket_directory / f"{server.kind}.sock"),
        "pid-file": str(server.directory / f"{server.kind}.pid"),
        "log-error": str(server.log),
        "init-file": str(_first_statements(server)),
        "tmpdir": str(_scratch(server)),
        "skip-name-resolve": "1",
        "innodb-buffer-pool-dump-at-shutdown": "0",
        "innodb-buffer-pool-load-at-startup": "0",
    }
    if server.kind == MYSQL:
        share = server.binaries / "share"
        needed |= {
            "basedir": str(server.binaries),
            "lc-messages-dir": str(share / "english"),
            "character-sets-dir": str(share / "charsets"),
            "explicit-defaults-for-timestamp": "1",
        }
    if server.port:
        needed |= {"port": str(server.port), "bind-address": "127.0.0.1"}
    else:
        needed["skip-networking"] = "1"
    return needed


def _settings(server: ServerRecord) -> dict[str, str]:
    """Settings that the server was started with, without those that it needs."""
    pairs = [line.partition(" = ") for line in configuration(server).read_text().splitlines()[1:]]
    needed = _needed(server)
    return {_variable(name): value for name, _, value in pairs if name not in needed or needed[name] != value}


def _variable(name: str) -> str:
    """A single spelling of a variable: the file takes two."""
    return name.replace("-", "_")


def _scratch(server: ServerRecord) -> Path:
    """Folder of its temporary tables. A server that starts removes all that lie in this directory, also another's."""
    scratch = server.directory / "tmp"
    if not scratch.is_dir():
        scratch.mkdir()
        place.give(scratch, owner.of_directory(server.directory))
    return scratch


def configuration(server: ServerRecord) -> Path:
    return server.directory / "my.cnf"


def _first_statements(server: ServerRecord) -> Path:
    return server.directory / "init.sql"


def _await_greeting(server: ServerRecord) -> None:
    """Wait until the server takes connections. Raises ServerFailed with the errors of its log."""
    path = str(server.socket_directory / f"{server.kind}.sock")
    deadline = time.monotonic() + START_S
    while True:
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.settimeout(1.0)
            connection.connect(path)
            head = connection.recv(5)
            if len(head) == 5 and head[4] == _PROTOCOL_10:
                return
        if not is_running(server) or time.monotonic() > deadline:
            what = f"{server.kind} {server.version} in {server.directory} did not start"
            errors = _errors(server.log)
            raise program.failed(what, errors, None if errors else server.log)
        time.sleep(0.02)


def _errors(log: Path) -> str:
    """Lines of the log's level for errors: notes of the shutdown come after them."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if "[ERROR]" in line)


def url(kind: str, sockets: Path, port: int | None) -> str:
    if port:
        return f"{kind}://root@127.0.0.1:{port}/{DATABASE}"
    return f"{kind}://root@localhost/{DATABASE}?socket={quote(str(sockets / f'{kind}.sock'), safe='/')}"
