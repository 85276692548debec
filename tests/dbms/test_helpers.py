"""Processes that a backend puts to work are the query's: children, and backends of other servers that it connects to.

A near PostgreSQL 15 (Debian's has the foreign data wrappers) asks a far one, on a port and on a socket.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tare.dbms.base import Leader, Role
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.errors import ServerFailed
from tare.measure.choices import CacheState, Clocked
from tare.measure.helpers import Helpers
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import QE, Outcome, ProcessUse, Relation
from tare.measure.rig import Rig
from tests.dbms.processes import children
from tests.servers import fill_server

NOBODY = 65534

WORK = "SELECT sum(length(md5(repeat(txt, 200)))) FROM numbers"
"""Work of tens of ms."""

IN_PARALLEL = "-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0"


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Pair:
    near: RunningServer
    far: RunningServer


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    try:
        near = start_postgresql(version="15")
    except ServerFailed as error:
        pytest.skip(f"no PostgreSQL 15 here: {error.what}")
    with near, start_postgresql(version="15", port=_port()) as far:
        fill_server(near.url)
        fill_server(far.url)
        with psycopg.connect(far.url, autocommit=True) as connection:
            connection.execute("CREATE VIEW worked AS SELECT id, md5(repeat(txt, 500)) AS txt FROM numbers")
            connection.execute(
                "CREATE EXTENSION postgres_fdw; CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw "
                f"OPTIONS (host '{near.record.socket_directory}', dbname 'postgres');"
                "CREATE USER MAPPING FOR postgres SERVER back OPTIONS (user 'postgres');"
                "CREATE FOREIGN TABLE chained (id int, txt text) SERVER back OPTIONS (table_name 'numbers')"
            )
        with psycopg.connect(near.url, autocommit=True) as connection:
            for extension in ("postgres_fdw", "dblink", "file_fdw"):
                connection.execute(f"CREATE EXTENSION {extension}")
            for name, host in (("tcp", "127.0.0.1"), ("unix", far.record.socket_directory)):
                connection.execute(
                    f"CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw "
                    f"OPTIONS (host '{host}', port '{far.record.port}', dbname 'postgres');"
                    f"CREATE USER MAPPING FOR postgres SERVER {name} OPTIONS (user 'postgres');"
                    f"CREATE FOREIGN TABLE far_{name} (id int, txt text) SERVER {name} OPTIONS (table_name 'worked')"
                )
            connection.execute(
                "CREATE FOREIGN TABLE far_chain (id int, txt text) SERVER tcp OPTIONS (table_name 'chained')"
            )
            connection.execute("CREATE SERVER files FOREIGN DATA WRAPPER file_fdw")
        yield Pair(near, far)


@pytest.fixture
def rig(pair: Pair) -> Iterator[Rig]:
    with Rig(lambda: find(pair.near.url).connect(pair.near.url, allow_writes=True)) as opened:
        yield opened


def weigh(rig: Rig, sql: str, warmup: bool = False) -> QE:
    qe = time_single_qe(
        rig, Query("q", sql), index=0, query_index=0, warmup=warmup, cache=CacheState.WARM, timeout_s=None,
        clocked=Clocked.TOTAL,
    )  # fmt: skip
    assert qe.outcome is Outcome.OK, qe.error
    return qe


def related(qe: QE) -> dict[Relation, list[ProcessUse]]:
    found: dict[Relation, list[ProcessUse]] = {}
    for process in qe.processes:
        if process.relation is not None:
            found.setdefault(process.relation, []).append(process)
    return found


def warm_up(rig: Rig, sql: str) -> None:
    """Untimed executions until one was watched well: a busy machine hides where a short connection went."""
    while not rig.helpers.knows(sql):
        weigh(rig, sql, warmup=True)


def program(rig: Rig, name: str, command: str) -> str:
    quoted = command.replace("'", "''")
    rig.session.run(f"CREATE FOREIGN TABLE {name} (line text) SERVER files OPTIONS (program '{quoted}')")
    return f"SELECT count(*) FROM {name}"


@pytest.mark.parametrize("name", ["tcp", "unix"])
def test_the_backend_that_postgres_fdw_connects_to_is_a_query_process(
    pair: Pair, rig: Rig, name: str
) -> None:
    sql = f"SELECT sum(length(txt)) FROM far_{name}"
    weigh(rig, sql)
    qe = weigh(rig, sql)
    (backend,) = related(qe)[Relation.CLIENT]
    assert backend.role is Role.QUERY
    assert backend.ppid == pair.far.pid
    assert backend.run_ns is not None
    assert qe.resources is not None
    assert qe.resources.workers_cpu_ns is not None
    assert qe.resources.leader_cpu_ns is not None
    assert qe.resources.workers_cpu_ns == backend.run_ns > qe.resources.leader_cpu_ns
    warm_up(rig, WORK)
    assert not related(weigh(rig, WORK)), "the connection is kept, but this query does not use it"


POOLER = """
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def forward(source, target):
    while data := source.recv(65536):
        target.sendall(data)
