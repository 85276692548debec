"""Subject of an observation: the nodes with their processes, and the server that they belong to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tare.dbms import local
from tare.dbms.base import Leader, Server, Session
from tare.dbms.local import Life
from tare.errors import TareError, UsageError
from tare.os.nodes import Node, NodeSpec, check_process, parents_now, resolve, with_descendants

_PRODUCTS = {
    "postgresql": "PostgreSQL",
    "mariadb": "MariaDB",
    "mysql": "MySQL",
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
}
_BDI = Path("/sys/class/bdi")
_BLOCK = Path("/sys/dev/block")
_LEAVES_WITHIN_S = 1.0
_PAUSE_S = 0.005


@dataclass(frozen=True, slots=True)
class Subject:
    """Processes to observe. `leader`: the thread that runs the queries of Tare's own session."""

    name: str
    nodes: tuple[Node, ...]
    leader: Leader | None = None
    server: Server | None = None
    read_ahead_kb: int | None = None  # of the device that holds the data, where it was looked at
    file_names: Callable[[], Mapping[Path, str]] = dict  # tables and indexes by file; may ask the server
    own: Life | None = None  # process of Tare's own session: none of the subject's, though the server's

    @property
    def processes(self) -> tuple[tuple[int, ...], ...]:
        """Ids of processes, node by node."""
        return tuple(node.processes for node in self.nodes)

    @property
    def node_names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes)


def of_processes(pids: Sequence[int]) -> Subject:
    """Return the processes, with all their descendants, as one node. Raises UsageError."""
    parents = parents_now()
    for pid in pids:
        check_process(pid, parents)
    node = Node("processes", tuple(sorted(with_descendants(pids, parents))))
    kind = "process" if len(pids) == 1 else "processes"
    return Subject(f"{kind} {', '.join(map(str, pids))}", (node,))


def of_nodes(specs: Sequence[NodeSpec]) -> Subject:
    """Return nodes that belong to no server which Tare is connected to. Raises UsageError."""
    nodes = resolve(specs)
    kind = "node" if len(nodes) == 1 else "nodes"
    return Subject(f"{kind} {', '.join(node.name for node in nodes)}", nodes)


def of_session(session: Session, specs: Sequence[NodeSpec] = ()) -> Subject:
    """Return the server of a session: its own processes, or the nodes that the user named. Raises UsageError."""
    leader = session.leader()
    if specs:
        nodes = resolve(specs)
    elif leader is None:
        raise _no_leader(session)
    else:
        roots = tuple(session.worker_parents(leader)) or (leader.pid,)
        nodes = (Node("server", tuple(sorted(with_descendants(roots, parents_now())))),)
    return Subject(_described(session.server), nodes, leader, session.server, file_names=session.file_names)


def of_server(session: Session, specs: Sequence[NodeSpec] = ()) -> Subject:
    """Return the server of a session without the session itself, which is closed. Raises UsageError."""
    try:
        leader = session.leader()
        if leader is not None and leader.whole_process and not specs:
            raise UsageError(
                f"{session.server.url} has no server: its engine runs inside each program that uses it",
                "name the program: tare os watch --pid P",
            )
        names = _names_now(session)
        subject = replace(
            of_session(session, specs),
            leader=None,
            read_ahead_kb=read_ahead_kb(session),
            file_names=lambda: names,
        )
        own = Life.of(leader.pid) if leader is not None and session.worker_parents(leader) else None
    finally:
        with suppress(Exception):
            session.close()
    if own is None:
        return subject
    until = time.monotonic() + _LEAVES_WITHIN_S
    while own.lasts() and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    nodes = tuple(
        Node(node.name, tuple(pid for pid in node.processes if pid != own.pid)) for node in subject.nodes
    )
    return replace(subject, nodes=nodes, own=own)


def living(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes without processes that have ended since."""
    return tuple(
        Node(node.name, tuple(pid for pid in node.processes if local.is_alive(pid, local.born_at(pid))))
        for node in nodes
    )


def read_ahead_kb(session: Session) -> int | None:
    """Read-ahead of the device that holds the session's data, KiB; None where the files or the device are unknown."""
    with suppress(OSError, ValueError, StopIteration):
        device = next(path for path in session.data_files() if path.is_file()).stat().st_dev
        name = f"{os.major(device)}:{os.minor(device)}"
        disk = (_BLOCK / name).resolve()
        # A partition has the settings of its disk, one folder above.
        places = (disk / "queue", disk.parent / "queue", _BDI / name)
        place = next(one for one in places if (one / "read_ahead_kb").is_file())
        return int((place / "read_ahead_kb").read_text())
    return None


def _names_now(session: Session) -> Mapping[Path, str]:
    """Names of the session's files, none where the server refuses them."""
    with suppress(TareError, OSError):
        return session.file_names()
    return {}


def _described(server: Server) -> str:
    return f"{_PRODUCTS.get(server.dbms, server.dbms)} {server.version} ({server.url})"


def _no_leader(session: Session) -> UsageError:
    if session.no_leader:
        return UsageError(
            f"the process that answers for this connection is not known: {session.no_leader}",
            "connect to the server's own socket or port, or name its processes: --node NAME=pid:P",
        )
    return UsageError(
        f"the processes of {session.server.url} are not on this machine",
        "run Tare on the server's machine, or name the nodes: --node NAME=cgroup:PATH",
    )
