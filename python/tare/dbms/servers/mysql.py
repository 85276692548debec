"""A throw-away MySQL 5.6.24, from programs that npm downloads: bootstrap, start as a daemon, restart, stop.

What differs from MySQL's defaults is what differs for MariaDB; and the character set is utf8mb4. Its own data begin
with the system tables and `root` of this machine, without a password; the accounts without a name are left out.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tare.dbms import local
from tare.dbms.servers import copies, daemon, download, owner, place, program
from tare.dbms.servers.record import ServerRecord
from tare.errors import ServerFailed

KIND = "mysql"
BOOTSTRAP_S = 120.0
_WAKING = signal.SIGUSR1
"""Signal whose handler in MySQL does nothing (`thr_client_alarm`)."""

_TGKILL = 234  # number of the system call on x86_64
_TABLES = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
_ACCOUNTS = (
    "DELETE FROM user WHERE user <> 'root' OR host NOT IN ('localhost', '127.0.0.1');\n"
    "DELETE FROM proxies_priv WHERE host <> 'localhost';\n"
)


def create(
    directory: Path | None,
    *,
    settings: Mapping[str, str],
    version: str | None,
    port: int | None,
    own_programs: bool = False,
) -> ServerRecord:
    if version is not None and not download.VERSION.startswith(version):
        raise ServerFailed(
            f"MySQL {version} was requested, and Tare knows {download.VERSION} only", "leave out the version"
        )
    programs = download.mysql()
    runs_as = owner.choose("mysql")
    with place.new(directory, runs_as, KIND) as where:
        made = ServerRecord(
            kind=KIND,
            version=download.VERSION,
            url=url(where.sockets, port),
            directory=where.directory,
            data_directory=where.directory / "data",
            binaries=copies.own_folder(programs, where.directory) if own_programs else programs,
            socket_directory=where.sockets,
            log=where.directory / "server.log",
            port=port,
            pid=0,
            temporary=where.temporary,
        )
        daemon.configure(made, {**_ours(made), **settings})
        made.data_directory.mkdir()
        place.give(made.data_directory, runs_as)
        _bootstrap(made, runs_as)
        return start(made, {})


def start(server: ServerRecord, settings: Mapping[str, str]) -> ServerRecord:
    if settings:
        daemon.configure(server, {**_ours(server), **daemon.stored(server), **settings})
    return daemon.start(server, _command(server), _libraries(server))


def restart(server: ServerRecord) -> ServerRecord:
    stop(server)
    return start(server, {})


def stop(server: ServerRecord) -> None:
    """Raises ServerFailed."""
    daemon.stop(server, _wake_sessions)


process = daemon.process
directory = daemon.directory
pid_file = daemon.pid_file
socket_file = daemon.socket_file
argument = daemon.argument
url = partial(daemon.url, KIND)
override = daemon.override
kill = daemon.kill
CONTROLLER = daemon.CONTROLLER


def _ours(server: ServerRecord) -> dict[str, str]:
    share = server.binaries / "share"
    return {
        "basedir": str(server.binaries),
        "lc-messages-dir": str(share),
        "character-sets-dir": str(share / "charsets"),
        "character-set-server": "utf8mb4",
        "explicit-defaults-for-timestamp": "1",
    }


def _command(server: ServerRecord) -> list[str | Path]:
    return [server.binaries / download.SERVER, f"--defaults-file={daemon.configuration(server)}"]


def _libraries(server: ServerRecord) -> dict[str, str]:
    """Its libaio lies beside it."""
    return {"LD_LIBRARY_PATH": str(server.binaries)}


def _wake_sessions(pid: int) -> None:
    """Interrupt the threads that wait in poll, with the signal by which MySQL ends its own waits.

    KILL closes the descriptor of a session whose thread may just enter or leave poll. The thread then waits with the
    number -1, or with that of a newer connection, for `wait_timeout` (8 hours), and a shutdown waits for the thread.
    After the signal the thread finds its connection closed. In a shutdown it takes nothing from any other session."""
    import ctypes  # slow to load, and every command comes by this file

    if local.catches(pid, _WAKING):  # any other process it would end
        for tid in local.threads_in(pid, "poll"):
            ctypes.CDLL(None).syscall(_TGKILL, pid, tid, int(_WAKING))


def _bootstrap(server: ServerRecord, runs_as: owner.Owner) -> None:
    """A start that reads statements, one a line, from its input and ends. The server's file of first statements is for
    a server that runs."""
    share = server.binaries / "share"
    tables = "\n".join((share / name).read_text() for name in _TABLES)
    program.run(
        [*_command(server), "--bootstrap", "--init-file="],
        runs_as,
        what=f"MySQL {server.version} could not make its system tables",
        log=server.log,
        timeout_s=BOOTSTRAP_S,
        statements=f"CREATE DATABASE mysql;\nUSE mysql;\n{tables}\n{_ACCOUNTS}",
        more_environment=_libraries(server),
    )
