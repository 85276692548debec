"""Wall time by Tare, planning included, over the time that psql and the mariadb client report for the same query.

Ten queries on each DBMS, from a millisecond to some seconds. Each round runs a query once by Tare and once by the
client in each of three sessions, in random order; the sessions stay open. psql measures in microseconds
(`\\timing`), the mariadb client in milliseconds. The CPU time of the server's process shows whether all did the same
work. The client's second session over its first is what this machine and the luck of sessions do to a ratio: a query
whose client does not equal itself within the bar is not judged.

The third session has Tare's conditions: it waits before each query as long as Tare's preparations take, in which
caches go cold, and psql speaks the extended protocol (`\\bind`), for which the server copies the statement's tree.
What Tare is off this session is neither.

Tare's session holds each query prepared, for its plan. A PostgreSQL backend without such a history gives the memory
that planning took back to the kernel after each statement, and faults it in again with the next one, whichever
protocol is spoken: psql's sessions are therefore given the same history, unless --bare 1.
"""

from __future__ import annotations

import json
import math
import random
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

import psycopg

from benchmarks.common import ONE_PROCESS, Figure, arguments, report, rig
from tare.dbms.planned import cpu_time_ns
from tare.dbms.registry import find
from tare.dbms.servers import binaries, start_mariadb, start_postgresql
from tare.dbms.servers.running import RunningServer
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
    """A client program that stays open and prints a time after each statement.

    `end`: what ends a query that is compared."""

    server = 0  # the process that answers it

    def __init__(
        self, command: Sequence[str], pattern: str, unit_ms: float, head: str = "", end: str = ";"
    ) -> None:
        self._end = end
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
        return self.print_time(f"{sql}{self._end}")

    def print_time(self, statement: str) -> float:
        assert self._process.stdout
        self._write(f"{statement}\n")
        for line in self._process.stdout:
            if found := self._pattern.search(line):
                return float(found.group(1)) * self._unit_ms
        raise SystemExit(f"the client ended: {self._process.args!r}")

    def prepare(self, name: str, sql: str) -> None:
        """Prepare and explain a statement, and keep it, as Tare's session does (PostgreSQL)."""
        for statement in (f"PREPARE {name} AS {sql}", f"EXPLAIN EXECUTE {name}"):
            self.print_time(f"{statement};")

    def close(self) -> None:
        self._process.communicate()

    def _write(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()


@dataclass(frozen=True)
class Times:
    """Times of one query in run order, ms: by Tare, and by the client in two sessions and under Tare's conditions."""

    tare: list[float] = field(default_factory=list)
    client: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    alike: list[float] = field(default_factory=list)

    @property
    def off(self) -> Off | None:
        """Return what Tare's are off those of both sessions."""
        rounds = zip(*self.client, strict=True)
        return off([one for both in rounds for one in both], self.tare)

    @property
    def floor(self) -> Off | None:
        """Return what those of the second session are off those of the first."""
        return off(*self.client)

    @property
    def off_alike(self) -> Off | None:
        """Return what Tare's are off those under its conditions."""
        return off(self.alike, self.tare)

    @property
    def median_ms(self) -> tuple[float, float]:
        """Return Tare's and the client's."""
        return statistics.median(self.tare), statistics.median([*self.client[0], *self.client[1]])


@dataclass(frozen=True)
class Off:
    """By how many percent times exceed others: the Hodges-Lehmann ratio less one, with its 95% interval."""

    percent: float
    low: float
    high: float

    @property
    def is_within_bar(self) -> bool:
        return max(-self.low, self.high) <= BAR

    def __str__(self) -> str:
        return f"{self.percent:+.1f}% ({self.low:+.1f} to {self.high:+.1f})"


def off(base: Sequence[float], times: Sequence[float]) -> Off | None:
    """Return None where a time is zero."""
    ratio = ratio_of(base, times)
    if ratio is None:
        return None
    interval = ratio.ci95
    low, high = (interval.low, interval.high) if interval else (-math.inf, math.inf)
    return Off(*(100 * (value - 1) for value in (ratio.estimate, low, high)))


@dataclass(frozen=True)
class Compared:
    """A query's wall times, and CPU times of the server's process."""

    name: str
    wall: Times
    cpu: Times
    planning: float  # share of Tare's wall time; 0 where it is inside execution

    def __str__(self) -> str:
        tare, client = self.wall.median_ms
        return (
            f"{self.name:18} {tare:8.2f} ms, client {client:8.2f} ms: wall {_shown(self.wall)}; "
            f"CPU {_shown(self.cpu)}; planning {self.planning:.0%}, {len(self.wall.tare)} runs"
        )


def _shown(times: Times) -> str:
    named = {
        "": times.off,
        ", client itself": times.floor,
        ", off it under Tare's conditions": times.off_alike,
    }
    return "".join(f"{name} {found or 'not resolved'}" for name, found in named.items()).lstrip()


def compared(opened: Rig, clients: Sequence[Client], query: Query, most: int) -> Compared:
    draw = random.Random(1)
    wall, cpu = Times(), Times()
    planning: list[float] = []
    answers = set()
    rest_s = [0.0]  # of a session, before Tare's clock

    def by_tare() -> None:
        began_ns = time.monotonic_ns()
        qe = time_single_qe(
            opened, query, index=0, query_index=0, warmup=False, cache=CacheState.WARM, timeout_s=None,
            clocked=Clocked.TOTAL,
        )  # fmt: skip
        assert qe.elapsed, qe.error
        assert qe.phases
        assert qe.resources
        assert qe.raw
        answers.add((qe.row_count, qe.answer_hash))
        wall.tare.append(qe.elapsed.wall_ns / 1e6)
        cpu.tare.append((qe.resources.cpu_ns or 0) / 1e6)
        planning.append((qe.phases.planning_ns or 0) / qe.elapsed.wall_ns)
        rest_s.append((qe.raw.clock_1 - began_ns) / 1e9)

    def by_client(client: Client, walls: list[float], cpus: list[float]) -> None:
        before = cpu_time_ns(client.server) or 0
        walls.append(client.run(query.sql))
        cpus.append(((cpu_time_ns(client.server) or 0) - before) / 1e6)

    def by_client_alike() -> None:
        time.sleep(statistics.median(rest_s))
        by_client(clients[-1], wall.alike, cpu.alike)

    turns: list[Callable[[], None]] = [
        by_tare,
        *(partial(by_client, *session) for session in zip(clients[:2], wall.client, cpu.client, strict=True)),
        by_client_alike,
    ]
    for _ in range(3):
        for turn in turns:
            turn()
    runs = max(3, min(most, math.ceil(SECONDS * 1000 / max(statistics.median(wall.tare), 0.1))))
    for times in (wall.tare, *wall.client, wall.alike, cpu.tare, *cpu.client, cpu.alike, planning):
        times.clear()
    for _ in range(runs):
        draw.shuffle(turns)
        for turn in turns:
            turn()
    assert len(answers) == 1, f"{query.name} changes its answer"
    return Compared(query.name, wall, cpu, statistics.median(planning))


@contextmanager
def on_postgresql(rows: int) -> Iterator[tuple[str, Sequence[Client], dict[str, str]]]:
    with start_postgresql(None, settings=ONE_PROCESS) as server:
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
        clients = [psql(server.url, end) for end in (";", ";", " \\bind \\g")]
        yield server.url, clients, queries(rows, "generate_series(1, 10) AS g(i)")
        for client in clients:
            client.close()


def psql(url: str, end: str) -> Client:
    program = binaries.program(binaries.postgresql().binaries, "psql")
    head = "\\timing on\n\\o /dev/null\n"
    client = Client([str(program), "-X", "-q", url], r"^Time: ([\d.]+) ms", 1.0, head, end)
    client.run("SELECT 1")  # it is connected now
    with psycopg.connect(url) as connection:
        newest = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'psql' "
            "ORDER BY backend_start DESC LIMIT 1"
        ).fetchone()
    assert newest
    client.server = newest[0]
    return client


