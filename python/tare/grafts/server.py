"""Throw-away servers with a graft: started, switched and read by their directory."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tare.dbms.servers import RunningServer, ServerRecord, binaries, mysql, start_mysql, stop
from tare.dbms.servers import record as records
from tare.dbms.servers.mariadb import PROGRAMS
from tare.dbms.servers.mysql import KIND
from tare.dbms.servers.owner import of_directory
from tare.dbms.servers.place import give
from tare.dbms.servers.running import known, process_of
from tare.errors import ServerFailed
from tare.grafts import build, shared
from tare.grafts.catalogue import Graft

POWER = 2
"""Exponent p of age-power unless another is given."""


def start(
    graft: Graft,
    directory: Path | None = None,
    *,
    policy: str | None = None,
    power: int = POWER,
    settings: Mapping[str, str] | None = None,
    port: int | None = None,
) -> RunningServer:
    """Start MySQL 5.6 with a graft in a new directory, or the stopped server of Tare's in `directory` again. The policy
    is the server's own unless one is given. Raises ServerFailed, UsageError."""
    policy = policy or graft.policies[0].name
    graft.policy(policy)
    old = _stopped(directory)
    library = build.library(graft, (old.binaries if old else binaries.mysql().binaries) / PROGRAMS[KIND])
    server = start_mysql(directory, settings=settings, port=port).record
    try:
        mysql.stop(server)  # it has to load the library when it starts
        return _started(graft, replace(server, has_graft=True), library, policy, power)
    except BaseException:
        if server.temporary:
            stop(server.directory)
        raise


def status(directory: Path) -> tuple[ServerRecord, shared.State]:
    """Raises ServerFailed where the directory holds no running server with a graft."""
    server = known(directory)
    if not server.has_graft:
        raise ServerFailed(f"the server in {directory} has no graft", "start one with `tare graft start`")
    pid, state = process_of(server), shared.read(memory(server))
    if pid is None or pid != state.pid:
        raise ServerFailed(
            f"the server in {directory} does not run", "start it with `tare graft start GRAFT --dir DIR`"
        )
    return server, state


def switch(directory: Path, policy: str, power: int | None = None) -> shared.State:
    """Change the policy of a running server. Raises ServerFailed, UsageError."""
    server, _ = status(directory)
    with shared.Switch(memory(server)) as word:
        word.set(policy, power)
    return shared.read(memory(server))


def memory(server: ServerRecord) -> Path:
    """The file that the server's graft and Tare share."""
    return server.graft_folder / records.GRAFT_MEMORY


def _stopped(directory: Path | None) -> ServerRecord | None:
    """The server in this directory; None: there is none yet. Raises ServerFailed for one that runs."""
    server = records.read(directory.absolute()) if directory else None
    if server is None:
        return None
    if server.kind != KIND:
        raise ServerFailed(
            f"{directory} holds {server.kind} {server.version}",
            "grafts are for MySQL 5.6: choose another --dir",
        )
    if process_of(server) is not None:
        raise ServerFailed(
            f"the server in {directory} runs already", f"stop it first: tare server stop --dir {directory}"
        )
    return server


def _started(graft: Graft, server: ServerRecord, library: Path, policy: str, power: int) -> RunningServer:
    owner = of_directory(server.directory)
    server.graft_folder.mkdir(exist_ok=True)
    shutil.copyfile(library, server.graft_folder / records.GRAFT_LIBRARY)
    shared.create(memory(server), graft, policy, power)
    for path in (server.graft_folder, *server.graft_folder.iterdir()):
        give(path, owner)
    records.write(server)
    try:
        running = start_mysql(server.directory)
    except ServerFailed as failed:
        refusal = shared.read(memory(server)).refusal
        if not refusal:
            raise
        raise ServerFailed(
            f"the graft {graft.name} refuses this server: {refusal}", "use that build"
        ) from failed
    if shared.read(memory(server)).pid != running.pid:
        mysql.stop(running.record)
        raise ServerFailed(
            f"the server started, but the graft {graft.name} is not in it",
            "check that LD_PRELOAD works for the user that the server runs as",
        )
    return running
