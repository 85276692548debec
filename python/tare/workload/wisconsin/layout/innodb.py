"""The relations in MariaDB and MySQL (InnoDB), where a table is the tree of its primary key.

Without one, InnoDB makes up a key of its own: a tuple's number in the order of loading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tare.experiment.dialect.mariadb import OPTIONS, MariaDBDialect
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.layout.base import Layout, Setting, plain_scan
from tare.workload.wisconsin.relations import KEY, STRING_LENGTH, Kind, Relation

_HEAP = (
    "heap: InnoDB has none; without a primary key, its table is a tree over each tuple's number of arrival"
)
_CLUSTERED = "clustered index: InnoDB's primary key on unique2, which is the table itself"
_NONCLUSTERED = "non-clustered index: its entries lead to tuples by the primary key, not by their place"


class InnoDBLayout(Layout):
    kinds: ClassVar[Mapping[Kind, str]] = {
        **Layout.kinds,
        Kind.STRING: f"char({STRING_LENGTH}) CHARACTER SET ascii COLLATE ascii_bin",
    }
    options = f" {OPTIONS}"
    tuple_bytes = 270
    index_bytes = 70

    def __init__(self) -> None:
        self._dialect = MariaDBDialect()

    def primary(self, setting: Setting) -> str | None:
        return KEY if setting is Setting.INDEXED else None

    def settle(self, relation: Relation, tuples: int) -> Sequence[str]:
        return (f"ANALYZE TABLE {relation.name}",)

    def displaced(self, table: str, setting: Setting) -> str | None:
        return None if self.primary(setting) else plain_scan(self._dialect.numbered(table, [KEY]))

    def index_count(self, table: str) -> str:
        return (
            "SELECT count(DISTINCT index_name) FROM information_schema.statistics "
            f"WHERE table_schema = database() AND table_name = '{table}' AND index_name <> 'PRIMARY'"
        )

    def occupied(self, table: str) -> str:
        return self._dialect.occupied(table)

    def emptied(self, table: str) -> str:
        return f"TRUNCATE TABLE {table}"

    def stands_in(self, setting: Setting) -> tuple[str, ...]:
        return (_HEAP,) if setting is Setting.HEAP else (_CLUSTERED, _NONCLUSTERED)

    def lacking(self, organisation: Organisation) -> str | None:
        if organisation is Organisation.HASH:
            return "InnoDB has no hash index: it makes a B-tree of an index USING HASH"
        return None
