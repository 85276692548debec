"""From the ids of an export to new ones of this lab, in a few bytes a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, func, select, text

Ids = NDArray[np.int64]

DROPPED = -1
"""New id of a row that is not taken over: its run is in the lab already."""

ABSENT = -2
"""New id of a row that the export does not hold."""


class Remap:
    """New ids of one table's rows by their old ones."""

    def __init__(self, old: Ids, new: Ids) -> None:
        order = np.argsort(old, kind="stable")
        self._old, self._new = old[order], new[order]

    @property
    def doubled(self) -> int | None:
        """An old id that two rows claim."""
        again = self._old[1:][self._old[1:] == self._old[:-1]]
        return int(again[0]) if again.size else None

    def __call__(self, asked: Ids) -> Ids:
        """ABSENT for an id that no row has."""
        if not self._old.size:
            return np.full(asked.shape, ABSENT, dtype=np.int64)
        place = np.minimum(np.searchsorted(self._old, asked), self._old.size - 1)
        return np.where(self._old[place] == asked, self._new[place], ABSENT)


def new_ids(connection: Connection, table: Table, count: int) -> Ids:
    """Ids that no other transaction gets, in rising order."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    if connection.dialect.name == "sqlite":  # this transaction is the only one that writes
        last = connection.scalar(select(func.max(table.c.id))) or 0
        return np.arange(last + 1, last + 1 + count, dtype=np.int64)
    drawn: Sequence[int] = (
        connection.execute(
            text("SELECT nextval(pg_get_serial_sequence(:name, 'id')) FROM generate_series(1, :count)"),
            {"name": f'"{table.name}"', "count": count},
        )
        .scalars()
        .all()
    )
    return np.sort(np.array(drawn, dtype=np.int64))
