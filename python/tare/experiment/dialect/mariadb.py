"""Tables in MariaDB and MySQL (InnoDB).

The primary key is declared before the rows come: an InnoDB table *is* its primary key's tree. Its
statistics are read from every page, not from twenty random ones, and are not renewed behind our back.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.experiment.dialect.base import ROW, Dialect, declared, selected
from tare.experiment.fingerprint import PLACE
from tare.experiment.specification import TableSpec

_ALL_PAGES = 65_535  # the most that can be asked for; 1 GiB of leaves
OPTIONS = f"ENGINE=InnoDB STATS_PERSISTENT=1 STATS_AUTO_RECALC=0 STATS_SAMPLE_PAGES={_ALL_PAGES}"


class MariaDBDialect(Dialect):
    def bigint(self, expression: str) -> str:
        return f"CAST({expression} AS SIGNED)"

    def create_source(self, source: str, table: TableSpec) -> str:
        return f"CREATE TABLE {source} ({ROW} INTEGER PRIMARY KEY, {declared(table, 'INTEGER')}) {OPTIONS}"

    def copy(self, source: str, table: TableSpec, cardinality: int) -> Sequence[str]:
        key = f", PRIMARY KEY ({table.primary_key})" if table.primary_key else ""
        return (
            f"CREATE TABLE {table.name} ({declared(table, 'INTEGER')}{key}) {OPTIONS} "
            f"AS {selected(source, table, cardinality)}",
        )

    def settle(self, table: TableSpec, cardinality: int) -> Sequence[str]:
        return (f"ANALYZE TABLE {table.name}",)

    def numbered(self, table: str, columns: Sequence[str]) -> str:
        """Its row_number() OVER () numbers a passing table that is not in the scan's order."""
        return (
            f"SELECT @tare_place := @tare_place + 1 AS {PLACE}, {', '.join(columns)} "
            f"FROM (SELECT @tare_place := 0) AS zero, {table}"
        )

    def occupied(self, table: str) -> str:
        return (
            "SELECT data_length + index_length FROM information_schema.tables "
            f"WHERE table_schema = database() AND table_name = '{table}'"
        )
