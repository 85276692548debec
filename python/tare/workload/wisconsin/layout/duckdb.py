"""The relations in DuckDB: columns in row groups, each with the least and the largest value of every column.

One thread loads them, so that row groups are always cut alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.experiment.dialect.duckdb import DuckDBDialect
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.layout.base import Layout, Setting
from tare.workload.wisconsin.relations import KEY, Relation

_HEAP = (
    "heap: DuckDB stores columns, in row groups whose least and largest values it knows; loaded in the order of "
    "unique2, these narrow down a range on it without any index"
)
_CLUSTERED = (
    "clustered index: tuples were loaded in the order of unique2, then a unique ART index was made on it; DuckDB "
    "keeps no clustering"
)
_NONCLUSTERED = "non-clustered index: an ART index, which DuckDB uses for few tuples only"


class DuckDBLayout(Layout):
    tuple_bytes = 80  # packed by column
    index_bytes = 40
    ordered = DuckDBDialect.ordered
    unordered = DuckDBDialect.unordered

    def settle(self, relation: Relation, tuples: int) -> Sequence[str]:
        return (f"ANALYZE {relation.name}", "CHECKPOINT")

    def displaced(self, table: str, setting: Setting) -> str:
        return f"SELECT count(*) FROM {table} WHERE rowid <> {KEY}"

    def index_count(self, table: str) -> str:
        return f"SELECT count(*) FROM duckdb_indexes() WHERE table_name = '{table}'"

    def occupied(self, table: str) -> str | None:
        return None

    def emptied(self, table: str) -> str:
        """With a checkpoint: else DuckDB makes one by itself, once its log is full, within the clock of some QE."""
        return f"TRUNCATE {table}; CHECKPOINT"

    def stands_in(self, setting: Setting) -> tuple[str, ...]:
        return (_HEAP,) if setting is Setting.HEAP else (_CLUSTERED, _NONCLUSTERED)

    def lacking(self, organisation: Organisation) -> str | None:
        return "DuckDB has no hash index" if organisation is Organisation.HASH else None
