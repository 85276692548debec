"""Times of loads, kept in the database next to the ledger: a run that finds the tables there can report them."""

from __future__ import annotations

from dataclasses import dataclass

from tare.dbms.base import Session
from tare.experiment.ledger import exists, rows

_LOADS = "tare_loads"
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Load:
    tuples: int
    load_ms: int  # generating and loading, the clustering key's tree included where it is the table itself
    index_ms: int  # making all other indexes
    occupied: int | None  # bytes, indexes included; None where the DBMS does not tell


class Loads:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._opened = False

    def of(self, table: str) -> Load | None:
        self._open()
        found = rows(
            self._session, f"SELECT tuples, load_ms, index_ms, occupied FROM {_LOADS} WHERE name = '{table}'"
        )
        if not found:
            return None
        tuples, load_ms, index_ms, occupied = (int(str(value)) for value in found[0])
        return Load(tuples, load_ms, index_ms, None if occupied == _UNKNOWN else occupied)

    def enter(self, table: str, load: Load) -> None:
        self._open()
        occupied = _UNKNOWN if load.occupied is None else load.occupied
        self._session.run(f"DELETE FROM {_LOADS} WHERE name = '{table}'")
        self._session.run(
            f"INSERT INTO {_LOADS} VALUES ('{table}', {load.tuples}, {load.load_ms}, {load.index_ms}, {occupied})"
        )

    def _open(self) -> None:
        if self._opened:
            return
        if not exists(self._session, _LOADS):
            self._session.run(
                f"CREATE TABLE {_LOADS} (name VARCHAR(100) NOT NULL, tuples BIGINT NOT NULL, "
                "load_ms BIGINT NOT NULL, index_ms BIGINT NOT NULL, occupied BIGINT NOT NULL)"
            )
        self._opened = True
