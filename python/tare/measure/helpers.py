"""Processes that work for a query without being its leader: children, backends of other servers, their workers.

A process is the query's if a process of the query is its parent, or its client: the server's end of a connection is
in a process that holds no other, and the client's end is the query's. A backend whose connection was opened and
closed within the execution has no client that could still be seen. It is the query's if the same query was seen, in
an untimed execution, to open a connection to the same server. Otherwise it may be, and `Relation` says so.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from tare.dbms.base import Leader, Role
from tare.dbms.known import server_of
from tare.measure.connections import Connections, connections, sockets
from tare.measure.differences import Life
from tare.measure.records import Relation
from tare.measure.settle import settle

_WATCH_S = 0.001
_UNSEEN_S = 0.03
"""Between two looks, from which on a connection may have come and gone: a server that forks needs a few ms for one."""

_TRIES = 100
"""Looks at a new socket of the leader, until it is connected."""

_CLIENT_BACKEND = re.compile(r"^postgres: .* (\[local\]|(127\.[\d.]+|::1)\(\d+\))")
_WORKER = re.compile(r"^postgres: .*parallel worker for PID (\d+)\b")
_CLIENT_LIBRARY = re.compile(r"/libpq[-.]")


class Born(NamedTuple):
    """Life of a process."""

    pid: int
    start_ns: int


@dataclass(slots=True)
class _Members:
    """Processes of the query so far, by id, and the servers' ends of the connections that they opened."""

    lives: dict[int, Life]
    served: frozenset[int]


class Helpers:
    """Facts about the processes that a session's leader puts to work. They outlive an execution."""

    def __init__(self) -> None:
        self._connections = Connections()
        self._seen: dict[
            int, frozenset[int]
        ] = {}  # sockets of processes of the query, when connections were read
        self._ends: frozenset[int] = frozenset()  # of servers, at the last look
        self._hidden = False  # this user may not see the leader's sockets
        self._backends: set[Born] = set()
        self._opened: dict[str, set[int]] = {}  # by query: servers that it opens connections to

    # Between executions --------------------------------------------------------------
    def settle(self) -> None:
        """Waits until the backends known so far rest, so that their counters are whole."""
        for backend in self._backends:
            settle(backend.pid, backend.pid)

    def look(self, leader: Leader) -> None:
        """Reads the leader's connections. Call after the second snapshot: some end with the transaction."""
        self._hidden = sockets(leader.pid) is None
        self._ends = self._served_by(leader.pid, leader)

    @contextmanager
    def watching(self, leader: Leader, sql: str) -> Iterator[None]:
        """Watches in an untimed execution which servers a query connects to; once a query is enough, if it is sure."""
        if sql in self._opened:
            yield
            return
        watch = _Watch(leader.pid)
        try:
            yield
        finally:
            watch.end()
            if watch.is_sure or watch.servers:
                self._opened[sql] = watch.servers

    def knows(self, sql: str) -> bool:
        """Whether a query was watched, and the watch is sure."""
        return sql in self._opened

    # Of one execution ----------------------------------------------------------------
    def relations(
        self, lives: Sequence[Life], roles: Sequence[Role], leader: Leader, sql: str
    ) -> Mapping[int, Relation]:
        """Return the relation of each active life that has one, by its place in `lives`.

        `roles` are what the DBMS itself knows; neither its query processes nor our own are looked at again."""
        self._forget_ended(lives)
        query = {
            life.latest.tgid: life for life, role in zip(lives, roles, strict=True) if role is Role.QUERY
        }
        others = {
            place: life
            for place, (life, role) in enumerate(zip(lives, roles, strict=True))
            if role in (Role.UTILITY, Role.DAEMON) and not life.latest.kernel and _ran(life)
        }
        members = _Members(query, self._ends)
        found: dict[int, Relation] = {}
        alone = leader.whole_process or leader.tid == leader.pid
        rules: tuple[Callable[[Life], Relation | None], ...] = (
            lambda life: _by_birth(life, members.lives, leader, alone),
            lambda life: _by_title(life, members.lives),
            lambda life: self._by_connection(life, members.served),
            lambda life: self._by_learning(life, leader, sql),
        )
        known = -1
        while known < len(members.lives):  # a process of the query may bring others
            known = len(members.lives)
            for rule in rules:
                for place, life in others.items():
                    if (place in found and found[place].is_sure) or (relation := rule(life)) is None:
                        continue
                    found[place] = relation
                    if relation.is_sure:
                        members.lives[life.latest.tgid] = life
                        if life.after is not None:
                            members.served |= self._served_by(life.latest.tgid, leader)
        self._spread_doubt(others, found, leader)
        return found

    def _spread_doubt(self, others: Mapping[int, Life], found: dict[int, Relation], leader: Leader) -> None:
        """Mark processes that serve one that may be the query's: a backend behind a pooler, and its workers."""
        doubtful = {
            life.latest.tgid: life
            for place, life in others.items()
            if place in found and not found[place].is_sure
        }
        served = frozenset[int]().union(*(self._served_by(pid, leader) for pid in doubtful))
        for place, life in others.items():
            if place not in found and (sockets(life.latest.tgid) or frozenset()) & served:
                found[place] = Relation.SHARED_SERVER
                doubtful[life.latest.tgid] = life
        for place, life in others.items():
            if place not in found and _by_title(life, doubtful):
                found[place] = Relation.UNSEEN_CLIENT

    def _by_connection(self, life: Life, served: frozenset[int]) -> Relation | None:
        born = Born(life.latest.tgid, life.latest.start_ns)
        if life.after is None or not served:
            return Relation.CLIENT if born in self._backends else None
        own = sockets(born.pid)
        if own is None or not own & served:
            self._backends.discard(born)
            return None
        if own & self._connections.listening or own & self._connections.server_ends - served:
            return Relation.SHARED_SERVER
        self._backends.add(born)
        return Relation.CLIENT

    def _by_learning(self, life: Life, leader: Leader, sql: str) -> Relation | None:
        """Return what is known of a server that serves connections shorter than the execution."""
        process = life.latest
        if self._hidden:
            return Relation.HIDDEN if _may_serve(life) else None
        servers = self._opened.get(sql)
        if servers is not None and process.tgid in servers:
            return Relation.SHARED_SERVER if server_of(process.comm) != "postgresql" else None
        if life.before is not None or server_of(process.comm) != "postgresql":
            return None
        if not _may_serve(life):
            return None
        if life.after is not None and (sockets(process.tgid) or frozenset()) & self._connections.server_ends:
            return None  # its client is still there, and not the query's
        if servers is None:
            return Relation.UNSEEN_CLIENT if _is_client(leader.pid) else None
        return Relation.SHORT_CONNECTION if process.ppid in servers else None

    def _forget_ended(self, lives: Sequence[Life]) -> None:
        alive = {Born(life.latest.tgid, life.latest.start_ns) for life in lives}
        self._backends &= alive
        pids = {born.pid for born in alive}
        self._seen = {pid: own for pid, own in self._seen.items() if pid in pids}

    def _served_by(self, pid: int, leader: Leader) -> frozenset[int]:
        """Return the servers' ends of the connections that a process of the query opened."""
        own = sockets(pid) or frozenset()
        if own != self._seen.get(pid, frozenset()):
            self._seen[pid] = own
            self._connections = connections(leader.pid)
        of = self._connections.server_of
        return frozenset(of[inode] for inode in own if inode in of)


