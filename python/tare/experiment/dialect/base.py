"""Interface for making a table: the same rows in the same order on the same number of pages, each time.

`source` tables hold all rows with their number in the column `tare_row`; a table that queries see is
copied from its source, never cut down or added to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from tare.experiment.fingerprint import PLACE
from tare.experiment.rows import Values
from tare.experiment.specification import TableSpec

ROW = "tare_row"


class Dialect(ABC):
    """SQL texts; each element of a sequence is run by itself, in this order."""

    insert_rows: int = 10_000
    """In one INSERT."""

    ordered: Sequence[str] = ()
    """Lets scans and copies keep a table's order, and `unordered` takes it back."""
    unordered: Sequence[str] = ()

    @abstractmethod
    def bigint(self, expression: str) -> str:
        """A cast to 64 bits."""

    @abstractmethod
    def create_source(self, source: str, table: TableSpec) -> str: ...

    def insert(self, source: str, first_row: int, columns: Sequence[Values]) -> str:
        """Fills the rows numbered from `first_row` on."""
        rows = zip(*(column.tolist() for column in columns), strict=True)
        lines = ",".join(
            f"({number},{','.join(map(str, row))})" for number, row in enumerate(rows, first_row)
        )
        return f"INSERT INTO {source} VALUES {lines}"

    def settle_source(self, source: str) -> Sequence[str]:
        return ()

    @abstractmethod
    def copy(self, source: str, table: TableSpec, cardinality: int) -> Sequence[str]:
        """Makes the table of the first `cardinality` rows, in their order, its primary key included."""

    @abstractmethod
    def settle(self, table: TableSpec, cardinality: int) -> Sequence[str]:
        """Statistics made anew, and whatever the DBMS would otherwise do in the first queries."""

    def numbered(self, table: str, columns: Sequence[str]) -> str:
        """A query for the columns and each row's place, from 1, in the order of a plain scan."""
        return f"SELECT row_number() OVER () AS {PLACE}, {', '.join(columns)} FROM {table}"

    @abstractmethod
    def occupied(self, table: str) -> str | None:
        """A query for the bytes that the table and its key occupy; None where the DBMS does not tell."""


def selected(source: str, table: TableSpec, cardinality: int) -> str:
    names = ", ".join(column.name for column in table.columns)
    return f"SELECT {names} FROM {source} WHERE {ROW} <= {cardinality} ORDER BY {ROW}"


def declared(table: TableSpec, kind: str) -> str:
    return ", ".join(f"{column.name} {kind} NOT NULL" for column in table.columns)
