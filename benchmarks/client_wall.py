"""Wall time by Tare, planning included, over the time that psql and the mariadb client report for the same query.

Ten queries on each DBMS, from a millisecond to some seconds. Each round runs a query once by Tare and once by the
client, in random order, in sessions that stay open. psql measures in microseconds (`\\timing`), the mariadb
client in milliseconds. On a machine that is not idle the CPU time of the server's process shows whether both did the
same work.

Tare's session holds each query prepared, for its plan. A PostgreSQL backend without such a history gives the memory
that planning took back to the kernel after each statement, and faults it in again with the next one, whichever
protocol is spoken: psql's session is therefore given the same history, unless --bare 1.
"""

from __future__ import annotations

import math
import random
import re
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from benchmarks.common import ONE_PROCESS, Figure, arguments, report, rig
from tare.dbms.planned import cpu_time_ns
from tare.dbms.registry import find
from tare.dbms.servers import binaries, start_mariadb, start_postgresql
from tare.dbms.url import parse
from tare.errors import ServerFailed
from tare.measure.choices import CacheState, Clocked
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.rig import Rig
from tare.protocol.compare import ratio_of

BAR = 2.0  # percent
SECONDS = 20.0  # of each query by each of the two, within the numbers of runs
PLANNED = 0.1  # of the wall time: what takes more to plan is a figure of its own
RESOLVED_MS = 50.0  # below it the mariadb client's milliseconds do not resolve 2%

PARTITIONS = 500
TABLES = range(1, 10)
ORDERS = (
    "SELECT count(*) FROM "
    + ", ".join(f"one_{i}" for i in TABLES)
    + " WHERE "
    + " AND ".join(f"one_{i}.a = one_{i + 1}.a" for i in TABLES[:-1])
)


def load(series: str, partition: str) -> list[str]:
    """Statements that make the tables; `series` has a column i that counts the rows from 1."""
    return [
        "CREATE TABLE items (id integer PRIMARY KEY, grp integer, val double precision, txt varchar(20))",
        f"INSERT INTO items SELECT i, i % 97, i * 0.5, concat('item ', i) FROM {series}",
        f"CREATE TABLE parts (id integer, val integer) PARTITION BY RANGE (id){partition}",
        *(f"CREATE TABLE one_{i} AS SELECT 1 AS a" for i in TABLES),
    ]


def queries(rows: int, series: str) -> dict[str, str]:
    keys = ",".join(str(i * 3) for i in range(1, 2001))
    return {
        "index range": f"SELECT sum(val) FROM items WHERE id <= {rows // 400}",
        "list of 2,000 keys": f"SELECT sum(val) FROM items WHERE id IN ({keys})",
        "500 partitions": "SELECT count(*), sum(val) FROM parts WHERE val % 7 <> 3",
        "nine tables": ORDERS,
        "rows fetched": f"SELECT id, txt FROM items WHERE id <= {rows // 20}",
        "scan": "SELECT sum(val) FROM items",
        "groups": "SELECT grp, count(*), avg(val) FROM items GROUP BY grp",
        "sort": "SELECT count(*) FROM (SELECT id FROM items ORDER BY txt LIMIT 1000000) AS s",
        "join": "SELECT count(*) FROM items AS a JOIN items AS b ON a.id = b.id + 1 WHERE a.txt <> b.txt",
        "ten times": f"SELECT sum(sqrt(a.id + g.i)) FROM items AS a, {series} WHERE a.id % 7 <> g.i",
    }


