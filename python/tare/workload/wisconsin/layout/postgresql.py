"""The relations in PostgreSQL: heaps loaded in the order of unique2, with indexes beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tare.experiment.dialect.postgresql import PostgreSQLDialect, settled
from tare.workload.wisconsin.layout.base import Layout, Setting, plain_scan
from tare.workload.wisconsin.relations import KEY, STRING_LENGTH, Kind, Relation

_BY_INDEX = ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan")

_CLUSTERED = (
    "clustered index: tuples were loaded in the order of unique2, then a unique B-tree was made on it; PostgreSQL "
    "keeps no clustering, and CLUSTER was not used, since it would have found them in that order"
)
_HASH = "hash: an index USING hash on unique2 beside the heap; it places its own entries by the hash, not the tuples"


class PostgreSQLLayout(Layout):
    kinds: ClassVar[Mapping[Kind, str]] = {**Layout.kinds, Kind.STRING: f'char({STRING_LENGTH}) COLLATE "C"'}
    options = " WITH (autovacuum_enabled = off)"
    tuple_bytes = 250
    index_bytes = 80
    log_bytes = 1 << 30  # max_wal_size, as it comes
    ordered = (*PostgreSQLDialect.ordered, *(f"SET {name} = off" for name in _BY_INDEX))
    unordered = (*PostgreSQLDialect.unordered, *(f"RESET {name}" for name in _BY_INDEX))

    def hash_indexes(self, relation: Relation) -> Sequence[str]:
        return (f"CREATE INDEX {relation.name}_{KEY} ON {relation.name} USING hash ({KEY})",)

    def settle(self, relation: Relation, tuples: int) -> Sequence[str]:
        return settled(relation.name, [attribute.name for attribute in relation.attributes], tuples)

    def displaced(self, table: str, setting: Setting) -> str:
        return plain_scan(f"SELECT row_number() OVER () AS tare_r, {KEY} FROM {table}")

    def index_count(self, table: str) -> str:
        return f"SELECT count(*) FROM pg_index WHERE indrelid = '{table}'::regclass"

    def occupied(self, table: str) -> str:
        return f"SELECT pg_total_relation_size('{table}')"

    def emptied(self, table: str) -> str:
        return f"TRUNCATE {table}"

    def stands_in(self, setting: Setting) -> tuple[str, ...]:
        match setting:
            case Setting.INDEXED:
                return (_CLUSTERED,)
            case Setting.HASH:
                return (_HASH,)
            case _:
                return ()
