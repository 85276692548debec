"""Tables in PostgreSQL.

VACUUM (FREEZE) sets the hint bits and the visibility map, which the first scans would write
otherwise. ANALYZE looks at a random sample of 300 × statistics target rows, so a table made again
would have other statistics and perhaps another plan. A passing extended-statistics object raises
the sample to the whole table (3,000,000 rows at most), while the histograms keep their usual size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tare.experiment.dialect.base import ROW, Dialect, declared, selected
from tare.experiment.rows import Values
from tare.experiment.specification import TableSpec

_SETTINGS = ("max_parallel_workers_per_gather", "max_parallel_maintenance_workers")
_DEFAULT_TARGET, _MOST_TARGET, _ROWS_A_TARGET = 100, 10_000, 300


class PostgreSQLDialect(Dialect):
    insert_rows = 50_000
    ordered = (*(f"SET {name} = 0" for name in _SETTINGS), "SET synchronize_seqscans = off")
    unordered = (*(f"RESET {name}" for name in _SETTINGS), "RESET synchronize_seqscans")

    def bigint(self, expression: str) -> str:
        return f"CAST({expression} AS bigint)"

    def create_source(self, source: str, table: TableSpec) -> str:
        return (
            f"CREATE TABLE {source} ({ROW} integer PRIMARY KEY, {declared(table, 'integer')}) "
            "WITH (autovacuum_enabled = off)"
        )

    def insert(self, source: str, first_row: int, columns: Sequence[Values]) -> str:
        """Arrays are read several times faster than as many VALUES."""
        last = first_row + len(columns[0]) - 1
        arrays = ", ".join(f"'{{{','.join(map(str, column.tolist()))}}}'::integer[]" for column in columns)
        return (
            f"INSERT INTO {source} SELECT * FROM unnest("
            f"ARRAY(SELECT generate_series({first_row}, {last})), {arrays})"
        )

    def settle_source(self, source: str) -> Sequence[str]:
        return (f"VACUUM (FREEZE, ANALYZE) {source}",)

    def copy(self, source: str, table: TableSpec, cardinality: int) -> Sequence[str]:
        statements = [
            f"CREATE TABLE {table.name} WITH (autovacuum_enabled = off) AS "
            f"{selected(source, table, cardinality)}"
        ]
        if table.primary_key:
            statements.append(f"ALTER TABLE {table.name} ADD PRIMARY KEY ({table.primary_key})")
        return statements

    def settle(self, table: TableSpec, cardinality: int) -> Sequence[str]:
        return settled(table.name, [column.name for column in table.columns], cardinality)

    def occupied(self, table: str) -> str:
        return f"SELECT pg_relation_size('{table}') + pg_indexes_size('{table}')"


def settled(table: str, columns: Sequence[str], rows: int) -> Sequence[str]:
    """Statements that vacuum and analyse a table, from all of its rows where these are not too many."""
    vacuum = f"VACUUM (FREEZE, ANALYZE) {table}"
    target = min(_MOST_TARGET, math.ceil(rows / _ROWS_A_TARGET))
    if target <= _DEFAULT_TARGET or len(columns) < 2:
        return (vacuum,)
    sample = f"tare_sample_{table}"
    return (
        f"CREATE STATISTICS {sample} (ndistinct) ON {columns[0]}, {columns[1]} FROM {table}",
        f"ALTER STATISTICS {sample} SET STATISTICS {target}",
        vacuum,
        f"DROP STATISTICS {sample}",
    )
