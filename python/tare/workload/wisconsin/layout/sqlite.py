"""The relations in SQLite, where a table is a B-tree over its rowid.

Dropped tables leave free pages all over the file. VACUUM writes it anew, table by table.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.layout.base import Layout, Setting
from tare.workload.wisconsin.relations import KEY, Relation

_HEAP = "heap: SQLite has none; without a key of integers its table is a B-tree over the rowid, in the order of loading"
_CLUSTERED = "clustered index: unique2 as INTEGER PRIMARY KEY, which is the table's own B-tree over the rowid"
_NONCLUSTERED = "non-clustered index: its entries lead to tuples by the rowid, not by their place"


class SQLiteLayout(Layout):
    tuple_bytes = 220
    index_bytes = 50
    extra_copies = 2.0  # VACUUM's copy, and the journal while it goes back

    def primary(self, setting: Setting) -> str | None:
        return KEY if setting is Setting.INDEXED else None

    def settle_all(self) -> Sequence[str]:
        return ("VACUUM",)

    def settle(self, relation: Relation, tuples: int) -> Sequence[str]:
        return (f"ANALYZE {relation.name}",)

    def displaced(self, table: str, setting: Setting) -> str | None:
        if self.primary(setting):
            return None
        return f"SELECT count(*) FROM {table} NOT INDEXED WHERE rowid <> {KEY} + 1"

    def index_count(self, table: str) -> str:
        return f"SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = '{table}'"

    def occupied(self, table: str) -> str:
        return (
            "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN "
            f"(SELECT name FROM sqlite_schema WHERE tbl_name = '{table}')"
        )

    def emptied(self, table: str) -> str:
        return f"DELETE FROM {table}"  # without WHERE: its pages are let go as they are

    def stands_in(self, setting: Setting) -> tuple[str, ...]:
        return (_HEAP,) if setting is Setting.HEAP else (_CLUSTERED, _NONCLUSTERED)

    def lacking(self, organisation: Organisation) -> str | None:
        return "SQLite has no hash index" if organisation is Organisation.HASH else None
