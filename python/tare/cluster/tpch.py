"""TPC-H on PostgreSQL shards: tables partitioned by the hash of their first key, foreign tables at the coordinator."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.cluster.record import Cluster, Node
from tare.cluster.units import size_text
from tare.errors import NotEnoughDisk, ServerFailed
from tare.parallel import in_threads
from tare.workload.tpch.schema import INDEXES, TABLES, Table

if TYPE_CHECKING:
    from tare.cluster.engine import Report

AT_COORDINATOR = ("region", "nation")
"""Tables of 5 and 25 rows. They lie where all joins with them are made: a shard could not join them with another
table either, since no key of theirs is that table's partition key."""

_PARTITIONS = "tare_partitions"
_DISK_FULL = "53100"
_CHUNK = 1 << 20
_LEFT_BYTES = 32 << 20
"""Free space below which a server that ended is taken to have ended for want of space."""


class Loader:
    """Loads the tables of a cluster. `connect` opens a connection to a node."""

    def __init__(self, cluster: Cluster, connect: Callable[[Node], Any]) -> None:
        self._cluster, self._connect = cluster, connect

    def load(self, folder: Path, report: Report) -> None:
        """Load the .csv files of the folder. Raises NotEnoughDisk and ServerFailed; a load that fails leaves no
        table, as far as the servers still answer."""
        import psycopg

        self._drop()
        try:
            report("loading the shards")
            in_threads(lambda place: self._fill_shard(place, folder), range(len(self._cluster.shards)))
            report("declaring the tables at the coordinator")
            self._guarded(self._cluster.coordinator, lambda connection: self._declare(connection, folder))
        except BaseException:
            with suppress(psycopg.Error):
                self._drop()
            raise

    def _fill_shard(self, place: int, folder: Path) -> None:
        self._guarded(self._cluster.shards[place], lambda connection: self._fill(connection, place, folder))

    def _fill(self, connection: Any, place: int, folder: Path) -> None:
        """Load the rows of one shard: it reads all rows of a table and keeps its own."""
        count = len(self._cluster.shards)
        connection.execute(f"CREATE SCHEMA {_PARTITIONS}")
        for table in _divided():
            key = first_key(table)
            connection.execute(table.create)
            connection.execute(
                f"CREATE TABLE {_PARTITIONS}.{table.name} ({table.columns}) PARTITION BY HASH ({key})"
            )
            own = f"satisfies_hash_partition('{_PARTITIONS}.{table.name}'::regclass, {count}, {place}, {key})"
            _copy(connection, table, folder, f" WHERE {own}")
        connection.execute(f"DROP SCHEMA {_PARTITIONS} CASCADE")
        for index in INDEXES:
            connection.execute(index)
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")

    def _declare(self, connection: Any, folder: Path) -> None:
        shards = self._cluster.shards
        for table in TABLES:
            if table.name in AT_COORDINATOR:
                connection.execute(table.create)
                _copy(connection, table, folder, "")
                continue
            connection.execute(
                f"CREATE TABLE {table.name} ({table.columns}) PARTITION BY HASH ({first_key(table)})"
            )
            for place, shard in enumerate(shards):
                connection.execute(
                    f"CREATE FOREIGN TABLE {table.name}_{shard.name} PARTITION OF {table.name} "
                    f"FOR VALUES WITH (MODULUS {len(shards)}, REMAINDER {place}) "
                    f"SERVER {shard.name} OPTIONS (table_name '{table.name}')"
                )
        for table in TABLES:
            connection.execute(f"ANALYZE {table.name}")
        connection.execute("CHECKPOINT")

    def _drop(self) -> None:
        for node in self._cluster.nodes:
            with self._connect(node) as connection:
                connection.execute("SET client_min_messages = warning")
                connection.execute(f"DROP SCHEMA IF EXISTS {_PARTITIONS} CASCADE")
                for table in reversed(TABLES):
                    connection.execute(f"DROP TABLE IF EXISTS {table.name} CASCADE")

    def _guarded(self, node: Node, work: Callable[[Any], None]) -> None:
        """Do the work on a node, and name the node in its failure."""
        import psycopg

        try:
            with self._connect(node) as connection:
                work(connection)
        except psycopg.Error as error:
            full = self._full_node(node, error.sqlstate)
            if full is not None:
                raise NotEnoughDisk(
                    f"the disk of node {full.name} is full ({full.mount}, "
                    f"{size_text(self._cluster.limits.disk_bytes)})",
                    "start a cluster with a larger --disk-size",
                ) from error
            raise ServerFailed(
                f"loading node {node.name} failed: {str(error).strip()}", f"see its log: {node.log}"
            ) from error

    def _full_node(self, node: Node, code: str | None) -> Node | None:
        """Return the node whose full disk made `node` fail; None if no disk is full."""
        if code == _DISK_FULL:
            return node
        for other in (node, *self._cluster.nodes):
            free = os.statvfs(other.mount)
            if free.f_bavail * free.f_frsize < min(_LEFT_BYTES, self._cluster.limits.disk_bytes // 20):
                return other
        return None


def first_key(table: Table) -> str:
    """Return the first column of a table's primary key, by whose hash its rows are divided."""
    return table.key.split(",")[0].strip()


def _divided() -> list[Table]:
    return [table for table in TABLES if table.name not in AT_COORDINATOR]


def _copy(connection: Any, table: Table, folder: Path, condition: str) -> None:
    statement = f"COPY {table.name} FROM STDIN (FORMAT csv, HEADER){condition}"
    with (
        (folder / f"{table.name}.csv").open("rb") as rows,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        while chunk := rows.read(_CHUNK):
            copy.write(chunk)
