"""The benchmark's relations in one DBMS: verified where they are, and laid anew for each size and setting.

A relation that is there as it should be is left alone: entered as whole in Tare's ledger, with every tuple (by the
generator's checksum), each where it was loaded, and no page more. Whatever else is found is dropped and loaded
anew: a load that was cut short is never gone on with, and no index is built on a heap whose tuples were moved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from tare.dbms.base import Session
from tare.errors import CacheNotCleared, ForeignTable
from tare.experiment.ledger import Entry, Ledger, exists
from tare.experiment.work import Told
from tare.workload.wisconsin.laying import Laid, Laying
from tare.workload.wisconsin.layout import Setting, layout_of
from tare.workload.wisconsin.loads import Load, Loads
from tare.workload.wisconsin.relations import Attribute, relations
from tare.workload.wisconsin.results import results
from tare.workload.wisconsin.space import check_space, needed, occupied
from tare.workload.wisconsin.specification import WisconsinSpec

_RESULT = "a result relation"


class WisconsinTables:
    """`session` must have been opened with `allow_writes`. Not for two executors at a time."""

    def __init__(self, session: Session, spec: WisconsinSpec, told: Told | None = None) -> None:
        self._session = session
        self._spec = spec
        self._relations = relations(spec.generation)
        self._results = results(spec.generation)
        self._layout = layout_of(session.server.dbms)
        self._ledger = Ledger(session)
        self._loads = Loads(session)
        self._laying = Laying(session, self._layout)
        self._told = told or _unheard
        self._facts: tuple[str, ...] = ()

    def prepare(self) -> None:
        """Looks whether the relations can be made here; `settle` makes them.

        Raises ForeignTable or NotEnoughDisk before anything is touched, StatementFailed or ServerLost."""
        for name in _names(self._spec):
            if _is_foreign(self._session, self._ledger, name):
                raise ForeignTable(
                    f"a table {name} is in {self._session.server.url} already, and Tare did not make it",
                    "give the benchmark a database of its own, or let it go with --replace: its rows are lost",
                )
        wanted = {one: one.tuples(max(self._spec.rows)) for one in self._relations}
        check_space(self._session.server, needed(self._layout, wanted), self._there())

    def settle(self, cardinality: int, setting: str) -> None:
        """The large relations have so many tuples, all lie as the setting says, and result relations are empty.

        Raises TableDiffers if what was made is not what was asked for, StatementFailed or ServerLost."""
        state = Setting(setting)
        wanted = [Laid(one, cardinality, state) for one in self._relations]
        lacking = [laid for laid in wanted if not self._laying.is_there(laid)]
        for laid in lacking:
            self._laying.drop(laid)
        made = [(laid, self._laying.load(laid, self._told)) for laid in lacking]
        if made:
            for sql in self._layout.settle_all():
                self._session.run(sql)
        for laid, load in made:
            self._laying.finish(laid, load)
        for name, attributes in self._results.items():
            self._settle_result(name, attributes)
        written = self._write_out() if made else ()
        self._facts = (*self._layout.stands_in(state), *written, self._account(state, cardinality))

    def facts(self) -> tuple[str, ...]:
        """Return facts about the last `settle` for a reader: substitutes for structures, and the time of loading."""
        return self._facts

    def loads(self) -> Mapping[str, Load]:
        """Return the load of each relation that is there, by name."""
        found = ((one.name, self._loads.of(one.name)) for one in self._relations)
        return {name: load for name, load in found if load is not None}

    # -----------------------------------------------------------------------------
    def _settle_result(self, name: str, attributes: Sequence[Attribute]) -> None:
        create = self._layout.create_result(name, attributes)
        digest = hashlib.sha256(create.encode()).hexdigest()
        entry = self._ledger.entry(name)
        if entry and entry.whole and entry.digest == digest and exists(self._session, name):
            self._session.run(self._layout.emptied(name))
            return
        self._ledger.enter(name, Entry(digest, 0, content=""))
        self._session.run(f"DROP TABLE IF EXISTS {name}")
        self._session.run(create)
        self._ledger.enter(name, Entry(digest, 0, _RESULT))

    def _write_out(self) -> tuple[str, ...]:
        """So that the server does not do it beside the first queries."""
        try:
            self._session.flush()
        except CacheNotCleared as error:
            return (
                f"what loading left in the server's buffers was not written out before measuring: {error.what}",
            )
        return ()

    def _there(self) -> int:
        """Bytes that the relations of before occupy, by estimate."""
        found = ((one, self._ledger.entry(one.name)) for one in self._relations)
        return sum(
            occupied(self._layout, one, entry.cardinality) for one, entry in found if entry and entry.whole
        )

    def _account(self, setting: Setting, rows: int) -> str:
        loads = self.loads().values()
        load_s, index_s = sum(one.load_ms for one in loads) / 1000, sum(one.index_ms for one in loads) / 1000
        return (
            f"{setting} at {rows:,} rows: {sum(one.tuples for one in loads):,} tuples in {len(loads)} relations "
            f"were generated and loaded (through {self._session.door()}) in {load_s:.2f} s, and their indexes made in "
            f"{index_s:.2f} s"
        )


def replace_foreign(session: Session, spec: WisconsinSpec) -> list[str]:
    """Drops the tables that stand where the benchmark's belong and that Tare did not make; their names.

    `session` must have been opened with `allow_writes`. Raises StatementFailed or ServerLost."""
    ledger = Ledger(session)
    foreign = [name for name in _names(spec) if _is_foreign(session, ledger, name)]
    for name in foreign:
        session.run(f"DROP TABLE {name}")
    return foreign


def _names(spec: WisconsinSpec) -> list[str]:
    return [*(one.name for one in relations(spec.generation)), *results(spec.generation)]


def _is_foreign(session: Session, ledger: Ledger, name: str) -> bool:
    return exists(session, name) and ledger.entry(name) is None


def _unheard(table: str, loaded: int, rows: int) -> None:
    """Nobody listens."""
