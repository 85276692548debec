"""Tables in SQLite.

A dropped table leaves free pages all over the file, which the next one would be scattered over.
VACUUM rewrites the file, table by table.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.experiment.dialect.base import ROW, Dialect, declared, selected
from tare.experiment.specification import TableSpec


class SQLiteDialect(Dialect):
    insert_rows = 50_000  # each is a transaction

    def bigint(self, expression: str) -> str:
        return expression  # all integers have 64 bits

    def create_source(self, source: str, table: TableSpec) -> str:
        return f"CREATE TABLE {source} ({ROW} INTEGER PRIMARY KEY, {declared(table, 'INTEGER')})"

    def copy(self, source: str, table: TableSpec, cardinality: int) -> Sequence[str]:
        selection = selected(source, table, cardinality)
        if table.primary_key is None:
            return (f"CREATE TABLE {table.name} AS {selection}",)
        return (  # a key cannot be added later, and CREATE TABLE … AS takes none
            f"CREATE TABLE {table.name} ({declared(table, 'INTEGER')}, PRIMARY KEY ({table.primary_key}))",
            f"INSERT INTO {table.name} {selection}",
        )

    def settle(self, table: TableSpec, cardinality: int) -> Sequence[str]:
        return ("VACUUM", f"ANALYZE {table.name}")

    def occupied(self, table: str) -> str:
        return f"SELECT pgsize FROM dbstat WHERE name = '{table}' AND aggregate = TRUE"
