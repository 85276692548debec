"""CPU time of all processes of a query, over what the kernel counts for a control group that holds every server.

The shapes: one process, parallel workers, backends of another server by `postgres_fdw` (TCP, Unix socket, both, a chain
of servers) and `dblink` (another server, and itself), programs of `file_fdw`, DuckDB's threads, MariaDB. The group
counts whoever is in it, ended processes too, and knows nothing of queries. What the servers' own processes used
(those that were there before the first query) is taken off by their own counters.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import psycopg

from benchmarks.common import Figure, arguments, free_port, report, rig
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.errors import ServerFailed
from tare.measure.audit import Auditor
from tare.measure.choices import CacheState
from tare.measure.machine.isolation import cgroups
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import Audit, ProcessUse
from tare.measure.rig import Rig

BAR = 2.0  # percent
VERSION = "15"  # Debian's, which has the foreign data wrappers

PARALLEL = (
    "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; "
    "SET max_parallel_workers_per_gather = {workers}"
)


class Group:
    """A control group whose CPU time the kernel counts."""

    def __init__(self) -> None:
        v1 = cgroups.v1_cpuacct()
        mount = v1 or cgroups.v2()
        if mount is None or not os.access(mount, os.W_OK):
            raise SystemExit("no hierarchy of control groups in which this user may make one: run as root")
        self._is_v1 = v1 is not None
        self._mount = mount
        self._path = mount / cgroups.fresh_name("count")
        self._path.mkdir()

    def add(self, pid: int) -> None:
        _move(pid, self._path)

    def members(self) -> list[int]:
        return [int(pid) for pid in (self._path / "cgroup.procs").read_text().split()]

    def used_ns(self) -> int:
        if self._is_v1:
            return int((self._path / "cpuacct.usage").read_text())
        fields = dict(line.split() for line in (self._path / "cpu.stat").read_text().splitlines())
        return int(fields["usage_usec"]) * 1000

    def close(self) -> None:
        for pid in self.members():
            _move(pid, self._mount)
        self._path.rmdir()


def _move(pid: int, group: Path) -> None:
    """Move a process that may have ended since its id was read."""
    with suppress(ProcessLookupError):
        (group / "cgroup.procs").write_text(str(pid))


class Outside(Auditor):
    """Reads the group where an audit reads its trace: around the snapshots of each execution."""

    def __init__(self, group: Group, own: list[int]) -> None:
        super().__init__()
        self.used_ns = 0
        self._group = group
        self._own = own
        self._before = 0

    def begin(self, rig: Rig) -> None:
        self._before = self._now()

    def end(self) -> None:
        self.used_ns = self._now() - self._before

    def judge(self, rig: Rig, clock_1: int, clock_2: int, processes: object) -> Audit:
        return Audit(False, "the control group is read instead")

    def _now(self) -> int:
        return self._group.used_ns() - sum(map(_run_ns, self._own))


def _run_ns(pid: int) -> int:
    try:
        return sum(
            int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()
        )
    except OSError:
        return 0


def fill(near: RunningServer, far: RunningServer, rows: int) -> None:
    """The same table in both, and each as a foreign server of the other."""
    with psycopg.connect(far.url, autocommit=True) as connection:
        connection.execute(
            f"CREATE TABLE items AS SELECT i AS id, md5(i::text) AS txt FROM generate_series(1, {rows}) i"
        )
        connection.execute("CREATE EXTENSION postgres_fdw")
        connection.execute(
            "CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw "
            f"OPTIONS (host '{near.record.socket_directory}', dbname 'postgres');"
            "CREATE USER MAPPING FOR postgres SERVER back OPTIONS (user 'postgres');"
            "CREATE FOREIGN TABLE chained (id int, txt text) SERVER back OPTIONS (table_name 'items');"
            "CREATE VIEW there AS SELECT id, md5(txt) AS txt FROM chained;"
            "CREATE VIEW worked AS SELECT id, md5(txt || txt) AS txt FROM items; ANALYZE items"
        )
    with psycopg.connect(near.url, autocommit=True) as connection:
        connection.execute(
            f"CREATE TABLE items AS SELECT i AS id, md5(i::text) AS txt FROM generate_series(1, {rows}) i"
        )
        connection.execute(
            "CREATE EXTENSION postgres_fdw; CREATE EXTENSION dblink; CREATE EXTENSION file_fdw"
        )
        for name, host in (("tcp", "127.0.0.1"), ("unix", far.record.socket_directory)):
            connection.execute(
                f"CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw "
                f"OPTIONS (host '{host}', port '{far.record.port}', dbname 'postgres');"
                f"CREATE USER MAPPING FOR postgres SERVER {name} OPTIONS (user 'postgres');"
                f"CREATE FOREIGN TABLE far_{name} (id int, txt text) SERVER {name} OPTIONS (table_name 'worked')"
            )
        connection.execute(
            "CREATE FOREIGN TABLE chain (id int, txt text) SERVER tcp OPTIONS (table_name 'there');"
            "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;"
            "CREATE FOREIGN TABLE sorted (line text) SERVER files "
            f"OPTIONS (program 'seq 1 {rows} | sort -R | head -9');"
            "ANALYZE items"
        )


def shapes(near: RunningServer, far: RunningServer) -> Mapping[str, tuple[int, str]]:
    """By name: parallel workers of the session, and the query."""
    work = "SELECT sum(length(md5(txt || txt))) FROM items"

    def dblink(place: RunningServer, host: Path | str) -> str:
        address = f"host={host} port={place.record.port or 5432} dbname=postgres user=postgres"
        return f"SELECT n FROM dblink('{address}', '{work}') AS t(n bigint)"

    both = "SELECT sum(length(t.txt)) FROM (SELECT txt FROM far_tcp UNION ALL SELECT txt FROM far_unix) t"
    return {
        "one process": (0, work),
        "parallel workers": (2, work),
        "postgres_fdw, TCP": (0, "SELECT sum(length(txt)) FROM far_tcp"),
        "postgres_fdw, Unix socket": (0, "SELECT sum(length(txt)) FROM far_unix"),
        "postgres_fdw, two servers": (0, both),
        "postgres_fdw, a chain": (0, "SELECT sum(length(txt)) FROM chain"),
        "dblink, another server": (0, dblink(far, "127.0.0.1")),
        "dblink, itself": (0, dblink(near, near.record.socket_directory)),
        "file_fdw, programs": (0, "SELECT count(*) FROM sorted"),
    }


@contextmanager
def counted(url: str, servers: list[int]) -> Iterator[tuple[Rig, Outside]]:
    """A rig whose servers are in a control group of their own."""
    group = Group()
    try:
        for server in servers:
            for pid in (server, *_children(server)):
                group.add(pid)
        own = group.members()
        with rig(url) as opened:
            group.add(opened.leader.pid)
            own = [pid for pid in own if pid != opened.leader.pid]
            outside = Outside(group, own)
            opened.auditor = outside
            yield opened, outside
    finally:
        group.close()


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def weigh(opened: Rig, outside: Outside, name: str, sql: str, runs: int) -> tuple[str, float]:
    """Percent that Tare's CPU time is off the group's, in the median run."""
    off, used = [], []
    helpers: set[ProcessUse] = set()
    for number in range(runs + 1):
        qe = time_single_qe(
            opened,
            Query(name, sql),
            index=number,
            query_index=0,
            warmup=number == 0,
            cache=CacheState.WARM,
            timeout_s=None,
        )
        assert qe.resources, qe.error
        assert qe.resources.cpu_ns, qe.error
        if number:
            off.append(100 * (qe.resources.cpu_ns / outside.used_ns - 1))
            used.append((qe.resources.cpu_ns / 1e6, outside.used_ns / 1e6))
            helpers |= {process for process in qe.processes if process.relation}
    tare, group = (statistics.median(side) for side in zip(*used, strict=True))
    kinds = ", ".join(sorted({str(process.relation) for process in helpers}))
    print(
        f"{name:26} {tare:8.1f} ms, group {group:8.1f} ms: {statistics.median(off):+.2f}%  {kinds}",
        flush=True,
    )
    return name, statistics.median(off)


def on_postgresql(rows: int, runs: int) -> Iterator[tuple[str, float]]:
    with (
        start_postgresql(version=VERSION) as near,
        start_postgresql(version=VERSION, port=free_port()) as far,
    ):
        fill(near, far, rows)
        with counted(near.url, [near.pid, far.pid]) as (opened, outside):
            for name, (workers, sql) in shapes(near, far).items():
                opened.session.run(PARALLEL.format(workers=workers))
                yield weigh(opened, outside, name, sql, runs)


def on_duckdb(rows: int, runs: int) -> Iterator[tuple[str, float]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute(
                f"CREATE TABLE items AS SELECT md5(i::varchar) AS txt FROM range({rows * 5}) t(i)"
            )
        with counted(f"duckdb:///{path}", []) as (opened, outside):
            yield weigh(opened, outside, "DuckDB's threads", "SELECT sum(length(md5(txt))) FROM items", runs)


def on_mariadb(rows: int, runs: int) -> Iterator[tuple[str, float]]:
    with start_mariadb() as server:
        session = find(server.url).connect(server.url, allow_writes=True)
        session.run(f"CREATE TABLE items AS SELECT md5(seq) AS txt FROM seq_1_to_{rows}")
        session.close()
        with counted(server.url, [server.pid]) as (opened, outside):
            yield weigh(opened, outside, "MariaDB", "SELECT sum(length(md5(txt))) FROM items", runs)


def main() -> None:
    asked = arguments(__doc__ or "", runs=15, rows=200_000)
    rows, runs = (30_000, 3) if asked.small else (asked.rows, asked.runs)
    found: dict[str, float] = {}
    for place in (on_postgresql, on_duckdb, on_mariadb):
        try:
            found.update(place(rows, runs))
        except ServerFailed as error:
            print(f"left out: {error.what}")
    worst = max(found, key=lambda name: abs(found[name]))
    report(
        [
            Figure(
                f"CPU time of all processes off the control group's, farthest of {len(found)} shapes",
                abs(found[worst]),
                "%",
                BAR,
                spread=f"{worst}; all: {', '.join(f'{off:+.2f}' for off in found.values())}",
            )
        ],
        asked.json,
    )


if __name__ == "__main__":
    main()
