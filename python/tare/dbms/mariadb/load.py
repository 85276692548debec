"""Rows of a CSV file into a MariaDB or MySQL table, over a connection of its own that may send local files.

`LOAD DATA LOCAL` turns errors into warnings and goes on with the next line, so a single warning ends in a rollback.
Where the server does not take local files, rows go in by INSERTs of many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from tare.dbms.loading import csv_rows
from tare.dbms.mariadb.wire import Wire
from tare.errors import StatementFailed, TareError

INSERT_ROWS = 5_000

# The server sets what a line lacks to NULL without a word, and takes the word NULL for it. This warns.
_MISSING = "CAST('a value is missing, or is the word NULL without quotes' AS SIGNED)"

_LINES = "@tare_lines"
_NOT_ROLLED_BACK = 1196

# A path is then quoted by doubling quotes, and what does not fit a column is an error for INSERT.
_MODE = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES')"


def takes_files(wire: Wire) -> bool:
    return str(wire.query("SELECT @@GLOBAL.local_infile")[0][0]) == "1"


def load(wire: Wire, table: str, file: Path) -> int:
    """How many rows it took. Raises StatementFailed or ServerLost."""
    columns = [
        (str(name), str(type_))
        for name, type_, _, _, _, extra in wire.query(f"SHOW COLUMNS FROM {table}")
        if "GENERATED" not in str(extra) and "INVISIBLE" not in str(extra)
    ]
    wire.query(_MODE)
    wire.query("START TRANSACTION")
    try:
        count = (
            _from_file(wire, table, file, columns)
            if takes_files(wire)
            else _by_inserts(wire, table, file, [name for name, _ in columns])
        )
        wire.script("COMMIT")
    except TareError as error:
        _roll_back(wire, table, error)
        raise
    return count


def _from_file(wire: Wire, table: str, file: Path, columns: Sequence[tuple[str, str]]) -> int:
    fields = ", ".join(f"@v{number}" for number in range(len(columns)))
    # A doubled key leaves its line out, and MySQL before 5.7 does not even warn: so lines are counted.
    wire.query(f"SET {_LINES} = 0")
    values = f"`{columns[0][0]}` = IF(({_LINES} := {_LINES} + 1) > 0, {_value(0)}, NULL)" + "".join(
        f", `{name}` = {_value(number)}" for number, (name, _) in enumerate(columns[1:], 1)
    )
    path = str(file.absolute()).replace("'", "''")
    count = wire.load(
        f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table} CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' "
        f"ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\n' ({fields}) SET {values}"
    )
    first = wire.query("SHOW WARNINGS LIMIT 1")
    if first:
        _, number, message = first[0]
        raise StatementFailed(f"{message} [{number}]")
    lines = int(wire.query(f"SELECT {_LINES}")[0][0])
    if lines != count:
        raise StatementFailed(
            f"{lines - count} of {lines} lines have a key that another row has",
            "remove doubled keys from the file, or load into a table without them",
        )
    return count


def _value(number: int) -> str:
    return f"IF(@v{number} IS NULL, {_MISSING}, NULLIF(@v{number}, ''))"


def _by_inserts(wire: Wire, table: str, file: Path, columns: Sequence[str]) -> int:
    names = ", ".join(f"`{name}`" for name in columns)
    sql = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
    count = 0
    with closing(csv_rows(file, len(columns))) as rows:
        while part := [tuple(row) for row in islice(rows, INSERT_ROWS)]:
            count += wire.insert(sql, part)
    return count


def _roll_back(wire: Wire, table: str, error: TareError) -> None:
    try:
        wire.query("ROLLBACK")
        kept = any(number == _NOT_ROLLED_BACK for _, number, _ in wire.query("SHOW WARNINGS"))
    except TareError:  # a lost server has rolled back
        return
    if kept:
        raise StatementFailed(
            f"{error.what}; the rows before it are in {table}, whose engine knows no transactions",
            "empty the table, or make it with ENGINE=InnoDB",
        ) from error
