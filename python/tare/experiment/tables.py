"""The experiment's tables in one DBMS: made once, and the variable one made again for each cardinality.

TTPv2 §3.2.2 asks that a table of a given cardinality be identical in all respects whenever it is
made, so that rows and pages stay coupled. So all rows are loaded once into a source table, the
variable table is a fresh copy of the source's first rows (never what is left after deletes), and
each copy is verified: its rows and their order against the generator itself, its bytes against those
of the first time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tare.dbms.base import Session
from tare.errors import ForeignTable, NoSuchCardinality, StatementFailed, TableDiffers
from tare.experiment import fingerprint, ledger
from tare.experiment.dialect import dialect_of
from tare.experiment.ledger import Entry, Ledger
from tare.experiment.rows import chunks
from tare.experiment.specification import Specification, TableSpec
from tare.experiment.work import Told

_FORMAT = 1  # of how rows become tables: another one makes every table anew


@dataclass(frozen=True, slots=True)
class Signature:
    """Properties that a table keeps when it is made again."""

    cardinality: int
    content: str  # rows and fingerprint
    bytes: int | None  # None: the DBMS does not tell


class Tables:
    """`session` must have been opened with `allow_writes`. Not for two executors at a time."""

    def __init__(self, session: Session, specification: Specification, told: Told | None = None) -> None:
        self._session = session
        self._told = told
        self._specification = specification
        self._dialect = dialect_of(session.server.dbms)
        self._ledger = Ledger(session)
        self._signatures: dict[str, Signature] = {}

    def prepare(self) -> None:
        """Makes what is missing, unfinished or different; leaves alone what is there and verified.

        The variable table itself is made by `settle`. Raises ForeignTable before anything
        is touched, TableDiffers, StatementFailed or ServerLost."""
        for table in self._specification.tables:
            for name in (table.name, _source(table)):
                self._refuse_foreign(name)
        for table in self._specification.tables:
            if table.variable:
                self._load(table)
            elif not self._is_there(table, table.cardinality):
                self._load(table)
                self._make(table, table.cardinality)
                self._drop(_source(table))

    def settle(self, cardinality: int, setting: str = "") -> None:
        """The variable table has so many rows; nothing is done if it has them already.

        Raises NoSuchCardinality beyond the table, TableDiffers if the table made is not the one of
        before, StatementFailed or ServerLost."""
        table = self._specification.variable
        if not 1 <= cardinality <= table.cardinality:
            raise NoSuchCardinality(
                f"{table.name} cannot have {cardinality:,} rows: the experiment's largest is "
                f"{table.cardinality:,}, and its least 1",
                "raise the table's cardinality in the specification, or stay within it",
            )
        known = self._signatures.get(table.name)
        if known and known.cardinality == cardinality:
            return
        if not self._is_there(table, cardinality):
            self._make(table, cardinality)

    def facts(self) -> Sequence[str]:
        return ()

    def signature(self) -> dict[str, Signature]:
        """Return the signature of each table that queries see, by name."""
        return dict(self._signatures)

    # --------------------------------------------------------------------
    def _is_there(self, table: TableSpec, cardinality: int) -> bool:
        """Whole by the ledger, and by a look at it."""
        if not self._whole(table.name, table, cardinality):
            return False
        content = self._content(table.name, table)
        if content != fingerprint.expected(table, cardinality):
            return False
        self._signatures[table.name] = Signature(cardinality, content, self._bytes(table.name))
        return True

    def _whole(self, name: str, table: TableSpec, cardinality: int) -> bool:
        entry = self._ledger.entry(name)
        return (
            entry is not None
            and entry.whole
            and (entry.digest, entry.cardinality) == (self._digest(table), cardinality)
            and ledger.exists(self._session, name)
        )

    def _load(self, table: TableSpec) -> None:
        """The source table, all rows."""
        source, digest = _source(table), self._digest(table)
        expected = fingerprint.expected(table, table.cardinality)
        if self._whole(source, table, table.cardinality) and self._content(source, table) == expected:
            return
        self._ledger.enter(source, Entry(digest, table.cardinality, content=""))
        self._session.run(f"DROP TABLE IF EXISTS {source}")
        self._session.run(self._dialect.create_source(source, table))
        for start, columns in chunks(table, table.cardinality, self._dialect.insert_rows):
            self._session.run(self._dialect.insert(source, start + 1, columns))
            if self._told:
                self._told(table.name, start + len(columns[0]), table.cardinality)
        for sql in self._dialect.settle_source(source):
            self._session.run(sql)
        self._ledger.enter(
            source, Entry(digest, table.cardinality, self._verified(source, table, table.cardinality))
        )

    def _make(self, table: TableSpec, cardinality: int) -> None:
        digest = self._digest(table)
        self._signatures.pop(table.name, None)
        self._ledger.enter(table.name, Entry(digest, cardinality, content=""))
        self._session.run(f"DROP TABLE IF EXISTS {table.name}")
        with self._ordered():
            for sql in self._dialect.copy(_source(table), table, cardinality):
                self._session.run(sql)
            for sql in self._dialect.settle(table, cardinality):
                self._session.run(sql)
        content = self._verified(table.name, table, cardinality)
        size = self._bytes(table.name)
        if size is not None:
            before = self._ledger.first_bytes(table.name, digest, cardinality, size)
            if size != before:
                raise TableDiffers(
                    f"{table.name} with {cardinality:,} rows now occupies {size:,} bytes, and {before:,} when "
                    "it was first made: its pages are packed otherwise",
                    "see whether a setting of the server was changed; use a database of its own for each run",
                )
        self._ledger.enter(table.name, Entry(digest, cardinality, content))
        self._signatures[table.name] = Signature(cardinality, content, size)

    def _verified(self, name: str, table: TableSpec, cardinality: int) -> str:
        content = self._content(name, table)
        if content != fingerprint.expected(table, cardinality):
            raise TableDiffers(
                f"{name} does not hold the {cardinality:,} rows of its specification in their order",
                "see whether another program writes to this database, or its disk is failing; then run again",
            )
        return content

    def _content(self, name: str, table: TableSpec) -> str:
        names = [column.name for column in table.columns]
        with self._ordered():
            sql = fingerprint.sql(self._dialect.numbered(name, names), names, self._dialect.bigint)
            found = ledger.rows(self._session, sql)
        count, first, second = (int(str(value)) if value is not None else 0 for value in found[0])
        return fingerprint.shown(count, first, second)

    def _bytes(self, name: str) -> int | None:
        sql = self._dialect.occupied(name)
        if sql is None:
            return None
        try:
            return int(str(ledger.rows(self._session, sql)[0][0]))
        except StatementFailed:  # an SQLite without dbstat
            return None

    def _drop(self, name: str) -> None:
        self._session.run(f"DROP TABLE IF EXISTS {name}")
        self._ledger.strike(name)

    def _refuse_foreign(self, name: str) -> None:
        if ledger.exists(self._session, name) and self._ledger.entry(name) is None:
            raise ForeignTable(
                f"a table {name} is in {self._session.server.url} already, and Tare did not make it",
                "give the experiment a database of its own, or rename the table in the specification",
            )

    def _digest(self, table: TableSpec) -> str:
        """Return the digest of all that decides on rows and pages; the walk (step, minimum) does not."""
        parts = [_FORMAT, self._session.server.version, table.model_dump(exclude={"step", "minimum"})]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @contextmanager
    def _ordered(self) -> Iterator[None]:
        for sql in self._dialect.ordered:
            self._session.run(sql)
        try:
            yield
        finally:
            for sql in self._dialect.unordered:
                self._session.run(sql)


def _source(table: TableSpec) -> str:
    return f"tare_all_{table.name}"