@contextmanager
def on_mariadb(rows: int) -> Iterator[tuple[str, Sequence[Client], dict[str, str]]]:
    with start_mariadb() as server:
        session = find(server.url).connect(server.url, allow_writes=True)
        ranges = ", ".join(f"PARTITION p{i} VALUES LESS THAN ({i * 10 + 10})" for i in range(PARTITIONS))
        for sql in load(f"(SELECT seq AS i FROM seq_1_to_{rows}) AS s", f" ({ranges})"):
            session.run(sql)
        session.run(f"INSERT INTO parts SELECT seq, seq FROM seq_0_to_{PARTITIONS * 10 - 1}")
        session.run("ANALYZE TABLE items, parts")
        session.close()
        clients = [mariadb(server) for _ in range(3)]
        yield server.url, clients, queries(rows, "(SELECT seq AS i FROM seq_1_to_10) AS g")
        for client in clients:
            client.close()


def mariadb(server: RunningServer) -> Client:
    place = parse(server.url)
    program = binaries.program(binaries.mariadb().binaries, "mariadb")
    where = (f"--socket={place.parameters['socket']}", f"--user={place.user}")
    client = Client([str(program), *where, "-vvv", "-n", "tare"], r"\(([\d.]+) sec\)$", 1000.0)
    client.server = server.pid
    return client


