"""Interface for storing the benchmark's relations: DDL per setting, statistics, and notes on what was built.

Strings are compared byte by byte on every DBMS, whatever its server's character set and language: the benchmark's are
ASCII, and a sort by a language's rules costs several times as much.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, STRING_LENGTH, Attribute, Kind, Relation, third


class Setting(StrEnum):
    """Physical state that the relations are put into, for the queries of one organisation or two."""

    HEAP = "heap"  # no index
    INDEXED = "indexed"  # clustered on unique2, two non-clustered indexes beside it (1983, section 4.5)
    HASH = "hash"  # a hash index on unique2 and nothing else


def setting_of(organisation: Organisation) -> Setting:
    """A clustered and a non-clustered index stand side by side; the query's attribute decides on one of them."""
    match organisation:
        case Organisation.HEAP:
            return Setting.HEAP
        case Organisation.CLUSTERED | Organisation.NONCLUSTERED:
            return Setting.INDEXED
        case Organisation.HASH:
            return Setting.HASH


class Layout(ABC):
    """SQL texts; each element of a sequence is run by itself, in this order.

    `setting` is a relation's own: always HEAP where it has no indexes."""

    kinds: ClassVar[Mapping[Kind, str]] = {
        Kind.INTEGER: "integer",
        Kind.LONG: "bigint",
        Kind.STRING: f"char({STRING_LENGTH})",
    }

    options: str = ""
    """Behind CREATE TABLE (…)."""

    tuple_bytes: int
    """Most bytes of a tuple of a source relation, its pages' free space included."""

    index_bytes: int
    """Most bytes of the three indexes for a tuple."""

    extra_copies: float = 0.0
    """How often the database is there once more while it is settled."""

    log_bytes: int = 0
    """Most bytes by which its log grows in a load larger than this."""

    ordered: Sequence[str] = ()
    """Lets loads and scans keep the tuples' order, and `unordered` takes it back."""
    unordered: Sequence[str] = ()

    # A relation ------------------------------------------------------------------
    def create(self, table: str, attributes: Sequence[Attribute], key: str | None = None) -> str:
        """An empty table; `key` as `primary` says."""
        lines = [f"{attribute.name} {self.kinds[attribute.kind]} NOT NULL" for attribute in attributes]
        if key is not None:
            lines.append(f"PRIMARY KEY ({key})")
        return f"CREATE TABLE {table} ({', '.join(lines)}){self.options}"

    def primary(self, setting: Setting) -> str | None:
        """The key that must be declared before the tuples come, where that is what clusters them."""
        return None

    def indexes(self, relation: Relation, setting: Setting) -> Sequence[str]:
        """Made once the tuples are there: all of the setting's but `primary`."""
        match setting:
            case Setting.INDEXED:
                clustered = () if self.primary(setting) else (_index(relation, KEY, "UNIQUE "),)
                return (
                    *clustered,
                    _index(relation, OTHER_KEY, "UNIQUE "),
                    _index(relation, third(relation.generation)),
                )
            case Setting.HASH:
                return self.hash_indexes(relation)
            case _:
                return ()

    def hash_indexes(self, relation: Relation) -> Sequence[str]:
        """Only asked where `lacking` has nothing against it."""
        return ()

    @abstractmethod
    def settle(self, relation: Relation, tuples: int) -> Sequence[str]:
        """Statistics made anew, and whatever the DBMS would otherwise do in the first queries."""

    def settle_all(self) -> Sequence[str]:
        """Before `settle`, once all the relations are there."""
        return ()

    # A look at it --------------------------------------------------------------------
    @abstractmethod
    def displaced(self, table: str, setting: Setting) -> str | None:
        """A query for the number of tuples that do not lie where they were loaded, in the order of unique2.

        None where the setting's structure leaves them no other place."""

    @abstractmethod
    def index_count(self, table: str) -> str:
        """A query for the number of its indexes, `primary` not among them."""

    @abstractmethod
    def occupied(self, table: str) -> str | None:
        """A query for the bytes that the table and its indexes occupy; None where the DBMS does not tell."""

    # Results ------------------------------------------------------------------------
    def create_result(self, table: str, attributes: Sequence[Attribute]) -> str:
        """A heap without any index (1983, section 4: duplicates are not looked for)."""
        return self.create(table, attributes)

    @abstractmethod
    def emptied(self, table: str) -> str:
        """Takes all tuples, and what room they took, from a result relation."""

    # For a reader --------------------------------------------------------------------
    @abstractmethod
    def stands_in(self, setting: Setting) -> tuple[str, ...]:
        """Return notes on the structures of each organisation of the setting: sentences without a full stop."""

    def lacking(self, organisation: Organisation) -> str | None:
        """Why the DBMS has no such organisation; None: it has."""
        return None


def plain_scan(numbered: str) -> str:
    """`displaced` from a query for each tuple's place in a plain scan, from 1, as `tare_r`."""
    return f"SELECT count(*) FROM ({numbered}) AS placed WHERE tare_r <> {KEY} + 1"


def _index(relation: Relation, attribute: str, unique: str = "") -> str:
    return f"CREATE {unique}INDEX {relation.name}_{attribute} ON {relation.name} ({attribute})"