class Client:
    """A client program that stays open and prints a time after each statement."""

    server = 0  # the process that answers it

    def __init__(self, command: Sequence[str], pattern: str, unit_ms: float, head: str = "") -> None:
        self._pattern = re.compile(pattern)
        self._unit_ms = unit_ms
        self._process = subprocess.Popen(
            ["stdbuf", "-oL", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._write(head)

    def run(self, sql: str) -> float:
        """Return the time that the client prints, ms."""
        assert self._process.stdout
        self._write(f"{sql};\n")
        for line in self._process.stdout:
            if found := self._pattern.search(line):
                return float(found.group(1)) * self._unit_ms
        raise SystemExit(f"the client ended: {self._process.args!r}")

    def prepare(self, name: str, sql: str) -> None:
        """Prepare and explain a statement, and keep it, as Tare's session does (PostgreSQL)."""
        for statement in (f"PREPARE {name} AS {sql}", f"EXPLAIN EXECUTE {name}"):
            self.run(statement)

    def close(self) -> None:
        self._process.communicate()

    def _write(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()


@dataclass(frozen=True)
class Pair:
    """Times of one query by Tare and by the client, in run order, ms: wall time, and CPU time of the server's
    process."""

    name: str
    wall_ms: tuple[list[float], list[float]]  # the client's, Tare's
    cpu_ms: tuple[list[float], list[float]]
    planning: float  # share of Tare's wall time; 0 where it is inside execution

    def __str__(self) -> str:
        client, tare = (statistics.median(times) for times in self.wall_ms)
        return (
            f"{self.name:18} {tare:8.2f} ms, client {client:8.2f} ms: {_shown(off(self.wall_ms))}; CPU "
            f"{_shown(off(self.cpu_ms))}; planning {self.planning:.0%}, {len(self.wall_ms[0])} runs"
        )


def off(times: tuple[list[float], list[float]]) -> tuple[float, float, float] | None:
    """Return by how many percent Tare's times exceed the client's: the Hodges-Lehmann ratio less one, with its 95%
    interval."""
    ratio = ratio_of(*times)
    if ratio is None:
        return None
    interval = ratio.ci95
    ends = (interval.low, interval.high) if interval else (-math.inf, math.inf)
    return 100 * (ratio.estimate - 1), *(100 * (end - 1) for end in ends)  # type: ignore[return-value]


def _shown(found: tuple[float, float, float] | None) -> str:
    return "not resolved" if found is None else f"{found[0]:+.1f}% ({found[1]:+.1f} to {found[2]:+.1f})"


def compared(opened: Rig, client: Client, query: Query, most: int) -> Pair:
    draw = random.Random(1)
    walls: tuple[list[float], list[float]] = ([], [])
    cpus: tuple[list[float], list[float]] = ([], [])
    planning: list[float] = []
    answers = set()

    def by_tare() -> None:
        qe = time_single_qe(
            opened, query, index=0, query_index=0, warmup=False, cache=CacheState.WARM, timeout_s=None,
            clocked=Clocked.TOTAL,
        )  # fmt: skip
        assert qe.elapsed, qe.error
        assert qe.phases
        assert qe.resources
        answers.add((qe.row_count, qe.answer_hash))
        walls[1].append(qe.elapsed.wall_ns / 1e6)
        cpus[1].append((qe.resources.cpu_ns or 0) / 1e6)
        planning.append((qe.phases.planning_ns or 0) / qe.elapsed.wall_ns)

    def by_client() -> None:
        before = cpu_time_ns(client.server) or 0
        walls[0].append(client.run(query.sql))
        cpus[0].append(((cpu_time_ns(client.server) or 0) - before) / 1e6)

    for _ in range(3):
        by_tare()
        by_client()
    runs = max(3, min(most, math.ceil(SECONDS * 1000 / max(statistics.median(walls[1]), 0.1))))
    for times in (*walls, *cpus, planning):
        times.clear()
    for _ in range(runs):
        turns = [by_tare, by_client]
        draw.shuffle(turns)
        for turn in turns:
            turn()
    assert len(answers) == 1, f"{query.name} changes its answer"
    return Pair(query.name, walls, cpus, statistics.median(planning))


@contextmanager
def on_postgresql(rows: int) -> Iterator[tuple[str, Client, dict[str, str]]]:
    with start_postgresql(None, settings=ONE_PROCESS) as server:
        psql = binaries.program(binaries.postgresql().binaries, "psql")
        session = find(server.url).connect(server.url, allow_writes=True)
        series = f"generate_series(1, {rows}) AS s(i)"
        for sql in load(series, ""):
            session.run(sql)
        for i in range(PARTITIONS):
            session.run(
                f"CREATE TABLE part_{i} PARTITION OF parts FOR VALUES FROM ({i * 10}) TO ({i * 10 + 10})"
            )
        session.run(f"INSERT INTO parts SELECT i, i FROM generate_series(0, {PARTITIONS * 10 - 1}) AS s(i)")
        session.run("VACUUM ANALYZE")
        session.close()
        client = Client(
            [str(psql), "-X", "-q", server.url], r"^Time: ([\d.]+) ms", 1.0, "\\timing on\n\\o /dev/null\n"
        )
        client.run("SELECT 1")  # it is connected now
        with psycopg.connect(server.url) as connection:
            found = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'psql'"
            ).fetchone()
            assert found
            client.server = found[0]
        yield server.url, client, queries(rows, "generate_series(1, 10) AS g(i)")
        client.close()


@contextmanager
def on_mariadb(rows: int) -> Iterator[tuple[str, Client, dict[str, str]]]:
    with start_mariadb() as server:
        place = parse(server.url)
        session = find(server.url).connect(server.url, allow_writes=True)
        ranges = ", ".join(f"PARTITION p{i} VALUES LESS THAN ({i * 10 + 10})" for i in range(PARTITIONS))
        for sql in load(f"(SELECT seq AS i FROM seq_1_to_{rows}) AS s", f" ({ranges})"):
            session.run(sql)
        session.run(f"INSERT INTO parts SELECT seq, seq FROM seq_0_to_{PARTITIONS * 10 - 1}")
        session.run("ANALYZE TABLE items, parts")
        session.close()
        program = binaries.program(binaries.mariadb().binaries, "mariadb")
        command = [
            str(program),
            f"--socket={place.parameters['socket']}",
            f"--user={place.user}",
            "-vvv",
            "-n",
            "tare",
        ]
        client = Client(command, r"\(([\d.]+) sec\)$", 1000.0)
        client.server = server.pid
        yield server.url, client, queries(rows, "(SELECT seq AS i FROM seq_1_to_10) AS g")
        client.close()


def figures(dbms: str, client: str, pairs: Sequence[Pair], finest_ms: float) -> Iterator[Figure]:
    """Return the query of each kind that is farthest off: executed ones, and mostly planned ones."""
    for what, field, finest in (("wall time", "wall_ms", finest_ms), ("CPU time", "cpu_ms", 0.0)):
        for kind, planned in (("", False), (f", of which more than {PLANNED:.0%} is planning", True)):
            seen = {
                pair.name: found[0]
                for pair in pairs
                if (pair.planning >= PLANNED) is planned
                and statistics.median(pair.wall_ms[0]) >= finest
                and (found := off(getattr(pair, field)))
            }
            if seen:
                worst = max(seen, key=lambda name: abs(seen[name]))
                name = f"{dbms}: {what} off {client}'s, farthest of {len(seen)} queries{kind}"
                spread = f"{worst}; all: {', '.join(f'{one:+.1f}' for one in seen.values())}"
                yield Figure(name, abs(seen[worst]), "%", BAR, spread=spread)


def main() -> None:
    asked = arguments(__doc__ or "", runs=60, rows=2_000_000, bare=0)
    rows, most = (20_000, 3) if asked.small else (asked.rows, asked.runs)
    found: list[Figure] = []
    for dbms, client_name, place, finest_ms in (
        ("PostgreSQL", "psql", on_postgresql, 0.0),
        ("MariaDB", "mariadb", on_mariadb, RESOLVED_MS),
    ):
        with ExitStack() as stack:
            try:
                url, client, texts = stack.enter_context(place(rows))
            except ServerFailed as error:
                print(f"{dbms}: left out, {error.what}")
                continue
            opened = stack.enter_context(rig(url))
            pairs: list[Pair] = []
            for name, sql in texts.items():
                if dbms == "PostgreSQL" and not asked.bare:
                    client.prepare(f"held_{len(pairs)}", sql)
                pairs.append(compared(opened, client, Query(name, sql), most))
                print(f"{dbms} {pairs[-1]}", flush=True)
        found += figures(dbms, client_name, pairs, finest_ms)
    report(found, asked.json)


if __name__ == "__main__":
    main()