while True:
    client, server = listener.accept()[0], socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    for ends in ((client, server), (server, client)):
        threading.Thread(target=forward, args=ends, daemon=True).start()
"""


def test_a_backend_behind_a_pooler_cannot_be_told_apart(pair: Pair, rig: Rig) -> None:
    command = [sys.executable, "-c", POOLER, str(pair.far.record.port)]
    # In a group of its own, and no child of ours: what descends from Tare is Tare's.
    with subprocess.Popen(
        ["sh", "-c", '"$@" & wait', "sh", *command], stdout=subprocess.PIPE, text=True
    ) as shell:
        try:
            assert shell.stdout is not None
            port = int(shell.stdout.readline())
            rig.session.run(
                f"CREATE SERVER pooled FOREIGN DATA WRAPPER postgres_fdw "
                f"OPTIONS (host '127.0.0.1', port '{port}', dbname 'postgres');"
                "CREATE USER MAPPING FOR postgres SERVER pooled OPTIONS (user 'postgres');"
                "CREATE FOREIGN TABLE far_pooled (id int, txt text) SERVER pooled OPTIONS (table_name 'worked')"
            )
            qe = weigh(rig, "SELECT sum(length(txt)) FROM far_pooled")
        finally:
            rig.session.run("DROP SERVER IF EXISTS pooled CASCADE")
            for pid in children(shell.pid):
                os.kill(pid, signal.SIGKILL)
    shared = related(qe)[Relation.SHARED_SERVER]
    assert {p.role for p in shared} == {Role.DAEMON}
    assert pair.far.pid in {p.ppid for p in shared}
    # Backends of other servers that were born meanwhile may be the query's, too.
    unsure = [p for relation, found in related(qe).items() if not relation.is_sure for p in found]
    assert {p.pid for p in shared} <= {p.pid for p in unsure}
    assert qe.resources is not None
    assert qe.resources.unattributed_cpu_ns == sum(p.run_ns or 0 for p in unsure)


class Hidden(Helpers):
    """Looks at connections as an ordinary user."""

    def look(self, leader: Leader) -> None:
        os.seteuid(NOBODY)
        try:
            super().look(leader)
        finally:
            os.seteuid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_this_user_may_not_see_is_reported_as_unattributed(pair: Pair, rig: Rig) -> None:
    rig.helpers = Hidden()
    qe = weigh(rig, "SELECT sum(length(txt)) FROM far_tcp")
    backend = next(p for p in related(qe)[Relation.HIDDEN] if p.ppid == pair.far.pid)
    assert backend.role is Role.DAEMON
    assert qe.resources is not None
    assert qe.resources.unattributed_cpu_ns is not None
    assert backend.run_ns is not None
    assert qe.resources.unattributed_cpu_ns >= backend.run_ns > 0


def test_a_backend_of_a_backend_is_a_query_process(pair: Pair, rig: Rig) -> None:
    """The connection to the first is older than the one that it opens."""
    weigh(rig, "SELECT sum(length(txt)) FROM far_tcp")
    for _ in range(2):
        qe = weigh(rig, "SELECT sum(length(txt)) FROM far_chain")
        assert {p.ppid for p in related(qe)[Relation.CLIENT]} == {pair.far.pid, pair.near.pid}


def test_a_backend_whose_client_is_somebody_else_is_no_query_process(pair: Pair, rig: Rig) -> None:
    sql = "SELECT sum(length(txt)) FROM far_tcp"
    weigh(rig, sql, warmup=True)
    done, begun = threading.Event(), threading.Event()

    def disturb() -> None:
        with psycopg.connect(pair.far.url) as stranger:
            while not done.is_set():
                stranger.execute("SELECT count(*) FROM generate_series(1, 1000)")
                begun.set()

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        begun.wait()
        qe = weigh(rig, sql)
    finally:
        done.set()
        thread.join()
    strangers = [p for p in qe.processes if p.ppid == pair.far.pid and p.run_ns and p.relation is None]
    assert strangers, "the neighbour did not run"
    assert {p.role for p in strangers} == {Role.DAEMON}
    assert len(related(qe)[Relation.CLIENT]) == 1


@pytest.mark.parametrize("where", ["far", "near"])
def test_a_backend_that_dblink_connects_to_for_one_call_is_a_query_process(
    pair: Pair, rig: Rig, where: str
) -> None:
    """So are its parallel workers. Its connection has ended before anybody could look; an untimed run has seen one."""
    server = pair.far if where == "far" else pair.near
    host = "127.0.0.1" if where == "far" else server.record.socket_directory
    address = (
        f"host={host} port={server.record.port or 5432} dbname=postgres user=postgres options='{IN_PARALLEL}'"
    )
    call = f"SELECT n FROM dblink($${address}$$, $${WORK}$$) AS t(n bigint)"
    unwatched = weigh(rig, call)
    assert Relation.SHORT_CONNECTION not in related(unwatched)
    assert unwatched.resources is not None
    assert unwatched.resources.unattributed_cpu_ns
    warm_up(rig, call)
    qe = weigh(rig, call)
    backends = related(qe)[Relation.SHORT_CONNECTION]
    assert {p.ppid for p in backends} == {server.pid}
    assert {p.role for p in backends} == {Role.QUERY}
    assert qe.resources is not None
    assert not qe.resources.unattributed_cpu_ns
    if any(p.cmdline for p in backends):  # else this kernel gives no titles, and workers look like backends
        assert {p.ppid for p in related(qe)[Relation.PARALLEL_WORKER]} == {server.pid}


def test_a_connection_that_a_neighbour_opens_is_not_the_querys(pair: Pair, rig: Rig) -> None:
    """The leader has been a client before, so it could be one now; it was watched, and this query is none."""
    weigh(rig, "SELECT sum(length(txt)) FROM far_tcp")
    warm_up(rig, WORK)
    done = threading.Event()

    def disturb() -> None:
        while not done.is_set():
            with psycopg.connect(pair.far.url) as stranger:
                stranger.execute("SELECT 1")

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        qe = next(
            qe
            for qe in iter(lambda: weigh(rig, WORK), None)
            if any(p.ppid == pair.far.pid and p.fate.value == "phantom" for p in qe.processes)
        )
    finally:
        done.set()
        thread.join()
    assert not related(qe)
    assert qe.resources is not None
    assert qe.resources.unattributed_cpu_ns == 0


def test_the_children_of_a_query_process_are_query_processes(rig: Rig) -> None:
    sql = program(rig, "sorted", "seq 1 100000 | sort -R | head -1000")
    try:
        weigh(rig, sql)
        qe = weigh(rig, sql)
    finally:
        rig.session.run("DROP FOREIGN TABLE sorted")
    children = related(qe)[Relation.CHILD]
    assert {"seq", "sort", "head"} <= {p.comm for p in children}
    assert {p.role for p in children} == {Role.QUERY}
    assert qe.resources is not None
    sort = next(p.run_ns for p in children if p.comm == "sort")
    assert sort is not None
    assert qe.resources.workers_cpu_ns is not None
    assert qe.resources.workers_cpu_ns >= sort


def test_a_child_that_outlives_its_parent_stays_a_query_process(rig: Rig, tmp_path: Path) -> None:
    goes_on = tmp_path / "goes-on"  # it ends with the folder, too
    goes_on.touch()
    command = f"(while test -e {goes_on}; do :; done) < /dev/null > /dev/null 2>&1 & echo 1"
    sql = program(rig, "survivor", command)
    try:
        qe = weigh(rig, sql)
    finally:
        goes_on.unlink()
        rig.session.run("DROP FOREIGN TABLE survivor")
    (child,) = [p for p in related(qe)[Relation.SESSION] if p.comm == "sh"]
    assert child.role is Role.QUERY


def test_a_server_with_a_thread_for_each_connection_cannot_be_told_apart() -> None:
    pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")
    try:
        near = start_mariadb(settings={"plugin_load_add": "ha_federatedx"})
    except ServerFailed as error:
        pytest.skip(f"no MariaDB with FederatedX here: {error.what}")
    with near, start_mariadb(port=_port()) as far:
        fill_server(far.url)
        with Rig(lambda: find(near.url).connect(near.url, allow_writes=True)) as rig:
            rig.session.run(
                "CREATE TABLE numbers (id integer PRIMARY KEY, grp integer, val double, txt varchar(16)) "
                f"ENGINE=FEDERATED CONNECTION='mysql://{far.url.partition('://')[2].partition('?')[0]}/numbers'"
            )
            qe = weigh(rig, "SELECT sum(length(txt)) FROM numbers")
    (server,) = related(qe)[Relation.SHARED_SERVER]
    assert (server.pid, server.role) == (far.pid, Role.DAEMON)
    assert qe.resources is not None
    assert qe.resources.unattributed_cpu_ns == server.run_ns
