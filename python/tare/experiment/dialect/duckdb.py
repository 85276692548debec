"""Tables in DuckDB. One thread makes them, so that row groups are always cut alike."""

from __future__ import annotations

from collections.abc import Sequence

from tare.experiment.dialect.base import ROW, Dialect, declared, selected
from tare.experiment.rows import Values
from tare.experiment.specification import TableSpec


class DuckDBDialect(Dialect):
    insert_rows = 50_000
    ordered = ("SET threads = 1", "SET preserve_insertion_order = true")
    unordered = ("RESET threads", "RESET preserve_insertion_order")

    def bigint(self, expression: str) -> str:
        return f"CAST({expression} AS BIGINT)"

    def create_source(self, source: str, table: TableSpec) -> str:
        return f"CREATE TABLE {source} ({ROW} INTEGER, {declared(table, 'INTEGER')})"

    def insert(self, source: str, first_row: int, columns: Sequence[Values]) -> str:
        """A list's text is read a hundred times faster than as many VALUES."""
        last = first_row + len(columns[0])
        lists = ", ".join(f"unnest('{column.tolist()}'::INTEGER[])" for column in columns)
        return f"INSERT INTO {source} SELECT unnest(range({first_row}, {last})), {lists}"

    def copy(self, source: str, table: TableSpec, cardinality: int) -> Sequence[str]:
        statements = [f"CREATE TABLE {table.name} AS {selected(source, table, cardinality)}"]
        if table.primary_key:
            statements.append(f"ALTER TABLE {table.name} ADD PRIMARY KEY ({table.primary_key})")
        return statements

    def settle(self, table: TableSpec, cardinality: int) -> Sequence[str]:
        return (f"ANALYZE {table.name}", "CHECKPOINT")

    def occupied(self, table: str) -> str | None:
        return None
