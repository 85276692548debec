"""The lab's schema, version by version. `VERSION` is what this Tare writes and reads.

Columns of counts need no version: a lab that lacks one gets it, with 0 in the runs that it holds.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Table, inspect, select, text
from sqlalchemy.schema import CreateColumn

from tare.lab.schema_oltp import COUNTED, count_columns

VERSION = "0005"
VERSION_TABLE = "lab_version"
FOLDER = Path(__file__).parent


def migrate(connection: Connection) -> None:
    """Bring the lab to VERSION, with all counts, within the transaction that `connection` is in."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, VERSION)
    _add_counts(connection)


def lacks_counts(connection: Connection) -> bool:
    """Whether the lab was made before there was one of the counts."""
    return any(_missing(connection, table) for table in COUNTED)


def _add_counts(connection: Connection) -> None:
    for table in COUNTED:
        for name in _missing(connection, table):
            column = CreateColumn(table.c[name]).compile(connection)
            connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {column}"))


def _missing(connection: Connection, table: Table) -> list[str]:
    if not inspect(connection).has_table(table.name):
        return []
    there = connection.execute(select(text("*")).select_from(table).limit(0)).keys()
    return [column.name for column in count_columns() if column.name not in there]
