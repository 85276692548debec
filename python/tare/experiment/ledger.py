"""Tare's own account, in the database itself, of the tables it made there: what is whole, what is not.

A table is entered as unfinished before it is made and as whole after it was verified, so that a
crash in between shows, and a table that is not entered at all is somebody else's.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from tare.dbms.base import Session
from tare.errors import StatementFailed

_TABLES, _SIZES = "tare_tables", "tare_sizes"


@dataclass(frozen=True, slots=True)
class Entry:
    digest: str  # of the table's specification
    cardinality: int
    content: str  # fingerprint; empty: the table is unfinished

    @property
    def whole(self) -> bool:
        return bool(self.content)


class Ledger:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._opened = False

    def entry(self, table: str) -> Entry | None:
        found = self._rows(f"SELECT digest, cardinality, content FROM {_TABLES} WHERE name = '{table}'")
        return Entry(str(found[0][0]), int(str(found[0][1])), str(found[0][2])) if found else None

    def enter(self, table: str, entry: Entry) -> None:
        """In one statement, so that a table of ours is entered at every moment. One run at a time has a database."""
        if self.entry(table) is None:
            values = f"'{table}', '{entry.digest}', {entry.cardinality}, '{entry.content}'"
            self._session.run(f"INSERT INTO {_TABLES} VALUES ({values})")
        else:
            self._session.run(
                f"UPDATE {_TABLES} SET digest = '{entry.digest}', cardinality = {entry.cardinality}, "
                f"content = '{entry.content}' WHERE name = '{table}'"
            )

    def strike(self, table: str) -> None:
        """Once the table is dropped."""
        self._open()
        self._session.run(f"DELETE FROM {_TABLES} WHERE name = '{table}'")

    def first_bytes(self, table: str, digest: str, cardinality: int, bytes_: int) -> int:
        """The bytes this table occupied when it was first made with so many rows; enters them."""
        found = self._rows(
            f"SELECT occupied FROM {_SIZES} WHERE name = '{table}' AND digest = '{digest}' "
            f"AND cardinality = {cardinality}"
        )
        if found:
            return int(str(found[0][0]))
        self._session.run(f"INSERT INTO {_SIZES} VALUES ('{table}', '{digest}', {cardinality}, {bytes_})")
        return bytes_

    def _rows(self, sql: str) -> list[tuple[object, ...]]:
        self._open()
        return rows(self._session, sql)

    def _open(self) -> None:
        if self._opened:
            return
        name = "name VARCHAR(100) NOT NULL, digest VARCHAR(64) NOT NULL, cardinality BIGINT NOT NULL"
        for table, more in ((_TABLES, "content VARCHAR(100) NOT NULL"), (_SIZES, "occupied BIGINT NOT NULL")):
            if not exists(self._session, table):
                self._session.run(f"CREATE TABLE {table} ({name}, {more})")
        self._opened = True


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    """Run one of our own queries and return all its rows. Raises StatementFailed."""
    prepared = session.prepare(sql)
    try:
        return [tuple(row) for row in prepared.execute(None).rows()]
    finally:
        prepared.close()


def exists(session: Session, table: str) -> bool:
    with suppress(StatementFailed):
        rows(session, f"SELECT 1 FROM {table} WHERE 1 = 0")
        return True
    return False
