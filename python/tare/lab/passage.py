"""How each column goes from a lab's engine into DuckDB: what the lab is asked for, and what is made of it.

The narrow way takes half the memory and the less time: numbers of 32 bits, words by their place in a list.
What does not fit raises duckdb.ConversionException on arrival; the wide way takes every value that a column may
hold.
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

_WIDE = {"boolean": "BOOLEAN", "string": "VARCHAR", "int64": "BIGINT"}

_NULL = "\x01"
"""Stands for NULL text on the way out of SQLite, where a column takes the type of its first batch: were that
all NULL, it would be a column of numbers."""


@dataclass(frozen=True, slots=True)
class Passage:
    name: str  # of the column, on both sides
    leaving: str  # SQL of the lab's engine
    arriving: str  # SQL of DuckDB, over what left
    type: str  # in DuckDB


def passages(table: str, *, sqlite: bool, dbmses: Sequence[str], narrow: bool) -> tuple[Passage, ...]:
    """Of the columns an analysis is given. `dbmses`: whose runs the lab holds."""
    way = _narrow if narrow and table in LARGE else _wide
    return tuple(way(column, sqlite, dbmses) for column in columns(table))


def _wide(column: sa.Column[Any], sqlite: bool, dbmses: Sequence[str]) -> Passage:
    del dbmses
    return _plain(column, sqlite, _WIDE[ibis_type(column)])


def _narrow(column: sa.Column[Any], sqlite: bool, dbmses: Sequence[str]) -> Passage:
    words = _words(column, dbmses)
    if words and sqlite:
        return _by_place(column, words)
    if words:
        return _plain(column, sqlite, _enum(words))
    if ibis_type(column) == "int64" and not column.name.endswith(("_ns", "_bytes")):
        return _plain(column, sqlite, "INTEGER")
    return _wide(column, sqlite, dbmses)


def _plain(column: sa.Column[Any], sqlite: bool, into: str) -> Passage:
    name = f'"{column.name}"'
    leaving = arriving = name
    if is_text(column) and not sqlite:
        leaving = f"CAST({name} AS text)"
    elif is_text(column) and column.nullable:
        leaving, arriving = f"ifnull({name}, char({ord(_NULL)}))", f"nullif({name}, chr({ord(_NULL)}))"
    return Passage(column.name, f"{leaving} AS {name}", f"CAST({arriving} AS {into})", into)


def _by_place(column: sa.Column[Any], words: Sequence[str]) -> Passage:
    """As a number: to read a text out of SQLite takes twice as long."""
    name, into = f'"{column.name}"', _enum(words)
    places = " ".join(f"WHEN {_quoted(word)} THEN {place}" for place, word in enumerate(words))
    back = " ".join(f"WHEN {place} THEN CAST({_quoted(word)} AS {into})" for place, word in enumerate(words))
    leaving = f"CASE {name} {places} ELSE -1 END"
    if column.nullable:
        leaving = f"CASE WHEN {name} IS NULL THEN NULL ELSE {leaving} END"
    arriving = f"CASE CAST({name} AS UTINYINT) {back} END"  # -1 is no UTINYINT
    return Passage(column.name, f"{leaving} AS {name}", arriving, into)


def _words(column: sa.Column[Any], dbmses: Sequence[str]) -> tuple[str, ...]:
    """What the column usually holds, where that is one of few words; the likely ones first."""
    place = (column.table.name, column.name)
    if place == ("process", "dbms"):
        return tuple(dict.fromkeys((*dbmses, *SERVERS.values())))
    return tuple(word.value for word in WORDS.get(place, ()))


def _enum(words: Sequence[str]) -> str:
    return f"ENUM ({', '.join(map(_quoted, words))})"


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"