def figures(dbms: str, client: str, compared: Sequence[Compared], finest_ms: float) -> Iterator[Figure]:
    """Return the query of each kind that is farthest off: executed ones, and mostly planned ones."""
    for what, times_of, finest in (("wall", attrgetter("wall"), finest_ms), ("CPU", attrgetter("cpu"), 0.0)):
        for kind, planned in (("", False), (f", of which more than {PLANNED:.0%} is planning", True)):
            seen = {
                query.name: times_of(query)
                for query in compared
                if (query.planning >= PLANNED) is planned and query.wall.median_ms[1] >= finest
            }
            judged = {name: one for name, one in seen.items() if one.floor and one.floor.is_within_bar}
            left = len(seen) - len(judged)
            name = f"{dbms}: {what} time off {client}'s{kind}"
            yield from farthest(
                name,
                {name: one.off for name, one in (judged or seen).items()},
                bar=BAR if judged else math.inf,
                more=f"; {left} not judged, since {client} is not within {BAR:g}% of itself" if left else "",
            )
            yield from farthest(
                f"{name}, under Tare's conditions", {name: one.off_alike for name, one in seen.items()}
            )


def farthest(
    name: str, offs: Mapping[str, Off | None], *, bar: float = math.inf, more: str = ""
) -> Iterator[Figure]:
    found = {query: off.percent for query, off in offs.items() if off}
    if found:
        worst = max(found, key=lambda query: abs(found[query]))
        spread = f"{worst}; all: {', '.join(f'{one:+.1f}' for one in found.values())}{more}"
        yield Figure(f"{name}, farthest of {len(found)} queries", abs(found[worst]), "%", bar, spread=spread)


def main() -> None:
    asked = arguments(__doc__ or "", files=("readings",), runs=60, rows=2_000_000, bare=0)
    rows, most = (20_000, 3) if asked.small else (asked.rows, asked.runs)
    found: list[Figure] = []
    readings: dict[str, list[dict[str, Any]]] = {}
    for dbms, client_name, place, finest_ms in (
        ("PostgreSQL", "psql", on_postgresql, 0.0),
        ("MariaDB", "mariadb", on_mariadb, RESOLVED_MS),
    ):
        with ExitStack() as stack:
            try:
                url, clients, texts = stack.enter_context(place(rows))
            except ServerFailed as error:
                print(f"{dbms}: left out, {error.what}")
                continue
            opened = stack.enter_context(rig(url))
            seen: list[Compared] = []
            for name, sql in texts.items():
                if dbms == "PostgreSQL" and not asked.bare:
                    for client in clients:
                        client.prepare(f"held_{len(seen)}", sql)
                seen.append(compared(opened, clients, Query(name, sql), most))
                print(f"{dbms} {seen[-1]}", flush=True)
        readings[dbms] = [asdict(query) for query in seen]
        found += figures(dbms, client_name, seen, finest_ms)
    if asked.readings:
        asked.readings.write_text(json.dumps(readings))
    report(found, asked.json)


if __name__ == "__main__":
    main()
