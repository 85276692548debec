"""The Wisconsin benchmark's relations in an SQLite of this process, without index, for answers to be held against.

Nothing of Tare's layouts or loading is used: plain tables of the tuples that the definition gives.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.relations import Attribute, Relation, relations
from tare.workload.wisconsin.results import results
from tare.workload.wisconsin.rows import tuples


def plain_relations(generation: Generation, rows: int) -> sqlite3.Connection:
    """A database whose large relations have `rows` tuples and whose result relations are empty."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for relation in relations(generation):
        _create(connection, relation.name, relation.attributes)
        _fill(connection, relation, tuples(relation, rows))
    for name, attributes in results(generation).items():
        _create(connection, name, attributes)
    return connection


def _create(connection: sqlite3.Connection, name: str, attributes: Iterable[Attribute]) -> None:
    connection.execute(f"CREATE TABLE {name} ({', '.join(one.name for one in attributes)})")


def _fill(connection: sqlite3.Connection, relation: Relation, found: Iterable[tuple[object, ...]]) -> None:
    places = ", ".join("?" * len(relation.attributes))
    connection.executemany(f"INSERT INTO {relation.name} VALUES ({places})", found)
