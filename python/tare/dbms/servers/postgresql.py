"""A throw-away PostgreSQL: initdb, settings, start, restart, stop, all through pg_ctl.

What differs from PostgreSQL's defaults: locale C, encoding UTF8, the superuser `postgres`
without a password, socket (or 127.0.0.1) only, no log collector; pg_buffercache is
installed where the programs bring it. Nothing that bears on speed is changed unless asked for.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
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
CONTROLLER: str | None = "pg_ctl"
"""Program that starts and stops the server."""

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
            url=url(where.sockets, port),
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
    if settings or not (server.data_directory / _SETTINGS).exists():
        _store(server, {**_ours(server), **_stored(server), **settings})
    _control(server, runs_as, "start", START_S, "-l", server.log)
    return _noted(server)


def override(server: ServerRecord, clone: ServerRecord, settings: Mapping[str, str]) -> None:
    """Write the settings of a clone before its start: those of `server`, which came with the data, then these, which
    are the last ones of the file that wins over the others."""
    _store(clone, {**_stored(clone), **_ours(clone)})
    with (clone.data_directory / "postgresql.auto.conf").open("a") as file:
        file.write("".join(f"{line}\n" for line in _lines(settings)))


def kill(server: ServerRecord) -> None:
    """End a server whose data nobody needs, also one that is just being started."""
    deadline = time.monotonic() + STOP_S
    while (pids := local.with_argument(argument(server))) and time.monotonic() < deadline:
        if process(server) is not None:
            with suppress(ServerFailed):  # it ended by itself
                _control(server, owner.of_directory(server.directory), "stop", STOP_S, "-m", "immediate")
        else:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def argument(server: ServerRecord) -> str:
    """Return the argument of the postmaster, and of the program that starts it."""
    return str(server.data_directory)


def restart(server: ServerRecord) -> ServerRecord:
    stop(server)
    return start(server, {})


def stop(server: ServerRecord) -> None:
    """Fast; immediate if that does not come to an end (PostgreSQL 18 can hang in a fast shutdown
    that is asked for during crash recovery). The log then repairs the data at the next start."""
    if process(server) is None:
        return
    runs_as = owner.of_directory(server.directory)
    with suppress(ServerFailed):
        _control(server, runs_as, "stop", FAST_S, "-m", "fast")
    if process(server) is None:
        return  # also if it ended by itself, before it could be asked
    try:
        _control(server, runs_as, "stop", STOP_S, "-m", "immediate")
    except ServerFailed:
        if process(server) is not None:
            raise


def process(server: ServerRecord) -> int | None:
    """The postmaster of this very directory: its id in the file may be another's by now."""
    pid = _postmaster(server)
    return pid if pid is not None and str(server.data_directory) in local.command_line(pid) else None


def _ours(server: ServerRecord) -> dict[str, str]:
    return {
        "listen_addresses": "127.0.0.1" if server.port else "",
        "port": str(server.port or _PORT),
        "unix_socket_directories": str(server.socket_directory),
    }


def _stored(server: ServerRecord) -> dict[str, str]:
    """Return the settings that the server was started with."""
    file = server.data_directory / _SETTINGS
    return dict(map(_setting, file.read_text().splitlines())) if file.exists() else {}


def _store(server: ServerRecord, settings: Mapping[str, str]) -> None:
    (server.data_directory / _SETTINGS).write_text("".join(f"{line}\n" for line in _lines(settings)))


def _lines(settings: Mapping[str, str]) -> list[str]:
    return [f"{name} = '" + value.replace("'", "''") + "'" for name, value in settings.items()]


def _setting(line: str) -> tuple[str, str]:
    """Return name and value of a line that `_lines` wrote."""
    name, _, value = line.partition(" = ")
    return name, value[1:-1].replace("''", "'")


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
        address = url(server.socket_directory, server.port, database)
        with psycopg.connect(address, autocommit=True) as connection:
            available = connection.execute(
                "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_buffercache'"
            ).fetchone()
            if available:
                connection.execute("CREATE EXTENSION IF NOT EXISTS pg_buffercache")


def url(sockets: Path, port: int | None, database: str = "postgres") -> str:
    if port:
        return f"postgresql://{USER}@127.0.0.1:{port}/{database}"
    return f"postgresql:///{database}?host={quote(str(sockets), safe='/')}&user={USER}"
