"""Many rows into a table at once, by the fastest way that each engine has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import sql
from sqlalchemy import Connection, Table


def insert_many(
    connection: Connection, table: Table, names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Values as the driver takes them; JSON as its text. Raises the driver's own errors."""
    cursor = connection.connection.cursor()
    try:
        if connection.dialect.name == "sqlite":
            columns = ", ".join(f'"{name}"' for name in names)
            places = ", ".join("?" * len(names))
            cursor.executemany(f'INSERT INTO "{table.name}" ({columns}) VALUES ({places})', rows)
        else:
            copy = sql.SQL("COPY {} ({}) FROM STDIN").format(
                sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, names))
            )
            with cursor.copy(copy) as stream:
                for row in rows:
                    stream.write_row(row)
    finally:
        cursor.close()
