"""TPC-H's tables over the shards of a PostgreSQL cluster: partitions by hash, each a foreign table of a shard.

`orders` and `lineitem` are partitioned by the order, `part` and `partsupp` by the part, so their joins stay on a shard;
all other joins and unaligned groups go through the coordinator, since shards never talk to each other."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from tare.cluster.cluster import Cluster
from tare.cluster.postgresql import url_of
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.workload.tpch.data import Format, write_files
from tare.workload.tpch.loading import without_header
from tare.workload.tpch.schema import INDEXES, TABLES, Table
from tare.workload.tpch.tables import refuse_other_scale, row_counts

BATCH = 1000
"""Rows that the coordinator sends to a shard in one statement."""


def ensure_loaded(cluster: Cluster, scale: float, say: Callable[[str], None]) -> bool:
    """Load the tables where none of them exists; True if it loaded them.

    Raises UsageError for tables that are not those of the scale, and what `write_files` and `load` raise."""
    session = find(cluster.url).connect(cluster.url, allow_writes=True)
    try:
        present = row_counts(session)
        if present:
            refuse_other_scale(present, scale)
            return False
        with tempfile.TemporaryDirectory(prefix="tare-tpch-") as folder:
            say(f"making the rows of TPC-H at scale {scale:g}")
            write_files(Path(folder), scale, Format.CSV)
            _load(cluster, session, Path(folder), say)
        return True
    finally:
        session.close()


def _load(cluster: Cluster, coordinator: Session, folder: Path, say: Callable[[str], None]) -> None:
    shards = [find(url_of(node)).connect(url_of(node), allow_writes=True) for node in cluster.nodes[1:]]
    names = [node.name for node in cluster.nodes[1:]]
    try:
        for table in TABLES:
            for shard in shards:
                shard.run(table.create(with_key=False))
            coordinator.run(_partitioned(table, names))
            say(f"loading {table.name}")
            with without_header(folder / f"{table.name}.csv") as rows:
                coordinator.load(table.name, rows)
        say("making indexes")
        for shard in shards:
            for table in TABLES:
                shard.run(f"ALTER TABLE {table.name} ADD PRIMARY KEY ({table.key})")
            for index in INDEXES:
                shard.run(index)
            for table in TABLES:
                shard.run(f"VACUUM ANALYZE {table.name}")
        for table in TABLES:
            coordinator.run(f"ANALYZE {table.name}")
    finally:
        for shard in shards:
            shard.close()


def _partitioned(table: Table, shards: list[str]) -> str:
    key = table.key.split(",")[0]
    partitions = [
        f"CREATE FOREIGN TABLE {table.name}_{number} PARTITION OF {table.name} FOR VALUES "
        f"WITH (MODULUS {len(shards)}, REMAINDER {number}) SERVER {shard} "
        f"OPTIONS (table_name '{table.name}', batch_size '{BATCH}')"
        for number, shard in enumerate(shards)
    ]
    return "; ".join([f"{table.create(with_key=False)} PARTITION BY HASH ({key})", *partitions])