def _ran(life: Life) -> bool:
    return life.before is None or life.after is None or life.before.run_ns != life.after.run_ns


def _by_birth(life: Life, members: Mapping[int, Life], leader: Leader, alone: bool) -> Relation | None:
    """A server with many connections has children of its own; of its children only one that was born now counts."""
    readings = (life.before, life.after, *(exit_.process for exit_ in life.exits))
    parents = {process.ppid for process in readings if process is not None} & members.keys()
    if parents and (alone or life.before is None or parents != {leader.pid}):
        return Relation.CHILD
    if alone and life.before is None and life.after is not None and _session(life.after.tgid) in members:
        return Relation.SESSION
    return None


def _by_title(life: Life, members: Mapping[int, Life]) -> Relation | None:
    """A parallel worker of a backend. Without a title, one that came and went is taken for a worker of a backend of the
    same server, as the adapter does with those of its own."""
    process, title = life.latest, _title(life)
    worker = _WORKER.match(title)
    if worker:
        backend = members.get(int(worker.group(1)))
        is_ours = backend is not None and backend.latest.ppid == process.ppid
        return Relation.PARALLEL_WORKER if is_ours else None
    if title or life.before or life.after or server_of(process.comm) != "postgresql":
        return None
    served = {one.latest.ppid for one in members.values() if server_of(one.latest.comm) == "postgresql"}
    return Relation.PARALLEL_WORKER if process.ppid in served else None


def _title(life: Life) -> str:
    return life.latest.cmdline or next((e.process.cmdline for e in life.exits if e.process.cmdline), "")


def _may_serve(life: Life) -> bool:
    """A process of a DBMS's server that may serve a client on this machine; PostgreSQL's says so by its title."""
    title, server = _title(life), server_of(life.latest.comm)
    return server is not None and (
        server != "postgresql" or not title or _CLIENT_BACKEND.match(title) is not None
    )


def _session(pid: int) -> int | None:
    """A process that outlived its parent keeps its session."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _is_client(pid: int) -> bool:
    """The process has PostgreSQL's client library loaded."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return any(_CLIENT_LIBRARY.search(line) for line in file)
    except OSError:
        return False


class _Watch:
    """Notes in a thread of its own which servers a process connects to."""

    def __init__(self, pid: int) -> None:
        self.servers: set[int] = set()
        self.is_sure = True
        """Whether no other server was connected to: looks followed each other closely, and showed where each new socket
        was connected."""
        self._pid = pid
        self._tries = dict.fromkeys(sockets(pid) or frozenset(), _TRIES)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        """A connection may end before its other end is found: what is noted is the socket that listens, which stays."""
        listeners: set[int] = set()
        unknown: set[int] = set()
        looked_at = time.monotonic()
        gap_s = 0.0
        while not self._done.wait(_WATCH_S):
            now = time.monotonic()
            gap_s, looked_at = max(gap_s, now - looked_at), now
            new = [inode for inode in sockets(self._pid) or () if self._tries.get(inode, 0) < _TRIES]
            if not new:
                continue
            found = connections(self._pid)
            for inode in new:
                known = inode in found.listener_of or inode in found.connected
                self._tries[inode] = _TRIES if known else self._tries.get(inode, 0) + 1
                (unknown.discard if known else unknown.add)(inode)
            listeners.update(found.listener_of[inode] for inode in new if inode in found.listener_of)
        self.servers = _holders(listeners) if listeners else set()
        self.is_sure = not unknown and max(gap_s, time.monotonic() - looked_at) < _UNSEEN_S


def _holders(inodes: Set[int]) -> set[int]:
    """Processes that have one of these sockets open."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    return {pid for pid in pids if inodes & (sockets(pid) or frozenset())}
