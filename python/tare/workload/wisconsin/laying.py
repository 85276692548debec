"""A relation in a DBMS: dropped, loaded, indexed, verified; or found to be as it should."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

from tare.dbms.base import Session
from tare.errors import StatementFailed, TableDiffers
from tare.experiment import ledger
from tare.experiment.ledger import Entry, Ledger
from tare.experiment.work import Told
from tare.workload.wisconsin.checksum import checksum, checksum_sql
from tare.workload.wisconsin.layout import Layout, Setting
from tare.workload.wisconsin.loads import Load, Loads
from tare.workload.wisconsin.pipe import piped
from tare.workload.wisconsin.relations import Relation
from tare.workload.wisconsin.rows import write_csv

_FORMAT = 1  # of how tuples become tables: another one makes every table anew


@dataclass(frozen=True, slots=True)
class Laid:
    """A relation as it is to lie in the database."""

    relation: Relation
    rows: int  # of the large relations
    setting: Setting

    @property
    def name(self) -> str:
        return self.relation.name

    @property
    def own_setting(self) -> Setting:
        return self.setting if self.relation.indexed else Setting.HEAP

    @property
    def tuples(self) -> int:
        return self.relation.tuples(self.rows)


class Laying:
    def __init__(self, session: Session, layout: Layout) -> None:
        self._session = session
        self._layout = layout
        self._ledger = Ledger(session)
        self._loads = Loads(session)

    def is_there(self, laid: Laid) -> bool:
        """Whole by the ledger and by a look at it, and not a page more than when it was made."""
        entry, load = self._ledger.entry(laid.name), self._loads.of(laid.name)
        return (
            entry is not None
            and entry.whole
            and entry.digest == self._digest(laid)
            and ledger.exists(self._session, laid.name)
            and load is not None
            and load.occupied == self._occupied(laid.name)
            and self._counted(self._layout.index_count(laid.name)) == len(self._indexes(laid))
            and self._is_right(laid)
        )

    def drop(self, laid: Laid) -> None:
        """From here to the end of `finish` the relation is entered as unfinished."""
        self._ledger.enter(laid.name, Entry(self._digest(laid), laid.tuples, content=""))
        self._session.run(f"DROP TABLE IF EXISTS {laid.name}")

    def load(self, laid: Laid, told: Told) -> Load:
        """Makes it, with its indexes. Raises TableDiffers, StatementFailed or ServerLost."""
        primary = self._layout.primary(laid.own_setting)
        self._session.run(self._layout.create(laid.name, laid.relation.attributes, primary))
        told(laid.name, 0, laid.tuples)
        began = time.monotonic()
        with self._ordered():
            taken = piped(
                lambda pipe: write_csv(laid.relation, laid.rows, pipe),
                lambda pipe: self._session.load(laid.name, pipe),
            )
        loaded = time.monotonic()
        if taken != laid.tuples:
            raise TableDiffers(
                f"{self._session.server.url} took {taken:,} of the {laid.tuples:,} tuples of {laid.name}",
                "see the end of the server's log; then run again",
            )
        told(laid.name, taken, laid.tuples)
        self._run(self._indexes(laid))
        return Load(taken, _ms(loaded - began), _ms(time.monotonic() - loaded), occupied=None)

    def finish(self, laid: Laid, load: Load) -> None:
        """Statistics, verification, and the entry as whole. Raises as `load` does."""
        self._run(self._layout.settle(laid.relation, laid.tuples))
        if not self._is_right(laid):
            raise TableDiffers(
                f"{laid.name} does not hold the {laid.tuples:,} tuples of its definition in their order",
                "see whether another program writes to this database, or its disk is failing; then run again",
            )
        self._loads.enter(laid.name, replace(load, occupied=self._occupied(laid.name)))
        content = hashlib.sha256(str(_checksum(laid.relation, laid.rows)).encode()).hexdigest()
        self._ledger.enter(laid.name, Entry(self._digest(laid), laid.tuples, content))

    # -----------------------------------------------------------------------------
    def _is_right(self, laid: Laid) -> bool:
        """By its tuples, and by their places."""
        found = ledger.rows(self._session, checksum_sql(laid.name))[0]
        if tuple(_number(value) for value in found) != _checksum(laid.relation, laid.rows):
            return False
        displaced = self._layout.displaced(laid.name, laid.own_setting)
        if displaced is None:
            return True
        with self._ordered():
            return self._counted(displaced) == 0

    def _occupied(self, name: str) -> int | None:
        sql = self._layout.occupied(name)
        if sql is None:
            return None
        try:
            return self._counted(sql)
        except StatementFailed:  # an SQLite without dbstat
            return None

    def _counted(self, sql: str) -> int:
        return _number(ledger.rows(self._session, sql)[0][0])

    def _indexes(self, laid: Laid) -> Sequence[str]:
        return self._layout.indexes(laid.relation, laid.own_setting)

    def _digest(self, laid: Laid) -> str:
        """Return the digest of all that decides on tuples and pages."""
        relation, setting = laid.relation, laid.own_setting
        parts = [
            _FORMAT,
            self._session.server.version,
            [relation.generation, relation.seed, relation.first_of, laid.rows, laid.tuples],
            self._layout.create(relation.name, relation.attributes, self._layout.primary(setting)),
            self._indexes(laid),
            self._layout.settle(relation, laid.tuples),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _run(self, statements: Sequence[str]) -> None:
        for sql in statements:
            self._session.run(sql)

    @contextmanager
    def _ordered(self) -> Iterator[None]:
        self._run(self._layout.ordered)
        try:
            yield
        finally:
            self._run(self._layout.unordered)


@lru_cache
def _checksum(relation: Relation, rows: int) -> tuple[int, ...]:
    """It takes as long as generating the relation, and is the same in each setting."""
    return checksum(relation, rows)


def _number(value: object) -> int:
    """Sums come as integers or decimals, and as nothing from an empty table."""
    return 0 if value is None else int(str(value))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
