"""A throw-away PostgreSQL: initdb, settings, start, restart, stop, all through pg_ctl.

What differs from PostgreSQL's defaults: locale C, encoding UTF8, the superuser `postgres`
without a password, socket (or 127.0.0.1) only, no log collector; pg_buffercache is
installed where the programs bring it. Nothing that bears on speed is changed unless asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from tare.dbms import local
from tare.dbms.servers import binaries, copies, owner, place, program, reach, record
from tare.dbms.servers.record import ServerRecord
from tare.errors import ServerFailed

KIND = "postgresql"
USER = "postgres"
START_S = 60
FAST_S = 20
STOP_S = 60
_SETTINGS = "tare.conf"
_PORT = 5432  # names the socket, too


def create(
    directory: Path | None,
    *,
    settings: Mapping[str, str],
    version: str | None,
    port: int | None,
    own_programs: bool = False,
) -> ServerRecord:
    install = binaries.postgresql(version)
    runs_as = owner.choose("postgres")
    with place.new(directory, runs_as, KIND) as where:
        folder = (
            copies.own(install, where.directory) if own_programs else reach.binaries_for(runs_as, install)
        )
        made = ServerRecord(
            kind=KIND,
            version=install.version,
            url=_url(where.sockets, port),
            directory=where.directory,
            data_directory=where.directory / "data",
            binaries=folder,
            socket_directory=where.sockets,
            log=where.directory / "server.log",
            port=port,
            pid=0,
            temporary=where.temporary,
        )
        program.run(
            [
                folder / "initdb",
                *("-D", made.data_directory, "-U", USER, "-E", "UTF8", "--locale=C"),
                *("--auth-local=trust", f"--auth-host={'trust' if port else 'reject'}"),
            ],
            runs_as,
            what="initdb failed",
            log=None,
            timeout_s=START_S,
        )
        with (made.data_directory / "postgresql.conf").open("a") as configuration:
            configuration.write(f"\ninclude_if_exists '{_SETTINGS}'\n")
        try:
            started = start(made, settings)
            _extend(started)
        except BaseException:
            with suppress(Exception):
                stop(made)
            raise
        return started


def start(server: ServerRecord, settings: Mapping[str, str]) -> ServerRecord:
    """Starts it and keeps the record. `settings` are added to those it was made with."""
    runs_as = owner.of_directory(server.directory)
    ours = {
        "listen_addresses": "127.0.0.1" if server.port else "",
        "port": str(server.port or _PORT),
        "unix_socket_directories": str(server.socket_directory),
    }
    if settings or not (server.data_directory / _SETTINGS).exists():
        quoted = {key: value.replace("'", "''") for key, value in {**ours, **settings}.items()}
        lines = [f"{key} = '{value}'" for key, value in quoted.items()]
        (server.data_directory / _SETTINGS).write_text("\n".join(lines) + "\n")
    _control(server, runs_as, "start", START_S, "-l", server.log)
    return _noted(server)


def restart(server: ServerRecord) -> ServerRecord:
    stop(server)
    return start(server, {})


def stop(server: ServerRecord) -> None:
    """Fast; immediate if that does not come to an end (PostgreSQL 18 can hang in a fast shutdown
    that is asked for during crash recovery). The log then repairs the data at the next start."""
    if process(server) is None:
        return
    runs_as = owner.of_directory(server.directory)
    try:
        _control(server, runs_as, "stop", FAST_S, "-m", "fast")
    except ServerFailed:
        _control(server, runs_as, "stop", STOP_S, "-m", "immediate")


def process(server: ServerRecord) -> int | None:
    """The postmaster of this very directory: its id in the file may be another's by now."""
    pid = _postmaster(server)
    return pid if pid is not None and str(server.data_directory) in local.command_line(pid) else None


def _control(
    server: ServerRecord, runs_as: owner.Owner, action: str, wait_s: int, *options: str | Path
) -> None:
    program.run(
        [
            server.binaries / "pg_ctl",
            *(action, "-D", server.data_directory, "-s", "-w", "-t", str(wait_s)),
            *options,
        ],
        runs_as,
        what=f"PostgreSQL {server.version} in {server.directory} did not {action}",
        log=server.log,
        timeout_s=wait_s + 10,
    )


def _noted(server: ServerRecord) -> ServerRecord:
    pid = _postmaster(server) or 0
    noted = replace(server, pid=pid)
    record.write(noted)
    return noted


def directory(command_line: Sequence[str]) -> Path | None:
    """The directory of the server that runs with these arguments, if it is one of ours."""
    options = dict(itertools.pairwise(command_line))
    return Path(options["-D"]).parent if "-D" in options else None


def pid_file(server: ServerRecord) -> Path:
    """The server removes it when it shuts down: it stays behind one that died."""
    return server.data_directory / "postmaster.pid"


def socket_file(server: ServerRecord) -> Path:
    return server.socket_directory / f".s.PGSQL.{server.port or _PORT}"


def _postmaster(server: ServerRecord) -> int | None:
    try:
        return int(pid_file(server).read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _extend(server: ServerRecord) -> None:
    """pg_buffercache in the template (for databases made later) and in the first database."""
    import psycopg  # slow to load, and every command comes by this file

    for database in ("template1", "postgres"):
        url = _url(server.socket_directory, server.port, database)
        with psycopg.connect(url, autocommit=True) as connection:
            available = connection.execute(
                "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_buffercache'"
            ).fetchone()
            if available:
                connection.execute("CREATE EXTENSION IF NOT EXISTS pg_buffercache")


def _url(sockets: Path, port: int | None, database: str = "postgres") -> str:
    if port:
        return f"postgresql://{USER}@127.0.0.1:{port}/{database}"
    return f"postgresql:///{database}?host={quote(str(sockets), safe='/')}&user={USER}"
