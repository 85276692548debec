"""How each column goes from a lab's engine into DuckDB: what the lab is asked for, and what is made of it.

The narrow way takes half the memory and the less time: numbers of 32 bits, words by their place in a list. It is
told where something does not fit; the wide way takes every value that a column may hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from tare.dbms.known import SERVERS
from tare.lab.columns import columns, ibis_type, is_text
from tare.lab.parquet import WORDS

LARGE = ("qe", "process")
"""The tables that are worth it."""

_WIDE = {"boolean": ("boolean", "BOOLEAN"), "string": ("text", "VARCHAR"), "int64": ("int64", "BIGINT")}


@dataclass(frozen=True, slots=True)
class Passage:
    name: str  # of the column, on both sides
    kind: str  # of what a SQLite lab gives: _probe.read_lab
    words: tuple[str, ...]  # of the kind "word", which leaves as its place among them
    type: str  # in DuckDB
    leaving: str  # SQL of a PostgreSQL lab
    arriving: str  # SQL of DuckDB, over what left


def passages(table: str, *, sqlite: bool, dbmses: Sequence[str], narrow: bool) -> tuple[Passage, ...]:
    """Return the passages of the columns that an analysis gets. `dbmses`: DBMSes of the lab's runs."""
    way = _narrow if narrow and table in LARGE else _wide
    return tuple(way(column, sqlite, dbmses) for column in columns(table))


def _wide(column: sa.Column[Any], sqlite: bool, dbmses: Sequence[str]) -> Passage:
    del sqlite, dbmses
    kind, into = _WIDE[ibis_type(column)]
    return _plain(column, kind, into)


def _narrow(column: sa.Column[Any], sqlite: bool, dbmses: Sequence[str]) -> Passage:
    words = _words(column, dbmses)
    if words and sqlite:
        return _by_place(column, words)
    if words:
        return _plain(column, "word", _enum(words))
    if ibis_type(column) == "int64" and not column.name.endswith(("_ns", "_bytes")):
        return _plain(column, "int32", "INTEGER")
    return _wide(column, sqlite, dbmses)


def _plain(column: sa.Column[Any], kind: str, into: str) -> Passage:
    name = f'"{column.name}"'
    leaving = f"CAST({name} AS text) AS {name}" if is_text(column) else name
    return Passage(column.name, kind, (), into, leaving, f"CAST({name} AS {into})")


def _by_place(column: sa.Column[Any], words: tuple[str, ...]) -> Passage:
    """Eight bits a row: DuckDB takes them faster than texts."""
    name, into = f'"{column.name}"', _enum(words)
    back = " ".join(f"WHEN {place} THEN CAST({_quoted(word)} AS {into})" for place, word in enumerate(words))
    return Passage(column.name, "word", words, into, name, f"CASE {name} {back} END")


def _words(column: sa.Column[Any], dbmses: Sequence[str]) -> tuple[str, ...]:
    """Return the few words that the column usually holds, the likely ones first; none where it holds others."""
    place = (column.table.name, column.name)
    if place == ("process", "dbms"):
        return tuple(dict.fromkeys((*dbmses, *SERVERS.values())))
    return tuple(word.value for word in WORDS.get(place, ()))


def _enum(words: Sequence[str]) -> str:
    return f"ENUM ({', '.join(map(_quoted, words))})"


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"
