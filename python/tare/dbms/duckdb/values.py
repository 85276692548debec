"""Results that Python's types cannot hold: they stay in DuckDB, which gives their text after the clock.

`fetchall` needs a package for a timestamp with time zone, fails on an interval beyond Python's, and cuts nanoseconds
off. A prepared statement that returns such a column is executed as a relation, which DuckDB materialises as a
collection of its own. Only the columns in question become text; casting them in the statement would change its plan.
"""

from __future__ import annotations

from typing import Any

import duckdb

from tare.dbms.embedded.engine import Row

_NOT_PYTHONS = ("WITH TIME ZONE", "INTERVAL", "TIMESTAMP_NS", "TIME_NS")


def is_beyond_python(type_: Any) -> bool:
    """Whether a column of this type, also one that contains it, may have values that Python cannot hold."""
    return any(name in str(type_) for name in _NOT_PYTHONS)


def single_precision(types: list[Any]) -> frozenset[int]:
    """Columns of type FLOAT, and lists and arrays of it."""
    return frozenset(column for column, type_ in enumerate(types) if str(type_).startswith("FLOAT"))


def rows_of(relation: duckdb.DuckDBPyRelation) -> list[Row]:
    """The rows of a materialised relation, with text in place of what Python cannot hold."""
    columns = (
        f"CAST(#{number} AS VARCHAR)" if is_beyond_python(type_) else f"#{number}"
        for number, type_ in enumerate(relation.types, 1)
    )
    return relation.project(", ".join(columns)).fetchall()
