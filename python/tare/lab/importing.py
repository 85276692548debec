"""Runs of an export into a lab: all of them in one transaction, or nothing.

Rows get new ids; a run keeps its uuid, and one that the lab has already is left out with all that is below it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
from psycopg import sql
from sqlalchemy import Connection, Table, select

from tare.lab import rows
from tare.lab.foreign import Export, fault, numbers
from tare.lab.parquet import OLTP_TABLES, table_of
from tare.lab.remap import ABSENT, DROPPED, Ids, Remap, new_ids
from tare.lab.schema import run
from tare.lab.schema_oltp import oltp_run
from tare.lab.states import RunState
from tare.lab.store import Lab

_SHARED = {"experiment": "specification_hash", "dbms": "digest", "machine": "digest"}
_BELOW = ("query", "qatc", "qe", "process", "cpu", "reading", "audit")
_SAME_RUN = {"qatc": "query", "qe": "qatc"}  # a row's run is that of the row above it

_REFUSALS = (sqlite3.IntegrityError, psycopg.IntegrityError, psycopg.DataError)


@dataclass(frozen=True, slots=True)
class Imported:
    runs: Mapping[str, int]  # new ids by uuid
    skipped: tuple[str, ...]  # uuids of runs that the lab has already
    rows: int
    oltp: Mapping[str, int] = field(default_factory=dict)  # the same of transactional runs


def import_(lab: Lab, export: Export) -> Imported:
    """Raises ForeignFile for what does not fit together, LabError or LabFull; then nothing is imported."""
    with lab.writing() as connection:
        return _Import(connection, export).all()


class _Import:
    def __init__(self, connection: Connection, export: Export) -> None:
        self._connection = connection
        self._export = export
        self._ids: dict[str, Remap] = {}
        self._run_of: dict[str, Remap] = {}  # old ids to old ids
        self._rows = 0

    def all(self) -> Imported:
        runs, new, known = self._runs(run)
        has_oltp = oltp_run.name in self._export.description.tables
        oltp, new_oltp, known_oltp = self._runs(oltp_run) if has_oltp else ([], [], set())
        for table, unique in _SHARED.items():
            key = f"{table}_id"
            self._share(table_of(table), unique, {row[key] for row in (*new, *new_oltp) if key in row})
        made = self._insert_runs(run, runs, new)
        for table in _BELOW:
            self._copy(table_of(table))
        made_oltp = self._insert_runs(oltp_run, oltp, new_oltp) if has_oltp else {}
        for table in OLTP_TABLES[1:] if has_oltp else ():
            self._copy(table_of(table))
        return Imported(made, tuple(sorted({*known, *known_oltp})), self._rows, made_oltp)

    def _runs(self, table: Table) -> tuple[list[dict[str, Any]], list[dict[str, Any]], set[str]]:
        """All, those that the lab has not, and the uuids of those that it has."""
        runs = list(self._export.rows(table.name))
        uuids = [row["uuid"] for row in runs]
        known = set(self._connection.execute(select(table.c.uuid).where(table.c.uuid.in_(uuids))).scalars())
        return runs, [row for row in runs if row["uuid"] not in known], known

    # The top: few rows ----------------------------------------------------------------
    def _share(self, table: Table, unique: str, needed: set[int]) -> None:
        """Rows that runs have in common are found by their digest, or made."""
        mapped: dict[int, int] = {}
        for row in self._export.rows(table.name):
            self._check_digest(table.name, row)
            if row["id"] in mapped:
                raise self._fault(table, f"two rows have the id {row['id']}")
            mapped[row["id"]] = self._shared(table, unique, row) if row["id"] in needed else DROPPED
        self._ids[table.name] = _remap(mapped)

    def _shared(self, table: Table, unique: str, row: dict[str, Any]) -> int:
        found = self._connection.scalar(select(table.c.id).where(table.c[unique] == row[unique]))
        if found is None:
            (found,) = new_ids(self._connection, table, 1)
            self._insert(table, [column.name for column in table.columns], [{**row, "id": int(found)}])
        return int(found)

    def _check_digest(self, table: str, row: Mapping[str, Any]) -> None:
        """A wrong one would put a run beside another DBMS or machine than its own."""
        if table == "dbms":
            facts = {"name": row["name"], "version": row["version"], "settings": json.loads(row["settings"])}
        elif table == "machine":
            facts = json.loads(row["facts"])
        else:
            return
        if rows.digest(facts) != row["digest"]:
            raise self._fault(table_of(table), f"the digest of row {row['id']} is not that of its facts")

    def _insert_runs(
        self, table: Table, runs: list[dict[str, Any]], new: list[dict[str, Any]]
    ) -> dict[str, int]:
        mapped = {row["id"]: DROPPED for row in runs}
        if len(mapped) < len(runs) or len({row["uuid"] for row in runs}) < len(runs):
            raise self._fault(table, "two rows have one id or uuid")
        mapped |= zip(
            (row["id"] for row in new), map(int, new_ids(self._connection, table, len(new))), strict=True
        )
        self._ids[table.name] = _remap(mapped)
        ready = []
        for row in new:
            above = {key: self._above(table, key, np.array([row[key]]))[0] for key in _parents(table)}
            ready.append({**row, **{key: int(id_) for key, id_ in above.items()}, "id": mapped[row["id"]]})
            if table is run:
                ready[-1] |= _nobodys(row)
        self._insert(table, [column.name for column in table.columns], ready)
        return {row["uuid"]: mapped[row["id"]] for row in new}

    # Below: many rows -----------------------------------------------------------------
    def _copy(self, table: Table) -> None:
        if "id" in table.c:
            self._number(table)
        names = [column.name for column in table.columns]
        for batch in self._export.batches(table.name):
            kept, mapped = self._placed(table, batch)
            if "id" in table.c:
                mapped["id"] = self._ids[table.name](numbers(batch, "id"))
            columns = [pa.array(mapped[name]) if name in mapped else batch.column(name) for name in names]
            some = [column.filter(pa.array(kept)).to_pylist() for column in columns]
            self._insert_values(table, names, list(zip(*some, strict=True)))

    def _number(self, table: Table) -> None:
        """New ids for the rows that are taken over."""
        old = self._export.column(table.name, "id")
        masks = [self._placed(table, batch)[0] for batch in self._export.batches(table.name)]
        kept = np.concatenate(masks) if masks else np.empty(0, dtype=bool)
        new = np.full(old.shape, DROPPED, dtype=np.int64)
        new[kept] = new_ids(self._connection, table, int(kept.sum()))
        self._ids[table.name] = Remap(old, new)
        if (twice := self._ids[table.name].doubled) is not None:
            raise self._fault(table, f"two rows have the id {twice}")
        if "run_id" in table.c:
            self._run_of[table.name] = Remap(old, self._export.column(table.name, "run_id"))

    def _placed(self, table: Table, batch: pa.RecordBatch) -> tuple[Any, dict[str, Ids]]:
        """Return a mask of the rows that are imported, and the new ids of the rows that they refer to."""
        mapped = {key: self._above(table, key, numbers(batch, key)) for key in _parents(table)}
        if (above := _SAME_RUN.get(table.name)) is not None:
            run_above = self._run_of[above](numbers(batch, f"{above}_id"))
            if (run_above != numbers(batch, "run_id")).any():
                raise self._fault(table, f"a row is of another run than its {above}")
        return next(iter(mapped.values())) != DROPPED, mapped

    def _above(self, table: Table, key: str, old: Ids) -> Ids:
        parent = key.removesuffix("_id")
        found = self._ids[parent](old)
        if (absent := np.flatnonzero(found == ABSENT)).size:
            raise self._fault(table, f"{key} {old[absent[0]]} is in no row of {parent}.parquet")
        return found

    # Inside ---------------------------------------------------------------------------
    def _insert(self, table: Table, names: list[str], made: list[dict[str, Any]]) -> None:
        self._insert_values(table, names, [tuple(row[name] for name in names) for row in made])

    def _insert_values(self, table: Table, names: list[str], values: list[tuple[Any, ...]]) -> None:
        try:
            insert_many(self._connection, table, names, values)
        except _REFUSALS as error:
            said = (str(error).splitlines() or ["no reason"])[0]
            raise self._fault(table, f"the lab refuses a row: {said}") from error
        self._rows += len(values)

    def _fault(self, table: Table, why: str) -> Exception:
        return fault(self._export.file(table.name), why)


def _nobodys(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a run that nobody executes."""
    paused = {"state": RunState.PAUSED.value, "said": "it was running when it was exported"}
    return {"executor": None, **(paused if row["state"] == RunState.RUNNING.value else {})}


def _parents(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.foreign_keys]


def _remap(mapped: Mapping[int, int]) -> Remap:
    return Remap(np.array(list(mapped), dtype=np.int64), np.array(list(mapped.values()), dtype=np.int64))


def insert_many(
    connection: Connection, table: Table, names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows by the fastest way that the engine has. Raises the driver's own errors.

    Values are as the driver takes them, JSON is its text."""
    cursor = connection.connection.cursor()
    try:
        if connection.dialect.name == "sqlite":
            columns = ", ".join(f'"{name}"' for name in names)
            places = ", ".join("?" * len(names))
            cursor.executemany(f'INSERT INTO "{table.name}" ({columns}) VALUES ({places})', rows)
        else:
            copy = sql.SQL("COPY {} ({}) FROM STDIN").format(
                sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, names))
            )
            with cursor.copy(copy) as stream:
                for row in rows:
                    stream.write_row(row)
    finally:
        cursor.close()
