"""A throw-away MariaDB: install, start as a daemon, restart, stop.

What differs from MariaDB's defaults: socket (or 127.0.0.1) only, `root@localhost` without a
password, no name resolution, temporary tables in a directory of its own, and the buffer pool is
neither dumped at shutdown nor loaded at start, so that a restart empties it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tare.dbms.servers import binaries, copies, daemon, owner, place, program
from tare.dbms.servers.record import ServerRecord

KIND = "mariadb"
_SERVER = "mariadbd"


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
            url=url(where.sockets, port),
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
        daemon.configure(made, settings)
        program.run(
            [
                binaries.program(install.binaries, "mariadb-install-db"),
                f"--defaults-file={daemon.configuration(made)}",
                f"--datadir={made.data_directory}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ],
            runs_as,
            what="mariadb-install-db failed",
            log=made.log,
            timeout_s=daemon.START_S * 2,
        )
        return start(made, {})


def start(server: ServerRecord, settings: Mapping[str, str]) -> ServerRecord:
    if settings:
        daemon.configure(server, {**daemon.stored(server), **settings})
    command: list[str | Path] = [server.binaries / _SERVER, f"--defaults-file={daemon.configuration(server)}"]
    return daemon.start(server, command, {})


def restart(server: ServerRecord) -> ServerRecord:
    daemon.stop(server)
    return start(server, {})


stop = daemon.stop
process = daemon.process
directory = daemon.directory
pid_file = daemon.pid_file
socket_file = daemon.socket_file
argument = daemon.argument
url = partial(daemon.url, KIND)
override = daemon.override
kill = daemon.kill
CONTROLLER = daemon.CONTROLLER
