"""Tables that a query names, as DuckDB's parser reads it."""

from __future__ import annotations


def tables_named(sql: str) -> set[str] | None:
    """In lower case, without their schema; None where the text is another dialect's."""
    import duckdb

    with duckdb.connect() as connection:
        try:
            return {name.lower() for name in connection.get_table_names(sql)}
        except duckdb.Error:
            return None
