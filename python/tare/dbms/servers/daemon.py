"""Servers of MariaDB and MySQL, as far as they are alike: a file of settings, and a process that outlives Tare."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from tare.dbms import local
from tare.dbms.servers import owner, place, program, record
from tare.dbms.servers.record import ServerRecord

CONTROLLER: str | None = None
"""Program that starts and stops the server; None: Tare itself."""

DATABASE = "tare"
START_S = 60.0
STOP_S = 120.0
WAKE_S = 1.0
_SETTINGS = "my.cnf"
_OPTION = "--defaults-file="


def start(
    server: ServerRecord, command: Sequence[str | Path], environment: Mapping[str, str]
) -> ServerRecord:
    """Starts `command`, whose file of settings is `configuration(server)`, and keeps the record."""
    runs_as = owner.of_directory(server.directory)
    # The shell ends at once and leaves the server to init, as pg_ctl does: it outlives us, and
    # is nobody's zombie.
    begun = subprocess.run(
        ["/bin/sh", "-c", '"$@" >/dev/null 2>&1 </dev/null & echo $!', "sh", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env={**program.environment(), **environment},
        start_new_session=True,
        check=True,
        **runs_as.as_user(),
    )
    pid = int(begun.stdout)
    running = replace(server, pid=pid)
    try:
        if not _await_answer(running):
            raise program.failed(f"{server.name} in {server.directory} did not start", "", server.log)
        record.write(running)
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        raise
    return running


def override(server: ServerRecord, clone: ServerRecord, settings: Mapping[str, str]) -> None:
    """Write the settings of a clone before its start: those of `server`, then these."""
    configure(clone, {**stored(server), **settings})


def kill(server: ServerRecord) -> None:
    """End a server whose data nobody needs, also one that is just being started."""
    deadline = time.monotonic() + STOP_S
    while (pids := local.with_argument(argument(server))) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def stop(server: ServerRecord, wake: Callable[[int], object] | None = None) -> None:
    """End the server in good order. `wake` receives its process id every WAKE_S until it has ended. Raises
    ServerFailed.

    One that is just starting starts first: MariaDB 10.11 never ends when SIGTERM comes before the threads of its
    replicas run (init_slave waits for a thread that has gone)."""
    pid = process(server)
    if pid is None:
        return
    if not _await_answer(server):
        return
    os.kill(pid, signal.SIGTERM)
    woken_at = time.monotonic()
    deadline = woken_at + STOP_S
    while process(server) is not None:
        now = time.monotonic()
        if now > deadline:
            raise program.failed(f"{server.name} (pid {pid}) did not stop in {STOP_S:g} s", "", server.log)
        if wake is not None and now > woken_at + WAKE_S:
            wake(pid)
            woken_at = now
        time.sleep(0.02)


def process(server: ServerRecord) -> int | None:
    """The process we started, or the one that another restart left in its place. It is known by
    its command line: process ids are used again."""
    try:
        noted = int(pid_file(server).read_text())
    except (OSError, ValueError):
        noted = 0
    ours = argument(server)
    return next((pid for pid in (server.pid, noted) if pid and ours in local.command_line(pid)), None)


def argument(server: ServerRecord) -> str:
    """Return the argument of the server's process, and of the shell that starts it."""
    return _OPTION + str(configuration(server))


def configure(server: ServerRecord, settings: Mapping[str, str]) -> None:
    """Writes the file of settings: Tare's own, then those of `settings`."""
    lines = [f"{key} = {value}" for key, value in {**_ours(server), **settings}.items()]
    configuration(server).write_text("[mysqld]\n" + "\n".join(lines) + "\n")
    _first_statements(server).write_text(f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n")
    for file in (configuration(server), _first_statements(server)):
        file.chmod(0o644)


def stored(server: ServerRecord) -> dict[str, str]:
    """Return the settings that the server was started with, without Tare's own."""
    lines = configuration(server).read_text().splitlines()[1:]
    found = {name: value for name, _, value in (line.partition(" = ") for line in lines)}
    return {name: value for name, value in found.items() if name not in _ours(server)}


def _ours(server: ServerRecord) -> dict[str, str]:
    ours = {
        "datadir": str(server.data_directory),
        "socket": str(socket_file(server)),
        "pid-file": str(pid_file(server)),
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
    return ours


def configuration(server: ServerRecord) -> Path:
    return server.directory / _SETTINGS


def directory(command_line: Sequence[str]) -> Path | None:
    """The directory of the server that runs with these arguments, if it is one of ours."""
    files = [Path(part.removeprefix(_OPTION)) for part in command_line if part.startswith(_OPTION)]
    return files[0].parent if files and files[0].name == _SETTINGS else None


def pid_file(server: ServerRecord) -> Path:
    """The server removes it when it shuts down: it stays behind one that died."""
    return server.directory / f"{server.kind}.pid"


def socket_file(server: ServerRecord) -> Path:
    return _socket(server.kind, server.socket_directory)


def url(kind: str, sockets: Path, port: int | None) -> str:
    if port:
        return f"{kind}://root@127.0.0.1:{port}/{DATABASE}"
    return f"{kind}://root@localhost/{DATABASE}?socket={quote(str(_socket(kind, sockets)), safe='/')}"


def _socket(kind: str, sockets: Path) -> Path:
    return sockets / f"{kind}.sock"


def _scratch(server: ServerRecord) -> Path:
    """Return the directory of its temporary tables. A server removes all in it at its start, also another's."""
    scratch = server.directory / "tmp"
    if not scratch.is_dir():
        scratch.mkdir()
        place.give(scratch, owner.of_directory(server.directory))
    return scratch


def _first_statements(server: ServerRecord) -> Path:
    return server.directory / "init.sql"


def _await_answer(server: ServerRecord) -> bool:
    """Wait until the server speaks to a client, with a handshake or an error; False: its process ended. Raises
    ServerFailed."""
    deadline = time.monotonic() + START_S
    while not _answers(server):
        if process(server) is None:
            return False
        if time.monotonic() > deadline:
            what = f"{server.name} in {server.directory} answers no client after {START_S:g} s"
            raise program.failed(what, "", server.log)
        time.sleep(0.02)
    return True


def _answers(server: ServerRecord) -> bool:
    with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
        connection.settimeout(1.0)
        connection.connect(str(socket_file(server)))
        return bool(connection.recv(1))
    return False
